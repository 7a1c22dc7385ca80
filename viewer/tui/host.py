"""Host: the interface that the main screen offers to controllers. Independent of widgets."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from viewer.document.values import ShownDiagnostic
    from viewer.tui.cursor import Cursor
    from viewer.tui.panes.inspector_lines import Tab
    from viewer.tui.session import Changed

ScreenPlace = tuple[int, int]
"""The first line on the screen: a row, and a line within that row."""


class Notice(Enum):
    """The kind of a notice, which determines its color."""

    DONE = "done"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


def as_sentence(words: str) -> str:
    """Turn words that follow a file name on the command line into a sentence: `reading again` to `Reading again.`."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "?", "!")) else ".")


class PromptKind(Enum):
    """The kind of input that the prompt asks for. The value is the text in front of the input."""

    SEARCH = "/"
    FILTER = "&"
    COMMAND = ":"
    EXPORT = "export to "
    LIST = "find "
    ROWS = "filter "


class Task(Protocol):
    """A background task."""

    @property
    def is_running(self) -> bool:
        """True if the task has not ended yet."""
        ...

    def cancel(self) -> None:
        """Stop the task."""
        ...


class PromptLine(Protocol):
    """The prompt line, which asks for input or shows the last search."""

    kind: PromptKind

    @property
    def is_asking(self) -> bool:
        """True if typed keys go to the prompt."""
        ...

    def ask(self, kind: PromptKind, text: str = "", offers: Sequence[str] | None = None, *, label: str = "") -> None:
        """Ask for input, starting with this text. The up and down keys cycle through `offers`. A label precedes the
        sign."""
        ...

    def rest(self, kind: PromptKind, text: str, note: str = "") -> None:
        """Close the prompt and show a search or filter."""
        ...

    def note(self, words: str) -> None:
        """Show a note next to the search or filter."""
        ...

    def hint(self, words: str) -> None:
        """Show a hint at the right edge of the open prompt."""
        ...

    def count(self, typed: str, words: str) -> None:
        """Show a count for this text next to the hint, if the prompt still contains the text."""
        ...

    def complete(self, text: str) -> None:
        """Replace the typed text with its completion."""
        ...

    def close(self) -> None:
        """Hide the prompt."""
        ...

    def forget(self) -> None:
        """Forget earlier inputs."""
        ...


class PaneArea(Protocol):
    """The size of a pane, or the size that it is about to get."""

    @property
    def size(self) -> object:
        """The size of the pane after the next layout."""
        ...

    @property
    def is_changing(self) -> bool:
        """True if the next layout changes the size."""
        ...

    def expect(self, size: tuple[int, int] | None) -> None:
        """Set the width and height that the pane gets in the next layout; None means its current size."""
        ...


class Viewport(Protocol):
    """The transcript pane: the visible rows, and the cursor."""

    cursor: Cursor

    @property
    def is_carried(self) -> bool:
        """True if the last scroll moved the cursor to keep it on the screen."""
        ...

    @property
    def area(self) -> PaneArea:
        """The size of the pane."""
        ...

    @property
    def view_height(self) -> int:
        """The number of visible lines."""
        ...

    @property
    def place(self) -> ScreenPlace:
        """The first line on the screen."""
        ...

    @property
    def moves(self) -> int:
        """How many times the scroll position has been set."""
        ...

    @property
    def is_at_end(self) -> bool:
        """True if the last line is on the screen."""
        ...

    @property
    def line_of_cursor(self) -> int | None:
        """The screen line where the cursor's row begins, or None if it is off the screen."""
        ...

    @property
    def rows_on_screen(self) -> list[int]:
        """The rows with at least one line of text on the screen."""
        ...

    @property
    def cursor_row(self) -> int | None:
        """The cursor's row, or None if there is no cursor."""
        ...

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        ...

    def put_cursor(self, cursor: Cursor) -> None:
        """Set the cursor without scrolling."""
        ...

    def hold_cursor(self, cursor: Cursor, above: int | None) -> None:
        """Set the cursor. When the next rows are shown, scroll them so that the cursor's row is `above` lines below the
        top."""
        ...

    def go_to_cursor(self, cursor: Cursor, *, above: int | None = None) -> None:
        """Set the cursor and scroll so that `above` lines are visible above its row."""
        ...

    def go_to_row(self, row: int, line: int = 0, *, above: int = 0) -> None:
        """Scroll so that a line of a row is at the top of the screen, or `above` lines below the top."""
        ...

    def go_to_end(self) -> None:
        """Scroll to the last line."""
        ...

    def stick_to_end(self) -> None:
        """Scroll to the last line without posting a message."""
        ...

    def go_back(self) -> None:
        """Scroll to the beginning and clear the cursor, without posting a message."""
        ...

    def scroll_sideways(self, step: int | None) -> None:
        """Scroll unwrapped lines by `step` columns; None returns to the first column."""
        ...

    def show_offset(self, offset: int) -> bool:
        """Scroll to the line with this character of the body under the cursor, perhaps only after a long body is laid
        out. Return False if the character is in the folded part."""
        ...

    def first_visible(self) -> Cursor:
        """Return a cursor on the first visible message or, if none is visible, on the first visible row."""
        ...

    def neighbor(self, step: int) -> Cursor:
        """Return the next (1) or previous (-1) message, call, or folded row; the cursor is unset if there is none."""
        ...

    def neighboring_node(self, step: int) -> Cursor:
        """Return the next (1) or previous (-1) value of the open card; the cursor is unset if there is none."""
        ...

    def is_node_open(self) -> bool | None:
        """True if the value under the cursor is open, False if it is folded; None if there is none."""
        ...


class ListView(Protocol):
    """A list in a pane, as controllers see it."""

    cursor: int
    """The cursor's row; -1 if there is no cursor."""

    @property
    def count(self) -> int:
        """The number of rows."""
        ...

    @property
    def page(self) -> int:
        """The number of visible lines."""
        ...

    def go_to(self, row: int) -> None:
        """Put the cursor on a row and post a message."""
        ...

    def choose(self) -> None:
        """Choose the row under the cursor."""
        ...

    def fold(self, folded: bool) -> None:
        """Fold or unfold the row under the cursor; in the timeline, pan."""
        ...

    def zoom(self, step: int) -> None:
        """Zoom in (1) or out (-1), if the list is zoomable."""
        ...

    def sort(self) -> None:
        """Sort by the next column, if the list is sortable."""
        ...

    def text(self, row: int) -> str:
        """Return the text of a row, for a search in the list."""
        ...


class Host(Protocol):
    """The main screen as controllers see it."""

    @property
    def viewport(self) -> Viewport:
        """The transcript pane."""
        ...

    @property
    def prompt(self) -> PromptLine:
        """The prompt."""
        ...

    @property
    def is_whole(self) -> bool:
        """True until a widget is removed, which may mean that the app is shutting down."""
        ...

    @property
    def is_current(self) -> bool:
        """True if no other screen covers this one."""
        ...

    @property
    def is_roomy(self) -> bool:
        """True if panes fit next to each other."""
        ...

    @property
    def is_fitted(self) -> bool:
        """True if the blocks were built for the current sizes of the panes."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """The width and height of the screen in cells."""
        ...

    @property
    def inspector_tabs(self) -> list[Tab]:
        """The tabs of the inspector that are not empty."""
        ...

    @property
    def chosen_problem(self) -> ShownDiagnostic | None:
        """The problem under the cursor in the problem list, or None if there is none."""
        ...

    @property
    def chosen_tool(self) -> str:
        """The tool of the call under the cursor in the calls table; empty if there is none."""
        ...

    def next_failed_call(self, step: int) -> int:
        """Return the next or previous row with a failed call in the calls table, wrapping around, or -1 if there is
        none."""
        ...

    @property
    def list(self) -> ListView | None:
        """The list that has the focus; None in the transcript."""
        ...

    def key_of(self, id: str) -> str:
        """Return the printed key of an action."""
        ...

    def notify(self, sentence: str, kind: Notice = Notice.NOTE, aside: str = "") -> None:
        """Show one sentence until the next key. `aside` replaces the position."""
        ...

    def clear_notice(self) -> None:
        """Remove the notice of the previous action."""
        ...

    def redraw(self, changed: Changed) -> None:
        """Draw what changed."""
        ...

    def forget_revealed(self) -> None:
        """Drop all text of the debug view from widgets, caches, the selection, and the app's clipboard."""
        ...

    def call_later(self, callback: Callable[[], None]) -> None:
        """Call a function after the pending messages. Any thread may use this."""
        ...

    def call_after_refresh(self, callback: Callable[[], object]) -> None:
        """Call a function after the next layout and redraw."""
        ...

    async def first_frame(self) -> None:
        """Wait until the screen and the app's first frame have been drawn."""
        ...

    def start_worker(
        self, task: Callable[[], Coroutine[None, None, None]], name: str, *, exclusive: bool = False
    ) -> Task:
        """Start a background task. With `exclusive`, cancel earlier tasks with this name."""
        ...

    async def yield_to_input(self) -> None:
        """Yield to the event loop so that a pending key reaches its handler."""
        ...

    def report_read(self) -> None:
        """Report that the whole input has been read."""
        ...

    def report_restart(self) -> None:
        """Report that earlier readings of the input are no longer needed."""
        ...

    def copy(self, text: str) -> None:
        """Copy text to the clipboard."""
        ...
