"""The messages that deltas are making: which delta goes where, and when a message is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from viewer.core.messages import Ending, Piece, Span
from viewer.core.record import Record
from viewer.formats.event_kinds import Family
from viewer.formats.event_lanes import ANONYMOUS, Delta, Identity, Lane, Opening, OpenStreams, Stream

_DEFAULT_CHANNEL = {
    Family.TEXT: "final",
    Family.REASONING: "analysis",
    Family.SUMMARY: "analysis",
    Family.CALL: "commentary",
}


class Streams:
    """All messages that are open at one time. Each step costs the same however many there are."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._open = OpenStreams()
        self._changed: dict[int, Stream] = {}
        self._left: dict[tuple[Lane, Family], set[Identity]] = {}
        """Messages without an id that ended only because another kind began."""
        self._seen: set[tuple[str, str, Family]] = set()
        self._cancelled: set[str] = set()

    def delta(self, delta: Delta, describe: Callable[[], Opening]) -> bool:
        """Add to a message, or open one; False where the message was cancelled."""
        if delta.lane.name in self._cancelled:
            return False
        identity = delta.identity.filled(_DEFAULT_CHANNEL[delta.family])
        stream = self._open.find(delta, identity)
        if stream is None:
            self._begin(delta, identity, describe())
            return True
        self._write(stream, delta.piece, delta.event)
        return True

    def _write(self, stream: Stream, piece: Piece | None, event: Span) -> None:
        stream.end = event[1]
        self._open.written(stream)
        if piece:
            stream.pieces.append(piece)
            self._changed[stream.number] = stream

    def _begin(self, delta: Delta, identity: Identity, opening: Opening) -> None:
        lane, family = delta.lane, delta.family
        if not lane.identified:
            self._leave(lane)
        number = self._record.last_number + 1
        for fault in opening.faults:
            self._record.report(*fault, number)
        left = self._left.get((lane, family), set())
        if identity in left:
            left.discard(identity)
            self._record.report("W-STREAM-INTERLEAVED", None, *delta.event, number)
        pieces = [delta.piece] if delta.piece else []
        self._record.open(opening.header, delta.event[0], pieces, time_ms=opening.time_ms)
        self._open.add(Stream(number, lane, family, identity, opening.header, delta.event[1], pieces))
        self._seen.add((lane.name, lane.part, family))

    def _leave(self, lane: Lane) -> None:
        """Another kind begins where only the order tells messages apart."""
        for stream in self._open.of_lane(lane):
            self._left.setdefault((lane, stream.family), set()).add(stream.identity)
            self._close(stream)

    def has_seen(self, lane: Lane, family: Family) -> bool:
        """Whether deltas of this kind have come, so that the whole text is only a repetition."""
        if lane.identified:
            anonymous = (ANONYMOUS.name, ANONYMOUS.part, family)
            return (lane.name, lane.part, family) in self._seen or anonymous in self._seen
        return self._open.last(lane, family) is not None or bool(self._left.get((lane, family)))

    def describe_call(self, lane: Lane, recipient: str | None, call_id: str | None) -> None:
        """What was learned of a call, perhaps after it was opened."""
        stream = self._open.last(lane, Family.CALL)
        if stream:
            header = stream.header
            stream.header = replace(header, recipient=header.recipient or recipient, call_id=header.call_id or call_id)

    def flush(self, lane: Lane, event: Span, piece: Piece) -> None:
        """A boundary in the message that was last written to."""
        stream = self._open.current(lane)
        if stream:
            self._write(stream, piece, event)

    def done(self, lane: Lane, family: Family | None, event: Span) -> None:
        """The messages of this kind close, and those of the lane that were left before."""
        for kind in [family] if family else Family:
            self._left.pop((lane, kind), None)
        if family and not self._open.has_family(lane, family):
            return
        streams = sorted(self._open.addressed(lane), key=lambda stream: stream.number)
        last = max((stream.end for stream in streams if family in (None, stream.family)), default=0)
        for stream in streams:
            if family in (None, stream.family):
                stream.end = max(stream.end, event[1])
                self._close(stream)
            elif stream.end < last:
                self._close(stream)

    def cancel(self, lane: Lane, event: Span) -> None:
        """The messages stop, and nothing of theirs is taken any more; without an id all that are open."""
        for stream in self._open.addressed(lane) if lane.identified else self._open.all():
            self._cancelled.add(stream.lane.name)
            stream.end = max(stream.end, event[1])
            self._close(stream, cancelled=True)
        if lane.identified:
            self._cancelled.add(lane.name)

    def end_response(self) -> None:
        """Everything that is open closes; what follows is another response."""
        for stream in self._open.all():
            self._close(stream)
        self.begin_response()

    def begin_response(self) -> None:
        """What follows has nothing to do with the messages before, those that are open apart."""
        self._left.clear()
        self._seen.clear()
        self._cancelled = {name for name in self._cancelled if name.startswith("message:")}

    def break_off(self) -> None:
        """No more comes: of each lane the message that was last written to is unfinished."""
        last = {stream.lane.name: stream.number for stream in sorted(self._open.all(), key=lambda stream: stream.end)}
        for stream in self._open.all():
            if last[stream.lane.name] == stream.number:
                self._record.report("E-STREAM-TRUNCATED", "event-stream", stream.end, stream.end, stream.number)
                self._close(stream, Ending.OPEN)
            else:
                self._close(stream)
        self.begin_response()

    def grow(self) -> None:
        """Tell of what has grown since the last time."""
        for stream in self._changed.values():
            self._record.grow(stream.number, stream.pieces[stream.told :], stream.told)
            stream.told = len(stream.pieces)
        self._changed.clear()

    def _close(self, stream: Stream, ending: Ending | None = None, *, cancelled: bool = False) -> None:
        self._open.remove(stream)
        self._changed.pop(stream.number, None)
        self._record.close(
            stream.number,
            ending or stream.ending,
            stream.end,
            stream.pieces,
            header=stream.header,
            cancelled=cancelled,
        )
