"""Regular expressions: what no pattern may contain."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.support.program import ROOT

_POSSESSIVE = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\+")
_MAY_REPEAT_GROUP = re.compile(rf"\){_POSSESSIVE.pattern}")
_LITERAL = re.compile(r"[A-Za-z]*('''|\"\"\"|'|\")")


def test_a_group_that_is_repeated_possessively_is_atomic() -> None:
    """Before Python 3.11.5, `(?:ab?c)*+` matches the `a` of `abd`; `(?>ab?c)*+` never does."""
    files = {*(ROOT / "viewer").rglob("*.py"), *(ROOT / "tests").rglob("*.py")} - {Path(__file__)}
    texts = {path: text for path in files if _MAY_REPEAT_GROUP.search(text := path.read_text("utf-8"))}
    groups = [(str(path), group) for path, text in texts.items() for group in repeated_groups(text)]
    assert len(groups) > 40
    assert [each for each in groups if not each[1].startswith("(?>")] == []


def test_these_tests_find_a_planted_fault() -> None:
    text = r'''x = "[(]" r"\((?:a" + A + r"b)++" f"(?>c)*+"; y = r"(d){1,9}+"; z = "(?:e)+"'''
    assert [*repeated_groups(text)] == ["(?:a", "(?>c", "(d){"]


def repeated_groups(text: str) -> Iterator[str]:
    """Yield the beginning of each group with a possessive quantifier. A pattern may consist of several literals."""
    opened: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            opened.clear()
        elif is_literal(token):
            yield from _in_literal(token.string, opened)


def is_literal(token: tokenize.TokenInfo) -> bool:
    """True for a string, or for a part of an f-string, which is a separate token since Python 3.12."""
    return token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"


def _in_literal(literal: str, opened: list[str]) -> Iterator[str]:
    prefix = _LITERAL.match(literal)
    at, in_class = prefix.end() if prefix else 0, False
    while at < len(literal):
        character = literal[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
            at += len(literal[at + 1 : at + 3]) - len(literal[at + 1 : at + 3].lstrip("^]"))
        elif character == "(":
            opened.append(literal[at : at + 4])
        elif character == ")" and opened:
            group = opened.pop()
            if _POSSESSIVE.match(literal, at + 1):
                yield group
        at += 1
