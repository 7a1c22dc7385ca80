"""Scrollbar as a minimap: the viewport, errors, warnings, matches, bookmarks, and transcript boundaries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from math import ceil

from viewer.document.rows import RowOrder
from viewer.render.blocks.block import RowProblems
from viewer.render.style import UNICODE, Glyphs, Part, StyleRole, trusted

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}
_RANK = {StyleRole.ERROR: 3, StyleRole.WARNING: 2, StyleRole.MATCH: 1, StyleRole.BOOKMARK: 1}


class Minimap:
    """Marks by row, drawn as one cell per screen line."""

    def __init__(self, signs: Glyphs = UNICODE) -> None:
        self.signs = signs
        self._rows: list[int] = []
        self._looks: list[StyleRole] = []
        self._problems: RowProblems | None = None
        self._worst_at: dict[tuple[int, int], StyleRole | None] = {}
        """The most important style by line and height of the bar."""
        self._worst_of: tuple[int, ...] = ()
        """The state of the rows and problems for which the cached styles were found."""

    def show(self, marks: Iterable[tuple[int, StyleRole]], problems: RowProblems | None = None) -> None:
        """Show marks, given as pairs of row and style, and problems."""
        self._problems = problems
        self._worst_at.clear()
        ordered = sorted(marks, key=lambda mark: mark[0])
        self._rows = [row for row, _ in ordered]
        self._looks = [look for _, look in ordered]

    def measure(self, count: int) -> None:
        """Discard cached styles if anything has changed since the last frame. `count` is the number of rows."""
        state = count, *(self._problems.state if self._problems is not None else ())
        if state != self._worst_of:
            self._worst_of = state
            self._worst_at.clear()

    def row_at(self, y: int, height: int, count: int) -> int:
        """Return the row for a line of the bar."""
        return min(count - 1, y * count // max(1, height)) if count else 0

    def piece(self, y: int, height: int, top: int, count: int, seen: float, rows: RowOrder | None = None) -> Part:
        """Return one line of the bar. `rows` are the pane's rows, for transcript boundaries."""
        first, last = y * count / max(1, height), (y + 1) * count / max(1, height)
        if (y, height) not in self._worst_at:
            self._worst_at[y, height] = self._worst(first, last)
        look = self._worst_at[y, height]
        if look is not None:
            return Part(trusted(self._sign(look)), look)
        if rows is not None and self._has_boundary(rows, height, ceil(first), ceil(last)):
            return Part(trusted(self.signs.heavy), StyleRole.STRONG)
        inside = top <= last and first < top + max(1.0, seen * count)
        if count and inside and seen < 1:
            return Part(trusted(" "), StyleRole.THUMB)
        return Part(trusted(" "))

    def _has_boundary(self, rows: RowOrder, height: int, first: int, last: int) -> bool:
        """True if a transcript other than the first begins in these rows. If there are too many transcripts, none is
        marked."""
        if first >= last or last > len(rows) or not 1 < len(rows.shown_transcripts) <= height // 4:
            return False
        return rows.transcript(max(first - 1, 0)) != rows.transcript(last - 1)

    def _worst(self, first: float, last: float) -> StyleRole | None:
        start = bisect_left(self._rows, first)
        end = bisect_left(self._rows, last)
        if end - start > 64:
            end = start + 64
        found = self._looks[start:end]
        if self._problems is not None:
            worst = self._problems.worst(ceil(first), ceil(last) - 1)
            found += [_LOOKS[worst]] if worst else []
        return max(found, key=lambda look: _RANK.get(look, 0)) if found else None

    def _sign(self, look: StyleRole) -> str:
        if look in (StyleRole.ERROR, StyleRole.WARNING):
            return self.signs.error if look is StyleRole.ERROR else self.signs.warning
        if self.signs is not UNICODE:
            return "+"
        return "◆" if look is StyleRole.BOOKMARK else "•"
