"""The text that every match of a pattern contains."""

from __future__ import annotations

import random
import re
import warnings

import pytest

from tests.support.cases import each
from viewer.document.search.regex import required_literal


@each(
    "pattern, text",
    [
        ("answer", "answer"),
        (r"answer\s+is", "answer"),
        (r"a\.b\(c", "a.b(c"),
        ("colou?r", "colo"),
        ("ab+c", "ab"),
        ("ab*cd", "cd"),
        ("ab{0}cd", "cd"),
        ("(abc)def", "def"),
        ("(?:abc)?def", "def"),
        ("(?<=abc)def(?!xyzxyz)", "def"),
        ("abc[defghi]jk", "abc"),
        (r"[\]abcd]xy[]pqr]", "xy"),
        ("abc|def", None),
        ("(?i)abc", None),
        ("(?x) a bc", None),
        ("(?#note)abc", None),
        (r"\x41bc", None),
        (r"\Qab\E?", None),
        (r"\101bc", None),
        ("straße", None),
        ("(abc", None),
        ("abc)", None),
        ("abc[", None),
        ("a.c", None),
        ("", None),
    ],
)
def test_the_longest_certain_literal_is_required(pattern: str, text: str | None) -> None:
    assert required_literal(pattern) == text


@pytest.mark.slow
def test_every_match_contains_the_required_literal() -> None:
    chance = random.Random(5)
    parts = [
        "a",
        "b",
        "ab",
        "ba",
        "(",
        ")",
        "(?:",
        "(?=",
        "[ab]",
        "[^a]",
        "[]a]",
        "*",
        "+",
        "?",
        "{2}",
        "{,1}",
        "{",
        "}",
        ".",
        "^",
        "$",
        "|",
        r"\w",
        r"\.",
        "(?!",
    ]
    tried = 0
    for _ in range(20_000):
        pattern = "".join(chance.choices(parts, k=chance.randrange(1, 8)))
        text = required_literal(pattern)
        if text is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compiled = re.compile(pattern)
            except re.error:
                continue
        tried += 1
        haystack = "".join(chance.choices("aab.{}", k=12))
        assert all(text in haystack for match in compiled.finditer(haystack) if match[0]), (pattern, haystack)
    assert tried > 500
