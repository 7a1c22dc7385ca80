"""Markdown headings, emphasis, lists and code as spans: the text itself is never changed."""

from __future__ import annotations

import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.render.style import StyleRole

LARGEST = 200_000
"""Longer texts are not styled."""

_FENCE = lazy_regex(r"^ {0,3}(```+|~~~+)[^\n]*$", re.MULTILINE)
_HEADING = lazy_regex(r"^ {0,3}#{1,6} [^\n]*$", re.MULTILINE)
_BULLET = lazy_regex(r"^ {0,12}([-*+]|\d{1,4}[.)])(?= )", re.MULTILINE)
_INLINE = lazy_regex(
    r"`[^`\n]{1,400}`|\*\*(?=\S)[^*\n]{1,400}(?<=\S)\*\*|(?<![\w*])\*(?=\S)[^*\n]{1,400}(?<=\S)\*(?![\w*])"
)


class Styled(Struct, frozen=True, gc=False):
    """A span of text with a style role."""

    start: int
    end: int
    look: StyleRole


def markdown_spans(text: str) -> list[Styled]:
    """The spans in order, without overlaps."""
    if len(text) > LARGEST:
        return []
    spans: list[Styled] = []
    at = 0
    for start, end in _fenced(text):
        spans += _outside_code(text, at, start)
        spans.append(Styled(start, end, StyleRole.CODE))
        at = end
    return spans + _outside_code(text, at, len(text))


def _fenced(text: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1][:3]):
            blocks.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        blocks.append((opened.start(), len(text)))
    return blocks


def _outside_code(text: str, start: int, end: int) -> list[Styled]:
    found = [Styled(*match.span(), StyleRole.HEADING) for match in _HEADING.finditer(text, start, end)]
    found += [Styled(*match.span(1), StyleRole.BULLET) for match in _BULLET.finditer(text, start, end)]
    found += [Styled(*match.span(), _look(match[0])) for match in _INLINE.finditer(text, start, end)]
    return _apart(sorted(found, key=lambda span: (span.start, -span.end)))


def _look(text: str) -> StyleRole:
    if text.startswith("`"):
        return StyleRole.CODE
    return StyleRole.STRONG if text.startswith("**") else StyleRole.EMPHASIS


def _apart(spans: list[Styled]) -> list[Styled]:
    kept: list[Styled] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


_JSON_TOKEN = lazy_regex(r'("(?:[^"\\\n]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b')


def json_spans(text: str) -> list[Styled]:
    """The same for JSON: keys, strings, numbers and words."""
    return [_json_span(match) for match in _JSON_TOKEN.finditer(text)] if len(text) <= LARGEST else []


def _json_span(match: re.Match[str]) -> Styled:
    if match[1]:
        return Styled(match.start(1), match.end(1), StyleRole.JSON_KEY if match[2] else StyleRole.JSON_TEXT)
    return Styled(
        match.start(), match.end(), StyleRole.JSON_NUMBER if match[0][0] in "-0123456789" else StyleRole.JSON_WORD
    )
