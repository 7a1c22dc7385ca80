"""`LiveDocument`: a document of a followed file. Reading restarts if the file is rewritten or its format changes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct

from viewer.cache import clear_caches
from viewer.document.backend import BIG
from viewer.document.document import CHECKED_AT_ONCE, Document, Finding, Quotes
from viewer.errors import FileRewrittenError
from viewer.formats import Detection, detect
from viewer.formats.detect import HEAD, Evidence
from viewer.index.calls import CallLedger, CallState
from viewer.index.findings import Findings
from viewer.model.visibility import END_USER, Audience
from viewer.reading.format import ReadOptions
from viewer.rules.errors import E_TOOL_TIMEOUT
from viewer.sources.changes import Change, Grew, Reason, Reset, SourceState
from viewer.sources.files import CHUNK, Source
from viewer.sources.follow import GrowingSource
from viewer.sources.followed_file import Clock
from viewer.sources.replay.source import ReplayedRevision
from viewer.sources.revision import FileRevision

_Kind = TypeVar("_Kind", Grew, Reset, SourceState)


class LiveChange(Struct, frozen=True):
    """The result of one step. If `restarted` is set, earlier projections are stale."""

    grew: bool = False
    """True if rows grew, messages settled, or calls changed state."""
    restarted: bool = False
    """True if reading restarted, so message numbers begin at 1 again."""
    reset: Reason | None = None
    """The reason for the restart, if anything had been read before."""
    ended: bool = False
    """True if the reading has ended and everything is settled. If more data arrives, a new reading begins."""
    state: SourceState | None = None
    """The new state of the source, or None if it has not changed."""
    more: bool = False
    """True if more data can be read or checked immediately."""


class PendingChanges:
    """The changes of a followed file that have not been handled yet, in order."""

    def __init__(self) -> None:
        self._queue: deque[Change] = deque()
        self._taken = 0
        """The number of bytes already taken from the first change."""

    def __bool__(self) -> bool:
        return bool(self._queue)

    def extend(self, changes: Iterable[Change]) -> None:
        """Add newer changes."""
        self._queue.extend(changes)

    def first(self, kind: type[_Kind]) -> _Kind | None:
        """Return the first change if it is of this kind, otherwise None."""
        return self._queue[0] if self._queue and isinstance(self._queue[0], kind) else None

    def drop_first(self) -> None:
        """Drop the first change."""
        self._queue.popleft()
        self._taken = 0

    def take_states(self) -> SourceState | None:
        """Remove all states at the front of the queue. Return the newest one, or None if there is none."""
        newest = None
        while state := self.first(SourceState):
            newest = state
            self.drop_first()
        return newest

    def take_bytes(self, size: int) -> bytes:
        """Take up to `size` bytes from the first change, which must be `Grew`, and keep the rest."""
        change = self.first(Grew)
        assert change is not None
        data = change.data[self._taken : self._taken + size]
        self._taken += len(data)
        if self._taken == len(change.data):
            self.drop_first()
        return data

    def skip_to_reset(self) -> None:
        """Drop all changes before the next reset."""
        while self._queue and not isinstance(self._queue[0], Reset):
            self.drop_first()
        self._taken = 0


class FormatChoice:
    """The format of a growing input. It may change until the head of the input is complete."""

    def __init__(self, *, is_fixed: bool) -> None:
        self.is_fixed = is_fixed
        """True if the user named the format, so it is not detected."""
        self.head = b""
        """The first bytes of the input."""
        self._evidence = Evidence()

    def settle(self, before: bytes, data: bytes, known: Detection) -> Detection:
        """Add the next bytes to the head and detect the format."""
        self.head = before + data[: HEAD - len(before)]
        return self.detect(self.head, known)

    def detect(self, head: bytes, known: Detection) -> Detection:
        """Return the format of this head, or the known one if it is fixed."""
        if self.is_fixed:
            return known
        found = detect(head, evidence=self._evidence)
        if len(head) >= HEAD:
            self._evidence = Evidence()  # the head is complete
        return found


class LiveDocument(Document):
    """A document that follows a file. `step` continues reading; the source signals when it should be called."""

    def __init__(
        self,
        source: GrowingSource,
        format: str | None = None,
        options: ReadOptions | None = None,
        *,
        clock: Clock = time.monotonic,
        reads_first: bool = False,
        under: Audience = END_USER,
    ) -> None:
        """With `reads_first`, content far from the end is checked only after everything available has been read."""
        self.following = source
        self._reads_first = reads_first
        self._clock = clock
        self._format_choice = FormatChoice(is_fixed=format is not None)
        self._changes = PendingChanges()
        self._is_over = False
        """True if this reading has ended. A reset begins the next one."""
        self._grew_at = clock()
        super().__init__(source.generation, format, options, under=under)

    def _begin(self, source: Source, detection: Detection) -> None:
        super()._begin(source, detection)
        self._analysis.note_whole()  # show text while it is still being written
        self._deadlines = Deadlines(self._analysis.calls, self._analysis.findings)
        self._new_findings = NewFindings(self._analysis.findings, self._deadlines, self._quotes)
        self._is_over = False
        self.has_caught_up = False
        """True once all available data has been read, even if not yet checked."""

    @property
    def is_checked(self) -> bool:
        """True if everything in the file so far has been checked."""
        return self.is_complete or (self.has_caught_up and self._analysis.is_checked)

    @property
    def progress(self) -> float:
        """The share of the available data that has been read."""
        return 1.0 if self.is_complete else min(1.0, self._reading.read_to / max(1, self.following.length))

    @property
    def version(self) -> tuple[int, ...]:
        """A value that changes whenever anything changes, except the growing text of an open message."""
        analysis = self._analysis
        counts = len(analysis.index), len(analysis.unsettled), len(analysis.findings), len(analysis.strays)
        return *counts, len(self._deadlines.revised), int(analysis.is_checked)

    @property
    def open_numbers(self) -> list[int]:
        """The numbers of the open messages."""
        return sorted(self._analysis.unsettled)

    @property
    def quiet_for(self) -> float:
        """Seconds since the last byte arrived."""
        return self._clock() - self._grew_at

    def new_findings(self) -> list[Finding]:
        """Return the diagnostics of this reading that have not been returned yet, sorted by position."""
        return self._new_findings.take()

    @property
    def stalled_for(self) -> float:
        """Seconds since an open message last grew; 0 if none is open."""
        return self.quiet_for if self._analysis.unsettled else 0.0

    def load(self) -> LiveDocument:
        """Read everything that is available now."""
        while self.step().more:
            pass
        return self

    def read_some(self, size: int) -> None:
        """Read up to `size` more bytes, if available."""
        self.step(size)

    def close(self) -> None:
        """End the input: open messages stay unfinished."""
        if self.is_complete:
            return
        if not self._is_over:
            with suppress(FileRewrittenError):  # unchecked bytes can no longer be checked
                self._finish()
        self.is_complete = True
        self.following.close()

    def step(self, size: int = CHUNK) -> LiveChange:
        """Poll the file, read up to `size` more bytes or check bytes read earlier, and return what changed."""
        if self.is_complete:
            return LiveChange()
        with self.rewrites:
            try:
                return self._step_on(size)
            except FileRewrittenError:
                self._drop_reading()
                return LiveChange(more=True)

    def _drop_reading(self) -> None:
        """Discard the remaining changes of a rewritten file. The source restarts no later than at its next poll."""
        self._changes.skip_to_reset()
        self._is_over = True

    def _step_on(self, size: int) -> LiveChange:
        changes = self._changes
        if not changes:
            changes.extend(self.following.poll())
        is_checked = self._analysis.is_checked or self._is_over
        if not is_checked and changes.first(Grew) is None:
            return self._check_on()
        change = LiveChange(state=changes.take_states())
        if changes:
            return self._changed(size, change.state)
        if change.state and change.state.is_final:
            self.close()
            return LiveChange(grew=True, ended=True, state=change.state)
        self.has_caught_up = True
        return LiveChange(grew=self._deadlines.expire(self._clock()), state=change.state)

    def _check_on(self) -> LiveChange:
        """Check the next part of the backlog: bytes that were read faster than they could be checked. Resets wait."""
        self.has_caught_up = True
        known = len(self._analysis.findings)
        self._analysis.check_some(CHECKED_AT_ONCE)
        self._deadlines.watch(self._clock(), live=False)
        return LiveChange(grew=self._analysis.is_checked or len(self._analysis.findings) > known, more=True)

    def _changed(self, size: int, state: SourceState | None) -> LiveChange:
        """Handle a reset, the bytes after it, or both."""
        reason, restarted = None, False
        if reset := self._changes.first(Reset):
            reason = reset.reason
            if reason is Reason.REPLACED and self._reading.read_to and not self._is_over:
                self._finish()  # keeps the reset queued
                return LiveChange(grew=True, ended=True, state=state, more=True)
            self._changes.drop_first()
            reason, restarted = reason if self._reading.read_to else None, True
            self._begin(self.following.generation, self._format_choice.detect(b"", self.detection))
        if self._changes.first(Grew):
            was_empty = not self._reading.read_to
            began = self._grow(self._changes.take_bytes(size))
            if self._reading.is_noise and self._reading.read_to >= HEAD:
                self.close()
                return LiveChange(True, began or restarted, reason, ended=True, state=state)
            if began:
                restarted, reason = True, reason or (None if was_empty else Reason.DETECTED)
        return LiveChange(True, restarted, reason, state=state, more=True)

    def _grow(self, data: bytes) -> bool:
        """Read the next bytes. Return True if reading begins with them, or restarts because the format changed."""
        before = self._format_choice.head if self._reading.read_to else b""
        began = self._settle(before, data)
        is_open = not self._format_choice.is_fixed and self._reading.read_to + len(data) < HEAD
        self._analysis.unsettled.is_tentative = is_open
        self._take(before + data if began else data)
        self._reading.hears_noise(data)
        if self._reading.read_to == self.following.size:
            self._reading.report_fault()
        self._deadlines.watch(self._clock(), live=self.has_caught_up)
        self._grew_at = self._clock()
        return began

    def _settle(self, before: bytes, data: bytes) -> bool:
        """Detect the format from the head of the input so far. Return True if reading restarts."""
        if self._reading.read_to >= HEAD:
            return False
        detection = self._format_choice.settle(before, data, self.detection)
        if not self._reading.read_to or detection.format != self.detection.format:
            self._begin(self.following.generation, detection)
            return True
        self._reading.redetect(detection)
        return False

    def _take(self, data: bytes) -> None:
        """Read and check in the same step so that the states of calls are reported immediately. With `reads_first`,
        scanned content far from the end is checked later, because reading without checks is much faster."""
        waits = not self._analysis.is_checked
        super()._take(data)
        is_far = self.following.length - self._reading.read_to >= BIG
        if not self._reads_first or self._reading.scanner is None or not (waits or is_far):
            self._analysis.check_all()

    def _finish(self) -> None:
        """Finish this reading. Open messages stay unfinished."""
        assert isinstance(self._source, FileRevision | ReplayedRevision)
        rest = self._source.add(b"", ends=True)
        if rest:
            self._take(rest)
        self._reading.end()
        self._analysis.check_all()
        clear_caches()
        self.is_complete = False
        self._is_over = True


class NewFindings:
    """Returns each diagnostic once when it is found, and again when its reason changes."""

    def __init__(self, findings: Findings, deadlines: Deadlines, quotes: Quotes) -> None:
        self._findings = findings
        self._deadlines = deadlines
        self._quotes = quotes
        self._returned = self._revised = 0
        """How many diagnostics and how many changed reasons have been returned."""

    def take(self) -> list[Finding]:
        """Return the diagnostics that have not been returned yet, sorted by position."""
        findings, revised = self._findings, self._deadlines.revised[self._revised :]
        again = [row for row in revised if row < self._returned]
        fresh = (row for row in range(self._returned, len(findings)) if not findings.is_spare(row))
        new = [self._quotes.locate(findings[row]) for row in (*again, *fresh)]
        self._returned, self._revised = len(findings), len(self._deadlines.revised)
        return sorted(new, key=lambda finding: (finding.diagnostic.start, finding.diagnostic.end))


class Overdue(Struct, frozen=True, gc=False):
    """A call whose deadline passed without a reply."""

    finding: int | None
    """The row of the call's diagnostic; None if the diagnostic is only counted."""
    due: float


class Deadlines:
    """Watches the deadlines of calls. A deadline counts from the arrival of the call, because a transcript may lack
    times."""

    def __init__(self, calls: CallLedger, findings: Findings) -> None:
        self._calls = calls
        self._findings = findings
        self._watched_to = 0
        self._seen_at: dict[int, float] = {}
        """The arrival time of each call that arrived while following, by row."""
        self._due: dict[int, float] = {}
        """The time at which each pending call is due, by row."""
        self._overdue: dict[int, Overdue] = {}
        self.revised: list[int] = []
        """The rows of the diagnostics with changed reasons, in the order of the changes."""
        calls.take_answered()

    def watch(self, now: float, *, live: bool) -> None:
        """Record new calls and replies. With `live`, they have just arrived, so their arrival times are meaningful."""
        calls = self._calls
        for row in range(self._watched_to, len(calls)):
            if calls.state(row) is not CallState.PENDING:
                continue
            deadline = calls.deadline_ms(row)
            if deadline is not None:
                self._due[row] = now + deadline / 1000
            if live:
                self._seen_at[row] = now
        self._watched_to = len(calls)
        for row in calls.take_answered():
            self._settle(row, now, live=live)

    def _settle(self, row: int, now: float, *, live: bool) -> None:
        """Handle the reply to a call: record when it arrived, and report it if it is late."""
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
        """True if the transcript itself does not show whether the reply was late, and the reply reports no failure."""
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
        """Report the pending calls that have missed their deadline. Return True if any deadline has passed."""
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
        self._findings.add(E_TOOL_TIMEOUT, reason, link.call_end, link.call_end, link.call)
        return known if len(self._findings) > known else None
