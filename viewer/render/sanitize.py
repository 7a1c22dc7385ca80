"""Sanitize transcript text for a terminal: escape or replace everything that is unsafe to show.

Each code point becomes one code point, so offsets stay valid. Invisible characters, and characters that move text,
become visible marks:
  ␀ … ␟ ␡   control characters          ⇢ ⇠ ⇄   direction: left to right, right to left, its ends
  ␍ ␤       a lone carriage return,     ·       zero-width, fillers, tags, selectors, format characters
       line and paragraph ends     U+FFFD  C1, lone surrogates, noncharacters
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise
from typing import NewType

from viewer.cache import lazy_regex
from viewer.syntax.characters import (
    DIRECTION_ENDS,
    EMOJI,
    FORMAT,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    TAGS,
    ZERO_WIDTH,
)

SafeText = NewType("SafeText", str)
"""Text that a terminal displays but does not interpret. The view layer accepts no other type."""

LONGEST_LINE = 200
"""The maximum number of code points in a name, a title, an ID or a file name."""
MOST_MARKS = 4
"""The maximum number of combining marks on one base character in a line."""

_PLAIN = re.compile(r"[\t\n -~]*+")
_NO_CHARACTERS = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
_BROKEN = "\x80-\x9f\ud800-\udfff\ufdd0-\ufdef" + _NO_CHARACTERS
_JOINING = lazy_regex("[\u200d\ufe0e\ufe0f]|\U000e007f")
_EMOJI = lazy_regex(EMOJI)


def _characters(inside: str) -> Iterable[int]:
    """Return the code points of a character class."""
    ends = re.findall(r"(.)(?:-(.))?", inside, re.DOTALL)
    return chain.from_iterable(range(ord(first), ord(last or first) + 1) for first, last in ends)


@lru_cache(maxsize=1)  # most texts are plain ASCII
def _marks() -> dict[int, str]:
    """Map each character that cannot be shown as it is to a visible mark."""
    marks = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
    marks |= {0x7F: "␡", 0x2028: "␤", 0x2029: "␤"}
    marks |= dict.fromkeys(_characters(LEFT_TO_RIGHT), "⇢") | dict.fromkeys(_characters(RIGHT_TO_LEFT), "⇠")
    marks |= dict.fromkeys(_characters(DIRECTION_ENDS), "⇄")
    marks |= dict.fromkeys(_characters(ZERO_WIDTH + TAGS + FORMAT), "·")
    return marks | dict.fromkeys(_characters(_BROKEN), "\ufffd")


@lru_cache(maxsize=1)
def _copies() -> dict[int, str]:
    """Map each character that copying to the clipboard changes or removes to its replacement."""
    kept = set(_characters(FORMAT))
    copies = {code: "" for code in _marks() if code not in kept}
    return copies | {0x2028: "\n", 0x2029: "\n"} | dict.fromkeys(_characters(_BROKEN), "\ufffd")


_LONG = 512
"""The minimum length of text that is first searched for marks, which takes a tenth of the time of replacing them."""
_UNMARKED = lazy_regex(lambda: f"[{_unmarked_characters()}]*+")
_LINE_MARKS = {ord("\n"): "␊", ord("\t"): "␉"}


def _unmarked_characters() -> str:
    """Return the inside of a character class: all characters up to U+FFFF that are shown as they are."""
    edges = [-1, *sorted(code for code in _marks() if code <= 0xFFFF), 0x10000]
    gaps = [(low + 1, high - 1) for low, high in pairwise(edges) if high - low > 1]
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in gaps)


def normalize_newlines(text: str) -> str:
    """Convert CRLF to LF. A lone carriage return is kept so that it is shown."""
    return text.replace("\r\n", "\n")


def sanitize(text: str) -> SafeText:
    """Sanitize the text of a body, keeping newlines and tabs; call `normalize_newlines` first."""
    if _PLAIN.fullmatch(text) or (len(text) >= _LONG and _UNMARKED.fullmatch(text)):
        return SafeText(text)
    return SafeText(_outside_emoji(text, _marks()))


def sanitize_line(text: str, limit: int = LONGEST_LINE) -> SafeText:
    """Sanitize a name, a title, an ID or a file name to one line of at most `limit` code points."""
    shown = text[:limit]
    line = _without_excess(sanitize(shown).translate(_LINE_MARKS))
    return SafeText(line if shown == text else line[: max(limit - 1, 0)] + "…")


def sanitize_copy(text: str) -> str:
    """Sanitize shown text for the clipboard: remove hidden characters."""
    text = normalize_newlines(text)
    return text if _PLAIN.fullmatch(text) else _outside_emoji(text, _copies())


def _outside_emoji(text: str, table: dict[int, str]) -> str:
    """Translate the text, except whole emoji."""
    if not _JOINING.search(text):
        return text.translate(table)
    parts = []
    position = 0
    for emoji in _EMOJI.finditer(text):
        parts += [text[position : emoji.start()].translate(table), emoji[0]]
        position = emoji.end()
    return "".join([*parts, text[position:].translate(table)])


def _without_excess(text: str) -> str:
    """Drop combining marks that exceed the maximum for one base character."""
    if text.isascii():
        return text
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)
