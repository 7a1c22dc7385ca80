"""Terms of the search index of a site. The script of the index page splits a query in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import is_normalized, normalize

from viewer.cache import lazy_regex
from viewer.insight.words import UNSPACED

LONGEST_TERM = 40
"""The maximum length of a term in characters. Longer words are truncated."""
SHARDS = 256
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193
"""The constants of 32-bit FNV-1a, a hash that takes one line in JavaScript."""

_RUNS = lazy_regex(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+")
"""Runs of characters in writing systems without spaces, and words of letters and digits."""
_IS_UNSPACED = lazy_regex(rf"[{UNSPACED}]")


def normal_text(text: str) -> str:
    """Normalize the text to NFC, as the script does."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def fold(word: str) -> str:
    """Fold the case of a word with two functions that JavaScript also has."""
    return word.lower() if word.isascii() else word.upper().lower()


def terms_of(text: str) -> set[str]:
    """Return the terms of a normalized text: words, and the single characters and pairs of text without spaces."""
    found: set[str] = set()
    for run in set(_RUNS.findall(text)):
        found.update(_terms(run))
    return found


def _terms(run: str) -> Iterator[str]:
    if not _IS_UNSPACED.match(run):
        yield fold(run[:LONGEST_TERM])
        return
    folded = fold(run)
    yield from folded
    yield from map("".join, pairwise(folded))


def shard_of(term: str) -> int:
    """Return a term's shard number: the first byte of its hash."""
    value = _OFFSET
    for byte in term.encode():
        value = (value ^ byte) * _PRIME & 0xFFFFFFFF
    return value >> 24
