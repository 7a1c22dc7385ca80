"""File list: choose a file, or type part of its name to filter. New files appear as they are found."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from viewer.render.style import Line, Style
from viewer.sources.folder import Found
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.dialogs.file_lines import bottom_line, empty_line, file_line, heading, title_line
from viewer.tui.dialogs.file_table import FileTable
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

SECONDS_BETWEEN_STEPS = 0.02
SECONDS_OF_A_STEP = 0.01
SECONDS_BETWEEN_LOOKS = 2.0
LONGEST_TYPED = 200


class Choice(Struct, frozen=True):
    """The file to open, and all files in list order for the keys of the next and previous file."""

    path: str
    order: tuple[str, ...]
    known: tuple[str, ...] | None = None
    """All files of the folder, unfiltered; None if the listing is incomplete."""


class FilesScreen(DismissOnce[Choice | None]):
    """File list; returns a choice, or None."""

    DEFAULT_CSS = """
    FilesScreen { layout: vertical; }
    FilesScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "choose", show=False),
        Binding("backspace", "erase", show=False),
        Binding("ctrl+u", "erase_all", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(
        self,
        painter: Painter,
        table: FileTable,
        where: str,
        printing: Style | None = None,
        *,
        opens_newest: bool = False,
    ) -> None:
        """With `opens_newest`, choose the newest file as soon as one exists."""
        super().__init__()
        self._opens_newest = opens_newest
        self._painter = painter
        self._table = table
        self._where = where
        self._printing = printing or Style()
        self._typed = ""
        self._shown: list[Found] = []

    def compose(self) -> ComposeResult:
        """A title, the column titles, the files, and the typed text."""
        yield HeadLine(self._painter, id="files-title")
        yield HeadLine(self._painter, id="files-heads")
        yield LineList(self._painter, id="files-list")
        yield HeadLine(self._painter, id="files-bottom")

    def on_mount(self) -> None:
        """Start to look for files."""
        self.query_one("#files-heads", HeadLine).show(lambda width: [heading(width, self._printing)])
        self._show()
        self.set_interval(SECONDS_BETWEEN_STEPS, self._work)
        if self._table.folder is not None:
            self.set_interval(SECONDS_BETWEEN_LOOKS, self._table.list_again)

    def on_key(self, event: events.Key) -> None:
        """Add a printable character to the name filter."""
        if event.character is not None and event.is_printable and len(self._typed) < LONGEST_TYPED:
            event.stop()
            event.prevent_default()
            self._type(self._typed + event.character)

    def action_erase(self) -> None:
        """Remove the last character."""
        self._type(self._typed[:-1])

    def action_erase_all(self) -> None:
        """Show all files again."""
        self._type("")

    def action_back(self) -> None:
        """Clear the filter. If there is none, leave."""
        if self._typed:
            self._type("")
        else:
            self.dismiss(None)

    def action_move(self, rows: int) -> None:
        """Move up or down."""
        self._list.move_to(max(0, self._list.cursor + rows))

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self._list.size.height - 1))

    def action_choose(self) -> None:
        """Open the file under the cursor."""
        self._choose(self._list.cursor)

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._choose(event.row)

    def _choose(self, row: int) -> None:
        if not 0 <= row < len(self._shown):
            return
        self._opens_newest = False
        file = self._shown[row]
        if file.reason:
            self.notify(f"{self._printing.name(file.name)}: {self._printing.name(file.reason)}", markup=False)
            return
        order = tuple(each.path for each in self._shown if not each.reason)
        known = tuple(each.path for each in self._table.files) if self._table.is_listed else None
        self.dismiss(Choice(file.path, order, known))

    def _type(self, typed: str) -> None:
        self._typed = typed
        self._show()

    def _work(self) -> None:
        """Work for one time slice, and redraw the list if something changed."""
        before = self._table.files, len(self._table.files)
        busy = self._table.step(SECONDS_OF_A_STEP)
        if (self._table.files, len(self._table.files)) != before or not self._table.is_listed:
            self._show()
        elif busy or self._was_busy:
            self._list.refresh()
        self._was_busy = busy
        newest = self._table.newest if self._opens_newest and self._table.is_listed else None
        if newest is not None:
            self._opens_newest = False
            self._choose(next(row for row, file in enumerate(self._shown) if file == newest))

    _was_busy = True

    def _show(self) -> None:
        """Draw the list and keep the cursor on its file."""
        cursor = self._list.cursor
        chosen = self._shown[cursor].path if 0 <= cursor < len(self._shown) else None
        self._shown = self._table.matching(self._typed)
        places = {file.path: row for row, file in enumerate(self._shown)}
        kept = places.get(chosen, 0) if chosen is not None else 0
        self._list.show(max(1, len(self._shown)), self._line, kept if self._shown else -1)
        self.query_one("#files-title", HeadLine).show(self._title)
        self.query_one("#files-bottom", HeadLine).show(lambda width: [bottom_line(self._typed, width, self._printing)])

    def _line(self, row: int, width: int) -> Line:
        if not self._shown:
            return empty_line(self._typed, self._table.is_listed, self._printing)
        file = self._shown[row]
        return file_line(file, self._table.counts(file), self._table.is_counted(file), width, self._printing)

    def _title(self, width: int) -> list[Line]:
        total, shown = len(self._table.files), len(self._shown)
        where = self._printing.name(self._where)
        return [title_line(where, shown, total, self._table.is_listed, width, self._printing)]

    @property
    def _list(self) -> LineList:
        return self.query_one(LineList)
