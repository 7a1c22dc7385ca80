"""List controller: applies the transcript's keys to the focused pane's list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.tui.control.panes import PaneController
from viewer.tui.control.problems import ProblemController
from viewer.tui.host import Host, ListView, PromptKind
from viewer.tui.main.navigator import Navigator
from viewer.tui.panes.panel import BottomTab, Panel

if TYPE_CHECKING:
    from viewer.tui.main.program import ProgramController

MOST_SEARCHED = 20_000
"""The maximum number of rows that a search in a list reads."""


class ListController:
    """Applies keys to the focused list. Owns the text of the last search in a list."""

    def __init__(
        self,
        host: Host,
        navigator: Navigator,
        panes: PaneController,
        program: ProgramController,
        problems: ProblemController,
    ) -> None:
        self._host = host
        self._navigator = navigator
        self._panes = panes
        self._program = program
        self._problems = problems
        self._wanted = ""

    def line_down(self) -> None:
        self._move(self._navigator.take_count())

    def line_up(self) -> None:
        self._move(-self._navigator.take_count())

    def half_page_down(self) -> None:
        self._page(0.5)

    def half_page_up(self) -> None:
        self._page(-0.5)

    def page_down(self) -> None:
        self._page(1)

    def page_up(self) -> None:
        self._page(-1)

    def top(self) -> None:
        self._navigator.forget_count()
        self._go_to(0)

    def bottom(self) -> None:
        """Go to the last row, or to the row with the typed number."""
        count, shown = self._navigator.typed_count(), self._host.list
        if shown is not None:
            self._go_to(shown.count - 1 if count is None else count - 1)

    def choose(self) -> None:
        """Go to the message of the row under the cursor, and focus the transcript."""
        if self._host.list is not None:
            self._host.list.choose()

    def fold(self) -> None:
        if self._host.list is not None:
            self._host.list.fold(True)

    def unfold(self) -> None:
        if self._host.list is not None:
            self._host.list.fold(False)

    def zoom_in(self) -> None:
        self._zoom(1)

    def zoom_out(self) -> None:
        self._zoom(-1)

    def _zoom(self, step: int) -> None:
        if self._host.list is not None and self._shows(BottomTab.TIMELINE):
            self._host.list.zoom(step)
        else:
            self._host.notify(f"Zooming needs the timeline: press {self._host.key_of('timeline')}.")

    def sort(self) -> None:
        """Sort the calls by the next column."""
        if self._host.list is not None and self._shows(BottomTab.CALLS):
            self._host.list.sort()
        else:
            self._host.notify("Only the calls can be sorted.")

    def next_error(self) -> None:
        if self._shows(BottomTab.CALLS):
            self._go_to_failed(1)
        else:
            self._problems.next_error()

    def previous_error(self) -> None:
        if self._shows(BottomTab.CALLS):
            self._go_to_failed(-1)
        else:
            self._problems.previous_error()

    def _go_to_failed(self, step: int) -> None:
        """Go to the next or previous failed call, wrapping around."""
        shown, row, is_wrapped = self._host.list, -1, False
        for _ in range(self._navigator.take_count()):
            before = shown.cursor if shown is not None else -1
            row = self._host.next_failed_call(step)
            if shown is None or row < 0:
                self._host.notify("No failed calls.")
                return
            is_wrapped = is_wrapped or (row - before) * step <= 0
            self._go_to(row)
        if is_wrapped:
            self._navigator.notify_wrapped(step)

    def explain(self) -> None:
        """Explain the problem under the cursor; in other lists, show the help screen."""
        problem = self._host.chosen_problem
        if self._shows(BottomTab.PROBLEMS) and problem is not None:
            self._panes.explain(problem)
        else:
            self._program.open_help()

    def filter_by_row(self) -> None:
        """Ask for a filter that begins with the tool of the row."""
        tool = self._host.chosen_tool if self._shows(BottomTab.CALLS) else ""
        self._host.prompt.ask(PromptKind.FILTER, f"tool:{tool}" if tool else "")

    def ask(self) -> None:
        """Ask for text to find in the list."""
        self._host.prompt.ask(PromptKind.LIST)

    def find(self, typed: str) -> None:
        """Go to the next row that contains this text. Text without capital letters ignores case."""
        self._wanted = typed
        if typed:
            self._find(1)

    def forget(self) -> None:
        """Forget the text of the last search, because it may quote hidden text."""
        self._wanted = ""

    def next_match(self) -> None:
        self._find(1)

    def previous_match(self) -> None:
        self._find(-1)

    def _find(self, step: int) -> None:
        shown = self._host.list
        if shown is None or not self._wanted:
            self._host.notify(f"No search yet. Press {self._host.key_of('search')} to start one.")
            return
        wanted, count = self._wanted, min(shown.count, MOST_SEARCHED)
        folds_case = wanted == wanted.lower()
        for distance in range(1, count + 1):
            row = (shown.cursor + step * distance) % shown.count
            text = shown.text(row)
            if wanted in (text.lower() if folds_case else text):
                self._go_to(row)
                if (row - shown.cursor) * step < 0 or distance == count:
                    self._navigator.notify_wrapped(step)
                return
        self._host.notify(f'No matches for "{wanted}" in this list.')

    def _shows(self, tab: BottomTab) -> bool:
        return self._panes.focused is Panel.BOTTOM and self._panes.tab is tab

    def _move(self, lines: int) -> None:
        shown: ListView | None = self._host.list
        if shown is not None:
            self._go_to(max(0, min(shown.cursor + lines, shown.count - 1)))

    def _page(self, share: float) -> None:
        shown = self._host.list
        if shown is not None:
            self._move(round(share * shown.page) * self._navigator.take_count())

    def _go_to(self, row: int) -> None:
        if self._host.list is not None:
            self._host.list.go_to(row)
