"""Problem controller: owns the selected problem, moves from problem to problem, and follows the problem list."""

from __future__ import annotations

from viewer.document.rows import FOLDED_KINDS, RowKind
from viewer.document.values import ShownDiagnostic
from viewer.render.blocks.block import RowProblems
from viewer.render.number_format import counted
from viewer.tui.host import Host
from viewer.tui.main.navigator import Navigator
from viewer.tui.session import Changed, Session

_HIDES = frozenset({RowKind.HIDDEN, *FOLDED_KINDS})
"""Kinds of rows in which the keys stop at each message with a problem."""


class ProblemController:
    """Owns the selected problem."""

    def __init__(self, session: Session, host: Host, navigator: Navigator) -> None:
        self.selected: ShownDiagnostic | None = None
        """The problem that was jumped to last. The open key explains it."""
        self._session = session
        self._host = host
        self._navigator = navigator

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
        """Show the problem under the cursor of a list in the transcript and in the status row."""
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

    def _go(self, wanted: str, step: int) -> None:
        """Go to the next or previous row with a problem of this severity, wrapping around. Without errors, the keys for
        errors go to warnings. In a row that hides messages, go from problem to problem."""
        rows, here, is_wrapped = self._session.rows, self._navigator.cursor_row, False
        problems = RowProblems(rows, self._session.diagnostics)
        row = -1 if here is None else here
        number = self._navigator.cursor.number
        severity = wanted if wanted == "warning" or problems.next(wanted, row, step) is not None else "warning"
        for _ in range(min(self._navigator.take_count(), max(1, self._session.message_total))):
            hidden = number if row >= 0 and rows.kind(row) in _HIDES else 0
            found = problems.next(severity, row, step, hidden)
            if found is None:
                self._host.notify(f"No {wanted}s." + self._others(wanted))
                return
            ahead = found[0] - row or (found[1] - hidden if hidden else 0)
            is_wrapped = is_wrapped or ahead * step <= 0
            row, number = found
        self._navigator.leave_place()
        of_severity = [one for one in problems.of(row) if one.severity == severity]
        problem = self.selected = next((one for one in of_severity if one.message == number), of_severity[0])
        is_message = rows.kind(row) is RowKind.MESSAGE
        revealed = self._session.reveal(rows.value(row)) if is_message else Changed.NOTHING
        self._host.redraw(Changed.SELECTION | revealed)
        self._navigator.show_row(row, problem.message or 0)
        if is_wrapped:
            self._navigator.notify_wrapped(step)

    def _others(self, severity: str) -> str:
        """Name the key that goes to problems of the other severity, if there are any."""
        other = "warning" if severity == "error" else "error"
        count = self._session.diagnostics.severities[other]
        return f" {self._host.key_of(f'next_{other}')} goes to {counted(count, other)}." if count else ""
