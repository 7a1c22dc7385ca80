"""Welcome card, shown at the first start: the most important keys. Any key closes it and then performs its action."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.dialogs.overlay import Overlay
from viewer.tui.keys import ACTIONS, Action, by_id
from viewer.tui.panes.columns import fitted
from viewer.tui.terminal.paint import Painter

_ROWS: tuple[tuple[tuple[tuple[str, ...], str], ...], ...] = (
    ((("line_down", "line_up"), "scroll"), (("search", "next_match"), "find, next")),
    ((("next_message", "previous_message"), "message"), (("next_error",), "next problem")),
    ((("debug",), "debug view: thoughts, calls, system messages"),),
    ((("open",), "open a card"), (("next_pane",), "next pane")),
    ((("palette",), "all commands"), (("help",), "all keys")),
)
_KEYS = (9, 9)
"""The widths of the key columns on both sides."""
_LEFT = 18
"""The width of the descriptions on the left side."""
_CLOSING = frozenset({"enter", "space", "escape", "q", "ctrl+q", "ctrl+c"})
"""Keys that only close the card."""


def welcome_lines(actions: Sequence[Action], width: int, style: Style) -> list[Line]:
    """Return the lines of the card."""
    shows = by_id("debug", actions).shown_key
    continues = "Any key continues"
    return [
        (),
        _words("You see this conversation as its user saw it.", style),
        (),
        *(_row(row, actions, style) for row in _ROWS),
        (),
        _words(f"Nothing hidden is shown until you press {shows}.", style),
        (Part(trusted(" " * max(width - len(continues) - 1, 0))), Part(trusted(continues), StyleRole.QUIET)),
    ]


def _words(sentence: str, style: Style) -> Line:
    return (Part(trusted("  ")), Part(style.words(sentence), StyleRole.STRONG))


def _row(row: tuple[tuple[tuple[str, ...], str], ...], actions: Sequence[Action], style: Style) -> Line:
    parts = [Part(trusted("  "))]
    for place, (ids, words) in enumerate(row):
        keys = style.words(" ".join(by_id(id, actions).shown_key for id in ids))
        parts.append(Part(fitted(keys, _KEYS[place], style), StyleRole.FOOTER_KEY))
        shown = style.words(words)
        parts.append(Part(fitted(shown, _LEFT, style) if place < len(row) - 1 else shown))
    return tuple(parts)


class WelcomeScreen(Overlay[None]):
    """A card over the first file that is opened."""

    MOST_WIDE = 64

    def __init__(self, painter: Painter, printing: Style | None = None, actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__(painter, printing)
        self._actions = actions

    def fill(self, width: int) -> None:
        lines = welcome_lines(self._actions, width, self.printing)
        self.caption("Welcome to ocmlview", "")
        self.list.styles.height = len(lines)
        self.list.show(len(lines), lambda row, _: lines[row])

    def on_key(self, event: events.Key) -> None:
        """Close the card. A key that also has an action in the view then performs that action, because the card has
        just named it."""
        event.stop().prevent_default()
        self.dismiss(None)
        if event.key not in _CLOSING:
            self.app.post_message(events.Key(event.key, event.character))

    def on_click(self, event: events.Click) -> None:
        """Close the card after a click."""
        event.stop()
        self.dismiss(None)
