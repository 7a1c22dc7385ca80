"""Message strip: one letter per message, with brackets around the focused one."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.head import letter_of, look_of
from viewer.render.style import Line, Part, Style, StyleRole, trusted


class Letter(Struct, frozen=True):
    """One message of the strip."""

    number: int
    part: Part


def letters_around(projection: Projection, rows: Rows, focus: int, room: int, style: Style) -> list[Letter]:
    """The messages around the focus that fit. Only the debug view includes hidden ones."""
    numbers = _shown_around(rows, focus, room) if projection.audience.is_safe else _all_around(rows, focus, room)
    return [Letter(number, _part(projection, number, focus, style)) for number in numbers]


def strip_line(letters: list[Letter], focus: int, *, titled: bool) -> Line:
    """Draw the letters."""
    parts: list[Part] = [Part(trusted(" STRIP  "), StyleRole.TITLE)] if titled else []
    for letter in letters:
        if letter.number == focus:
            parts += [Part(trusted("["), StyleRole.FOCUS), letter.part, Part(trusted("]"), StyleRole.FOCUS)]
        else:
            parts.append(letter.part)
    if titled and letters:
        parts.append(Part(trusted(f"   one cell per message, cursor on #{focus}"), StyleRole.QUIET))
    return tuple(parts)


def letter_at(letters: list[Letter], focus: int, x: int) -> int | None:
    """The message of the cell at an offset."""
    at = 0
    for letter in letters:
        size = 3 if letter.number == focus else 1
        if at <= x < at + size:
            return letter.number
        at += size
    return None


def _all_around(rows: Rows, focus: int, room: int) -> list[int]:
    last = rows.reach
    count = max(1, room - 2)
    first = max(1, min(focus - count // 2, last - count + 1))
    return list(range(first, min(last, first + count - 1) + 1))


def _shown_around(rows: Rows, focus: int, room: int) -> list[int]:
    """Rows outward from the focus, without hidden ones."""
    count = max(1, room - 2)
    if not len(rows):
        return []
    here = rows.row_of(focus)
    before = _messages(rows, range(here - 1, -1, -1), count)[::-1]
    after = _messages(rows, range(here, len(rows)), count)
    left = max(0, count // 2, count - len(after))
    kept = before[-left:] if left else []
    return [*kept, *after[: count - len(kept)]]


def _messages(rows: Rows, span: range, most: int) -> list[int]:
    found: list[int] = []
    for row in span:
        if len(found) == most:
            break
        if rows.kind(row) is RowKind.MESSAGE:
            found.append(rows.value(row))
    return found


def _part(projection: Projection, number: int, focus: int, style: Style) -> Part:
    headline = projection.headline(number)
    letter = letter_of(headline)
    if style.ascii and not letter.isascii():
        letter = "-"
    return Part(trusted(letter), StyleRole.STRONG if number == focus else look_of(headline))
