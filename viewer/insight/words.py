"""Split transcript text into words and sequences of words. In a script without spaces, each character is a word."""

from __future__ import annotations

import re
from unicodedata import is_normalized, normalize

from viewer.cache import lazy_regex
from viewer.model.messages import Span

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
"""Scripts written without spaces: Thai, Lao, Burmese, Khmer, Japanese, and Chinese."""
_MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963"
"""Combining marks, which `re` does not treat as word characters."""
_MORE_MARKS = "\u0966-\u0dff"
_WORD = rf"[{UNSPACED}]|(?>[^\W{UNSPACED}]++|[{_MARKS}{_MORE_MARKS}]++)++"
_WORDS = lazy_regex(_WORD)
_ASCII_WORDS = lazy_regex("[0-9A-Za-z_]+")
"""Finds the same words as `_WORDS` in ASCII text, five times as fast."""
_TOKENS = lazy_regex(rf"{_WORD}|\s+|.")
_IS_UNSPACED = lazy_regex(rf"[{UNSPACED}]")


_STOP_WORDS = """
a about after all also an and any are as at be been but by can could did do does for from had has have he her his how
i if in into is it its may more most must my no not of on one only or other our out over she should so some such than
that the their them then there these they this those to up use used was we were what when where which who will with
would you your aber als am an auch auf aus bei bin bis das dass dem den der des die doch ein eine einem einen einer er
es für hat ich im in ist ja kann man mit nach nicht noch nur oder sich sie sind so um und uns von vor war was wenn wie
wir zu zum zur au aux avec ce ces dans de des du elle en est et il je la le les leur lui mais ne nous on ou par pas
pour qu que qui sa se ses son sur un une vous al como con de del el ella en es esta este la las lo los más no o para
pero por que se sin su sus un una y
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that are too common to identify a source. A sequence that consists only of these is not looked up."""
_EMPTY_CHARACTERS = frozenset("的了是在和也就不都而及与着或我你他她它们这那有个一之")


def word_regex(text: str) -> re.Pattern[str]:
    """Return the regular expression that finds the words of the text."""
    return _ASCII_WORDS if text.isascii() else _WORDS


def word_spans(text: str) -> list[Span]:
    """Return the positions of the words of the text."""
    return [found.span() for found in word_regex(text).finditer(text)]


def plain_words(text: str) -> list[str]:
    """Return the normalized words of the text."""
    return _ASCII_WORDS.findall(text.lower()) if text.isascii() else [normal(word) for word in _WORDS.findall(text)]


def normal(word: str) -> str:
    """Normalize a word for comparison."""
    if word.isascii():
        return word.lower()
    folded = word.casefold()
    return folded if is_normalized("NFC", folded) else normalize("NFC", folded)


def tokens_of(text: str) -> list[str]:
    """Split the text into words, runs of whitespace, and other single characters."""
    return [*_TOKENS.findall(text)]


def is_unspaced(word: str) -> bool:
    """True if this is a character of a script without spaces."""
    return _IS_UNSPACED.match(word) is not None


def is_content_word(word: str) -> bool:
    """True if a normalized word carries meaning."""
    if len(word) == 1:
        return is_unspaced(word) and word not in _EMPTY_CHARACTERS and not _is_hiragana(word)
    return word not in STOP_WORDS


def _is_hiragana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"
