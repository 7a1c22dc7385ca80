"""SVG export: a picture of the conversation as a wide terminal shows it, no taller than image viewers can display."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.segment import Segment
from rich.style import Style as Ink

from viewer.document.projection import Projection
from viewer.render.conversation import styled_lines
from viewer.render.exports.palette import INKS
from viewer.render.exports.svg import svg_pieces
from viewer.render.exports.view_words import badge, counts_words, revealed_names
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import LEVELS

WIDTH = 100
HIGHEST = 1000
"""The maximum number of lines. A note in the picture says that the rest is omitted."""
_BOLD = {StyleRole.USER, StyleRole.ASSISTANT, StyleRole.UNKNOWN, StyleRole.STRONG, StyleRole.ERROR, StyleRole.WARNING}
_INKS = {look: INKS[look.value] for look in StyleRole if look.value in INKS}


def svg_picture(projection: Projection, title: str) -> Iterator[str]:
    """Yield the picture in pieces. Some are empty, because the height is known only once all lines have been laid
    out."""
    head = _head(projection, title)
    yield ""
    lines = styled_lines(projection, WIDTH, Style(wrapped=True))
    shown: list[Line] = []
    for line in islice(lines, HIGHEST):
        shown.append(line)
        yield ""
    if next(lines, None) is not None:
        said = f"Truncated after {HIGHEST:,} lines. The other formats contain everything."
        shown += [(), (Part(trusted(said), StyleRole.WARNING),)]
    named = SafeText(f"{badge(projection.audience)} · {sanitize_line(title)}")
    yield from svg_pieces([_segments(line) for line in (*head, *shown)], WIDTH, named)


def _head(projection: Projection, title: str) -> list[Line]:
    """Return the level, the name, and the counts."""
    audience = projection.audience
    revealed = revealed_names(audience)
    said = f" reveals {', '.join(revealed)} " if revealed else " "
    counts = counts_words(projection.rows(), audience)
    mark = Part(trusted(f" {badge(audience)} "), LEVELS[audience.level.value])
    return [
        (
            mark,
            Part(trusted(said), StyleRole.ERROR),
            Part(sanitize_line(title, 60), StyleRole.STRONG),
            Part(trusted(f"  {counts}"), StyleRole.QUIET),
        ),
        (),
    ]


def _segments(line: Line) -> list[Segment]:
    return [Segment(part.text, _ink(part.look)) for part in line]


def _ink(look: StyleRole) -> Ink:
    if look in LEVELS.values():
        kind = look.value.removesuffix("-badge")
        return Ink(color=INKS[f"{kind}-ink"].dark, bgcolor=INKS[f"{kind}-page"].dark, bold=True)
    ink = _INKS.get(look, INKS["quiet" if look is StyleRole.RULE else "plain"])
    return Ink(color=ink.dark, bold=look in _BOLD)
