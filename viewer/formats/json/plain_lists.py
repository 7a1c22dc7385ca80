"""Find the items of a long message list in an object, without keeping their content."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Collection

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.formats.containers.documents import BracketCount
from viewer.syntax.json_lines import JSON_VALUE, LazyNode, read_regular
from viewer.syntax.json_reader import MAX_DEPTH
from viewer.syntax.json_text import is_too_deep

_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = lazy_regex(rb'("[^"\\\x00-\x1f]++")[ \t\r\n]*+:[ \t\r\n]*+')
_VALUE = lazy_regex(JSON_VALUE, re.DOTALL)
_OTHER = lazy_regex(JSON_VALUE + rb"[ \t\r\n]*+,[ \t\r\n]*+", re.DOTALL)
_OPENING, _LIST_END, _COMMA = b"{],"


class PlainList(Struct, frozen=True):
    """An object whose list of messages is regular."""

    wrapper: LazyNode
    """The object without its messages. Only the members before them have their true positions."""
    starts: array[int]
    ends: array[int]


def find_plain_list(
    data: bytes | bytearray, at: int, end: int, base: int, names: Collection[str], is_item: Callable[[LazyNode], bool]
) -> PlainList | None:
    """Return the list in the object between two indexes, if it has one of these names, or None if anything is
    irregular."""
    first = _list_of(data, at, names)
    starts, ends = array("Q"), array("Q")
    place = first
    while place:
        start = _SPACE.match(data, place).end()  # type: ignore[union-attr]
        stop = _end(data, start) if start < end and data[start] == _OPENING else None
        if stop is None or stop > end or not _is_item(bytes(memoryview(data)[start:stop]), is_item):
            return None
        starts.append(start)
        ends.append(stop)
        place = _SPACE.match(data, stop).end()  # type: ignore[union-attr]
        if place >= end or data[place] not in (_COMMA, _LIST_END):
            return None
        place += 1
        if data[place - 1] == _LIST_END:
            break
    wrapper = read_regular(bytes(data[at:first] + data[place - 1 : end]), base + at) if first else None
    return PlainList(wrapper, starts, ends) if wrapper is not None else None


def _list_of(data: bytes | bytearray, at: int, names: Collection[str]) -> int:
    """Return the index after the opening bracket of the list, or 0 if there is no list."""
    place = _SPACE.match(data, at + 1).end()  # type: ignore[union-attr]
    while key := _KEY.match(data, place):
        place = key.end()
        if json.loads(key[1].decode("utf-8", "replace")) in names:
            return place + 1 if data.startswith(b"[", place) else 0
        other = _OTHER.match(data, place)
        if other is None:
            return 0
        place = other.end()
    return 0


def _end(data: bytes | bytearray, start: int) -> int | None:
    """Return the end of the object at an index, or None if it has no end. A single regex match finds it, unless the
    object is deeply nested."""
    found = _VALUE.match(data, start)
    return found.end() if found is not None else BracketCount().end(data, start)


def _is_item(item: bytes, is_item: Callable[[LazyNode], bool]) -> bool:
    if item.count(b"{") + item.count(b"[") >= MAX_DEPTH - 1 and is_too_deep(b"{[" + item):
        return False
    node = read_regular(item, 0)
    return node is not None and is_item(node)
