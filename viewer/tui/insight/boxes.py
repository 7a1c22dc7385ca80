"""Boxes: frames around lines, with a title and notes in their edges."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut

_HEAVY, _LIGHT, _ASCII = "┏━┓┃┗┛", "╭─╮│╰╯", "+-+|++"


def top(title: SafeText, note: str, width: int, style: Style, *, heavy: bool) -> Line:
    """Return the upper edge, with the title at the left and a note at the right."""
    signs = _signs(style, heavy)
    left, rule, right = signs[0], signs[1], signs[2]
    after = f" {note} {rule}" if note else ""
    mark = (">" if style.ascii else "▸") if heavy else ""
    shown = cut(SafeText(mark + title), max(width - 5 - len(after), 1), style.words("…"))
    filled = max(width - 5 - cells(shown) - len(after), 0)
    return (
        Part(SafeText(f"{left}{rule} "), _look(heavy)),
        Part(shown, StyleRole.STRONG if heavy else StyleRole.PLAIN),
        Part(SafeText(f" {rule * filled}{after}{right}"), _look(heavy)),
    )


def bottom(note: str, width: int, style: Style, *, heavy: bool) -> Line:
    """Return the lower edge."""
    signs = _signs(style, heavy)
    rule, left, right = signs[1], signs[4], signs[5]
    after = f" {note} {rule}" if note else ""
    return (Part(trusted(f"{left}{rule * max(width - 2 - len(after), 0)}{after}{right}"), _look(heavy)),)


def inside(line: Line, width: int, style: Style, *, heavy: bool) -> Line:
    """Return a line between the left and right edges."""
    edge = Part(trusted(_signs(style, heavy)[3]), _look(heavy))
    room = max(width - 3 - sum(cells(part.text) for part in line), 0)
    return (edge, Part(trusted(" ")), *line, Part(trusted(" " * room)), edge)


def box(
    title: SafeText, note: str, lines: Sequence[Line], below: str, width: int, style: Style, *, heavy: bool
) -> list[Line]:
    """Return the lines in a frame."""
    middle = [inside(line, width, style, heavy=heavy) for line in lines]
    return [top(title, note, width, style, heavy=heavy), *middle, bottom(below, width, style, heavy=heavy)]


def _look(heavy: bool) -> StyleRole:
    return StyleRole.FOCUS if heavy else StyleRole.RULE


def _signs(style: Style, heavy: bool) -> str:
    return _ASCII if style.ascii else _HEAVY if heavy else _LIGHT
