"""Theme list at the right edge. The screen behind it previews the theme under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.dialogs.background import screen_below
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter


class ThemeChoice(Struct, frozen=True):
    """A chosen theme, and whether to write it to the settings file."""

    name: str
    is_saved: bool = False


class ThemeScreen(ModalScreen[ThemeChoice | None], DismissOnce[ThemeChoice | None]):
    """Theme list; returns the choice, or None."""

    DEFAULT_CSS = """
    ThemeScreen { align: right middle; }
    ThemeScreen > Vertical {
        width: 40; max-width: 100%; height: auto; max-height: 100%; margin: 1;
        border: heavy $primary; border-title-color: $primary; border-subtitle-color: $secondary; background: $surface;
    }
    ThemeScreen LineList { height: auto; max-height: 100%; background: $surface; scrollbar-size-vertical: 1; }
    ThemeScreen.-ascii > Vertical { border: ascii $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down,ctrl+n,tab", "move(1)", show=False),
        Binding("k,up,ctrl+p,shift+tab", "move(-1)", show=False),
        Binding("home", "move(-1000)", show=False),
        Binding("end", "move(1000)", show=False),
        Binding("enter,space", "choose", show=False),
        Binding("s", "save", show=False),
        Binding("escape,q", "back", show=False),
    ]

    class Previewed(Message):
        """The cursor moved to this theme."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(
        self,
        painter: Painter,
        names: Sequence[str],
        current: str,
        printing: Style | None = None,
        *,
        can_save: bool = True,
    ) -> None:
        super().__init__()
        self._can_save = can_save
        self._names = list(names)
        self._current = current
        self._list = LineList(painter, id="theme-names")
        self._printing = printing or Style()
        self.set_class(self._printing.ascii, "-ascii")

    def render(self) -> RenderableType:
        return screen_below(self)

    def compose(self) -> ComposeResult:
        """Yield a frame with a list."""
        with Vertical() as frame:
            yield self._list
        frame.border_title = trusted(">Themes" if self._printing.ascii else "▸Themes")
        frame.border_subtitle = self._printing.words(
            "enter apply · s save · esc cancel" if self._can_save else "enter apply · esc cancel"
        )

    def on_mount(self) -> None:
        """Put the cursor on the current theme."""
        place = self._names.index(self._current) if self._current in self._names else 0
        self._list.styles.height = len(self._names)
        self._list.show(len(self._names), self._line, place)

    def _line(self, row: int, width: int) -> Line:
        name = self._names[row]
        sign = self._printing.signs.gutter if row == self._list.cursor else " "
        look = StyleRole.STRONG if name == self._current else StyleRole.PLAIN
        return Part(trusted(sign), StyleRole.FOCUS), Part(trusted(f" {name} "), look)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Preview the clicked theme; a second click chooses it."""
        if event.row == self._list.cursor:
            self.action_choose()
        else:
            self.action_move(event.row - self._list.cursor)

    def action_move(self, rows: int) -> None:
        """Move up or down, and preview the theme."""
        self._list.move_to(max(0, self._list.cursor + rows))
        self.post_message(self.Previewed(self._names[self._list.cursor]))

    def action_choose(self) -> None:
        """Choose the theme under the cursor."""
        self.dismiss(ThemeChoice(self._names[self._list.cursor]))

    def action_save(self) -> None:
        """Choose the theme under the cursor and write it to the settings file."""
        if self._can_save:
            self.dismiss(ThemeChoice(self._names[self._list.cursor], is_saved=True))

    def action_back(self) -> None:
        """Close the list without choosing a theme."""
        self.dismiss(None)
