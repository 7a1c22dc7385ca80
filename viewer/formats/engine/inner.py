"""Parse inner JSON: replace strings in a record with the JSON they contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from viewer.cache import lazy_regex
from viewer.formats.engine.conditions import Unreadable, all_hold
from viewer.formats.engine.paths import MANY, NESTED, Step, all_at, change, exists, path
from viewer.formats.json.fields import Source
from viewer.formats.tables.model import Inner
from viewer.model.diagnostic import Problem
from viewer.rules.errors import E_BODY_CONSTRAINT_VIOLATION, E_STREAM_TRUNCATED
from viewer.syntax.json_in_string import InnerNode, inner_text, read_inner, read_inner_events, read_inner_lines
from viewer.syntax.json_lines import LazyNode, note_decoded
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading

_IS_JSON = lazy_regex(r'\s*(?:\{\s*"|\[\s*[\[{"])')
"""A pattern that matches the start of JSON, but not a log line in brackets or a code block."""


_ANY = ""
_EVENT_FIELDS = ("data:", "event:", "id:", "retry:", ":")
_CUT = lazy_regex(rb"\.\.\.|\xe2\x80\xa6|[\[(<](?:[0-9, ]+\w* )?(?:truncated|omitted)", re.IGNORECASE)
"""A pattern that matches where a logger may have cut out text. Anything may follow the cut."""


def read_inner_strings(inner: Iterable[str | Inner], node: JsonNode, source: Source) -> list[Problem]:
    """Replace strings with the JSON they contain, and return the problems found in that JSON. All other strings are
    left unchanged."""
    if node.is_empty:
        return []
    reader = _InnerReader(source)
    for each in inner:
        is_stale = False
        if isinstance(each, str):
            if node.decoded is None or _is_anywhere(each, node.decoded):
                is_stale = change(each, node, reader.read)
        else:
            for holder in path(each.holders).all(node):
                if _applies(each, holder):
                    is_stale |= change(each.path, holder, reader.reading(each))
        if is_stale and node.decoded is not None:
            note_decoded(node)
    return reader.problems


def _is_anywhere(at: str, value: dict[str, Any]) -> bool:
    """True if any choice of a path leads to a value in a decoded object."""
    for name, below, steps in _beginnings(at):
        if name is not None:
            inner = value.get(name)
            if inner is None or (below is not None and (type(inner) is not dict or below not in inner)):
                continue
        if exists(value, steps):
            return True
    return False


@cache
def _beginnings(at: str) -> list[tuple[str | None, str | None, tuple[Step, ...]]]:
    """Return the choices of a path, each preceded by the names of its first two members. A name is None if its step, or
    an earlier one, is not a plain name."""
    found: list[tuple[str | None, str | None, tuple[Step, ...]]] = []
    for steps in path(at).choices:
        names = (_name(steps[place : place + 1]) for place in (0, 1))
        name, below = (None if each == _ANY or each.startswith(NESTED) else each for each in names)
        found.append((name, below if name else None, steps))
    return found


def has_inner_strings(inner: tuple[str | Inner, ...], node: JsonNode) -> bool:
    """True if a string at one of these paths may contain JSON."""
    if type(node) is not LazyNode or type(node.value) is not dict:
        return any(_holds_json(each, node) for each in inner)
    by_member = _by_member(inner)
    names = by_member.keys() & node.value.keys()
    return any(_holds_json(each, node) for name in (_ANY, *names) for each in by_member.get(name, ()))


@cache
def _by_member(inner: tuple[str | Inner, ...]) -> dict[str, list[str | Inner]]:
    """Return the paths that begin with each member of a record. The paths under `_ANY` may begin with any member."""
    found: dict[str, list[str | Inner]] = {}
    for each in inner:
        choices = path(each if isinstance(each, str) else each.holders or each.path).choices
        for name in {_name(steps[:1]) for steps in choices or ((),)}:
            found.setdefault(name, []).append(each)
    return found


def _name(first: tuple[Step, ...]) -> str:
    return first[0] if first and isinstance(first[0], str) and first[0] not in MANY else _ANY


def _holds_json(each: str | Inner, node: JsonNode) -> bool:
    at = each if isinstance(each, str) else each.holders
    if type(node) is LazyNode and not path(at).is_in(node):
        return False
    if isinstance(each, str):
        return any(map(_may_hold_json, all_at(each, node)))
    for holder in path(at).all(node):
        values = all_at(each.path, holder)
        if values and (each.always or each.events or any(map(_may_hold_json, values))) and _applies(each, holder):
            return True
    return False


def _may_hold_json(value: JsonNode) -> bool:
    return value.kind is JsonKind.STRING and _begins_json(value)


def _begins_json(value: JsonNode) -> bool:
    return value.text.lstrip()[:1] in ("{", "[")


def _applies(inner: Inner, holder: JsonNode) -> bool:
    try:
        return all_hold(inner.when, holder)
    except Unreadable:
        return False


class _InnerReader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.problems: list[Problem] = []

    def reading(self, inner: Inner) -> Callable[[JsonNode], JsonNode | None]:
        """Return the function that reads the strings that `inner` describes."""
        return self.read_events if inner.events else self.read_any if inner.always else self.read

    def read_events(self, value: JsonNode) -> JsonNode | None:
        """Return what a string contains: the data of server-sent events, an object on each line, or other JSON. Return
        None if it contains none of these."""
        if value.kind is not JsonKind.STRING or not value.closed or isinstance(value, InnerNode):
            return None
        if _begins_json(value):
            return read_inner_lines(value, self._raw(value)) or self.read(value)
        if not value.text.lstrip().startswith(_EVENT_FIELDS):
            return self.read(value)
        found = read_inner_events(value, self._raw(value))
        if found is None:
            self.problems.append(Problem(E_BODY_CONSTRAINT_VIOLATION, "json-malformed", value.start, value.end))
        return found

    def read_any(self, value: JsonNode) -> JsonNode | None:
        """Return the JSON value of any type in a string, or None if there is none."""
        if value.kind is not JsonKind.STRING or not value.closed or isinstance(value, InnerNode):
            return None
        if _begins_json(value):
            return self.read(value)
        raw = self._raw(value)
        data = inner_text(raw)
        reading = read_inner(value, raw, data)
        return None if reading.faults or not _is_all(reading, data) else reading.node

    def read(self, value: JsonNode) -> JsonNode | None:
        """Return the JSON in a string, even if its end is missing, or None for any other value. Broken or truncated
        JSON is added to the problems."""
        if value.kind is not JsonKind.STRING or not value.closed or isinstance(value, InnerNode):
            return None
        if not _begins_json(value):
            return None
        raw = self._raw(value)
        data = inner_text(raw)
        reading = read_inner(value, raw, data)
        if reading.faults and reading.may_go_on:
            self.problems.append(Problem(E_STREAM_TRUNCATED, "log", value.start, value.end))
            return reading.node
        if reading.node is None or reading.faults or not _is_all(reading, data):
            cut = _before_cut(value, raw, data)
            if cut is not None:
                self.problems.append(Problem(E_STREAM_TRUNCATED, "log", value.start, value.end))
                return cut
            if _IS_JSON.match(value.text):
                self.problems.append(Problem(E_BODY_CONSTRAINT_VIOLATION, "json-malformed", value.start, value.end))
            return None
        return reading.node

    def _raw(self, value: JsonNode) -> bytes:
        return self._source.data[value.start - self._source.base : value.end - self._source.base]


def _before_cut(value: JsonNode, raw: bytes, data: bytes) -> JsonNode | None:
    """Return the broken JSON in a string, up to the first place where a logger may have cut it, or None if no such cut
    explains the fault."""
    mark = _CUT.search(data)
    if mark is None:
        return None
    reading = read_inner(value, raw, data[: mark.start()])
    return reading.node if reading.faults and reading.may_go_on else None


def _is_all(reading: JsonReading, data: bytes) -> bool:
    """True if only whitespace follows the value in a string."""
    return not data[reading.end :].strip()
