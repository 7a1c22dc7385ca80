"""Rules across the page, and the lines at the head of a transcript."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.values import Boundary
from viewer.formats import FORMATS
from viewer.render.line import cells, cut, wrap
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted

TITLE_WIDTH = 60
"""Columns of the title of a transcript."""


def rule(words: SafeText, aside: SafeText, width: int, style: Style, *, heavy: bool = False) -> Line:
    """A rule such as `── turn 2 ───────── 10:02:41 ──`."""
    stroke = style.signs.heavy if heavy else style.signs.rule
    if style.wrapped:
        words = cut(words, max(width - 8, 8), trusted(style.signs.ellipsis))
    right = f" {aside} {stroke * 2}" if aside else ""
    filling = max(width - cells(words) - 4 - cells(right), 2)
    return (
        Part(trusted(stroke * 2 + " "), StyleRole.RULE),
        Part(words, StyleRole.STRONG if heavy else StyleRole.QUIET),
        Part(trusted(f" {stroke * filling}{right}"), StyleRole.RULE),
    )


def boundary_words(boundary: Boundary) -> list[str]:
    """Number, format, model and title of the transcript that begins. Not yet safe for a terminal."""
    transcript = boundary.transcript
    number = f"transcript {transcript.number}" + (f" of {boundary.count}" if boundary.count > 1 else "")
    title = str(cut(sanitize_line(boundary.title), TITLE_WIDTH, trusted("…")))
    return [word for word in (number, FORMATS.title(transcript.dialect), transcript.model, title) if word]


def boundary_lines(boundary: Boundary, width: int, style: Style) -> Iterator[Line]:
    """The first line of a transcript, and its header if revealed."""
    words = style.name(f" {style.signs.dot} ".join(boundary_words(boundary)))
    yield rule(words, trusted(""), width, style, heavy=True)
    for line in outline(boundary.transcript.header or {}, 0):
        text = style.name(line)
        for row in wrap(text, width) if style.wrapped else [text]:
            yield (Part(row, StyleRole.QUIET),)


def outline(value: object, depth: int) -> Iterator[str]:
    """A document header as indented lines."""
    if isinstance(value, dict):
        pairs = [(f"{key}:", inner) for key, inner in value.items()]
    elif isinstance(value, list):
        pairs = [("-", inner) for inner in value]
    else:
        yield f"{'  ' * depth}{value}"
        return
    for label, inner in pairs:
        if isinstance(inner, dict | list):
            yield f"{'  ' * depth}{label}"
            yield from outline(inner, depth + 1)
        else:
            yield f"{'  ' * depth}{label} {inner}"
