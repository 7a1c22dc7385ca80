"""Title bar: the widget that draws the title line."""

from __future__ import annotations

from viewer.render.style import Style
from viewer.render.title import TitleFacts, title_parts
from viewer.tui.bars.bar import Bar
from viewer.tui.bars.spots import Spot
from viewer.tui.terminal.paint import Painter


class TitleBar(Bar):
    """One line that always ends with the badge of the level."""

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = "title") -> None:
        super().__init__(painter, printing, id=id)
        self.facts = TitleFacts()

    def show(self, facts: TitleFacts) -> None:
        """Replace the facts."""
        if facts != self.facts:
            self.facts = facts
            self.set_class(facts.debug, "-debug")
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        return [Spot(each.part, each.action) for each in title_parts(self.facts, width, self.printing)]
