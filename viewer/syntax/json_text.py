"""Check and read JSON text: validity, faults, values, and positions. Values are never re-serialized."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.syntax.json_reader import MAX_DEPTH, SPACE, Scanner
from viewer.syntax.json_string import string_body
from viewer.syntax.json_tree import JsonFault, JsonKind, JsonMember, JsonNode, JsonReading

if TYPE_CHECKING:
    from viewer.syntax.json_survey import RepeatedKeys, Survey

__all__ = [
    "JsonFault",
    "JsonGlance",
    "JsonKind",
    "JsonMember",
    "JsonNode",
    "JsonReading",
    "check_json",
    "counted_object",
    "duplicate_keys",
    "exact_value",
    "glance",
    "known_object",
    "plain_object",
    "read_json",
    "string_body",
]

LONGEST_GLANCED = 1024 * 1024
"""The maximum length in bytes of text for the standard decoder. Longer text is surveyed instead, because that decoder
needs about 15 bytes of memory per byte of text."""

_STRINGS_AND_BRACKETS = lazy_regex(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def check_json(data: bytes, base: int = 0, survey: Survey | None = None) -> JsonFault | None:
    """Return the first fault in text that should be exactly one JSON value (RFC 8259), or None if there is none."""
    content = SPACE.match(data).end()  # type: ignore[union-attr]
    if content == len(data):
        return JsonFault("empty", base, base)
    if len(data) > LONGEST_GLANCED:
        survey = survey or _survey(data, content)
        if survey.is_complete:
            return None
        if survey.stack:
            return Scanner(data, base, survey.at, strict=True).resume(survey.stack, survey.state).fault
    elif glance(data).valid:
        return None
    reading = Scanner(data, base, content, strict=True).read()
    return reading.fault or _trailing(data, base, reading.end - base)


def duplicate_keys(data: bytes, base: int = 0, survey: Survey | None = None) -> list[RepeatedKeys]:
    """Return the duplicate keys in valid JSON text: one entry for each object that has any, in text order."""
    found = (survey or _survey(data)).repeated
    return [replace(one, start=base + one.start, end=base + one.end) for one in sorted(found, key=_by_start)]


def _survey(data: bytes, start: int = 0) -> Survey:
    from viewer.syntax.json_survey import Survey  # only long text needs it

    return Survey(data, start)


def _by_start(repeated: RepeatedKeys) -> int:
    return repeated.start


def read_json(data: bytes, base: int = 0, start: int = 0) -> JsonReading:
    """Read one value, starting at index `start` and tolerating faults as long as the meaning is clear."""
    return Scanner(data, base, start, strict=False).read()


def read_rest(data: bytes, base: int, start: int) -> JsonReading:
    """Read the rest of an array, starting at the comma after an item or at the end of the array. The returned node
    contains only the new items."""
    return Scanner(data, base, start, strict=False).resume([JsonKind.ARRAY], "after")


class JsonGlance(Struct, frozen=True):
    """The result of a quick pass over the text. In `value`, each number is replaced with its length."""

    valid: bool
    """True if the text is exactly one JSON value (RFC 8259)."""
    repeats: bool = False
    """True if an object in the text has a duplicate key."""
    value: object = None
    survey: Survey | None = None
    """The survey, if the text is long."""


_INVALID = JsonGlance(False)


class _RefusedError(ValueError):
    """JSON that is refused although Python accepts it: NaN, an infinite number, or a repeated key."""


def _refuse(_constant: str) -> NoReturn:
    raise _RefusedError


class _Quick:
    """The standard library's fast decoder. To save time, it returns the length of a number instead of its value."""

    def __init__(self) -> None:
        self.repeats = False
        decoder = json.JSONDecoder(
            parse_int=len, parse_float=len, parse_constant=_refuse, object_pairs_hook=self._object
        )
        self.scan = decoder.raw_decode

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        self.repeats = self.repeats or len(value) < len(pairs)
        return value


_QUICK = _Quick()


def glance(data: bytes) -> JsonGlance:
    """Decode text in one quick pass, or survey it if it is long. Text that is nested too deeply counts as invalid."""
    if len(data) > LONGEST_GLANCED:
        survey = _survey(data)
        return JsonGlance(survey.is_complete, bool(survey.repeated), survey=survey)
    if _too_deep(data) is not None:
        return _INVALID
    text = data.decode("utf-8", "replace")
    content = SPACE.match(data).end()  # type: ignore[union-attr]
    _QUICK.repeats = False
    try:
        value, end = _QUICK.scan(text, content)
    except (ValueError, RecursionError):
        return _INVALID
    if end != len(text) and text[end:].strip(" \t\n\r"):
        return _INVALID
    return JsonGlance(True, _QUICK.repeats, value)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _RefusedError
    return value


_HALF = re.compile(rb"\\u[dD]")
"""Half of a surrogate pair. Without the other half, it becomes U+FFFD in a node."""
_SPACED_COLON = lazy_regex(rb'"[ \t\r\n]+:')
_CONTAINERS = frozenset({dict, list})
_DECODER = msgspec.json.Decoder()
"""A decoder that accepts nothing but RFC 8259."""
_EXACT = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _RefusedError
    return value


_UNREPEATED = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse, object_pairs_hook=_unrepeated)


def exact_value(data: bytes) -> object:
    """Return the value that `JsonNode.to_python` would return for valid JSON. Return None if the text is not valid, or
    if the two values might differ."""
    return _exact(data, _EXACT)


def plain_object(data: bytes) -> dict[str, object] | None:
    """Like `exact_value`, but only for an object without repeated keys. Return None for anything else."""
    quick = _quick_object(data)
    if quick is not None:
        return quick
    value = _exact(data, _UNREPEATED)
    return value if isinstance(value, dict) else None


def counted_object(data: bytes, most_members: int) -> dict[str, object] | None:
    """Like `plain_object`, for text without `\\u` escapes that has at most this many members. Return None even if it
    has fewer."""
    try:
        value = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _members_in(value, data) == most_members else None


def known_object(data: bytes) -> dict[str, object] | None:
    """Like `plain_object`, for text that `Native.objects` recognized."""
    value = _DECODER.decode(data)
    return value if isinstance(value, dict) else None


def _quick_object(data: bytes) -> dict[str, object] | None:
    """Like `plain_object`. The object is returned only if the number of colons outside strings proves that no key
    repeats."""
    if b"\\u" in data or len(data) > LONGEST_GLANCED:
        return None
    try:
        value = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    members = _members_in(value, data)
    return value if members is not None and _has_members(data, members) else None


def _members_in(value: dict[str, object], data: bytes) -> int | None:
    """Return the number of members of all objects in the value of this text, or None if it is nested too deeply."""
    if _CONTAINERS.isdisjoint(map(type, value.values())):
        return len(value)
    members, containers = _count_members(value)
    return None if containers > MAX_DEPTH and is_too_deep(data) else members


def _has_members(data: bytes, count: int) -> bool:
    """True if the objects in valid JSON text have exactly this many members, which is known to be the minimum. False if
    colons in strings leave this open."""
    if data.count(b'":') == count and _SPACED_COLON.search(data) is None:
        return True
    return data.count(b":") == count


def _count_members(value: dict[str, Any] | list[Any]) -> tuple[int, int]:
    """Return the number of members of all objects in a value, and the number of its objects and arrays."""
    containers: list[dict[str, Any] | list[Any]] = [value]
    count = 0
    for container in containers:  # the list grows during the loop
        parts: Iterable[Any] = container
        if type(container) is dict:
            count, parts = count + len(container), container.values()
        containers += [part for part in parts if type(part) in _CONTAINERS]
    return count, len(containers)


def _exact(data: bytes, decoder: json.JSONDecoder) -> object:
    if len(data) > LONGEST_GLANCED or _HALF.search(data) or is_too_deep(data):
        return None
    try:
        return decoder.decode(data.decode())
    except (ValueError, RecursionError):
        return None


def is_too_deep(data: bytes) -> bool:
    """True if the nesting is too deep, determined without parsing."""
    return _too_deep(data) is not None


def _too_deep(data: bytes) -> int | None:
    """Return the position where the nesting becomes too deep, or None if it does not."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return None
    depth = 0
    for found in _STRINGS_AND_BRACKETS.finditer(data):
        byte = found.group()
        if byte in (b"[", b"{"):
            depth += 1
            if depth > MAX_DEPTH:
                return found.start()
        elif byte in (b"]", b"}"):
            depth -= 1
    return None


def _trailing(data: bytes, base: int, end: int) -> JsonFault | None:
    """Return a fault if anything except whitespace follows the value, otherwise None."""
    start = SPACE.match(data, end).end()  # type: ignore[union-attr]
    if start == len(data):
        return None
    return JsonFault("json-trailing", base + start, base + len(data.rstrip(b" \t\n\r")))
