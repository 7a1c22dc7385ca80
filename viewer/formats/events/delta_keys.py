"""Delta keys, and lookup of open messages by the data in a delta."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from viewer.formats.json.times import StatedTime
from viewer.formats.tables.model import Family
from viewer.model.diagnostic import Problem
from viewer.model.messages import Ending, Header, Piece, Span
from viewer.reading.header import is_tool


class DeltaKey(Struct, frozen=True, gc=False):
    """The key that groups the deltas of one response, or of one of its messages."""

    name: str
    identified: bool
    """True if the deltas are grouped by an ID and not just by their order."""
    part: str = ""
    """A content part, or one of several calls that share the ID; empty if the event names no part."""
    late: bool = False
    """True for text that arrived after its message was closed."""


ANONYMOUS = DeltaKey("", False)


class Identity(Struct, frozen=True, gc=False):
    """The properties that distinguish messages with the same key. A property that an event does not specify is None."""

    role: str | None
    channel: str | None
    intent: str | None
    recipient: str | None

    def filled(self, channel: str) -> Identity:
        """Return the properties, with defaults for a missing role or channel."""
        return replace(self, role=self.role or "assistant", channel=self.channel or channel)

    def fits(self, whole: Identity) -> bool:
        """True if no specified property differs."""
        return all(said is None or said == other for said, other in zip(astuple(self), astuple(whole), strict=True))


class Opening(Struct, frozen=True):
    """The initial properties of a message."""

    header: Header
    time: StatedTime
    faults: tuple[Problem, ...] = ()
    is_unsettled: bool = False
    """True until an item confirms that the text is a message. Until then, the text stays hidden."""


class Delta(Struct, frozen=True):
    """Text for a message, from one event."""

    lane: DeltaKey
    family: Family
    identity: Identity
    piece: Piece | None
    """The text as a piece; None if the text is empty."""
    event: Span
    is_refusal: bool = False
    """True if the text is a refusal, which is on a separate line if the message has other text."""
    is_copy: bool = False
    """True if the text comes from an event that contains the whole text of a message, because no deltas arrived
    before."""
    text: str = ""
    """The text itself, for comparison with a copy."""


class Stream(Struct):
    """One open message."""

    number: int
    lane: DeltaKey
    family: Family
    identity: Identity
    header: Header
    end: int
    """The offset after the last event of the message."""
    pieces: list[Piece] = field(default_factory=list)
    is_refusal: bool = False
    """True if the last text was a refusal."""
    reported: int = 0
    """The number of pieces that were reported as growth."""
    texts: list[str] = field(default_factory=list)
    """The text of each delta."""
    is_mixed: bool = False
    """True if the deltas do not add up to the exact text of the message, so it is not compared with a copy."""
    unsettled: Span | None = None
    """The event that opened the message, if no item has confirmed yet that the text is a message."""

    @property
    def ending(self) -> Ending:
        """The normal ending of the message."""
        return Ending.CALL if self.family is Family.CALL or is_tool(self.header.recipient) else Ending.END


class OpenStreams:
    """Lookup of open messages by the data in a delta."""

    def __init__(self) -> None:
        self._numbers: dict[int, Stream] = {}
        self._names: dict[str, dict[int, Stream]] = {}
        """The messages with each ID, most recently written last."""
        self._kinds: dict[tuple[DeltaKey, Family], dict[Identity, Stream]] = {}
        """The messages of each family with each key, most recently written last."""
        self._families: Counter[tuple[str, Family]] = Counter()
        self._parts: dict[tuple[str, Family], DeltaKey] = {}

    def part_of(self, lane: DeltaKey, family: Family) -> DeltaKey:
        """Return the key with the part that was written last, if the event does not name a part."""
        return self._parts.get((lane.name, family), lane) if lane.identified and not lane.part else lane

    def find(self, delta: Delta, identity: Identity) -> Stream | None:
        """Return the open message that a delta belongs to, or None if there is none. If the key has an ID, unspecified
        properties keep their values."""
        kind = self._kinds.get((delta.lane, delta.family))
        if not kind:
            return None
        last = kind[next(reversed(kind))]
        if delta.lane.identified and delta.identity.fits(last.identity):
            return last
        return kind.get(identity)

    def last(self, lane: DeltaKey, family: Family) -> Stream | None:
        """Return the most recently written open message of this key and family, or None if there is none."""
        kind = self._kinds.get((lane, family))
        return kind[next(reversed(kind))] if kind else None

    def all(self) -> list[Stream]:
        """Return all messages, in the order of their numbers."""
        return list(self._numbers.values())

    def of_lane(self, lane: DeltaKey) -> list[Stream]:
        """Return the messages with exactly this key."""
        return [stream for family in Family for stream in self._kinds.get((lane, family), {}).values()]

    def current(self, lane: DeltaKey) -> Stream | None:
        """Return the most recently written message with the ID of this key, or None if there is none."""
        names = self._names.get(self._resolved(lane))
        return names[next(reversed(names))] if names else None

    def addressed(self, lane: DeltaKey) -> list[Stream]:
        """Return the messages with the ID of this key, most recently written last."""
        return list(self._names.get(self._resolved(lane), {}).values())

    def has_family(self, lane: DeltaKey, family: Family) -> bool:
        """True if there are messages of this family with the ID of this key."""
        return self._families[self._resolved(lane), family] > 0

    def _resolved(self, lane: DeltaKey) -> str:
        """Return the ID of a key. A key without an ID refers to the only ID, if there is just one."""
        if lane.identified or lane.name in self._names or len(self._names) != 1:
            return lane.name
        return next(iter(self._names))

    def add(self, stream: Stream) -> None:
        self._numbers[stream.number] = stream
        self._note_part(stream)
        self._families[stream.lane.name, stream.family] += 1
        self._names.setdefault(stream.lane.name, {})[stream.number] = stream
        self._kinds.setdefault((stream.lane, stream.family), {})[stream.identity] = stream

    def written(self, stream: Stream) -> None:
        """Make a message the most recently written one."""
        self._note_part(stream)
        names = self._names[stream.lane.name]
        names[stream.number] = names.pop(stream.number)
        kinds = self._kinds[stream.lane, stream.family]
        kinds[stream.identity] = kinds.pop(stream.identity)

    def last_part(self, name: str, family: Family) -> str | None:
        """Return the part that was written last among the messages with this ID and family, or None if there is
        none."""
        lane = self._parts.get((name, family))
        return lane.part if lane else None

    def _note_part(self, stream: Stream) -> None:
        if stream.lane.identified and not stream.lane.late:
            self._parts[stream.lane.name, stream.family] = stream.lane

    def forget_parts(self) -> None:
        """Drop the parts when another response begins."""
        self._parts.clear()

    def get(self, number: int) -> Stream | None:
        """Return the open message with this number, or None if it is not open."""
        return self._numbers.get(number)

    def remove(self, stream: Stream) -> None:
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
