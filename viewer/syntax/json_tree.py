"""JSON nodes with byte positions, JSON faults, and values as source text."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct, field

from viewer.model.messages import Span


class JsonKind(Enum):
    """The kinds of JSON values."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    TRUE = "true"
    FALSE = "false"
    NULL = "null"


class JsonNode(Struct):
    """A value and its span. Offsets are absolute. The span of a string includes its quotes."""

    kind: JsonKind
    start: int
    end: int
    text: str = ""
    """The decoded value of a string, or the source text of a number; empty for other kinds."""
    plain: bool = False
    """True for a string with valid quotes and no escapes, so its body is the bytes between them."""
    items: list[JsonNode] = field(default_factory=lambda: NO_ITEMS)
    members: list[JsonMember] = field(default_factory=lambda: NO_MEMBERS)
    """The members in order, including duplicates."""
    closed: bool = True
    """True if the closing bracket or quote was read."""
    body_end: int = 0
    """The end of a string's body, before its closing quote (straight or curly); 0 for other kinds."""
    split: bool = False
    """True for a string that spans several `data:` lines of a server-sent event."""
    repeats: bool = False
    """True if this value, or one inside it, is an object with a duplicate key."""
    _by_key: dict[str, JsonNode] | None = None
    """The members of a large object by key, built on first access after the object was read."""
    decoded: dict[str, Any] | None = None
    """The value of an object as `JSONDecoder` would return it, with numbers as source text. None if it is not known."""

    @property
    def is_empty(self) -> bool:
        """True for an object without members."""
        return not self.members and self.kind is JsonKind.OBJECT

    def get(self, key: str) -> JsonNode | None:
        """Return the last member with this name, or None if there is none or if this is not an object."""
        if len(self.members) > _FEW:
            if self._by_key is None:
                self._by_key = {member.key: member.value for member in self.members}
            return self._by_key.get(key)
        for member in reversed(self.members):
            if member.key == key:
                return member.value
        return None

    def forget_index(self) -> None:
        """Drop the index of members and the decoded form, because a member was replaced."""
        self._by_key = self.decoded = None

    def to_python(self) -> object:
        """Return the value as a Python object. If a key is repeated, its last value wins."""
        if self.kind is JsonKind.OBJECT:
            mapping: dict[str, object] = {}
            for member in self.members:
                mapping[member.key] = member.value.to_python()
            return mapping
        if self.kind is JsonKind.ARRAY:
            values: list[object] = []
            for item in self.items:
                values.append(item.to_python())  # noqa: PERF401 - one frame per level, not two
            return values
        if self.kind is JsonKind.STRING:
            return self.text
        return number_value(self.text) if self.kind is JsonKind.NUMBER else _CONSTANTS.get(self.kind)


class JsonMember(Struct):
    """A key of an object and its value."""

    key: str
    key_start: int
    key_end: int
    value: JsonNode


class JsonFault(Struct, frozen=True, gc=False):
    """Why text is not JSON, and the bytes at fault. If something is missing, the span is empty and at the end."""

    reason: str
    """`json-malformed`, `json-truncated`, `json-trailing`, `json-too-deep`, or `empty`."""
    offset: int
    end: int

    @property
    def is_truncation(self) -> bool:
        """True if only the end of the text is missing."""
        return self.reason == "json-truncated"


class JsonReading(Struct):
    """The result of reading one value tolerantly."""

    node: JsonNode | None
    end: int
    """The absolute offset where reading stopped: after the value, or at the fault."""
    fault: JsonFault | None
    """The first of `faults`."""
    lenient: list[Span]
    """The spans of trailing commas and of raw control characters in strings."""
    faults: list[JsonFault] = field(default_factory=list)
    """All faults: those after which reading continued, and the one that stopped it."""

    @property
    def may_go_on(self) -> bool:
        """True if the text has no fault or only lacks its end."""
        return all(fault.is_truncation for fault in self.faults)


_FEW = 16
"""The number of members up to which a linear search is fast enough."""
NO_ITEMS: list[JsonNode] = []
NO_MEMBERS: list[JsonMember] = []
"""Empty lists that are shared by all values without children, and never changed."""

_CONSTANTS: dict[JsonKind, bool | None] = {JsonKind.TRUE: True, JsonKind.FALSE: False, JsonKind.NULL: None}


def number_value(text: str) -> int | float:
    """Return the value of a JSON number. A number with too many digits for Python's conversion becomes a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


class JsonText(str):
    """The source text of a number, a constant, an object or an array. It is never equal to a plain string."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonText) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
