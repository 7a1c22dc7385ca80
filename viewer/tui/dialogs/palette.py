"""Palette: a search over all actions and commands; the chosen one runs on the screen below."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on

from viewer.render.sanitize import sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.tui.dialogs.overlay import Overlay
from viewer.tui.palette import Entry, grouped, matching
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

MOST_ROWS = 16
"""The maximum number of rows of the list."""
LONGEST = 80
"""The maximum length of a search, in characters."""
NARROW = 100
_STEPS = {"down": 1, "up": -1, "ctrl+n": 1, "tab": 1, "shift+tab": -1, "pagedown": 10, "pageup": -10}


class PaletteScreen(Overlay[Entry | None]):
    """Palette; returns the chosen entry, or None. Typed keys edit the search."""

    MOST_WIDE = 60
    has_head = True

    def __init__(self, painter: Painter, printing: Style, entries: Sequence[Entry], recent: Sequence[str]) -> None:
        super().__init__(painter, printing)
        self._entries = entries
        self._recent = recent
        self._typed = ""
        self._rows: list[Entry | str] = []

    @property
    def box_width(self) -> int:
        width = self.app.size.width
        return min(self.MOST_WIDE, width if width < 40 else width * 4 // 5) if width < NARROW else self.MOST_WIDE

    def fill(self, width: int) -> None:
        found = matching(self._entries, self._typed)
        self._rows = [*found] if self._typed else grouped(self._entries, self._recent)
        self.caption("Commands", f"{len(found)} of {len(self._entries)}")
        typed = self.printing.spell(sanitize_line(self._typed))
        self.head.show(
            lambda _: [
                (
                    Part(trusted(" > ")),
                    Part(typed, StyleRole.STRONG),
                    Part(trusted("▏" if not self.printing.ascii else "_")),
                )
            ]
        )
        self.list.styles.height = max(1, min(len(self._rows), MOST_ROWS, self.app.size.height - 6))
        first = next((row for row, entry in enumerate(self._rows) if isinstance(entry, Entry)), -1)
        if self._rows:
            self.list.show(len(self._rows), self._line, first)
            self.call_after_refresh(self._show_heading)
        else:
            self.list.show(1, lambda row, _: (Part(trusted("  No command contains these words."), StyleRole.QUIET),))

    def _show_heading(self) -> None:
        """Scroll so that the heading above the first entry is also visible."""
        if self.list.cursor <= 1:
            self.list.scroll_home(animate=False, force=True)

    def _line(self, row: int, width: int) -> Line:
        entry, style = self._rows[row], self.printing
        if isinstance(entry, str):
            return (Part(trusted(f"  {entry}"), StyleRole.HEADING),)
        bar = (">" if style.ascii else "▌") if row == self.list.cursor else " "
        shown = style.name(entry.shown)
        room = max(width - cells(shown) - 4, 1)
        return (
            Part(trusted(f"{bar} "), StyleRole.FOCUS),
            Part(fitted(style.name(entry.title), room, style)),
            Part(trusted(" ")),
            Part(shown, StyleRole.FOOTER_KEY),
            Part(trusted(" ")),
        )

    def on_key(self, event: events.Key) -> None:
        """Edit the search, move the cursor, choose an entry, or close the palette."""
        event.stop().prevent_default()
        key = event.key
        if key == "escape":
            self.dismiss(None)
        elif key == "enter":
            self._choose(self.list.cursor)
        elif key in _STEPS:
            self._move(_STEPS[key])
        elif key in ("home", "end"):
            self._move(-len(self._rows) if key == "home" else len(self._rows))
        elif key in ("backspace", "ctrl+h"):
            self._type(self._typed[:-1])
        elif key in ("ctrl+u", "ctrl+w"):
            self._type("" if key == "ctrl+u" else self._typed.rstrip().rpartition(" ")[0])
        elif event.is_printable and event.character is not None:
            self._type(self._typed + event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Add pasted text to the search."""
        event.stop()
        self._type(self._typed + sanitize_line(event.text, LONGEST))

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._choose(event.row)

    def on_click(self, event: events.Click) -> None:
        """Close the box on a click outside it."""
        if event.widget is self:
            event.stop()
            self.dismiss(None)

    def _type(self, typed: str) -> None:
        self._typed = typed[:LONGEST]
        self.on_resize()

    def _move(self, step: int) -> None:
        """Move by this many rows, skipping headings, without wrapping around."""
        row, last, sign = self.list.cursor, len(self._rows) - 1, 1 if step > 0 else -1
        target = max(0, min(row + step, last))
        while 0 <= target <= last and isinstance(self._rows[target], str):
            target += sign
        if 0 <= target <= last:
            self.list.move_to(target)
        elif row > 0:
            self.list.scroll_home(animate=False, force=True)

    def _choose(self, row: int) -> None:
        entry = self._rows[row] if 0 <= row < len(self._rows) else None
        if isinstance(entry, Entry):
            self.dismiss(entry)
