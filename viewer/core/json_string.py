"""JSON strings to text, whatever is wrong with them."""

from __future__ import annotations

import json
import re

from viewer.core.patterns import rarely

OPENING_QUOTES = ('"', "“", "”")
_DECODER = json.JSONDecoder(strict=False)
_SURROGATE = rarely("[\ud800-\udfff]")
_ESCAPES = rarely(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def string_body(data: bytes) -> str:
    """The text of a JSON string with its quotes; the closing one may be missing, the opening one curly.

    An escape that JSON does not have stays as it stands; half a surrogate pair is U+FFFD."""
    text = data.decode("utf-8", "replace")
    if text.startswith(OPENING_QUOTES):
        text = text[1:]
    if _is_closed(text):
        text = text[:-1]
    return decode_body(text)


def decode_body(text: str) -> str:
    """The text between the quotes with its escapes undone."""
    if "\\" not in text:
        return text
    decoded = strict_body(text)
    return _ESCAPES.sub(_undo, text) if decoded is None else decoded


def strict_body(text: str) -> str | None:
    """The same where every escape is one of JSON's; raw control characters are let through. Else None."""
    try:
        decoded, end = _DECODER.raw_decode(f'"{text}"')
    except ValueError:
        return None
    return _SURROGATE.sub("�", decoded) if end == len(text) + 2 else None


def _is_closed(text: str) -> bool:
    """Whether the last character is a quote that no backslash escapes."""
    if not text.endswith('"'):
        return False
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _undo(escape: re.Match[str]) -> str:
    source = escape.group()
    if len(source) > 2:
        return strict_body(source) or source
    return _SHORT.get(source[1], source)
