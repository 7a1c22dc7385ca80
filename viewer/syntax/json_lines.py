"""Regular JSON objects, decoded in one step. The positions of their values are found on access."""

# A property replaces an attribute of the base here, and nothing writes to it.
# mypy: disable-error-code="misc, override"

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from viewer.cache import lazy_regex
from viewer.syntax.json_text import is_too_deep
from viewer.syntax.json_tree import JsonKind, JsonMember, JsonNode, number_value

DEEPEST_SKIPPED = 6
"""The maximum depth of values that are skipped in one step. The ends of deeper values are found bracket by bracket."""
Node = TypeVar("Node", bound=JsonNode)
MOST_PATTERNS = 256
"""The maximum number of patterns to cache, one for each key that was looked up."""
_SPACE = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\]*+(?>\\.[^"\\]*+)*+"'
_PLAIN = rb'[^"\[\]{}]*+'


def _container() -> bytes:
    inside = _PLAIN + rb"(?>" + _STRING + _PLAIN + rb")*+"
    for _ in range(DEEPEST_SKIPPED - 1):
        inside = _PLAIN + rb"(?>(?:" + _STRING + rb"|[\[{]" + inside + rb"[\]}])" + _PLAIN + rb")*+"
    return rb"[\[{]" + inside + rb"[\]}]"


JSON_VALUE = _ANY = rb"(?:" + _STRING + rb"|" + _container() + rb'|[^\x00-\x20,:\[\]{}"]++)'
_QUOTED = lazy_regex(_STRING, re.DOTALL)
_VALUE = lazy_regex(_ANY, re.DOTALL)
WIDE = 32
"""The number of members beyond which an object gets an index of their positions."""
_FIRST = lazy_regex(rb"[\[{]" + _SPACE)
_ITEM = lazy_regex(rb"(" + _ANY + rb")" + _SPACE + rb"[,\]]" + _SPACE, re.DOTALL)
_NEXT = lazy_regex(_SPACE + rb"[,\]}]" + _SPACE)
_SPACES = lazy_regex(_SPACE)
_KEY = lazy_regex(rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE, re.DOTALL)
_TEXT = rb'[^"\[\]{}]++|' + _STRING
_WITHIN = lazy_regex(rb"(?>" + _TEXT + rb"|[\[{](?>" + _TEXT + rb")*+[\]}])*+", re.DOTALL)
"""A pattern for what comes before the next bracket of a deeper value. It may contain pairs of brackets with no other
brackets in them."""
_OPENING = b"[{"
_MEMBER = lazy_regex(
    rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE + rb"(" + _ANY + rb")" + _SPACE + rb"[,}]" + _SPACE, re.DOTALL
)
_STRING_MEMBER = lazy_regex(
    rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE + rb"(" + _STRING + rb")" + _SPACE + rb"[,}]" + _SPACE, re.DOTALL
)
_PAIRED = lazy_regex(
    rb"(?>[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+",
    re.DOTALL,
)
"""A pattern for text in which every surrogate belongs to a pair."""


class JsonNumber(str):
    """The source text of a number."""

    __slots__ = ()


class _IrregularError(ValueError):
    """The text has a repeated key, or a number that JSON does not allow (NaN or Infinity)."""


def _refuse(_constant: str) -> NoReturn:
    raise _IrregularError


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _IrregularError
    return found


_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=_refuse
).scan_once  # type: ignore[attr-defined]


_decode_known: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=_refuse
).scan_once  # type: ignore[attr-defined]


def known_object(data: bytes, base: int, strings: dict[str, str | None]) -> LazyNode:
    """Return a node for an object that is known to be regular. It is decoded on first access to its value. `strings`
    maps some paths to the string or number there, or to None if the value there is neither."""
    node = LazyNode.__new__(LazyNode)
    node.line = _Line(data, base, len(data))
    node.kind, node.text, node.strings = JsonKind.OBJECT, "", strings
    node._start, node._end = base, base + len(data)
    node._parent = node._items = node._members = node._starts = None
    node._place = 0
    return node


def decoded_object(value: dict[str, object]) -> LazyNode:
    """Return an object node that has this value but no positions."""
    return LazyNode(value, _Line(b"", 0, 0), None, 0)


def read_regular(data: bytes, base: int) -> LazyNode | None:
    """Parse bytes that begin with `{` as an object. Return None for anything else, or if the object is irregular and
    needs the slow path.

    An object is irregular if it has a fault, a repeated key, or a lone surrogate, or is nested too deeply."""
    found = _regular(data)
    if found is None or type(found[0]) is not dict or data[:1] != b"{":
        return None
    value, size = found
    return LazyNode(value, _Line(data, base, size), None, 0)


def _regular(data: bytes) -> tuple[Any, int] | None:
    """Decode a value and return it with its end. Return None if it is irregular."""
    if is_too_deep(data):
        return None
    try:
        text = data.decode()
        start = 0 if text[:1] in ("{", "[") else len(text) - len(text.lstrip(" \t\r\n"))
        value, end = _decode(text, start)
    except (ValueError, RecursionError, StopIteration):
        return None
    size = len(data)
    if end != len(text):
        rest = text[end:]
        if rest.strip(" \t\r\n"):
            return None
        size -= len(rest)
    return (value, size) if _is_paired(data) else None


def _is_paired(data: bytes) -> bool:
    """True if every surrogate in the text belongs to a pair."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return True
    paired = _PAIRED.match(data)
    return paired is not None and paired.end() == len(data)


def whole_tree(lazy: LazyNode) -> JsonNode:
    """Return a lazy object as a tree of mutable nodes."""
    line = lazy.line
    return _tree(lazy.value, line.data, lazy.start - line.base, line.base, JsonNode)


def read_whole(data: bytes, node_class: type[Node]) -> Node | None:
    """Parse these bytes as an object or array, and return it as nodes of this class. Return None if the value is
    irregular or of another kind."""
    found = _regular(data)
    if found is None or type(found[0]) not in (dict, list):
        return None
    start = _SPACES.match(data)
    assert start is not None
    return _tree(found[0], data, start.end(), 0, node_class)


def _tree(value: Any, data: bytes, at: int, base: int, node_class: type[Node]) -> Node:
    """Build the nodes of a decoded value that starts at this index. The decoder has already found the value to be
    valid."""
    kind = type(value)
    if kind is str:
        end = _QUOTED.match(data, at).end()  # type: ignore[union-attr]
        plain = data.find(b"\\", at, end) < 0
        return node_class(JsonKind.STRING, base + at, base + end, value, plain, _NONE, _NONE, True, base + end - 1)
    if kind is dict:
        return _object_tree(value, data, at, base, node_class)
    if kind is list:
        return _array_tree(value, data, at, base, node_class)
    if kind is JsonNumber:
        return node_class(JsonKind.NUMBER, base + at, base + at + len(value), str(value), False, _NONE, _NONE)
    return node_class(kind_of(value), base + at, base + at + (5 if value is False else 4), "", False, _NONE, _NONE)


def _object_tree(value: dict[str, Any], data: bytes, at: int, base: int, node_class: type[Node]) -> Node:
    node = node_class(JsonKind.OBJECT, base + at, 0, "", False, _NONE, [])
    at = _FIRST.match(data, at).end()  # type: ignore[union-attr]
    for key, each in value.items():
        is_string = type(each) is str
        found = (_STRING_MEMBER if is_string else _KEY).match(data, at)
        assert found is not None
        if is_string:
            start, end = found.span(2)
            plain = data.find(b"\\", start, end) < 0
            inner = node_class(
                JsonKind.STRING, base + start, base + end, each, plain, _NONE, _NONE, True, base + end - 1
            )
            node.members.append(JsonMember(key, base + at, base + found.end(1), inner))
            at = found.end()
            continue
        inner = _tree(each, data, found.end(), base, node_class)
        node.members.append(JsonMember(key, base + at, base + found.end(1), inner))
        at = _NEXT.match(data, inner.end - base).end()  # type: ignore[union-attr]
    node.end = base + (data.rindex(b"}", 0, at) if value else at) + 1
    return node


def _array_tree(value: list[Any], data: bytes, at: int, base: int, node_class: type[Node]) -> Node:
    node = node_class(JsonKind.ARRAY, base + at, 0, "", False, [], _NONE)
    at = _FIRST.match(data, at).end()  # type: ignore[union-attr]
    for each in value:
        inner = _tree(each, data, at, base, node_class)
        node.items.append(inner)
        at = _NEXT.match(data, inner.end - base).end()  # type: ignore[union-attr]
    node.end = base + (data.rindex(b"]", 0, at) if value else at) + 1
    return node


def note_decoded(node: JsonNode) -> Any:
    """Set `decoded` of the objects in a value, which must not change from then on. Return the decoded value.

    A value is unknown if its closing quote or bracket is missing, if it is an object with a repeated key, or if it
    contains an unknown value. For these, `_UNKNOWN` is returned."""
    kind = node.kind
    if kind is JsonKind.STRING:
        return node.text if node.closed else _UNKNOWN
    if kind is JsonKind.OBJECT:
        found = {member.key: note_decoded(member.value) for member in node.members}
        is_known = (
            len(found) == len(node.members) and node.closed and not any(each is _UNKNOWN for each in found.values())
        )
        node.decoded = found if is_known else None
        return found if is_known else _UNKNOWN
    if kind is JsonKind.ARRAY:
        items = [note_decoded(item) for item in node.items]
        return items if node.closed and not any(item is _UNKNOWN for item in items) else _UNKNOWN
    return JsonNumber(node.text) if kind is JsonKind.NUMBER else _CONSTANTS[kind]


def note_changed(decoded: dict[str, Any] | None, member: JsonMember) -> bool:
    """Update the decoded form of an object after a member's value was replaced. Return False if the decoded form or the
    new value is unknown."""
    value = note_decoded(member.value)
    if decoded is None or value is _UNKNOWN:
        return False
    decoded[member.key] = value
    return True


_UNKNOWN = object()
_CONSTANTS = {JsonKind.TRUE: True, JsonKind.FALSE: False, JsonKind.NULL: None}


class _Line:
    """The source of a regular object."""

    __slots__ = ("base", "data", "size")

    def __init__(self, data: bytes, base: int, size: int) -> None:
        self.data = data
        self.base = base
        self.size = size


if TYPE_CHECKING:

    class _Node(JsonNode):
        pass

    class _Member(JsonMember):
        pass

else:
    _Node = _Member = object


class LazyNode(_Node):
    """A value of a regular object, with the interface of `JsonNode`."""

    __slots__ = (
        *("_end", "_items", "_members", "_parent", "_place", "_start", "_starts"),
        *("kind", "line", "strings", "text", "value"),
    )

    closed = True
    split = False
    repeats = False

    def __init__(self, value: Any, line: _Line, parent: LazyNode | None, place: tuple[str, ...] | int) -> None:
        self.value = value
        self.line = line
        self.strings: dict[str, str | None] | None = None
        """The strings and numbers at some paths, if known. A path maps to None if the value there is neither."""
        self._parent = parent
        self._place = place
        self._start = -1
        self._end = -1
        self._items: list[JsonNode] | None = None
        self._members: list[JsonMember] | None = None
        self._starts: dict[str, int] | None = None
        """Where the value of each member begins, if this is a wide object and its members were located."""
        self.text = ""
        kind = _KINDS.get(type(value))
        if kind is None:
            self.kind = JsonKind.TRUE if value else JsonKind.FALSE
        else:
            self.kind = kind
            if kind is JsonKind.STRING:
                self.text = value
            elif kind is JsonKind.NUMBER:
                self.text = str(value)
            elif parent is None:
                self._start, self._end = line.base, line.base + line.size

    @property
    def is_empty(self) -> bool:
        return self.kind is JsonKind.OBJECT and not self.value

    def __getattr__(self, name: str) -> Any:
        """Decode an object from `known_object`. Every other node already has its value."""
        if name != "value":
            raise AttributeError(name)
        self.value, _ = _decode_known(self.line.data.decode(), 0)
        return self.value

    def get(self, key: str) -> JsonNode | None:
        """Return the member with this name, or None if there is none or this is not an object."""
        value = self.value
        if type(value) is not dict or key not in value:
            return None
        return LazyNode(value[key], self.line, self, (key,))

    def below(self, keys: tuple[str, ...], value: object) -> LazyNode:
        """Return a node for the value that is known to be at this path from this object. An empty path leads to the
        object itself."""
        return LazyNode(value, self.line, self, keys) if keys else self

    def forget_index(self) -> None:
        """Do nothing, because there is no index."""

    @property
    def items(self) -> list[JsonNode]:
        """The items of an array; empty for other kinds."""
        if self._items is None:
            value = self.value
            is_list = type(value) is list
            self._items = [LazyNode(each, self.line, self, at) for at, each in enumerate(value)] if is_list else _NONE
        return self._items

    @property
    def members(self) -> list[JsonMember]:
        """The members of an object; empty for other kinds."""
        if self._members is None:
            value = self.value
            if type(value) is not dict:
                return _NONE
            line = self.line
            self._members = [LazyMember(key, LazyNode(each, line, self, (key,)), self) for key, each in value.items()]
        return self._members

    @property
    def start(self) -> int:
        """Where the value begins."""
        if self._start < 0:
            self._find_start()
        return self._start

    @property
    def end(self) -> int:
        """Where the value ends."""
        if self._end < 0:
            self._find_end()
        return self._end

    @property
    def plain(self) -> bool:
        """True for a string without escapes."""
        if self.kind is not JsonKind.STRING:
            return False
        base = self.line.base
        return self.line.data.find(b"\\", self.start - base, self.end - base) < 0

    @property
    def body_end(self) -> int:
        """The end of a string's body, before its closing quote; 0 for other kinds."""
        return self.end - 1 if self.kind is JsonKind.STRING else 0

    def string_place(self) -> tuple[int, int, bool]:
        """Return where a string begins and ends, and whether it is plain."""
        if self._start < 0:
            self._find_start()
        data, base = self.line.data, self.line.base
        if self._end < 0:
            found = _QUOTED.match(data, self._start - base)
            assert found is not None
            self._end = base + found.end()
        return self._start, self._end, data.find(b"\\", self._start - base, self._end - base) < 0

    def to_python(self) -> object:
        """Return the value as a Python object."""
        return _to_python(self.value)

    def _find_start(self) -> None:
        parent, place = self._parent, self._place
        assert parent is not None
        data, base = self.line.data, self.line.base
        at = parent.start - base
        if isinstance(place, int):
            if place:
                parent.place_items()
                return
            first = _FIRST.match(data, at)
            assert first is not None
            self._start = base + first.end()
            return
        for depth, key in enumerate(place):
            is_indexed = not depth and (len(parent.value) > WIDE or parent._starts is not None)
            found = None if is_indexed else _before(key).match(data, at)
            if found is not None:
                at = found.end()
            elif not depth:
                at = parent.starts()[key] - base
            else:
                at = _member_start(data, at, key)
        self._start = base + at

    def starts(self) -> dict[str, int]:
        """Return where each member's value begins, by key. Searching for each value from the start of an object that is
        wide or has deep members would take quadratic time."""
        if self._starts is None:
            self.place_members()
            self._starts = {member.key: member.value.start for member in self.members}
        return self._starts

    def _find_end(self) -> None:
        base = self.line.base
        self._end = base + _end_of(self.line.data, self.start - base)

    def place_items(self) -> None:
        """Find the positions of all items."""
        data, base = self.line.data, self.line.base
        first = _FIRST.match(data, self.start - base)
        assert first is not None
        at = first.end()
        for item in self.items:
            found = _ITEM.match(data, at)
            assert isinstance(item, LazyNode)
            if found is None:
                item._start, item._end = base + at, base + _end_of(data, at)
                at = _NEXT.match(data, item._end - base).end()  # type: ignore[union-attr]
            else:
                item._start, item._end = base + found.start(1), base + found.end(1)
                at = found.end()

    def place_members(self) -> None:
        """Find the positions of all keys and their values."""
        data, base = self.line.data, self.line.base
        first = _FIRST.match(data, self.start - base)
        assert first is not None
        at = first.end()
        for member in self.members:
            found = _MEMBER.match(data, at)
            value = member.value
            assert isinstance(member, LazyMember)
            assert isinstance(value, LazyNode)
            if found is None:
                found = _KEY.match(data, at)
                assert found is not None
                value._start, value._end = base + found.end(), base + _end_of(data, found.end())
                at = _NEXT.match(data, value._end - base).end()  # type: ignore[union-attr]
            else:
                value._start, value._end = base + found.start(2), base + found.end(2)
                at = found.end()
            member.put(base + found.start(1), base + found.end(1))


def _end_of(data: bytes, at: int) -> int:
    """Return where the value that begins at an index ends."""
    found = (_QUOTED if data.startswith(b'"', at) else _VALUE).match(data, at)
    if found is not None:
        return found.end()
    depth = 0
    while True:
        at = _WITHIN.match(data, at).end()  # type: ignore[union-attr]
        depth += 1 if data[at] in _OPENING else -1
        at += 1
        if not depth:
            return at


def _member_start(data: bytes, at: int, key: str) -> int:
    """Return where the value of a member begins. The object begins at index `at` and has a member with this key."""
    at = _FIRST.match(data, at).end()  # type: ignore[union-attr]
    while True:
        found = _KEY.match(data, at)
        assert found is not None
        if json.loads(found[1]) == key:
            return found.end()
        at = _NEXT.match(data, _end_of(data, found.end())).end()  # type: ignore[union-attr]


def _to_python(value: Any) -> object:
    if type(value) is dict:
        return {key: _to_python(each) for key, each in value.items()}
    if type(value) is list:
        return [_to_python(each) for each in value]
    return number_value(value) if type(value) is JsonNumber else value


def kind_of(value: object) -> JsonKind:
    """Return the kind of a decoded value."""
    return _KINDS.get(type(value)) or (JsonKind.TRUE if value else JsonKind.FALSE)


class LazyMember(_Member):
    """A key of a regular object and its value."""

    __slots__ = ("_holder", "_key_end", "_key_start", "key", "value")

    def __init__(self, key: str, value: LazyNode, holder: LazyNode) -> None:
        self.key = key
        self.value = value
        self._holder = holder
        self._key_start = self._key_end = -1

    def put(self, start: int, end: int) -> None:
        """Set the position of the key."""
        self._key_start, self._key_end = start, end

    @property
    def key_start(self) -> int:
        """Where the key begins."""
        if self._key_start < 0:
            self._holder.place_members()
        return self._key_start

    @property
    def key_end(self) -> int:
        """Where the key ends."""
        if self._key_end < 0:
            self._holder.place_members()
        return self._key_end


_NONE: list[Any] = []
_KINDS = {
    dict: JsonKind.OBJECT,
    list: JsonKind.ARRAY,
    str: JsonKind.STRING,
    JsonNumber: JsonKind.NUMBER,
    NoneType: JsonKind.NULL,
}


@lru_cache(MOST_PATTERNS)
def _before(key: str) -> re.Pattern[bytes]:
    """Return a pattern that matches the beginning of an object, up to the value of this key."""
    name = re.escape(json.dumps(key, ensure_ascii=False).encode())
    colon = _SPACE + rb":" + _SPACE
    skipped = rb"(?>(?!" + name + colon + rb")" + _STRING + colon + _ANY + _SPACE + rb"," + _SPACE + rb")*+"
    return re.compile(rb"\{" + _SPACE + skipped + name + colon, re.DOTALL)
