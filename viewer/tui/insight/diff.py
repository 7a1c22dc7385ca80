"""Diff screen: compare this transcript with another one, in one column or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.insight.align import Row
from viewer.insight.comparison import Comparison, RowKind, Totals
from viewer.model.visibility import Audience
from viewer.reading.format import ReadOptions
from viewer.render.insight.diff import (
    LEAST_FOR_SIDES,
    Drawing,
    drawing_of,
    elision_line,
    pair_cells,
    row_lines,
    summary_words,
    with_context,
)
from viewer.render.number_format import counted
from viewer.render.style import Line, Style
from viewer.tui.insight.boxes import bottom, inside, top
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter

MOST_ROWS = 2000
"""The maximum number of rows to lay out. `ocmlview diff` prints all rows."""


class DiffScreen(WorkScreen):
    """Diff screen. `e` and `E` go to the next and previous change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "change(1)", show=False),
        Binding("E", "change(-1)", show=False),
        Binding("equals_sign", "toggle_sides", show=False),
        Binding("w", "toggle_lines", show=False),
    ]
    KEYS: ClassVar[Sequence[tuple[str, str]]] = (("e E", "Change"), ("=", "Layout"), ("w", "Lines"), ("esc", "Back"))

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        names: tuple[str, str],
        formats: tuple[str | None, str | None],
        reading: ReadOptions | None,
        audience: Audience,
        *,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        """For an end user, read and compare only the shown messages of both sides."""
        level = "safe" if audience.is_safe else "debug"
        super().__init__(painter, printing, f"{names[0]} ↔ {names[1]}", level, actions=actions)
        self._names, self._formats, self._reading = names, formats, reading
        self._audience = Audience(strict=True, sealed=audience.sealed) if audience.is_safe else audience
        self._comparison: Comparison | None = None
        self._totals: Totals | None = None
        self._has_sides = True
        self._by_lines = False
        self._starts: list[int] = []
        """The line where each change starts."""
        self._at = 0

    def compute(self) -> None:
        a, b = (
            self._project(self.read(name, format, self._reading, self._audience))
            for name, format in zip(self._names, self._formats, strict=True)
        )
        comparison = Comparison(a, b, work=self.check_open)
        self._totals = comparison.totals()
        self._comparison = comparison

    def _project(self, document: Document) -> Projection:
        return document.project(self._audience, withholds=False)

    def lay_out(self) -> None:
        comparison = self._comparison
        if comparison is None or self._totals is None:
            self.show_lines([])
            return
        rows = [*with_context(comparison, comparison.rows)] if self._totals.differ else []
        has_sides = self._has_sides and self.size.width >= LEAST_FOR_SIDES
        drawing = replace(drawing_of(comparison, self.printing, self.room), by_lines=self._by_lines)
        self._starts = []
        lines = self._sides(comparison, rows, drawing) if has_sides else self._column(comparison, rows, drawing)
        self._at = min(self._at, max(len(self._starts) - 1, 0))
        self.show_lines(lines, self._starts[self._at] if self._starts else 0)

    def _column(self, comparison: Comparison, rows: Sequence[Row | int], drawing: Drawing) -> list[Line]:
        lines: list[Line] = []
        for row in rows[:MOST_ROWS]:
            if isinstance(row, int):
                lines.append(elision_line(row, drawing))
                continue
            self._note_start(comparison, row, len(lines))
            lines += row_lines(comparison, row, drawing)
        return lines

    def _sides(self, comparison: Comparison, rows: Sequence[Row | int], drawing: Drawing) -> list[Line]:
        style, left = self.printing, self.room // 2
        right = self.room - left
        names = [style.name(f"{side} {name}") for side, name in zip("AB", self._names, strict=True)]
        notes = [counted(len(side), "message") for side in comparison.sides]
        heads = zip(names, notes, (left, right), (True, False), strict=True)
        first, second = (top(name, note, width, style, heavy=heavy) for name, note, width, heavy in heads)
        lines: list[Line] = [(*first, *second)]
        for row in rows[:MOST_ROWS]:
            if isinstance(row, int):
                pairs = [(elision_line(row, drawing),) * 2]
            else:
                self._note_start(comparison, row, len(lines))
                pairs = [*pair_cells(comparison, row, drawing, left - 3)]
            for one, other in pairs:
                cell = inside(one, left, style, heavy=True), inside(other, right, style, heavy=False)
                lines.append((*cell[0], *cell[1]))
        lines.append((*bottom("", left, style, heavy=True), *bottom("", right, style, heavy=False)))
        return lines

    def _note_start(self, comparison: Comparison, row: Row, line: int) -> None:
        if comparison.kind(row) is not RowKind.SAME:
            self._starts.append(line)

    def summary(self) -> str:
        if self._totals is None:
            return ""
        if not self._totals.differ:
            return f"Diff · {self._totals.same:,} same, no difference"
        return f"Diff {self._at + 1} of {len(self._starts)} · {summary_words(self._totals)}"

    def action_change(self, step: int) -> None:
        """Go to the next or previous change."""
        if self._starts:
            self._at = max(0, min(self._at + step, len(self._starts) - 1))
            self.show_lines(self.lines, self._starts[self._at])

    def action_toggle_sides(self) -> None:
        """Switch between one column and two."""
        self._has_sides = not self._has_sides
        self.draw()

    def action_toggle_lines(self) -> None:
        """Switch between changed words and changed lines."""
        self._by_lines = not self._by_lines
        self.draw()
