"""Split transcript text into words with positions. In a script without spaces, each character is a word."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import is_normalized, normalize

from msgspec import Struct

from viewer.cache import lazy_regex

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
"""Scripts written without spaces: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963"
"""Combining marks, which `re` does not treat as word characters."""
_MORE_MARKS = "\u0966-\u0dff"
_WORD = rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[\w{_MARKS}{_MORE_MARKS}])+"
_WORDS = lazy_regex(_WORD)
_TOKENS = lazy_regex(rf"{_WORD}|\s+|.")
_IS_UNSPACED = lazy_regex(rf"[{UNSPACED}]")


class Words(Struct, frozen=True):
    """The normalized words of a text and their positions."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.words)


def words_of(text: str) -> Words:
    """Return the words of a text, in NFC and case-folded."""
    found = list(_WORDS.finditer(text))
    return Words(
        [normal(match[0]) for match in found],
        [match.start() for match in found],
        [match.end() for match in found],
    )


def plain_words(text: str) -> list[str]:
    """Return the words of a text without positions."""
    return [normal(word) for word in _WORDS.findall(text)]


def normal(word: str) -> str:
    """Normalize a word for comparison."""
    if word.isascii():
        return word.lower()
    folded = word.casefold()
    return folded if is_normalized("NFC", folded) else normalize("NFC", folded)


def tokens_of(text: str) -> list[str]:
    """Split a text into words, spaces, and other single characters."""
    return [*_TOKENS.findall(text)]


def is_unspaced(word: str) -> bool:
    """True if this is a character of a script without spaces, which counts as half a word."""
    return _IS_UNSPACED.match(word) is not None
