"""Event recorder: assigns numbers to messages and transcripts, and queues events until they are drained."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import itemgetter

from viewer.model.diagnostic import Rule
from viewer.model.events import (
    AgentStarted,
    Closed,
    ClosedBatch,
    DeclaredTools,
    Event,
    Found,
    Grew,
    Metadata,
    Opened,
    Started,
    Strayed,
    Superseded,
    ToolCancelled,
    Used,
)
from viewer.model.messages import Ending, Header, Kind, Message, Piece, Span, Stray, Transcript, Usage
from viewer.model.time_order import Placed, TimeOrder, TimePlace
from viewer.rules.notes import I_TIME_BACKWARDS
from viewer.rules.structure import W_TEXT_BETWEEN

SMALLEST_BATCH = 16
"""The minimum number of messages in a batch. For fewer messages, single events are faster."""


class Recorder:
    """The events of one parser. Readers call its methods in input order."""

    def __init__(self, format: str, *, batches: bool = False) -> None:
        self.format = format
        self.has_batches = batches
        """True if consecutive regular messages may become one event."""
        self.transcript = 0
        """The number of the current transcript; 0 before the first."""
        self.last_number = 0
        """The number of the newest message."""
        self._events: list[Event] = []
        self._open: dict[int, Message] = {}
        self._times = TimeOrder()
        self._joined = 0
        """The number of the last message that `add_complete` added to a batch."""

    def drain(self) -> list[Event]:
        """Return the queued events and empty the queue."""
        events, self._events = self._events, []
        if any(type(event) is ClosedBatch for event in events):
            return [*self._as_wanted(events)]
        return events

    def _as_wanted(self, events: list[Event]) -> Iterator[Event]:
        """Yield the events. Small batches, or all batches if they are not wanted, are replaced with single events."""
        for event in events:
            if isinstance(event, ClosedBatch) and not (self.has_batches and len(event) >= SMALLEST_BATCH):
                yield from event.one_by_one()
            else:
                yield event

    def start(
        self,
        at: int,
        version: str | None = None,
        model: str | None = None,
        header: dict[str, object] | None = None,
        format: str | None = None,
        id: str | None = None,
    ) -> None:
        """Begin a transcript. All later messages, stray text, and diagnostics belong to it."""
        self.transcript += 1
        self._times.start()
        transcript = Transcript(self.transcript, format or self.format, at, version, model, header or {}, id)
        last = self._events[-1] if self._events else None
        if isinstance(last, ClosedBatch) and not last.is_verbatim:
            last.started.append((self.last_number + 1 - last.first, transcript))
        else:
            self._events.append(Started(transcript))

    def start_if_none(self, at: int) -> None:
        """Begin the first transcript here, unless one has already begun."""
        if not self.transcript:
            self.start(at)

    def open(
        self,
        header: Header,
        start: int,
        pieces: Iterable[Piece] = (),
        *,
        broke_out: bool = False,
        time_ms: int | None = None,
        time_at: Placed | None = None,
    ) -> int:
        """Open a message whose header is complete and return its number. `time_at` is the position of the time in the
        input."""
        if not self.transcript:
            self.start(start)
        self.last_number += 1
        known = tuple(pieces)
        end = known[-1].end if known else start
        message = Message(
            self.last_number,
            self.transcript,
            header,
            Ending.OPEN,
            (start, end),
            known,
            broke_out=broke_out,
            time_ms=time_ms,
        )
        self._open[message.number] = message
        self._events.append(Opened(message))
        self._note_time(message, time_at)
        return message.number

    def grow(self, number: int, pieces: Iterable[Piece], first: int = 0) -> None:
        """Extend an open message: the pieces replace the earlier ones from index `first` on."""
        self._events.append(Grew(number, tuple(pieces), first))

    def close(
        self,
        number: int,
        ending: Ending,
        end: int,
        pieces: Iterable[Piece],
        *,
        stop: Span | None = None,
        header: Header | None = None,
        cancelled: bool = False,
    ) -> Message:
        """Close an open message and return it. `header`, if given, replaces its earlier header."""
        was = self._open.pop(number)
        message = Message(
            number,
            was.transcript,
            header or was.header,
            ending,
            (was.span[0], end),
            tuple(pieces),
            stop=stop,
            broke_out=was.broke_out,
            time_ms=was.time_ms,
            cancelled=cancelled,
        )
        self._events.append(Closed(message))
        return message

    def add(
        self,
        header: Header,
        ending: Ending,
        span: Span,
        pieces: Iterable[Piece],
        *,
        stop: Span | None = None,
        broke_out: bool = False,
        time_ms: int | None = None,
        time_at: Placed | None = None,
    ) -> int:
        """Add a whole message and return its number."""
        number = self.open(header, span[0], broke_out=broke_out, time_ms=time_ms, time_at=time_at)
        self.close(number, ending, span[1], pieces, stop=stop)
        return number

    def add_complete(
        self,
        header: Header,
        ending: Ending,
        span: Span,
        pieces: Iterable[Piece],
        *,
        time_ms: int | None = None,
        time_at: Placed | None = None,
        joins: bool = False,
    ) -> int:
        """Add a whole message that was never open, with a single event, and return its number. With `joins`, it becomes
        part of the last event if that is a batch, so that one irregular message does not divide a batch."""
        self.start_if_none(span[0])
        last = self._events[-1] if joins and self._events else None
        if isinstance(last, ClosedBatch) and last.join(header, ending, span, tuple(pieces), time_ms, time_at):
            self.count_batch(last)
            self._joined = self.last_number
            return self.last_number
        self.last_number += 1
        message = Message(self.last_number, self.transcript, header, ending, span, tuple(pieces), time_ms=time_ms)
        self._events.append(Closed(message))
        self._note_time(message, time_at)
        return message.number

    def batch(self) -> ClosedBatch:
        """Return the batch for the next messages. Call `count_batch` after adding them."""
        last = self._events[-1] if self._events else None
        if not isinstance(last, ClosedBatch):
            last = ClosedBatch(self.last_number + 1, self.transcript)
            self._events.append(last)
        return last

    def verbatim_batch(self) -> ClosedBatch:
        """Like `batch`, for messages of the current transcript whose text equals the bytes of their bodies. A format
        that uses this uses no other batches."""
        batch = self.batch()
        batch.is_verbatim = True
        return batch

    def count_batch(self, batch: ClosedBatch) -> None:
        """Count the messages that were added to a batch. A transcript that is started before this call begins with
        these messages."""
        first = self.last_number + 1 - batch.first
        self.last_number = batch.first + len(batch) - 1
        if batch.time_rows and batch.time_rows[-1] >= first:
            self._note_times(batch, first)

    def _note_times(self, batch: ClosedBatch, first: int) -> None:
        """Report the times that are earlier than previous ones, starting at this index in a batch. These reports come
        before the other reports about their messages."""
        found: list[tuple[int, Found]] = []
        rows, times, starts, ends = batch.time_rows, batch.times, batch.time_starts, batch.time_ends
        threads, codes = [header.thread for header, _ in batch.headers], batch.codes
        for at in range(bisect_left(rows, first), len(rows)):
            thread = threads[codes[rows[at]]]
            if self._times.advances(thread, times[at]):
                continue
            run = self._times.backwards(thread, times[at], TimePlace(starts[at], ends[at]))
            if run is not None:
                found.append((rows[at], Found(I_TIME_BACKWARDS, None, *run, None)))
        if found:
            place = bisect_left(batch.found, first, key=itemgetter(0))
            batch.found[place:] = sorted([*found, *batch.found[place:]], key=itemgetter(0))

    def _note_time(self, message: Message, time_at: Placed | None) -> None:
        """Report a time that is earlier than a previous one. Repeated text keeps the time of its original.

        The report applies to the whole input, because the earlier record may be hidden."""
        if time_at is None or message.time_ms is None or message.header.kind is Kind.REPLAYED:
            return
        run = self._times.backwards(message.header.thread, message.time_ms, time_at)
        if run is not None:
            self.report(I_TIME_BACKWARDS, None, *run)

    def stray(self, start: int, end: int) -> None:
        """Record and report text outside any message. The span excludes whitespace at either end."""
        self.start_if_none(start)
        self._events.append(Strayed(Stray(self.transcript, self.last_number, (start, end))))
        self.report(W_TEXT_BETWEEN, None, start, end)

    def leave_out(self, start: int, end: int) -> None:
        """Record stray text without reporting it, such as a mark outside any message. Only audiences that may see stray
        text see it."""
        self.start_if_none(start)
        self._events.append(Strayed(Stray(self.transcript, self.last_number, (start, end))))

    def report(
        self, rule: Rule, reason: str | None, start: int, end: int, message: int | None = None, count: int = 1
    ) -> None:
        """Report a diagnostic at these bytes. Equal adjacent diagnostics are merged later."""
        if reason is None or reason in rule.reasons:
            found = Found(rule, reason, start, end, message, count)
            last = self._events[-1] if message == self._joined and self._events else None
            if isinstance(last, ClosedBatch) and message == self.last_number:
                last.found.append((len(last) - 1, found))
            else:
                self._events.append(found)
            return
        raise KeyError(f"{rule.code} has no reason {reason}")

    def cancel_tool(self, call_id: str, start: int, end: int) -> None:
        """Record a `tool.cancel` event for a call."""
        self.start_if_none(start)
        self._events.append(ToolCancelled(self.transcript, call_id, start, end))

    def supersede(self, first: int, last: int) -> None:
        """Record that these messages form a superseded branch."""
        self._events.append(Superseded(first, last))

    def use(self, number: int, usage: Usage, model: str | None = None) -> None:
        """Record that a message, or the whole transcript if the number is 0, used this many more tokens."""
        if usage == Usage():
            return
        used = Used(self.transcript, number, usage, model)
        last = self._events[-1] if self._events else None
        if isinstance(last, ClosedBatch):
            last.used.append((len(last), used))
        else:
            self._events.append(used)

    def start_agent(self, thread: int, id: str) -> None:
        """Record that the first message of another agent follows."""
        last = self._events[-1] if self._events else None
        if isinstance(last, ClosedBatch):
            last.agents.append((len(last), AgentStarted(self.transcript, thread, id, last.first + len(last))))
        else:
            self._events.append(AgentStarted(self.transcript, thread, id, self.last_number + 1))

    def skip(self) -> None:
        """Record that a record contains no message, if it comes before the first message."""
        if not self.last_number:
            self._events.append(Metadata())

    def declare(self, message: int, start: int, end: int) -> None:
        """Record that these bytes declare tools in JSON."""
        self._events.append(DeclaredTools(self.transcript, message, start, end))
