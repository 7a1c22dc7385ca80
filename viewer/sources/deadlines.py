"""Deadlines of calls while one watches: a call whose time is over without a reply has timed out."""

from __future__ import annotations

from viewer.core.calls import CallLedger, CallState
from viewer.core.findings import Findings


class Deadlines:
    """Counts from the moment at which a call was seen, since a transcript need not give times."""

    def __init__(self, calls: CallLedger, findings: Findings) -> None:
        self._calls = calls
        self._findings = findings
        self._looked_at = 0
        self._due: dict[int, float] = {}
        """For each call that waits, by its row, when its time is over."""
        self._overdue: set[int] = set()

    def look(self, now: float) -> None:
        """Take note of the calls that are new; a reply that came too late does not mend its call."""
        calls = self._calls
        for row in range(self._looked_at, len(calls)):
            deadline = calls.deadline_ms(row)
            if deadline is not None and calls.state(row) is CallState.PENDING:
                self._due[row] = now + deadline / 1000
        self._looked_at = len(calls)
        for row in self._overdue:
            if calls.state(row) is CallState.OK:
                calls.set_state(row, CallState.TIMEOUT)

    def expire(self, now: float) -> bool:
        """Report the calls whose time is over; whether there were any."""
        calls = self._calls
        answered = [row for row in self._due if calls.state(row) is not CallState.PENDING]
        for row in answered:
            del self._due[row]
        over = [row for row, due in self._due.items() if due < now]
        for row in over:
            del self._due[row]
            self._overdue.add(row)
            calls.set_state(row, CallState.TIMEOUT)
            link = calls.link(row)
            self._findings.add("E-TOOL-TIMEOUT", "overdue", link.call_end, link.call_end, link.call)
        return bool(over)
