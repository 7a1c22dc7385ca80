"""Base class of screens that compute their content in a background task: title, lines, keys, and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from viewer.document.document import Document
from viewer.errors import FileRewrittenError, ViewerError
from viewer.model.visibility import END_USER, Audience
from viewer.reading.format import ReadOptions
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole
from viewer.render.title import screen_title
from viewer.render.width import between
from viewer.sources.files import open_source
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.key_line import key_line
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.list_keys import add_list_keys
from viewer.tui.terminal.paint import Painter

_STEP = 4 * 1024 * 1024


class ClosedError(Exception):
    """The screen was closed, so its background task stops."""


def failure_words(error: ViewerError) -> str:
    """Explain why a screen has nothing to show. The text is not sanitized yet."""
    if isinstance(error, FileRewrittenError):
        return "The file was rewritten. Press esc and try again."
    return f"Cannot open the file: {error}"


class WorkScreen(DismissOnce[int | None]):
    """Computes its content in a thread, from its own documents, and shows it as lines. Returns the number of a message
    to go to, or None."""

    DEFAULT_CSS = """
    WorkScreen { layout: vertical; }
    WorkScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
    ]
    KEYS: ClassVar[Sequence[tuple[str, str]]] = ()
    """The key hints in the last line."""

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        title: str,
        level: str,
        *,
        actions: Sequence[Action] = ACTIONS,
        opener: str = "",
    ) -> None:
        """`actions` are the actions of the main screen, and `opener` is the action whose keys open and close this
        screen."""
        super().__init__()
        add_list_keys(self._bindings, actions, opener)
        self._painter = painter
        self.printing = printing
        self._caption = title
        self._level = level
        self._is_closed = False
        self.heading = HeadLine(painter, id="work-title", classes="-bar")
        self.listing = LineList(painter, id="work-lines")
        """The list of lines. A task may still draw it after the screen has been closed, which has no effect."""
        self.bottom = HeadLine(painter, id="work-bottom", classes="-bar")
        self.lines: list[Line] = []
        self.status = "working…"
        """The status in the last line: a count, or why there is nothing to show."""

    def compose(self) -> ComposeResult:
        """Yield a title, the lines, and the keys."""
        yield from (self.heading, self.listing, self.bottom)

    def on_mount(self) -> None:
        self.heading.show(self._title_lines)
        self.bottom.show(self._bottom_lines)
        self.run_worker(self._work(), exclusive=True)

    def on_unmount(self) -> None:
        self._is_closed = True

    def on_resize(self) -> None:
        """Lay out the lines for the new width."""
        self.draw()

    async def _work(self) -> None:
        try:
            await asyncio.to_thread(self.compute)
        except ClosedError:
            return
        except ViewerError as error:
            self.report_failure(error)
        else:
            self.status = ""
        if not self._is_closed:
            self.draw()

    @property
    def is_working(self) -> bool:
        """True while a background task computes what the screen shows."""
        return bool(self.status)

    def compute(self) -> None:
        """Compute the content, in a thread. Implementations call `check_open` regularly."""
        raise AssertionError("each screen has its own")

    def lay_out(self) -> None:
        """Lay out the lines for this width and show them."""

    def draw(self) -> None:
        """Lay out the lines, or report why that fails: the layout reads bodies again, and the file may have been
        rewritten."""
        try:
            self.lay_out()
        except ViewerError as error:
            self.status = failure_words(error)
            self.show_lines([])

    def report_failure(self, error: ViewerError) -> None:
        """Report why there is nothing to show."""
        self.status = failure_words(error)

    def check_open(self) -> None:
        """Raise `ClosedError`, which stops the background task, if the screen has been closed."""
        if self._is_closed:
            raise ClosedError

    def read(self, path: str, format: str | None, options: ReadOptions | None, under: Audience = END_USER) -> Document:
        """Read a whole input in the thread of the background task. Raise an error if it is not a known transcript."""
        document = Document(open_source(path), format, options, under=under)
        while not document.is_complete:
            self.check_open()
            document.read_some(_STEP)
        if document.missing_item or document.unknown:
            raise ViewerError(document.missing_item or f"{path} is not a known transcript")
        return document

    def show_lines(self, lines: list[Line], at: int = 0) -> None:
        """Show lines and scroll to the line `at`."""
        self.lines = lines
        self.listing.show(len(lines), lambda row, width: lines[row], at if lines else -1)
        self.bottom.refresh()

    def action_move(self, rows: int) -> None:
        """Move by lines."""
        if self.lines:
            self.listing.move_to(max(0, min(self.listing.cursor + rows, len(self.lines) - 1)))

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self.listing.size.height - 1))

    def action_back(self) -> None:
        """Return to the transcript."""
        self.dismiss(None)

    @property
    def room(self) -> int:
        """Return the width of the lines."""
        return max(self.size.width - 1, 20)

    def summary(self) -> str:
        """Return the status for the last line once the work is done."""
        return ""

    def _title_lines(self, width: int) -> list[Line]:
        left = [Part(self.printing.spell(sanitize_line(self._caption)), StyleRole.TITLE)]
        if self.kind_of_input():
            left.append(Part(self.printing.words(f"  {self.kind_of_input()}"), StyleRole.QUIET))
        return [screen_title(left, self.moment(), self._level, width, self.printing)]

    def kind_of_input(self) -> str:
        """Return the words that follow the name in the title."""
        return ""

    def moment(self) -> str:
        """Return the words that precede the level in the title."""
        return ""

    def _bottom_lines(self, width: int) -> list[Line]:
        words = self.printing.spell(sanitize_line(f" {self.status or self.summary()}"))
        keys = [(self.printing.words(key), does) for key, does in self.KEYS]
        return [between((Part(words),), key_line(keys), width, self.printing.signs)]
