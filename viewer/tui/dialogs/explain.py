"""Explanation of a problem code: what it means, and how to fix it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from viewer.model.diagnostic import Rule
from viewer.render.style import Line, Part, Style, StyleRole
from viewer.render.width import wrap
from viewer.tui.dialogs.overlay import Overlay
from viewer.tui.terminal.paint import Painter


class ExplainScreen(Overlay[None]):
    """A box with the sentences of a rule, which do not fit in the status row."""

    MOST_WIDE = 76
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,question_mark", "close", show=False)]

    def __init__(self, painter: Painter, printing: Style, rule: Rule, *, is_safe: bool) -> None:
        """With `is_safe`, leave out the title, which names parts of the format."""
        super().__init__(painter, printing)
        first = rule.safe if is_safe else rule.title
        self._code = rule.code
        self._parts = (
            Part(printing.words(first), StyleRole.STRONG),
            Part(printing.words(rule.advice), StyleRole.PLAIN),
            Part(printing.words(rule.section), StyleRole.QUIET),
        )

    def fill(self, width: int) -> None:
        rows = (Part(row, part.look) for part in self._parts for row in wrap(part.text, max(width - 2, 1)))
        lines: list[Line] = [(Part(self.printing.words(" ")), row) for row in rows]
        self.caption(self._code, "esc Close")
        self.list.styles.height = len(lines)
        self.list.show(len(lines), lambda row, _: lines[row])

    def action_close(self) -> None:
        """Return to the transcript."""
        self.dismiss(None)
