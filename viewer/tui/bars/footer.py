"""Footer: the most important keys of the view that fit. A click runs the action of a key."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.render.style import Style, StyleRole
from viewer.tui.bars.bar import Bar, Spot, apart, spot, width_of
from viewer.tui.bars.footer_keys import FooterItem, FooterView, footer_actions, footer_always
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter


class KeyFooter(Bar):
    """One line of keys and words. Entries are dropped from its end; the keys of commands and help always stay."""

    def __init__(
        self,
        painter: Painter,
        printing: Style | None = None,
        *,
        actions: Sequence[Action] = ACTIONS,
        id: str | None = "footer",
    ) -> None:
        super().__init__(painter, printing, id=id)
        self._actions = actions
        self._view = FooterView.SAFE

    def show(self, view: FooterView) -> None:
        """Show the keys of a view."""
        if view is not self._view:
            self._view = view
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The keys that fit."""
        items, always = footer_actions(self._view, width, self._actions), footer_always(self._actions)
        right = [*_spots(always), spot(" ")]
        while items and width_of(_spots(items)) + width_of(right) > width:
            items.pop()
        if not items and width_of(right) > width:
            right = [*_spots(always, labels=False), spot(" ")]
        return apart(_spots(items), right, width)


def _spots(items: Sequence[FooterItem], *, labels: bool = True) -> list[Spot]:
    spots: list[Spot] = []
    for item in items:
        spots.append(spot("  " if spots else " "))
        for index, (key, action) in enumerate(item.keys):
            spots += [spot(" ", StyleRole.FOOTER_TEXT)] if index else []
            spots.append(spot(key, StyleRole.FOOTER_KEY, action))
        label = f" {item.label}" if labels else ""
        spots.append(spot(label, StyleRole.FOOTER_TEXT, item.keys[0][1] if len(item.keys) < 3 else ""))
    return spots
