"""Completion box above the prompt: up to six offers, each with a line of help. It avoids the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.tui.bars.not_selectable import NotSelectable
from viewer.tui.offer import Offer
from viewer.tui.panes.columns import fitted
from viewer.tui.terminal.paint import Painter

MOST = 6
"""The maximum number of completions shown."""
_BELOW = 2
"""The number of rows below the box, for the prompt and the footer."""


class CompletionBox(NotSelectable):
    """A box that is hidden (`display`) while there are no offers."""

    DEFAULT_CSS = """
    CompletionBox { layer: notices; dock: bottom; margin: 0 0 2 2; width: auto; height: auto; }
    CompletionBox.-at-top { dock: top; margin: 1 0 0 2; }
    """

    def __init__(self, painter: Painter, printing: Style, *, id: str | None = "completion") -> None:
        super().__init__(id=id)
        self.painter = painter
        self.printing = printing
        self.display = False
        self._offers: Sequence[Offer] = ()

    def show(self, offers: Sequence[Offer], kept_free: range = range(0)) -> None:
        """Show the first offers above the prompt, or at the top if the box then covers fewer of the screen lines in
        `kept_free`; hide the box if there are no offers."""
        self._offers = offers[:MOST]
        self.display = bool(self._offers)
        if self._offers:
            height = len(self._offers) + 2
            self.styles.width, self.styles.height = self._widths[0] + self._widths[1] + 4, height
            end = self.screen.size.height - _BELOW
            below, above = (set(kept_free).intersection(range(at, at + height)) for at in (end - height, 1))
            self.set_class(len(above) < len(below), "-at-top")
            self.refresh()

    @property
    def _widths(self) -> tuple[int, int]:
        """Return the widths of the offers (with a gap if any has help) and of their help."""
        names = max(cells(self.printing.name(offer.shown)) for offer in self._offers)
        helps = max(cells(self.printing.words(offer.help)) for offer in self._offers)
        return names + (2 if helps else 0), helps

    def render_line(self, y: int) -> Strip:
        """Draw one line of the box."""
        width = self.size.width
        return self.painter.strip(self._line(y, width), width, self.rich_style)

    def _line(self, y: int, width: int) -> Line:
        if not self._offers:
            return ()
        left, stroke, right, down, other = "+-+|+" if self.printing.ascii else "╭─╮│╰"
        last = "+" if self.printing.ascii else "╯"
        if y == 0:
            return (Part(trusted(left + stroke * (width - 2) + right), StyleRole.RULE),)
        if y > len(self._offers):
            return (Part(trusted(other + stroke * (width - 2) + last), StyleRole.RULE),)
        offer, (names, helps) = self._offers[y - 1], self._widths
        return (
            Part(trusted(f"{down} "), StyleRole.RULE),
            Part(fitted(self.printing.name(offer.shown), names, self.printing), StyleRole.STRONG),
            Part(fitted(self.printing.words(offer.help), helps, self.printing), StyleRole.QUIET),
            Part(trusted(f" {down}"), StyleRole.RULE),
        )
