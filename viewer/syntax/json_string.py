"""Decode JSON strings to text, even if they are malformed."""

from __future__ import annotations

import json
import re

from viewer.cache import lazy_regex

OPENING_QUOTES = ('"', "“", "”")
_DECODER = json.JSONDecoder(strict=False)
_SURROGATE = lazy_regex("[\ud800-\udfff]")
_ESCAPES = lazy_regex(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def string_body(data: bytes) -> str:
    """Return the text of a JSON string. The bytes include its quotes, but the closing one may be missing, and the
    opening one may be curly.

    An escape that JSON does not define stays unchanged; a lone surrogate becomes U+FFFD."""
    text = string_units(data)
    return without_halves(text) if b"\\u" in data else text


def string_units(data: bytes) -> str:
    """Like `string_body`, but keep lone surrogates, because the other half may be in the next string."""
    text = data.decode("utf-8", "replace")
    if text.startswith(OPENING_QUOTES):
        text = text[1:]
    if _is_closed(text):
        text = text[:-1]
    return _decode_units(text)


def without_halves(text: str) -> str:
    """Replace each lone surrogate with U+FFFD."""
    return _SURROGATE.sub("�", text)


def decode_body(text: str) -> str:
    """Decode the escapes in the text between the quotes."""
    decoded = _decode_units(text)
    return without_halves(decoded) if "\\u" in text else decoded


def _decode_units(text: str) -> str:
    if "\\" not in text:
        return text
    decoded = _strict_units(text)
    return _ESCAPES.sub(_undo, text) if decoded is None else decoded


def strict_body(text: str) -> str | None:
    """Like `decode_body`, but return None if JSON does not define every escape. Raw control characters are allowed."""
    decoded = _strict_units(text)
    return None if decoded is None else without_halves(decoded) if "\\u" in text else decoded


def _strict_units(text: str) -> str | None:
    try:
        decoded, end = _DECODER.raw_decode(f'"{text}"')
    except ValueError:
        return None
    return decoded if end == len(text) + 2 else None


def opening_length(raw: bytes) -> int:
    """Return the length in bytes of the opening quote, which may be curly, or 0 if there is none."""
    return next((len(quote) for quote in map(str.encode, OPENING_QUOTES) if raw.startswith(quote)), 0)


def _is_closed(text: str) -> bool:
    """True if the last character is an unescaped quote."""
    if not text.endswith('"'):
        return False
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _undo(escape: re.Match[str]) -> str:
    source = escape.group()
    if len(source) > 2:
        return _strict_units(source) or source
    return _SHORT.get(source[1], source)
