"""Plain text export: the output of `show`, under a line that names the view."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.projection import Projection
from viewer.render.conversation import conversation_lines
from viewer.render.exports.view_words import badge, view_sentence
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Style

_WIDTH = 80


def plain_text(projection: Projection, title: str) -> Iterator[str]:
    """Yield the lines of the export."""
    audience = projection.audience
    yield f"{badge(audience)} view of {sanitize_line(title)}. {view_sentence(audience)}\n\n"
    for line in conversation_lines(projection, _WIDTH, Style()):
        yield f"{line}\n"
