"""Lines of rendered Markdown in a printed conversation."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.render.blocks.block import Overlays, styled_row
from viewer.render.body import Rendering, drawn_text
from viewer.render.layout import lay_out, trimmed
from viewer.render.sanitize import normalize_newlines, sanitize
from viewer.render.style import Line, Style, StyleRole


def rendered_lines(body: str, width: int, style: Style, *, trim: bool) -> Iterator[Line]:
    """Yield the lines of a body with its Markdown rendered, to draw after a gutter."""
    text = style.spell(sanitize(normalize_newlines(body)))
    markdown = Rendering.ASCII_ROWS if style.ascii else Rendering.ROWS
    drawn = drawn_text(text, width, json=False, markdown=markdown, trim=trim)
    over = Overlays(*drawn.layers)
    for row in trimmed(lay_out(drawn.text, width), trim) if drawn.text else []:
        yield tuple(styled_row(row, StyleRole.SAID, over.over(row)))
