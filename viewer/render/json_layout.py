"""Lay out JSON on several lines: every token stays as written, only whitespace is added."""

from __future__ import annotations

import re

from viewer.cache import lazy_regex
from viewer.render.sanitize import SafeText

LARGEST = 1_000_000
DEEPEST = 200
_INDENT = "  "
_TOKEN = lazy_regex(r'\s*(?:("(?:[^"\\]|\\.)*")|([\[{])|([\]}])|([,:])|([^\s"\[\]{},:]+))', re.DOTALL)


def laid_out(text: SafeText, *, is_head: bool = False) -> SafeText | None:
    """The same tokens, one entry per line; None if the text does not look like one JSON value. A head may end anywhere:
    a partial token at its end stays as it is."""
    if len(text) > LARGEST or text.lstrip()[:1] not in ("{", "["):
        return None
    out: list[str] = []
    closers: list[str] = []
    position = 0
    before = ""
    while match := _TOKEN.match(text, position):
        position = match.end()
        token = match[0].strip()
        if before and not closers:
            return None  # something follows the value
        if match[3] and (not closers or closers.pop() != token):
            return None
        out.append(_gap(before, token, len(closers)) + token)
        if match[2]:
            closers.append("]" if token == "[" else "}")
            if len(closers) > DEEPEST:
                return None
        before = token
    if is_head:
        out.append(text[position:].lstrip())
    elif closers or text[position:].strip():
        return None
    return SafeText("".join(out))


def _gap(before: str, token: str, depth: int) -> str:
    """The whitespace between two tokens."""
    if not before or token in (",", ":"):
        return ""
    if before == ":":
        return " "
    if before in ("[", "{") and token in ("]", "}"):
        return ""
    if before in ("[", "{", ",") or token in ("]", "}"):
        return "\n" + _INDENT * depth
    return " "


def origins(laid: str, source: str) -> list[int]:
    """The source offset of each layout character, and finally the length of the source."""
    found: list[int] = []
    at = 0
    for character in laid:
        while at < len(source) and source[at] != character and source[at].isspace() and not character.isspace():
            at += 1
        found.append(at)
        if at < len(source) and source[at] == character:
            at += 1
    found.append(len(source))
    return found
