"""Runs of events that differ only in the text they add to one message: recognized by their bytes, and read together."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from viewer.formats.engine.deltas import DeltaRun, begins, match_event, read_texts, template_of
from viewer.formats.events.streams import Streams
from viewer.model.messages import Coding, Piece
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_string import string_body
from viewer.syntax.json_text import JsonNode
from viewer.syntax.utf8 import is_utf8

MOST_MISSES = 32
"""The search for runs ends after this many events in a row that were not followed by a run."""
LONGEST_TOGETHER = 64 * 1024
"""The maximum length in bytes. A longer event is not read as part of a run."""
MOST_LANES = 32
"""The maximum number of messages that are distinguished by the bytes of their events."""
MOST_LANE_MISSES = 1000
"""After this many events in a row that were not followed by an event of a known message, messages are no longer
distinguished by the bytes of their events."""
_UNREAD = frozenset({"obfuscation", "event_id", "created"})
"""Members that do not affect the text that an event adds to an open message."""
_PROBABILITIES = "logprobs"
_COUNTED = "sequence_number"
"""A member that does not affect the added text, in events that are known to come from the API."""


def _opaque(node: LazyNode) -> list[JsonNode]:
    """Return the log probabilities of an event, which nothing reads, if they are objects or arrays with content. Empty
    ones are the same in each event."""
    choices = node.get("choices")
    holders = [node] if choices is None else choices.items
    values = (holder.get(_PROBABILITIES) for holder in holders)
    return [value for value in values if value is not None and (value.items or value.members)]


class EventRuns:
    """Finds the runs of events in one input."""

    def __init__(self) -> None:
        self._misses = 0
        self._was_delta = False

    def note_other(self) -> None:
        """Record an event that does more than add text."""
        self._was_delta = False

    def after(
        self, data: bytes, start: int, at: int, base: int, node: JsonNode, piece: Piece, *, is_api: bool, is_named: bool
    ) -> DeltaRun | None:
        """Return the run of events after an event that only added a piece of text to an open message, or None if there
        is none. `is_named` is true if nothing but their IDs decides which message the events add to.

        Otherwise, the run excludes its last event, because later events may refer to the newest one. `start` is the
        index of the given event in the data, `at` the index after it, and `base` the offset of the data."""
        was_delta, self._was_delta = self._was_delta, True
        if self._misses >= MOST_MISSES or not isinstance(node, LazyNode):
            return None
        if piece.coding not in (Coding.PLAIN, Coding.JSON_STRING):
            return None
        unread = _UNREAD | {_COUNTED} if is_api else _UNREAD
        template = template_of(data, start, at, base, node, piece, unread.__contains__, _opaque(node))
        if not begins(template, data, at):
            self._misses += was_delta  # a message with little text does not end the search
            return None
        self._misses = 0
        return read_texts(template, data, at, base, node.end - base - at, keep=not is_named, longest=LONGEST_TOGETHER)


class _Lane(Struct, frozen=True):
    """An open message, and the bytes of the events that add to it."""

    number: int
    name: str
    """The name of the message's delta key."""
    template: tuple[bytes, ...]
    tail: int
    """The negative length of what follows the object of an event."""
    touch: Callable[[], object]


class InterleavedRuns:
    """Reads events that add to several open messages in turn.

    The bytes of an event decide which message it adds to, as long as no other event may have changed that."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._lanes: dict[int, _Lane] = {}
        self._misses = 0

    def note_other(self, name: str | None) -> None:
        """Record an event that does more than add text. It may change the messages of one key or, if the name is None,
        any message."""
        for lane in [*self._lanes.values()]:
            if name is None or lane.name == name:
                del self._lanes[lane.number]

    def after(
        self,
        data: bytes,
        start: int,
        at: int,
        base: int,
        node: JsonNode,
        number: int,
        piece: Piece,
        touch: Callable[[], object],
        *,
        is_api: bool,
    ) -> int:
        """Add the text of the events after an event that only added a piece of text to this open message. Return the
        index after them.

        `start` is the index of the given event in the data, `at` the index after it, and `base` the offset of the data.
        `touch` makes the given event the newest one that names its message."""
        name = self._streams.name_if_alone(number)
        is_plain = isinstance(node, LazyNode) and piece.coding in (Coding.PLAIN, Coding.JSON_STRING)
        if name is None or not is_plain or len(self._lanes) >= MOST_LANES or self._misses >= MOST_LANE_MISSES:
            self.note_other(None)
            return at
        assert isinstance(node, LazyNode)
        unread = _UNREAD | {_COUNTED} if is_api else _UNREAD
        template = template_of(data, start, at, base, node, piece, unread.__contains__, _opaque(node))
        self._lanes[number] = _Lane(number, name, template, node.end - base - at, touch)
        end = self._read(data, at, base) if len(self._lanes) > 1 else at
        self._misses = self._misses + 1 if end == at else 0
        return end

    def _read(self, data: bytes, at: int, base: int) -> int:
        """Add the text of the events that start at an index and return the index after them."""
        lanes = [*self._lanes.values()]
        used: dict[int, _Lane] = {}
        """The messages in the order of their newest events."""
        while True:
            lane = next((lane for lane in lanes if data.startswith(lane.template[0], at)), None)
            found = match_event(lane.template, data, at) if lane is not None else None
            if found is None:
                matched = ((each, match_event(each.template, data, at)) for each in lanes if each is not lane)
                lane, found = next(((each, match) for each, match in matched if match is not None), (None, None))
            if lane is None or found is None:
                break
            end, (low, high) = found.end(), found.span("text")
            if low == high or end - at > LONGEST_TOGETHER or not (found[0].isascii() or is_utf8(found[0])):
                break
            if data.find(b"\\", low, high) < 0:
                piece, text = Piece(base + low, base + high, Coding.PLAIN), found["text"].decode()
            else:
                piece = Piece(base + low - 1, base + high + 1, Coding.JSON_STRING)
                text = string_body(data[low - 1 : high + 1])
            self._streams.add_text(lane.number, piece, text, base + end + lane.tail)
            used.pop(lane.number, None)
            used[lane.number] = lane
            at = end
        for lane in used.values():
            lane.touch()
        return at
