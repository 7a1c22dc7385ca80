"""The body of a message as lines: the exact text, wrapped only where the screen asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.render.json_layout import laid_out
from viewer.render.line import cells, plain_line, wrap
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Style


def body_lines(body: str, width: int, style: Style, *, json: bool = False, trim: bool = False) -> Iterator[SafeText]:
    """Lines for a gutter: `width` cells wide where lines must fit, as long as they are elsewhere.

    A newline at the end is not shown as an empty line; nor one at the beginning, where it is layout (`trim`)."""
    text = sanitize(normalize_newlines(body).removesuffix("\n"))
    if trim:
        text = SafeText(text.removeprefix("\n"))
    if json and style.wrapped and cells(text) > width:
        text = laid_out(text) or text
    for line in text.split("\n") if text else []:
        ready = plain_line(style.spell(SafeText(line)))
        if style.wrapped:
            yield from wrap(ready, width)
        else:
            yield ready
