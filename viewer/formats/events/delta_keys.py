"""The lanes of deltas, and the open messages, found by what deltas state."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import NamedTuple, TypeVar

from viewer.formats.events.kinds import Family
from viewer.model.messages import Ending, Header, Piece, Span
from viewer.reading.header import is_tool
from viewer.values import mutable


class DeltaKey(NamedTuple):
    """What keeps the deltas of one response, or of one message of it, together."""

    name: str
    identified: bool
    """By an id, not merely by one delta following another."""
    part: str = ""
    """A content part, or a call of several that share the id; empty where an event does not say."""
    late: bool = False
    """For text that came after its message was closed."""


ANONYMOUS = DeltaKey("", False)


class Identity(NamedTuple):
    """What sets two messages of one lane apart; None where an event does not say."""

    role: str | None
    channel: str | None
    intent: str | None
    recipient: str | None

    def filled(self, channel: str) -> Identity:
        """With what holds where nothing is said."""
        return self._replace(role=self.role or "assistant", channel=self.channel or channel)

    def fits(self, whole: Identity) -> bool:
        """Whether nothing that is said differs."""
        return all(said is None or said == other for said, other in zip(self, whole, strict=True))


class Fault(NamedTuple):
    """A diagnostic that belongs to the message that a delta opens."""

    code: str
    reason: str | None
    start: int
    end: int


class Opening(NamedTuple):
    """What a message is opened with."""

    header: Header
    time_ms: int | None
    faults: tuple[Fault, ...] = ()
    is_unsettled: bool = False
    """No item has said yet that this is a message; it stays hidden until one does."""


class Delta(NamedTuple):
    """Some text for a message."""

    lane: DeltaKey
    family: Family
    identity: Identity
    piece: Piece | None
    """None where the text is empty."""
    event: Span
    is_refusal: bool = False
    """The text begins a line of its own in a message that says something else."""
    is_copy: bool = False
    """A later event repeats the text of a message, and no delta brought it."""


@mutable
class Stream:
    """One open message."""

    number: int
    lane: DeltaKey
    family: Family
    identity: Identity
    header: Header
    end: int
    """After the last event that belongs to it."""
    pieces: list[Piece] = field(default_factory=list)
    is_refusal: bool = False
    """The text that came last was a refusal."""
    told: int = 0
    """The number of pieces that were reported as growth."""
    unsettled: Span | None = None
    """The event that opened it, while no item has said that this is a message."""

    @property
    def ending(self) -> Ending:
        """How it ends when all is well."""
        return Ending.CALL if self.family is Family.CALL or is_tool(self.header.recipient) else Ending.END


class OpenStreams:
    """The open messages, found by what deltas say of themselves."""

    def __init__(self) -> None:
        self._numbers: dict[int, Stream] = {}
        self._names: dict[str, dict[int, Stream]] = {}
        """Those of one id, the one last written to at the end."""
        self._kinds: dict[tuple[DeltaKey, Family], dict[Identity, Stream]] = {}
        """The same for one kind of one lane."""
        self._families: Counter[tuple[str, Family]] = Counter()
        self._parts: dict[tuple[str, Family], DeltaKey] = {}

    def part_of(self, lane: DeltaKey, family: Family) -> DeltaKey:
        """The lane with the part that was last written to, if the event does not name one."""
        return self._parts.get((lane.name, family), lane) if lane.identified and not lane.part else lane

    def find(self, delta: Delta, identity: Identity) -> Stream | None:
        """The message a delta belongs to. With an id, what it does not say of itself is as it was before."""
        kind = self._kinds.get((delta.lane, delta.family))
        if not kind:
            return None
        last = kind[next(reversed(kind))]
        if delta.lane.identified and delta.identity.fits(last.identity):
            return last
        return kind.get(identity)

    def last(self, lane: DeltaKey, family: Family) -> Stream | None:
        """The message of this kind that was last written to."""
        kind = self._kinds.get((lane, family))
        return kind[next(reversed(kind))] if kind else None

    def all(self) -> list[Stream]:
        """All, in the order of their numbers."""
        return list(self._numbers.values())

    def of_lane(self, lane: DeltaKey) -> list[Stream]:
        """Those of exactly this lane."""
        return [stream for family in Family for stream in self._kinds.get((lane, family), {}).values()]

    def current(self, lane: DeltaKey) -> Stream | None:
        """The one of an id that was last written to."""
        names = self._names.get(self._resolved(lane))
        return names[next(reversed(names))] if names else None

    def addressed(self, lane: DeltaKey) -> list[Stream]:
        """Those of an id, the one last written to at the end."""
        return list(self._names.get(self._resolved(lane), {}).values())

    def has_family(self, lane: DeltaKey, family: Family) -> bool:
        """Whether there are any of this kind among those."""
        return self._families[self._resolved(lane), family] > 0

    def _resolved(self, lane: DeltaKey) -> str:
        """An event without an id may mean the only lane there is."""
        if lane.identified or lane.name in self._names or len(self._names) != 1:
            return lane.name
        return next(iter(self._names))

    def add(self, stream: Stream) -> None:
        """A message that was opened."""
        self._numbers[stream.number] = stream
        self._note_part(stream)
        self._families[stream.lane.name, stream.family] += 1
        self._names.setdefault(stream.lane.name, {})[stream.number] = stream
        self._kinds.setdefault((stream.lane, stream.family), {})[stream.identity] = stream

    def written(self, stream: Stream) -> None:
        """A message that was written to moves to the end."""
        self._note_part(stream)
        names = self._names[stream.lane.name]
        names[stream.number] = names.pop(stream.number)
        kinds = self._kinds[stream.lane, stream.family]
        kinds[stream.identity] = kinds.pop(stream.identity)

    def last_part(self, name: str, family: Family) -> str | None:
        """The part of these messages that was last written to; None if there is none."""
        lane = self._parts.get((name, family))
        return lane.part if lane else None

    def _note_part(self, stream: Stream) -> None:
        if stream.lane.identified and not stream.lane.late:
            self._parts[stream.lane.name, stream.family] = stream.lane

    def forget_parts(self) -> None:
        """Another response begins."""
        self._parts.clear()

    def get(self, number: int) -> Stream | None:
        """The open message of this number."""
        return self._numbers.get(number)

    def remove(self, stream: Stream) -> None:
        """A message that is settled."""
        del self._numbers[stream.number]
        self._families[stream.lane.name, stream.family] -= 1
        _remove(self._names, stream.lane.name, stream.number)
        _remove(self._kinds, (stream.lane, stream.family), stream.identity)


_Outer = TypeVar("_Outer")
_Key = TypeVar("_Key")


def _remove(nested: dict[_Outer, dict[_Key, Stream]], outer: _Outer, key: _Key) -> None:
    del nested[outer][key]
    if not nested[outer]:
        del nested[outer]
