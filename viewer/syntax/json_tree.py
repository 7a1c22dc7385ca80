"""What JSON text is read into: values that know where they stand, and the fault that stopped or bent the reading."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from viewer.model.messages import Span
from viewer.values import frozen, mutable


class JsonKind(Enum):
    """The seven kinds of a JSON value."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    TRUE = "true"
    FALSE = "false"
    NULL = "null"


@dataclass(slots=True)
class JsonNode:
    """One value and its place; offsets are absolute, and a string's include its quotes."""

    kind: JsonKind
    start: int
    end: int
    text: str = ""
    """The decoded value of a string, the source text of a number."""
    plain: bool = False
    """A string without any escape between valid quotes: its body is the bytes between them."""
    items: list[JsonNode] = field(default_factory=lambda: _NO_ITEMS)
    members: list[JsonMember] = field(default_factory=lambda: _NO_MEMBERS)
    """In order, duplicates kept."""
    closed: bool = True
    """The closing bracket or quote was read."""
    body_end: int = 0
    """Where the body of a string ends, its closing quote (straight or curly) left out."""
    split: bool = False
    """A string over several `data:` lines of a server-sent event."""
    _by_key: dict[str, JsonNode] | None = field(default=None, init=False, repr=False, compare=False)
    """The members of an object that has many, made when one is first asked for: when all of it has been read."""

    def get(self, key: str) -> JsonNode | None:
        """The last member of that name; None where there is none, or where this is no object."""
        if len(self.members) > _FEW:
            if self._by_key is None:
                self._by_key = {member.key: member.value for member in self.members}
            return self._by_key.get(key)
        for member in reversed(self.members):
            if member.key == key:
                return member.value
        return None

    def to_python(self) -> object:
        """The value as Python has it; of duplicate keys the last wins."""
        if self.kind is JsonKind.OBJECT:
            mapping: dict[str, object] = {}
            for member in self.members:
                mapping[member.key] = member.value.to_python()
            return mapping
        if self.kind is JsonKind.ARRAY:
            values: list[object] = []
            for item in self.items:
                values.append(item.to_python())  # noqa: PERF401 - one frame a level, not two
            return values
        if self.kind is JsonKind.STRING:
            return self.text
        return number_value(self.text) if self.kind is JsonKind.NUMBER else _CONSTANTS.get(self.kind)


@mutable
class JsonMember:
    """One key of an object and its value."""

    key: str
    key_start: int
    key_end: int
    value: JsonNode


@frozen
class JsonFault:
    """Why text is not JSON, and the bytes that are to blame; empty at the end where something is missing."""

    reason: str
    """`json-malformed`, `json-truncated`, `json-trailing`, `json-too-deep` or `empty`."""
    offset: int
    end: int


@mutable
class JsonReading:
    """What a tolerant reading of one value gave."""

    node: JsonNode | None
    end: int
    """Where the reading stopped (absolute): after the value, or at what stopped it."""
    fault: JsonFault | None
    """The first of `faults`."""
    lenient: list[Span]
    """Trailing commas and raw newlines in strings."""
    faults: list[JsonFault] = field(default_factory=list)
    """All of them: those that reading could go on after, and the one that stopped it."""


_FEW = 16
"""So many members are looked through quickly enough."""
_NO_ITEMS: list[JsonNode] = []
_NO_MEMBERS: list[JsonMember] = []
"""What all values share that hold no others; nothing is ever added to them."""

_CONSTANTS: dict[JsonKind, bool | None] = {JsonKind.TRUE: True, JsonKind.FALSE: False, JsonKind.NULL: None}


def number_value(text: str) -> int | float:
    """A JSON number; one with more digits than Python converts becomes a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)
