"""Build messages from deltas: where each delta goes, when a message ends, and how later events affect it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from viewer.formats.engine.deltas import DeltaRun
from viewer.formats.events.delta_keys import ANONYMOUS, Delta, DeltaKey, Identity, Opening, OpenStreams, Stream
from viewer.formats.events.headers import hiding_value, is_shown
from viewer.formats.events.objects import Said
from viewer.formats.tables.model import Family
from viewer.model.diagnostic import Problem
from viewer.model.messages import Coding, Ending, Header, Kind, Piece, Span
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PERM_VISIBILITY, E_STREAM_TRUNCATED
from viewer.rules.structure import W_COPY_DIFFERS, W_RECORD_UNKNOWN, W_STREAM_INTERLEAVED, W_STREAM_LATE

_DEFAULT_CHANNEL = {
    Family.TEXT: "final",
    Family.REASONING: "analysis",
    Family.SUMMARY: "analysis",
    Family.CALL: "commentary",
    Family.OTHER: "final",
}
_LASTING = "message:"
"""The prefix of the names of keys that no other response uses."""

_CHAT = "chat:"
"""The prefix of the keys of chat chunks."""

_HALF = "\ufffd"
"""The character that replaces half of a character that is split between two deltas."""
_MOST_SHOWN = 64
"""The maximum number of messages per key that a later event can still mark."""


class Addition(Struct, frozen=True):
    """Text that was added to an open message."""

    number: int
    piece: Piece


_Lane = TypeVar("_Lane", bound=tuple[object, ...])
"""The name of a key, possibly with a part and a family."""


class _Lanes(Generic[_Lane]):
    """A set of keys or their parts. The time to end a response is independent of the number of keys that outlive it."""

    def __init__(self) -> None:
        self._lasting: set[_Lane] = set()
        self._others: set[_Lane] = set()

    def __contains__(self, lane: _Lane) -> bool:
        return lane in self._others or lane in self._lasting

    def _set_of(self, lane: _Lane) -> set[_Lane]:
        return self._lasting if str(lane[0]).startswith(_LASTING) else self._others

    def add(self, lane: _Lane) -> None:
        self._set_of(lane).add(lane)

    def discard(self, lane: _Lane) -> None:
        self._set_of(lane).discard(lane)

    def end_response(self) -> None:
        """Remove all keys that another response may use."""
        self._others.clear()

    def clear(self) -> None:
        self._lasting.clear()
        self._others.clear()


class Streams:
    """Builds messages from deltas. The time to add a delta does not depend on the number of open messages."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._open = OpenStreams()
        self._changed: dict[int, Stream] = {}
        self._left: dict[tuple[DeltaKey, Family], set[Identity]] = {}
        """Messages without an ID that ended only because a message of another kind began."""
        self._seen: set[tuple[str, str, Family]] = set()
        self._closed: _Lanes[tuple[str, str, Family | None]] = _Lanes()
        """The keys, families of keys, or parts of keys that are closed for good."""
        self._cancelled: _Lanes[tuple[str]] = _Lanes()
        self._all_cancelled = False
        """True if the whole response was cancelled."""
        self._shown: dict[str, dict[int, tuple[DeltaKey, Family, Header]]] = {}
        """The messages of this response that the user may have seen, by the name of their key."""
        self._digests: dict[tuple[str, str, Family], bytes] = {}
        """Digests of the text of closed messages."""
        self._withdrawn: _Lanes[tuple[str, str]] = _Lanes()
        """Keys, and parts of keys, whose remaining text was declared hidden by a later event."""
        self.additions: list[Addition | None] = []
        """The pieces of text in the last event. None represents text that began a message or is empty."""
        self.openings: list[Addition] = []
        """The pieces of text in the last event that began a message."""

    def delta(self, delta: Delta, describe: Callable[[], Opening]) -> int:
        """Add a delta to its message, or open a message for it. Return the number of the message."""
        delta = replace(delta, lane=self._open.part_of(delta.lane, delta.family))
        if self._is_late(delta):
            delta = replace(delta, lane=DeltaKey(f"late:{delta.lane.name}", True, delta.lane.part, late=True))
        identity = delta.identity.filled(_DEFAULT_CHANNEL[delta.family])
        stream = self._open.find(delta, identity)
        if stream is None:
            self.additions.append(None)
            number = self._begin(delta, identity, describe())
            if delta.piece:
                self.openings.append(Addition(number, delta.piece))
            return number
        self.additions.append(Addition(stream.number, delta.piece) if delta.piece else None)
        stream.texts.append(delta.text)
        stream.is_mixed |= _HALF in delta.text
        if delta.piece and stream.pieces and delta.is_refusal is not stream.is_refusal:
            stream.is_mixed = True
            stream.pieces.append(Piece(delta.piece.start, delta.piece.start, Coding.LINE))
        stream.is_refusal = delta.is_refusal
        self._write(stream, delta.piece, delta.event)
        return stream.number

    def add_run(self, number: int, run: DeltaRun) -> None:
        """Add the text of a run of events that add to the same message as the last event."""
        stream = self._open.get(number)
        assert stream is not None
        stream.texts.append(run.text)
        stream.is_mixed |= _HALF in run.text
        stream.pieces += run.pieces
        stream.end = max(stream.end, run.end)
        self._changed[number] = stream

    def name_if_alone(self, number: int) -> str | None:
        """Return the name of an open message's key if only its ID, and not the order of events, decides which text
        belongs to the message. Otherwise, return None."""
        stream = self._open.get(number)
        is_alone = stream is not None and stream.lane.identified and len(self._open.addressed(stream.lane)) == 1
        return stream.lane.name if stream is not None and is_alone and _is_stable(stream.lane) else None

    def add_text(self, number: int, piece: Piece, text: str, end: int) -> None:
        """Add text to an open message that is the only one with its ID, as `delta` does. `end` is the end of the
        event."""
        stream = self._open.get(number)
        assert stream is not None
        stream.texts.append(text)
        stream.is_mixed |= _HALF in text
        stream.end = max(stream.end, end)
        stream.pieces.append(piece)
        self._changed[number] = stream

    def _is_late(self, delta: Delta) -> bool:
        name, part, family = delta.lane.name, delta.lane.part, delta.family
        if self._all_cancelled or (name,) in self._cancelled:
            return True
        lanes = ((name, "", None), (name, "", family), (name, part, family))
        return not delta.is_copy and any(each in self._closed for each in lanes)

    def _write(self, stream: Stream, piece: Piece | None, event: Span) -> None:
        stream.end = max(stream.end, event[1])
        self._open.written(stream)
        if piece:
            stream.pieces.append(piece)
            self._changed[stream.number] = stream

    def _begin(self, delta: Delta, identity: Identity, opening: Opening) -> int:
        lane, family = delta.lane, delta.family
        if not lane.identified:
            self._leave(lane)
        number = self._record.last_number + 1
        opening = self._judged(delta, opening)
        for fault in opening.faults:
            self._record.report(fault.rule, fault.reason, fault.start, fault.end, number)
        left = self._left.get((lane, family), set())
        if identity in left:
            left.discard(identity)
            self._record.report(W_STREAM_INTERLEAVED, None, *delta.event, number)
        pieces = [delta.piece] if delta.piece else []
        self._record.open(opening.header, delta.event[0], pieces, time_ms=opening.time.ms, time_at=opening.time.at)
        stream = Stream(number, lane, family, identity, opening.header, delta.event[1], pieces)
        stream.is_refusal, stream.texts, stream.is_mixed = delta.is_refusal, [delta.text], _HALF in delta.text
        stream.unsettled = delta.event if opening.is_unsettled and not lane.late else None
        self._open.add(stream)
        self._note_shown(stream)
        self._seen.add((lane.name, lane.part, family))
        return number

    def _judged(self, delta: Delta, opening: Opening) -> Opening:
        """Return the opening, hidden if the text is late or a later event already declared its message hidden."""
        lane = delta.lane
        if lane.late:
            return _hidden(opening, Problem(W_STREAM_LATE, None, *delta.event))
        if (lane.name, "") in self._withdrawn or (lane.name, lane.part) in self._withdrawn:
            return _hidden(opening)
        return opening

    def _note_shown(self, stream: Stream) -> None:
        if is_shown(stream.header):
            known = self._shown.setdefault(stream.lane.name, {})
            known[stream.number] = (stream.lane, stream.family, stream.header)
            if len(known) > (_MOST_SHOWN if stream.lane.identified else 1):
                del known[next(iter(known))]

    def _leave(self, lane: DeltaKey) -> None:
        """Close the current messages of a key without an ID, because another message begins."""
        for stream in self._open.of_lane(lane):
            self._left.setdefault((lane, stream.family), set()).add(stream.identity)
            self._close(stream)

    def has_seen(self, lane: DeltaKey, family: Family) -> bool:
        """True if deltas of this kind have arrived, so the whole text is only a repetition."""
        if lane.identified:
            anonymous = (ANONYMOUS.name, ANONYMOUS.part, family)
            if not lane.part:
                lane = self._open.part_of(lane, family)
            lanes = ((lane.name, lane.part, family), (lane.name, "", family), anonymous)
            return any(each in self._seen for each in lanes)
        return self._open.last(lane, family) is not None or bool(self._left.get((lane, family)))

    @property
    def has_text(self) -> bool:
        """True if any text of this response was read."""
        return any(family is Family.TEXT for _, _, family in self._seen)

    @property
    def has_open(self) -> bool:
        return bool(self._open.all())

    def compare(self, lane: DeltaKey, family: Family, whole: str, piece: Piece, event: Span) -> None:
        """Compare the whole text of a message with its deltas. If they differ, report it, and replace the deltas if the
        message is still open."""
        if not lane.identified or family is Family.OTHER:
            return
        lane = self._open.part_of(lane, family)
        same = [each for each in self._open.addressed(lane) if each.family is family and each.lane == lane]
        key, digest = (lane.name, lane.part, family), _digest(whole)
        if len(same) == 1 and not same[0].is_mixed and _digest("".join(same[0].texts)) != digest:
            stream = same[0]
            self._record.report(W_COPY_DIFFERS, None, piece.start, piece.end, stream.number)
            stream.texts, stream.pieces, stream.reported = [whole], [piece], 1
            stream.end = max(stream.end, event[1])
            self._changed.pop(stream.number, None)
        elif not same and self._digests.get(key, digest) != digest:
            self._record.report(W_COPY_DIFFERS, None, piece.start, piece.end)
            self._digests[key] = digest

    def describe_call(self, lane: DeltaKey, recipient: str | None, call_id: str | None) -> None:
        """Add the name and ID of a call, possibly after it was opened."""
        stream = self._open.last(lane, Family.CALL)
        if stream:
            header = stream.header
            stream.header = replace(header, recipient=header.recipient or recipient, call_id=header.call_id or call_id)

    # Properties that arrive after their messages.

    def declare(self, lane: DeltaKey, family: Family | None, said: Said) -> None:
        """Apply the properties in an event without text to the messages of a key. A message that the user saw does not
        change, but text that arrives later is hidden."""
        if said.first is None or (not lane.identified and self._is_about_hidden(lane, said)):
            return
        for name in [lane.name] if lane.identified or lane.name in self._shown else list(self._shown)[-_MOST_SHOWN:]:
            known = self._shown.get(name, {})
            hidden = {
                number: place
                for number, (of, its_family, header) in known.items()
                if _concerns(lane, family, of, its_family) and (place := hiding_value(header, said))
            }
            for number, place in hidden.items():
                self.withdraw(name, number, (place.start, place.end))
            if hidden:
                self._withdrawn.add((name, lane.part))

    def _is_about_hidden(self, lane: DeltaKey, said: Said) -> bool:
        """True if an event without an ID names the channel of another message, one that was always hidden."""
        channel = said.channel_name
        if channel in (None, "final"):
            return False
        identities = [stream.identity for stream in self._open.of_lane(lane)]
        identities += [each for family in Family for each in self._left.get((lane, family), ())]
        return any(identity.channel == channel for identity in identities)

    def withdraw(self, name: str, number: int, place: Span) -> None:
        """End and mark a message that the user saw, because a later event at this position declares it hidden."""
        self._record.report(E_PERM_VISIBILITY, "late-channel", *place, number)
        del self._shown[name][number]
        stream = self._open.get(number)
        if stream:
            self._close(stream)

    def withdraw_lane(self, lane: DeltaKey, family: Family | None, place: Span) -> None:
        """Withdraw all messages of a key, or of one part of it. Text that arrives later is hidden."""
        known = self._shown.get(lane.name, {})
        numbers = [number for number, (of, its_family, _) in known.items() if _concerns(lane, family, of, its_family)]
        for number in numbers:
            self.withdraw(lane.name, number, place)
        if numbers:
            self._withdrawn.add((lane.name, lane.part))

    def settle(self, lane: DeltaKey, header_of: Callable[[Header], Header]) -> None:
        """Set the final headers of the text of a key, because an item declares what the text is."""
        for stream in self._open.addressed(lane):
            if stream.unsettled:
                stream.unsettled = None
                stream.header = header_of(stream.header)
                self._note_shown(stream)

    def settle_all(self) -> None:
        """Treat all text as messages, because no item was announced."""
        for stream in self._open.all():
            if stream.unsettled:
                stream.unsettled = None
                stream.header = replace(stream.header, kind=Kind.SAID)
                self._note_shown(stream)

    # Ends.

    def flush(self, lane: DeltaKey, event: Span, piece: Piece) -> None:
        """Add a segment boundary to the most recently written message."""
        stream = self._open.current(lane)
        if stream:
            stream.is_mixed = True
            self._write(stream, piece, event)

    def done(self, lane: DeltaKey, family: Family | None, event: Span, *, is_last: bool = True) -> None:
        """Close the messages of this family, and any other messages of the key whose last event came earlier. If
        `is_last` is true, no more text may come."""
        for kind in [family] if family else Family:
            self._left.pop((lane, kind), None)
        if lane.identified and is_last:
            self._close_lane(lane, family)
        if family and not self._open.has_family(lane, family):
            return
        streams = sorted(self._open.addressed(lane), key=lambda stream: stream.number)
        last = max((stream.end for stream in streams if family in (None, stream.family)), default=0)
        for stream in streams:
            if family and stream.unsettled:
                continue
            if _is_of(stream, family, lane.part):
                stream.end = max(stream.end, event[1])
                self._close(stream)
            elif stream.end < last and not lane.part:
                self._close(stream)

    def _close_lane(self, lane: DeltaKey, family: Family | None) -> None:
        last = self._open.last_part(lane.name, family) if family else None
        self._closed.add((lane.name, lane.part or last or "", family))
        if lane.part and last == "":
            self._closed.add((lane.name, "", family))

    def reopen(self, lane: DeltaKey) -> None:
        """Allow this key to be used for another message."""
        self._closed.discard((lane.name, "", None))

    def cancel(self, lane: DeltaKey, event: Span) -> None:
        """Cancel messages, which then get no more text. Without an ID, this cancels the whole response."""
        for stream in self._open.addressed(lane) if lane.identified else self._open.all():
            if not stream.lane.late:
                stream.end = max(stream.end, event[1])
                self._close(stream, cancelled=True)
        if lane.identified:
            self._cancelled.add((lane.name,))
        else:
            self._all_cancelled = True

    def end_response(self) -> None:
        """Close all open messages, because another response follows."""
        for stream in self._open.all():
            self._closed.add((stream.lane.name, "", None))
            self._close(stream)
        self._forget()

    def begin_response(self) -> None:
        """Begin a response that is unrelated to earlier messages, except open ones."""
        self._forget()
        self._closed.clear()
        self._withdrawn.clear()

    def _forget(self) -> None:
        self._left.clear()
        self._digests.clear()
        self._seen.clear()
        self._shown.clear()
        self._open.forget_parts()
        self._all_cancelled = False
        for lanes in (self._cancelled, self._closed, self._withdrawn):
            lanes.end_response()

    def break_off(self) -> None:
        """Close all messages, because the stream broke off. The most recently written message of each key stays
        unfinished."""
        last = {stream.lane.name: stream.number for stream in sorted(self._open.all(), key=lambda stream: stream.end)}
        for stream in self._open.all():
            if last[stream.lane.name] == stream.number and not stream.lane.late:
                self._record.report(E_STREAM_TRUNCATED, "event-stream", stream.end, stream.end, stream.number)
                self._close(stream, Ending.OPEN)
            else:
                self._close(stream)
        self._forget()

    def grow(self) -> None:
        """Report growth since the last call."""
        for stream in self._changed.values():
            self._record.grow(stream.number, stream.pieces[stream.reported :], stream.reported)
            stream.reported = len(stream.pieces)
        self._changed.clear()

    def _close(self, stream: Stream, ending: Ending | None = None, *, cancelled: bool = False) -> None:
        self._open.remove(stream)
        self._changed.pop(stream.number, None)
        if stream.lane.identified and not stream.is_mixed:
            key = (stream.lane.name, stream.lane.part, stream.family)
            self._digests[key] = _digest("".join(stream.texts))
        if stream.unsettled:
            self._record.report(W_RECORD_UNKNOWN, None, *stream.unsettled, stream.number)
        self._record.close(
            stream.number,
            ending or stream.ending,
            stream.end,
            stream.pieces,
            header=stream.header,
            cancelled=cancelled,
        )


def _hidden(opening: Opening, *faults: Problem) -> Opening:
    """Return the opening with a header that is never shown, and with these problems added."""
    header = replace(opening.header, kind=Kind.UNKNOWN) if is_shown(opening.header) else opening.header
    return replace(opening, header=header, faults=(*opening.faults, *faults))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-16-le", "surrogatepass"), digest_size=16).digest()


def _is_stable(lane: DeltaKey) -> bool:
    """True if no event of another key changes which events have this key."""
    return lane.name.startswith((_LASTING, _CHAT)) and not lane.late


def _concerns(lane: DeltaKey, family: Family | None, of: DeltaKey, its_family: Family) -> bool:
    return family in (None, its_family) and (not lane.part or lane.part == of.part)


def _is_of(stream: Stream, family: Family | None, part: str) -> bool:
    return family in (None, stream.family) and (not part or stream.lane.part in ("", part))
