"""Supported regular expressions mean the same as in Python. No result depends on RE2."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress

import pytest
import re2

from viewer.document.search.regex import NO_LOOK_AROUND, NOT_SUPPORTED, TOO_LARGE, Regex, RegexError

PARTS = [
    *("a", "b", "é", "日", "ſ", "K", " ", "-", "]", "{", "}", "{2}", "{,2}", "{1,}", "*", "+", "?", "*?", "|", "."),
    *("^", "$", "(", ")", "(?:", "(?P<n>", "(?i:", "(?s:", "[ab]", "[^a]", "[]a]", "[^]é]", "[a-é]", "[[:alpha:]]"),
    *("[a[^]", "[&&]", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[\w.]", r"[^\w]", r"[\d\s]", r"[^\s]", r"[\D]"),
    *(r"\.", r"\]", r"\A", r"\Z", r"\n", r"\t", r"\x41", r"\u00e9", r"[\u00e9]", r"\U0001f600", r"\101", r"\0"),
    *(r"[\1]", r"[\b]", r"\\", r"\-"),
]  # fmt: skip
LETTERS = "aabbé日ſK ]-{}.AÉ\n\t😀٣_\u00a0\u2028\x1f[:lph^&\0\\\b1,2"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def by_python(pattern: str, text: str, ignores_case: bool, at: int) -> list[tuple[int, int]]:
    """Return the matches, without a second attempt at the position of an empty match."""
    compiled = re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignores_case else 0))
    found = []
    while at <= len(text) and (match := compiled.search(text, at)):
        if match[0]:
            found.append(match.span())
        at = match.end() + (not match[0])
    return found


@pytest.mark.share(quick=0)
@pytest.mark.parametrize("count", [2_000, pytest.param(12_000, marks=pytest.mark.lab)])
@pytest.mark.parametrize("ignores_case", [False, True])
def test_matches_equal_those_of_python(ignores_case: bool, count: int) -> None:
    chance = random.Random(5)
    compared = found = 0
    for _ in range(count):
        pattern = "".join(chance.choices(PARTS, k=chance.randrange(1, 6)))
        text, start = "".join(chance.choices(LETTERS, k=20)), chance.randrange(5)
        try:
            regex = Regex(pattern, ignores_case)
        except RegexError as error:
            if error.sentence.startswith("this is no regular"):
                with pytest.raises(re.error):
                    re.compile(pattern)
            continue
        expected = by_python(pattern, text, ignores_case, start)
        assert list(regex.spans(text, start)) == expected, (pattern, text, start)
        compared += 1
        found += bool(expected)
    assert compared > count // 4
    assert found > count // 24


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("(?=a)", NO_LOOK_AROUND),
        ("secret(?!a)", NO_LOOK_AROUND),
        ("(?<=a)b", NO_LOOK_AROUND),
        ("(?<!a)b", NO_LOOK_AROUND),
        (r"(a)\1", NO_LOOK_AROUND),
        ("(?P<secret>a)(?P=secret)", NO_LOOK_AROUND),
        ("(a)(?(1)b|c)", NO_LOOK_AROUND),
        (r"(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)\10", NO_LOOK_AROUND),
        ("a{1001}", TOO_LARGE),
        (r"\w{1000}", TOO_LARGE),
        ("(a{1000}){1000}", TOO_LARGE),
        ("(?x) a", NOT_SUPPORTED),
        ("(?>a)", NOT_SUPPORTED),
        (r"\N{DIGIT ONE}", NOT_SUPPORTED),
        ("\ud800", NOT_SUPPORTED),
        ("(", "Invalid regular expression at character 1."),
        ("secret[", "Invalid regular expression at character 7."),
        (r"\pL", "Invalid regular expression at character 1."),
        (r"a\C", "Invalid regular expression at character 2."),
        ("(" * 900, "Invalid regular expression at character 1."),
    ],
)
def test_a_refused_pattern_is_one_sentence(pattern: str, sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RegexError) as refused:
        Regex(pattern, False)
    assert (refused.value.sentence, str(refused.value)) == (sentence, sentence)
    assert refused.value.__cause__ is None
    assert capfd.readouterr() == ("", "")


def test_a_search_that_runs_out_of_memory_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    text = "".join(random.Random(1).choices("ab z", k=20_000))
    assert list(Regex("[ab].{200}Q", False).spans(text)) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_lone_surrogate_in_a_text_counts_as_one() -> None:
    assert list(Regex("é|b", False).spans("a\ud800é\udfffb")) == [(2, 3), (4, 5)]
    chance = random.Random(2)
    for _ in range(300):
        text = "".join(chance.choices("aé\ud800\udfff😀", k=8))
        for pattern in (".", "..", "[^a]", "a.", ".*a", "é+"):
            assert all(0 <= first < last <= len(text) for first, last in Regex(pattern, False).spans(text))


def test_a_boundary_and_a_negated_class_in_a_set_know_ascii_only() -> None:
    assert list(Regex(r"\bx", False).spans("éx")) == [(1, 2)]
    assert list(Regex(r"[\W]", False).spans("é ")) == [(0, 1), (1, 2)]


@pytest.mark.parametrize("pattern", ["plums?", "plums(?=x)", "plums("])
def test_no_cache_keeps_a_pattern(pattern: str) -> None:
    with suppress(RegexError):
        Regex(pattern, False)
    assert not any(pattern in map(str, key) for key in re._cache)  # type: ignore[attr-defined]
    assert re2._Regexp._make.cache_info().currsize == 0
