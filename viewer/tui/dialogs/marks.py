"""List of this view's marks, to choose one and go to its message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from viewer.document.projection import Projection
from viewer.render.blocks.inline import without_marks
from viewer.render.number_format import counted, one_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.dialogs.overlay import Overlay
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.list_keys import add_list_keys
from viewer.tui.panes.signs import kind_sign
from viewer.tui.terminal.paint import Painter

_BEGINNING = 200
"""How many characters of a message to read for its line."""
_NUMBER, _ROLE = 8, 12


class MarksScreen(Overlay[int | None]):
    """List of marks; returns the number of the chosen message, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l", "choose", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        projection: Projection,
        marks: Sequence[int],
        here: int,
        *,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        """`marks` are messages that the projection's audience sees; `here` is the message under the cursor."""
        super().__init__(painter, printing)
        add_list_keys(self._bindings, actions, "marks")
        self._projection = projection
        self._marks = marks
        self._here = here

    def fill(self, width: int) -> None:
        before = [place for place, mark in enumerate(self._marks) if mark <= self._here]
        cursor = self.list.cursor if self.list.cursor >= 0 else max(len(before) - 1, 0)
        self.caption("Marks", f"{counted(len(self._marks), 'mark')} {self.printing.signs.dot} enter Go")
        self.list.styles.height = max(1, min(len(self._marks), self.app.size.height - 5))
        self.list.show(len(self._marks), self._line, cursor)

    def _line(self, row: int, width: int) -> Line:
        number, style = self._marks[row], self.printing
        headline = self._projection.headline(number)
        bar = style.signs.gutter if row == self.list.cursor else " "
        words = without_marks(style.name(one_line(self._projection.beginning(number, _BEGINNING))))
        room = max(width - _NUMBER - _ROLE - 5, 1)
        return (
            Part(trusted(f"{bar} "), StyleRole.FOCUS),
            Part(fitted(trusted(f"#{number:,}"), _NUMBER, style), StyleRole.QUIET),
            Part(trusted(f"{kind_sign(headline).glyph(style)} ")),
            Part(fitted(style.name(headline.role), _ROLE, style), StyleRole.STRONG),
            Part(fitted(words, room, style)),
        )

    def action_move(self, rows: int) -> None:
        """Move by this many marks."""
        self.list.move_to(max(0, min(self.list.cursor + rows, len(self._marks) - 1)))

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self.list.size.height - 1))

    def action_choose(self) -> None:
        """Go to the mark under the cursor."""
        self.dismiss(self._marks[self.list.cursor])

    def action_back(self) -> None:
        """Close the list without a choice."""
        self.dismiss(None)

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self.dismiss(self._marks[event.row])
