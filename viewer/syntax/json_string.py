"""JSON strings to text, whatever is wrong with them."""

from __future__ import annotations

import json
import re

from viewer.lazy import lazy_regex

OPENING_QUOTES = ('"', "“", "”")
_DECODER = json.JSONDecoder(strict=False)
_SURROGATE = lazy_regex("[\ud800-\udfff]")
_ESCAPES = lazy_regex(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def string_body(data: bytes) -> str:
    """The text of a JSON string with its quotes; the closing one may be missing, the opening one curly.

    An escape that JSON does not have stays as it stands; half a surrogate pair is U+FFFD."""
    text = string_units(data)
    return without_halves(text) if b"\\" in data else text


def string_units(data: bytes) -> str:
    """The same with each half of a surrogate pair as it is: the other half may be in the next string."""
    text = data.decode("utf-8", "replace")
    if text.startswith(OPENING_QUOTES):
        text = text[1:]
    if _is_closed(text):
        text = text[:-1]
    return _decode_units(text)


def without_halves(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair."""
    return _SURROGATE.sub("�", text)


def decode_body(text: str) -> str:
    """The text between the quotes with its escapes undone."""
    return without_halves(_decode_units(text)) if "\\" in text else text


def _decode_units(text: str) -> str:
    if "\\" not in text:
        return text
    decoded = _strict_units(text)
    return _ESCAPES.sub(_undo, text) if decoded is None else decoded


def strict_body(text: str) -> str | None:
    """The same where every escape is one of JSON's; raw control characters are let through. Else None."""
    decoded = _strict_units(text)
    return None if decoded is None else without_halves(decoded)


def _strict_units(text: str) -> str | None:
    try:
        decoded, end = _DECODER.raw_decode(f'"{text}"')
    except ValueError:
        return None
    return decoded if end == len(text) + 2 else None


def opening_length(raw: bytes) -> int:
    """The length of the opening quote, which may be a curly one."""
    return next((len(quote) for quote in map(str.encode, OPENING_QUOTES) if raw.startswith(quote)), 0)


def _is_closed(text: str) -> bool:
    """Whether the last character is a quote that no backslash escapes."""
    if not text.endswith('"'):
        return False
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _undo(escape: re.Match[str]) -> str:
    source = escape.group()
    if len(source) > 2:
        return _strict_units(source) or source
    return _SHORT.get(source[1], source)
