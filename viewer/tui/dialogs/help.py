"""Help screen: all keys by group, in two columns if there is room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, wrap
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.keys import ACTIONS, Action, Group
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.key_names import shown_key
from viewer.tui.terminal.paint import Painter, joined

DEBUG_MARK = "*"
"""The mark after keys that work only in the debug view."""
_KEY_ROOM = 12
_BETWEEN = 4
TWO_COLUMNS = 88
"""The text width from which there are two columns, reached on a terminal of 100 columns."""


def help_lines(actions: Sequence[Action], width: int, printing: Style) -> list[Line]:
    """Lay out all keys for a width."""
    if width < TWO_COLUMNS:
        return [line for group in Group for line in _group(group, actions, width, printing)]
    column = (width - _BETWEEN) // 2
    blocks = [_group(group, actions, column, printing) for group in Group]
    half = _most_even([len(block) for block in blocks])
    left, right = ([line for block in part for line in block] for part in (blocks[:half], blocks[half:]))
    rows = zip_longest(left, right, fillvalue=())
    return [joined(_filled(one, column + _BETWEEN), other) for one, other in rows]


def _group(group: Group, actions: Sequence[Action], width: int, printing: Style) -> list[Line]:
    """Return the heading, the lines of each action, and an empty line."""
    lines: list[Line] = [(Part(trusted(group.value), StyleRole.HEADING),)]
    for action in actions:
        if action.group is group:
            lines.extend(_entry(action, width, printing))
    return [*lines, ()]


def _entry(action: Action, width: int, printing: Style) -> list[Line]:
    keys = [shown_key(key, ascii=printing.ascii) for key in action.keys]
    keys += [f"y {shown_key(key, ascii=printing.ascii)}" for key in action.after_yank]
    shown = trusted(" ".join(keys) or "-")
    mark = trusted(DEBUG_MARK if action.debug_only else "")
    gap = trusted(" " * max(_KEY_ROOM - cells(shown) - cells(mark), 1))
    rows = list(wrap(printing.words(action.help), max(width - _KEY_ROOM - 2, 12)))
    first: Line = (
        Part(trusted("  ")),
        Part(shown, StyleRole.FOOTER_KEY),
        Part(mark, StyleRole.QUIET),
        Part(gap),
        Part(rows[0]),
    )
    return [first, *((Part(trusted(" " * (_KEY_ROOM + 2))), Part(row)) for row in rows[1:])]


def _most_even(lengths: Sequence[int]) -> int:
    """Return how many groups to put in the left column so that the longer column is as short as possible."""
    return min(range(1, len(lengths)), key=lambda half: max(sum(lengths[:half]), sum(lengths[half:])))


def _filled(line: Line, width: int) -> Line:
    missing = width - sum(cells(part.text) for part in line)
    return (*line, Part(trusted(" " * max(missing, 0))))


class HelpScreen(ModalScreen[None], DismissOnce[None]):
    """Help screen. It scrolls; escape and the keys for help and quit close it."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > Vertical {
        width: 100%; max-width: 118; height: auto; max-height: 100%;
        border: round $primary; border-title-color: $primary; border-subtitle-color: $secondary;
        background: $surface; padding: 0 2; margin: 0 1;
    }
    HelpScreen LineList {
        height: auto; max-height: 100%; background: $surface; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
    }
    HelpScreen.-ascii > Vertical { border: ascii $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d", "page(0.5)", show=False),
        Binding("ctrl+u", "page(-0.5)", show=False),
        Binding("space,pagedown", "page(1.0)", show=False),
        Binding("b,pageup", "page(-1.0)", show=False),
        Binding("g,home", "page(-1000.0)", show=False),
        Binding("G,end", "page(1000.0)", show=False),
    ]

    def __init__(self, painter: Painter, printing: Style | None = None, actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__()
        self._painter = painter
        self._printing = printing or Style()
        self._actions = actions
        self.set_class(self._printing.ascii, "-ascii")
        for action in actions:
            for key in action.keys if action.id in ("help", "leave") else ():
                self._bindings.key_to_bindings[key] = [Binding(key, "close", show=False)]

    def compose(self) -> ComposeResult:
        """A frame with a list."""
        with Vertical() as frame:
            yield LineList(self._painter, id="help-keys")
        frame.border_title = trusted("Keys")
        frame.border_subtitle = trusted(f"{DEBUG_MARK} in the debug view only   esc closes")

    def on_resize(self) -> None:
        """Lay out the columns for another width."""
        inside = min(self.size.width - 2, 118) - 7
        lines = help_lines(self._actions, max(inside, 20), self._printing)
        self._list.styles.height = len(lines)
        self._list.show(len(lines), lambda row, width: lines[row])

    def action_close(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._list.scroll_relative(y=lines, animate=False, force=True)

    def action_page(self, pages: float) -> None:
        """Scroll by pages."""
        self._list.scroll_relative(y=round(pages * self._list.size.height), animate=False, force=True)

    @property
    def _list(self) -> LineList:
        return self.query_one(LineList)
