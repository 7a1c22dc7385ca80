"""Deadlines and latencies of calls, observed while following."""

from __future__ import annotations

from typing import NamedTuple

from viewer.index.calls import CallLedger, CallState
from viewer.index.findings import Findings


class Overdue(NamedTuple):
    """A call whose deadline passed without a reply."""

    finding: int | None
    """The row of its diagnostic; None if the diagnostic is only counted."""
    due: float


class Deadlines:
    """Watch over the deadlines of calls. A deadline counts from the arrival of the call, because a transcript need not
    contain times."""

    def __init__(self, calls: CallLedger, findings: Findings) -> None:
        self._calls = calls
        self._findings = findings
        self._looked_at = 0
        self._seen_at: dict[int, float] = {}
        """Arrival time of each call observed while following, by row."""
        self._due: dict[int, float] = {}
        """Deadline of each pending call, by row."""
        self._overdue: dict[int, Overdue] = {}
        self.revised: list[int] = []
        """Rows of the diagnostics whose reason changed, in order."""
        calls.answered = []

    def look(self, now: float, *, live: bool) -> None:
        """Record new calls and replies. With `live` they arrived just now, so their times can be observed."""
        calls = self._calls
        for row in range(self._looked_at, len(calls)):
            if calls.state(row) is not CallState.PENDING:
                continue
            deadline = calls.deadline_ms(row)
            if deadline is not None:
                self._due[row] = now + deadline / 1000
            if live:
                self._seen_at[row] = now
        self._looked_at = len(calls)
        answered, calls.answered = calls.answered or [], []
        for row in answered:
            self._settle(row, now, live=live)

    def _settle(self, row: int, now: float, *, live: bool) -> None:
        """Handle the arrival of a reply."""
        calls = self._calls
        seen = self._seen_at.get(row)
        if seen is not None and live:
            calls.set_observed(row, round((now - seen) * 1000))
        due = self._due.pop(row, None)
        overdue = self._overdue.pop(row, None)
        if overdue is not None:
            calls.overdue.discard(row)
            self._report_late(row, overdue.finding, now - overdue.due)
        elif live and due is not None and now > due and self._is_unjudged(row):
            self._report_late(row, self._add(row, "late"), now - due)

    def _is_unjudged(self, row: int) -> bool:
        """True if the transcript does not show whether the reply was late."""
        return self._calls.latency_ms(row) is None and self._calls.state(row) is CallState.OK

    def _report_late(self, row: int, finding: int | None, seconds: float) -> None:
        calls, stated, deadline = self._calls, self._calls.latency_ms(row), self._calls.deadline_ms(row)
        delay = round(seconds * 1000)
        if stated is not None and deadline is not None and stated > deadline:
            delay = stated - deadline
        if finding is not None and self._findings.set_reason(finding, "late"):
            self.revised.append(finding)
        calls.set_late(row, calls.call(row), delay)

    def expire(self, now: float) -> bool:
        """Report the calls whose deadline has passed; True if there were any."""
        calls = self._calls
        over = [row for row, due in self._due.items() if due < now]
        for row in over:
            due = self._due.pop(row)
            if calls.state(row) is CallState.PENDING:
                calls.set_state(row, CallState.TIMEOUT)
                calls.overdue.add(row)
                self._overdue[row] = Overdue(self._add(row, "overdue"), due)
        return bool(over)

    def _add(self, row: int, reason: str) -> int | None:
        link, known = self._calls.link(row), len(self._findings)
        self._findings.add("E-TOOL-TIMEOUT", reason, link.call_end, link.call_end, link.call)
        return known if len(self._findings) > known else None
