"""The page that a document begins with, as the app will draw it, made before the app is loaded.

It is made of the app's own blocks from a projection, which need nothing of Textual: the same rule, the same text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.badge import BADGES, ROOMY, badge_room, state_room
from viewer.render.line import cells, cut
from viewer.render.page import BlockFacts, BlockMaker, RowProblems
from viewer.render.sanitize import SafeText
from viewer.render.style import ASCII, UNICODE, Line, Part, Style, StyleRole, trusted
from viewer.tui.settings.settings import Settings

NARROWEST, LOWEST = 60, 20
"""Smaller screens leave something out."""


def first_page(
    projection: Projection, name: str, size: tuple[int, int], style: Style, settings: Settings, is_whole: bool
) -> list[Line]:
    """The lines of the screen, all but the last ones; `is_whole` says that nothing follows what has been read."""
    width, height = size
    is_roomy = width >= ROOMY
    border: Line = (Part(trusted(style.signs.rule * width), StyleRole.RULE),)
    top = [_title(style.name(name), width, style), *([border] if is_roomy else [])]
    room = height - len(top) - (3 if is_roomy else 2)
    body = [_fitting(line, width, style) for line in islice(_lines(projection, width, style, settings, is_whole), room)]
    return [*top, *body, *[()] * (room - len(body)), border]


def _title(name: SafeText, width: int, style: Style) -> Line:
    """The name and the badge, each at its place."""
    room = max(width - state_room(width) - badge_room() - 1, 0)
    shown = cut(name, max(room - 2, 0), trusted(style.signs.ellipsis))
    words = BADGES[False].lstrip()
    gap = room - 1 - cells(shown) + badge_room() - len(words)
    return (
        Part(trusted(" ")),
        Part(shown, StyleRole.TITLE),
        Part(trusted(" " * gap)),
        Part(trusted(words), StyleRole.SAFE_BADGE),
    )


def _lines(projection: Projection, width: int, style: Style, settings: Settings, is_whole: bool) -> Iterator[Line]:
    """The conversation, without a count at its end that goes on counting."""
    rows = projection.rows()
    signs, text_width = ASCII if style.ascii else UNICODE, min(width - 1, settings.wrap or width)
    maker = BlockMaker(projection, rows, text_width, _facts(projection, rows, settings), signs, width >= ROOMY)
    count = len(rows)
    if count and not is_whole and rows.kind(count - 1) is RowKind.HIDDEN:
        count -= 1
    for row in range(count):
        yield from (line.parts for line in maker.make(row).lines)


def _facts(projection: Projection, rows: Rows, settings: Settings) -> BlockFacts:
    """What stands at the rows beside the text of messages."""
    problems = projection.problems(rows).extend(rows.settled_number)
    return BlockFacts(problems=RowProblems(rows, problems), markdown=settings.markdown)


def _fitting(line: Line, width: int, style: Style) -> Line:
    """No line is wider than the screen."""
    kept = []
    for part in line:
        text = cut(part.text, width, trusted(style.signs.ellipsis))
        width -= cells(text)
        kept.append(Part(text, part.look))
    return tuple(kept)
