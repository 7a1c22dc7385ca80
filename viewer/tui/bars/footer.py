"""Footer: the most important keys that fit. Clicking a key runs its action."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from viewer.render.style import Style
from viewer.tui.bars.bar import Bar
from viewer.tui.bars.footer_keys import FooterView, footer_spots
from viewer.tui.bars.spots import Spot
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter


class KeyFooter(Bar):
    """One line of keys with their labels. If space is short, entries at the end are dropped, but never those for
    commands and help."""

    def __init__(
        self,
        painter: Painter,
        printing: Style | None = None,
        *,
        actions: Sequence[Action] = ACTIONS,
        has_back: Callable[[], bool] = lambda: False,
        id: str | None = "footer",
    ) -> None:
        """`has_back` returns True if leaving the transcript returns to the file list or the merged view."""
        super().__init__(painter, printing, id=id)
        self._actions = actions
        self._view = FooterView.SAFE
        self._has_back = has_back

    def show(self, view: FooterView) -> None:
        """Show the keys of a view."""
        if view is not self._view:
            self._view = view
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """Return the keys that fit."""
        return footer_spots(self._view, width, self._actions, has_back=self._has_back())
