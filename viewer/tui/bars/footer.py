"""Footer: the most important keys of the view that fit. A click runs the action of a key."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.render.style import Style, StyleRole
from viewer.tui.bars.bar import ROOMY, Bar, Spot, apart, spot, width_of
from viewer.tui.bars.footer_keys import FooterItem, footer_actions, footer_always
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter

_GAP = 4
"""Cells between the keys of the view and those at the right end."""


class KeyFooter(Bar):
    """One line of keys and words."""

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
        self._debug = False
        self._instead: list[Spot] = []

    def show(self, debug: bool) -> None:
        """Show the keys of the safe or the debug view."""
        self._debug = debug
        self._instead = []
        self.refresh()

    def show_prefix(self, title: str, choices: Sequence[tuple[str, str, str]]) -> None:
        """Show what may follow a prefix key, each as key, word and action, until `show` is called."""
        self._instead = [spot(f" {title}  ", StyleRole.STRONG)]
        for key, word, action in choices:
            self._instead += [
                spot(key, StyleRole.FOOTER_KEY, action),
                spot(f" {word}  ", StyleRole.FOOTER_TEXT, action),
            ]
        self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The keys that fit, the most important ones first."""
        if self._instead:
            return self._instead
        roomy = width >= ROOMY
        items = list(footer_actions(self._debug, roomy, self._actions))
        rights = [footer_always(wide, self._actions) for wide in (True, False)]
        if roomy and _fits(items, rights[0], width):
            return _laid_out(items, rights[0], width)
        always = list(rights[1])
        while not _fits(items, always, width) and (items or always):
            _drop_least(items, always)
        return _laid_out(items, always, width)


def _drop_least(items: list[FooterItem], always: list[FooterItem]) -> None:
    """Remove the least important item, the last one of equals."""
    least = min(item.importance for item in (*items, *always))
    for row in (always, items):
        for item in reversed(row):
            if item.importance == least:
                row.remove(item)
                return


def _fits(items: Sequence[FooterItem], always: Sequence[FooterItem], width: int) -> bool:
    gap = _GAP if items and always else 0
    return width_of(_spots(items)) + width_of(_spots(always)) + gap + 1 <= width


def _laid_out(items: Sequence[FooterItem], always: Sequence[FooterItem], width: int) -> list[Spot]:
    return apart(_spots(items), [*_spots(always), spot(" ")], width)


def _spots(items: Sequence[FooterItem]) -> list[Spot]:
    spots: list[Spot] = []
    for item in items:
        spots.append(spot("  " if spots else " "))
        for index, (key, action) in enumerate(item.keys):
            spots += [spot(item.between, StyleRole.FOOTER_TEXT)] if index else []
            spots.append(spot(key, StyleRole.FOOTER_KEY, action))
        spots.append(spot(f" {item.label}", StyleRole.FOOTER_TEXT, item.keys[0][1] if len(item.keys) < 3 else ""))
    return spots
