"""Fast path for simple YAML: reads most document headers without a YAML library, and refuses anything else.

It accepts `key: value` lines in ASCII, mappings on indented lines, and values that are a few words, quoted text without
escapes, or lists and mappings of such values in brackets. A test verifies that the library reads such text in the same
way."""

from __future__ import annotations

import re

from msgspec import Struct

from viewer.cache import lazy_regex

DEEPEST = 8
"""The maximum nesting of mappings."""

_WORD = r"[A-Za-z0-9][A-Za-z0-9_./-]*"
_QUOTED = r"\"[^\"\\\n]*\"|'[^'\n]*'"
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_ITEM = rf"{_WORD}|{_QUOTED}"
_LIST = rf"\[(?:(?:{_ITEM})(?:, ?(?:{_ITEM}))*)?\]"
_PAIR = rf"{_KEY}: (?:{_ITEM})"
_MAPPING = rf"\{{{_PAIR}(?:, ?{_PAIR})*\}}"
_TEXT = rf" ({_WORD}(?: {_WORD})*)| ({_QUOTED})"
_SIMPLE_LINE = lazy_regex(rf"( *)({_KEY}):(?:{_TEXT})?")
_LINE = lazy_regex(rf"( *)({_KEY}):(?:{_TEXT}| ({_LIST})| ({_MAPPING}))?")
_ITEMS = lazy_regex(_ITEM)
_PAIRS = lazy_regex(rf"({_KEY}): ({_ITEM})")
_NOT_PLAIN = lazy_regex(rb"[^\n -~]")


class Plain(Struct, frozen=True):
    """A mapping and its span."""

    value: dict[str, object]
    start: int
    end: int


class _Level(Struct, frozen=True):
    """A mapping that may continue."""

    indent: int
    values: dict[str, object]


def read_plain(data: bytes) -> Plain | None:
    """Read a mapping. Return None if the text needs the full parser."""
    if _NOT_PLAIN.search(data):
        return None
    text = data.decode("ascii")
    for fence in ("\n---\n", "\n---"):
        if text.endswith(fence):
            text = text[: 1 - len(fence)]
            break
    at = len("---\n") if text.startswith("---\n") else 0
    start = -1
    values: dict[str, object] = {}
    levels = [_Level(0, values)]
    empty: str | None = None
    """The last key, if it has no value. Its mapping may begin on the next line."""
    for line in text[at:].split("\n"):
        at += len(line) + 1
        if not line or line.startswith("#"):
            continue
        start = at - len(line) - 1 if start < 0 else start
        match = _SIMPLE_LINE.fullmatch(line) or _LINE.fullmatch(line)
        if match is None or not _enter(levels, len(match[1]), empty) or match[2] in levels[-1].values:
            return None
        value = _value(match)
        if value is None:
            return None
        levels[-1].values[match[2]] = value
        empty = match[2] if match.end() == match.end(2) + 1 else None
    return Plain(values, start, len(text)) if values else None


def _enter(levels: list[_Level], indent: int, empty: str | None) -> bool:
    """Enter the mapping to which a line with this indent belongs. Return False if there is none."""
    if indent > levels[-1].indent:
        if empty is None or len(levels) == DEEPEST:
            return False
        inner: dict[str, object] = {}
        levels[-1].values[empty] = inner
        levels.append(_Level(indent, inner))
        return True
    while indent < levels[-1].indent:
        levels.pop()
    return indent == levels[-1].indent


def _value(match: re.Match[str]) -> object:
    """Return the value in a line, or None if a mapping in it repeats a key."""
    if match.lastindex == 6:
        pairs = [(name, _unquoted(item)) for name, item in _PAIRS.findall(match[6][1:-1])]
        return dict(pairs) if len(dict(pairs)) == len(pairs) else None
    if match.lastindex == 5:
        return [_unquoted(item) for item in _ITEMS.findall(match[5])]
    return _unquoted(match[3] or match[4] or "")


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') else text
