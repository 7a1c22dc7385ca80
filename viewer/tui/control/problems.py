"""Problem controller: owns the selected problem, moves from problem to problem, and follows the problem list."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.live import LiveDocument
from viewer.document.rows import FOLDED_KINDS, RowKind
from viewer.document.values import ShownDiagnostic
from viewer.render.blocks.block import RowProblems
from viewer.render.number_format import counted
from viewer.tui.cursor import Cursor
from viewer.tui.host import Host, ScreenPlace
from viewer.tui.main.navigator import Navigator
from viewer.tui.session import Changed, Session

_HIDES = frozenset({RowKind.HIDDEN, *FOLDED_KINDS})
"""Kinds of rows in which the keys stop at each message with a problem."""
_NAMES = {1: "next", -1: "previous"}


class _Wish(Struct, frozen=True):
    """A jump to a problem that has not been found yet, because the input is still being checked."""

    wanted: str
    step: int
    count: int
    """How many more problems to pass; the last of them is the target."""
    place: tuple[Cursor, ScreenPlace]
    """The cursor and the scroll position. Moving either cancels the jump."""


class ProblemController:
    """Owns the selected problem, and a jump that waits for a problem to be found."""

    def __init__(self, session: Session, host: Host, navigator: Navigator) -> None:
        self.selected: ShownDiagnostic | None = None
        """The problem that the open key explains: the one that was last selected in the list or reached by a jump."""
        self._session = session
        self._host = host
        self._navigator = navigator
        self._wish: _Wish | None = None

    def select(self, problem: ShownDiagnostic | None) -> None:
        """Remember the problem that the open key explains, or forget it."""
        self.selected = problem

    def show(self, number: int | None, problem: ShownDiagnostic | None) -> None:
        """Go to the message of a problem that was chosen in the list; without a problem, go to the open message."""
        if number:
            self._navigator.leave_place()
            self._navigator.follow_list(number)
        self.selected = problem
        self._host.redraw(Changed.TITLE)

    def follow_list(self, number: int | None, problem: ShownDiagnostic | None) -> None:
        """Show the problem under the list's cursor in the transcript and in the status row."""
        self.selected = problem
        if number:
            self._navigator.follow_list(number)
        self._host.redraw(Changed.TITLE)

    def next_error(self) -> None:
        self._go("error", 1)

    def previous_error(self) -> None:
        self._go("error", -1)

    def next_warning(self) -> None:
        self._go("warning", 1)

    def previous_warning(self) -> None:
        self._go("warning", -1)

    def resume(self) -> None:
        """Continue a jump that waited for more problems, unless the operator has moved in the meantime."""
        wish, self._wish = self._wish, None
        if wish is not None and wish.place == self._here:
            self._host.clear_notice()
            self._seek(wish.wanted, wish.step, wish.count)

    @property
    def _here(self) -> tuple[Cursor, ScreenPlace]:
        viewport = self._host.viewport
        return viewport.cursor, viewport.place

    def _go(self, wanted: str, step: int) -> None:
        """Go to the next or previous row with a problem of this severity. Keys that are pressed while the jump waits
        add up."""
        wish, count = self._wish, self._navigator.take_count()
        is_same = wish is not None and (wish.wanted, wish.step, wish.place) == (wanted, step, self._here)
        self._seek(wanted, step, count + wish.count if wish is not None and is_same else count)

    def _seek(self, wanted: str, step: int, count: int) -> None:
        """Move by `count` problems, wrapping around. If there are no errors, the error keys go to warnings. In a row
        that hides messages, go from problem to problem. Until everything is checked, wait for the next problem instead
        of wrapping around or going to warnings."""
        self._wish = None
        document = self._session.document
        is_checked = document.is_checked or isinstance(document, LiveDocument)
        rows, here, is_wrapped = self._session.rows, self._navigator.cursor_row, False
        problems = RowProblems(rows, self._session.diagnostics)
        row = -1 if here is None else here
        number = self._navigator.cursor.number
        has_wanted = wanted == "warning" or not is_checked or problems.next(wanted, row, step) is not None
        severity = wanted if has_wanted else "warning"
        remaining = min(count, max(1, self._session.message_total)) if is_checked else count
        has_moved = False
        while remaining:
            hidden = number if row >= 0 and rows.kind(row) in _HIDES else 0
            found = problems.next(severity, row, step, hidden) if len(rows) else None
            ahead = 0
            if found is not None:
                ahead = found[0] - row or (found[1] - hidden if hidden else 0)
            if not is_checked and ahead * step <= 0:
                break
            if found is None:
                self._host.notify(f"No {wanted}s." + self._others(wanted))
                return
            is_wrapped = is_wrapped or ahead * step <= 0
            row, number = found
            remaining, has_moved = remaining - 1, True
        if has_moved:
            self._show(row, number, severity)
        if remaining:
            self._wish = _Wish(wanted, step, remaining, self._here)
            self._host.notify(f"Still checking. The {_NAMES[step]} {wanted} will be shown when it is found.")
        elif is_wrapped:
            self._navigator.notify_wrapped(step)

    def _show(self, row: int, number: int, severity: str) -> None:
        """Go to a row and select the problem of one of its messages."""
        rows, problems = self._session.rows, RowProblems(self._session.rows, self._session.diagnostics)
        self._navigator.leave_place()
        of_severity = [one for one in problems.of(row) if one.severity == severity]
        problem = self.selected = next((one for one in of_severity if one.message == number), of_severity[0])
        is_message = rows.kind(row) is RowKind.MESSAGE
        revealed = self._session.reveal(rows.value(row)) if is_message else Changed.NOTHING
        self._host.redraw(Changed.SELECTION | revealed)
        self._navigator.show_row(row, problem.message or 0)

    def _others(self, severity: str) -> str:
        """Return a hint that names the key for problems of the other severity, if there are any."""
        other = "warning" if severity == "error" else "error"
        count = self._session.diagnostics.severities[other]
        return f" {self._host.key_of(f'next_{other}')} goes to {counted(count, other)}." if count else ""
