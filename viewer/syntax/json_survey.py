"""Validate JSON and find duplicate keys in one pass over the bytes, in bounded memory.

One regular expression matches a run of plain members or items, so a large object needs no node per value. Reading
stops at the first byte that is not strict JSON; the tolerant parser continues from there.
"""

from __future__ import annotations

import json
import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.model.messages import Span
from viewer.syntax.json_tree import JsonKind

MAX_DEPTH = 200
MOST_KEYS = 65_536
"""The maximum number of keys that are remembered per object: 64-bit hashes in a set, about 80 bytes each, 5 MB at
most."""

_STRING = rb'"[^"\\\x00-\x1f]*+(?>\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = (
    rb"(?:"
    + _STRING
    + rb"|(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![^ \t\r\n,\]}]))"
)
_S = rb"[ \t\r\n]*+"
_NAME = rb'"[^"\\\x00-\x1f]*+"' + _S + rb":" + _S

_SPACE = lazy_regex(_S)
_MEMBERS = lazy_regex(rb"(?>" + _S + _NAME + _SCALAR + _S + rb",){1,4096}+")
_ITEMS = lazy_regex(rb"(?>" + _S + _SCALAR + _S + rb",){1,4096}+")
_NAMES = lazy_regex(
    rb'("[^"]*+")' + _S + rb":" + _S + rb'(?:"[^"\\]*+(?>\\.[^"\\]*+)*+"' + _S + rb'|[^",]++),', re.DOTALL
)
"""A pattern that matches the names in a run of members that has already been validated."""
_KEY = lazy_regex(rb"(" + _STRING + rb")" + _S + rb":" + _S)
_VALUE = lazy_regex(_SCALAR)
_OPENERS = {ord("{"): JsonKind.OBJECT, ord("["): JsonKind.ARRAY}
_CLOSERS = {ord("}"): JsonKind.OBJECT, ord("]"): JsonKind.ARRAY}


class RepeatedKeys(Struct, frozen=True, gc=False):
    """The duplicate keys of one object: the span of the first, and their number."""

    start: int
    end: int
    count: int


class _Keys:
    """The keys of one open object."""

    __slots__ = ("count", "first", "seen")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.count = 0
        self.first: Span | None = None

    def add(self, fresh: set[int], total: int) -> None:
        """Count the duplicates in a run of `total` keys, and remember the new ones, whose hashes are `fresh`, if there
        is room for them."""
        if len(self.seen) + len(fresh) <= MOST_KEYS:
            self.seen |= fresh
        self.count += total - len(fresh)


class Survey:
    """Survey of one value: whether it is strict JSON, and which objects have duplicate keys."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self._data = data
        self.at = start
        """Where reading stopped: after the value, or at the key or value that could not be read."""
        self.stack: list[JsonKind] = []
        """The containers that are open where reading stopped."""
        self.state = "value"
        """The element that is expected where reading stopped: `value`, `next_key`, `item`, or `after`."""
        self.repeated: list[RepeatedKeys] = []
        self._keys: list[_Keys] = []
        self.is_complete = self._read() and _SPACE.fullmatch(data, self.at) is not None
        """True if the value is valid and nothing follows it."""

    def _read(self) -> bool:
        if not self._value() or not self._after():
            return False
        while self.stack:
            if not self._next_in_container() or not self._value() or not self._after():
                return False
        return True

    def _next_in_container(self) -> bool:
        """Skip plain members or items and, in an object, read the next key. Return False if that key is invalid."""
        if self.stack[-1] is JsonKind.OBJECT:
            self._members()
            return self._key()
        self._items()
        return True

    def _after(self) -> bool:
        """Read a comma or closing brackets, up to the next key or item, or until no container is open. Return False if
        something else comes first."""
        data = self._data
        self.state = "after"
        while self.stack:
            at = _SPACE.match(data, self.at).end()  # type: ignore[union-attr]
            byte = data[at] if at < len(data) else 0
            if byte == ord(","):
                self.at = at + 1
                self.state = "next_key" if self.stack[-1] is JsonKind.OBJECT else "item"
                return True
            if _CLOSERS.get(byte) is not self.stack[-1]:
                return False
            self._close(at)
        return True

    def _close(self, at: int) -> None:
        self.at = at + 1
        if self.stack.pop() is JsonKind.OBJECT:
            keys = self._keys.pop()
            if keys.first:
                self.repeated.append(RepeatedKeys(*keys.first, keys.count))

    def _value(self) -> bool:
        """Read a scalar, an empty container, or the beginning of a container, up to and including a scalar or empty
        container in it. Return False if reading must stop."""
        data = self._data
        while True:
            at = _SPACE.match(data, self.at).end()  # type: ignore[union-attr]
            kind = _OPENERS.get(data[at]) if at < len(data) else None
            if kind is None:
                found = _VALUE.match(data, at)
                if found is None:
                    return False
                self.at = found.end()
                return True
            if len(self.stack) >= MAX_DEPTH:
                return False
            self.stack.append(kind)
            self.at = at + 1
            if kind is JsonKind.OBJECT:
                self._keys.append(_Keys())
            inside = _SPACE.match(data, self.at).end()  # type: ignore[union-attr]
            if inside < len(data) and _CLOSERS.get(data[inside]) is kind:
                self._close(inside)
                return True
            self.state = "next_key" if kind is JsonKind.OBJECT else "item"
            if not self._next_in_container():
                return False

    def _members(self) -> None:
        """Skip plain members, each followed by a comma, and record their keys."""
        while found := _MEMBERS.match(self._data, self.at):
            names = _NAMES.findall(self._data, self.at, found.end())
            keys = self._keys[-1]
            fresh = set(map(hash, names)) - keys.seen
            if len(fresh) < len(names) and keys.first is None:
                keys.first = self._first_repeated(keys.seen, self.at, found.end())
            keys.add(fresh, len(names))
            self.at = found.end()

    def _first_repeated(self, known: set[int], start: int, end: int) -> Span:
        seen: set[bytes] = set()
        for found in _NAMES.finditer(self._data, start, end):
            if found[1] in seen or hash(found[1]) in known:
                return found.span(1)
            seen.add(found[1])
        raise AssertionError

    def _items(self) -> None:
        """Skip plain items, each followed by a comma."""
        while found := _ITEMS.match(self._data, self.at):
            self.at = found.end()

    def _key(self) -> bool:
        """Read and record a key, and read its colon. Return False if they are invalid."""
        at = _SPACE.match(self._data, self.at).end()  # type: ignore[union-attr]
        found = _KEY.match(self._data, at)
        if found is None:
            return False
        name = found[1]
        if b"\\" in name:
            text = json.loads(name.decode("utf-8", "replace"))
            name = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        keys = self._keys[-1]
        is_repeated = hash(name) in keys.seen
        if is_repeated and keys.first is None:
            keys.first = found.span(1)
        keys.add(set() if is_repeated else {hash(name)}, 1)
        self.at = found.end()
        self.state = "value"
        return True
