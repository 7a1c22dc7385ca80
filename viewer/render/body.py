"""Body text to lines: the exact text, wrapped only for the screen."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.render.json_layout import laid_out
from viewer.render.line import cells, plain_line, wrap
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Style


def body_lines(body: str, width: int, style: Style, *, json: bool = False, trim: bool = False) -> Iterator[SafeText]:
    """Lines to print behind a gutter: `width` cells wide if wrapped, otherwise of any length.

    A trailing newline does not show as an empty line. With `trim`, a leading one is layout and does not show either."""
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
