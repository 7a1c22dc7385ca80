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
        links = self._calls.links
        for row in range(self._looked_at, len(links)):
            deadline = links[row].deadline_ms
            if deadline is not None and links[row].state is CallState.PENDING:
                self._due[row] = now + deadline / 1000
        self._looked_at = len(links)
        for row in self._overdue:
            if links[row].state is CallState.OK:
                links[row].state = CallState.TIMEOUT

    def expire(self, now: float) -> bool:
        """Report the calls whose time is over; whether there were any."""
        links = self._calls.links
        answered = [row for row in self._due if links[row].state is not CallState.PENDING]
        for row in answered:
            del self._due[row]
        over = [row for row, due in self._due.items() if due < now]
        for row in over:
            link = links[row]
            del self._due[row]
            self._overdue.add(row)
            link.state = CallState.TIMEOUT
            self._findings.add("E-TOOL-TIMEOUT", "overdue", link.call_end, link.call_end, link.call)
        return bool(over)
