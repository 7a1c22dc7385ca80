"""Fast path for records with a single list of messages, of any length. The members around the list and each of the
messages must have a known shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from viewer.formats.engine.conditions import Unreadable, all_hold
from viewer.formats.engine.deltas import all_rules, paths_of
from viewer.formats.engine.drafts import NARROWING, Draft, RecordReading, hides_items, read_record
from viewer.formats.engine.known import shapes
from viewer.formats.engine.known.items import ItemShapes, has_only_drafts
from viewer.formats.engine.known.shape_tree import Match, Parts, Regs
from viewer.formats.engine.known.shapes import (
    MOST_OUTLINES,
    Alike,
    Matched,
    Shape,
    framed,
    is_usual,
    outline_of,
)
from viewer.formats.engine.paths import EACH, Step, path
from viewer.formats.tables.model import RecordFormat, RecordRule
from viewer.syntax.json_lines import LazyNode, read_regular
from viewer.syntax.json_text import JsonNode

MOST_TRIALS = 64
MOST_FRAMES = 8
MOST_FOLLOWERS = 8
"""The maximum number of item shapes to try after each shape."""
_KnownItems = dict[tuple[int, bytes, int], "tuple[list[ListItem], int] | None"]
_EACH = re.compile(r"(\w+)\[\]")


class ListFrame(Struct, eq=False):
    """The members around a list in a record."""

    rule: RecordRule
    head: Match
    """Matches what precedes the list."""
    tail: Match
    """Matches what follows the list."""
    hole: int
    """The number of the hole in place of the list."""
    between: bytes
    """The separator between items."""
    alike: Alike


class ListItem(Struct, frozen=True):
    """An item whose bytes match a shape."""

    shape: Shape
    regs: Regs
    """The spans of the item and of its holes."""
    known: Matched | None = None
    """The match of the usual pattern; None if the item was found by a strict pattern."""


class MatchedList(Struct, frozen=True):
    """A record whose bytes match a frame and known shapes."""

    frame: ListFrame
    around: Matched
    """The match of the record with its list as a hole. All bytes of the record are UTF-8."""
    items: list[ListItem]


class ListShapes:
    """Learns and matches the frames of one input."""

    def __init__(self, format: RecordFormat, items: ItemShapes) -> None:
        self._format = format
        self._items = items
        self._rules = _readable_lists(format)
        """The rule for each list that this fast path can read, by member name."""
        self._frames: list[ListFrame] = []
        self._followers: dict[tuple[int, Shape | None], list[Shape]] = {}
        """The shapes that followed each shape in the lists of a rule, most recent first."""
        self._outlines: dict[object, int] = {}
        self._trials = 0

    @property
    def is_empty(self) -> bool:
        """True if no frame is known."""
        return not self._frames

    def match(self, data: bytes | bytearray, at: int) -> MatchedList | None:
        """Return the record at an index, or None if it has no known frame."""
        known: _KnownItems = {}
        for place, frame in enumerate(self._frames):
            found = self._match(frame, data, at, known)
            if found is not None:
                if place:
                    self._frames.insert(0, self._frames.pop(place))
                return found
        return None

    def _match(self, frame: ListFrame, data: bytes | bytearray, at: int, known: _KnownItems) -> MatchedList | None:
        """Return the record at an index if it has this frame; otherwise, return None. `known` caches the items that
        have been read."""
        head = frame.head(data, at)
        if head is None or not data.startswith(b"[", head.end()):
            return None
        start = head.end()
        key = id(frame.rule), frame.between, start
        if key not in known:
            known[key] = self._items_at(frame, data, start + 1)
        found = known[key]
        if found is None:
            return None
        items, end = found
        tail = frame.tail(data, end)
        if tail is None:
            return None
        spans = (*head.regs[1:], (start, end), *tail.regs[1:])
        around = frame.alike.match(data, at, tail.end(), spans)
        return None if around is None else MatchedList(frame, around, items)

    def _items_at(self, frame: ListFrame, data: bytes | bytearray, place: int) -> tuple[list[ListItem], int] | None:
        """Return the items that start at an index, and the index after their list; None if an item has no known
        shape."""
        items: list[ListItem] = []
        between, last = frame.between, None
        while True:
            item = self._item_at(frame.rule, data, place, last)
            if item is None:
                return None
            items.append(item)
            last, place = item.shape, item.regs[0][1]
            if not data.startswith(between, place):
                break
            place += len(between)
        return (items, place + 1) if data.startswith(b"]", place) else None

    def _item_at(self, rule: RecordRule, data: bytes | bytearray, place: int, last: Shape | None) -> ListItem | None:
        """Return the item at an index, or None if it has no known shape. `last` is the shape of the item before it."""
        key = id(rule), last
        followers = self._followers.get(key)
        if followers is None:
            followers = self._followers[key] = []
        for shape in followers:
            found = shape.strict_pattern.match(data, place)  # type: ignore[union-attr]
            if found is not None:
                if shape is not followers[0]:
                    followers.remove(shape)
                    followers.insert(0, shape)
                return ListItem(shape, found.regs)
        known = self._items.match(rule, data, place)
        if known is None:
            return None
        shape = known.shape
        if shape.strict_pattern is not None and shape not in followers:
            followers.insert(0, shape)
            del followers[MOST_FOLLOWERS:]
        return ListItem(shape, ((known.start, known.end), *known.spans), known)

    def learn(self, node: JsonNode, reading: RecordReading) -> None:
        """Make a frame from a record and what the rules read from it, if enough similar records have come before."""
        if not self._rules or self._trials >= MOST_TRIALS or type(node) is not LazyNode or type(node.value) is not dict:
            return
        names = self._rules.keys() & node.value.keys()
        if len(names) != 1 or not is_usual(reading) or not reading.starts:
            return
        (name,) = names
        items = node.value[name]
        if type(items) is not list or not items or any(type(item) is not dict for item in items):
            return
        outline = tuple((key, None if key == name else outline_of(value)) for key, value in node.value.items())
        count = self._outlines[outline] = self._outlines.get(outline, 0) + 1
        if len(self._outlines) > MOST_OUTLINES:
            self._outlines.clear()
        if count <= shapes.SEEN_BEFORE:
            return
        self._trials += 1
        frame = self._frame(name, self._rules[name], node, reading)
        if frame is not None:
            self._frames.insert(0, frame)
            del self._frames[MOST_FRAMES:]

    def _frame(self, name: str, rule: RecordRule, node: LazyNode, reading: RecordReading) -> ListFrame | None:
        given = node.get(name)
        assert given is not None
        data, base = node.line.data, node.start
        start, end = given.start - base, given.end - base
        around = read_regular(data[: start + 1] + data[end - 1 : node.end - base], base)
        if around is None or data[start + 1 : start + 2] != b"{" or data[end - 2 : end - 1] != b"}":
            return None
        alone = [read_regular(data[item.start - base : item.end - base], item.start) for item in given.items]
        places = [(item.start - base, item.end - base) for item in given.items]
        between = {data[one[1] : other[0]] for one, other in pairwise(places)} or {b", "}
        if len(between) > 1 or any(item is None for item in alone) or not self._is_apart(rule, around):
            return None
        own = read_record(self._format.records, around)
        readings = [read_record(rule.rules, item) for item in alone if item is not None]
        if (
            not is_usual(own)
            or not own.starts
            or not all(is_usual(each) and has_only_drafts(each) for each in readings)
        ):
            return None
        first = len(own.drafts)
        found = [_facts(draft) for each in readings for draft in each.drafts]
        if [_facts(draft) for draft in reading.drafts[first:]] != found or not any(
            draft.pieces for draft in reading.drafts[first:]
        ):
            return None
        if [_kind(draft) for draft in reading.drafts[:first]] != [_kind(draft) for draft in own.drafts]:
            return None
        if own.exchanges or own.is_aside or own.done:
            return None
        made = framed(self._format, around, own, base + start, name)
        if made is None:
            return None
        parts, hole, alike = made
        return ListFrame(rule, _match_of(parts[:hole]), _match_of(parts[hole:]), hole, between.pop(), alike)

    def _is_apart(self, rule: RecordRule, around: JsonNode) -> bool:
        """True if the items of a list inherit nothing, and no other rule compares them with anything."""
        if hides_items(rule, around) or any(
            path(at).first(around) is not None for at in (rule.thread, rule.time, rule.call_id) if at
        ):
            return False
        if rule.known_ids is not None or any(path(at).all(around) for at in rule.repeats):
            return False
        try:
            return not any(
                other is not rule
                and any(_steps_of(at, str(rule.each)[:-2]) for at in other.repeats)
                and all_hold(other.when, around)
                for other in all_rules(self._format.records)
            )
        except Unreadable:
            return False


@lru_cache(256)  # independent of inputs, so `clear_caches` need not clear it
def _readable_lists(format: RecordFormat) -> dict[str, RecordRule]:
    """Return the rules that read the items of a list independently of everything else, by the name of the list's
    member."""
    is_plain = format.spans is None and format.events is None and not format.session and format.threads is None
    if not is_plain or format.history is not None or format.replays is not None or format.hooks.renew is not None:
        return {}
    rules = all_rules(format.records)
    entered = {name for rule in rules for at in paths_of(rule) for name in _names_entered(at)}
    alone: dict[str, RecordRule] = {}
    found: dict[str, list[RecordRule]] = {}
    for rule in rules:
        whole = _EACH.fullmatch(rule.each)
        if whole is not None:
            found.setdefault(whole[1], []).append(rule)
    for name, own in found.items():
        rule = own[0]
        is_alone = len(own) == 1 and rule.kind not in NARROWING and not rule.unused and not rule.faults
        is_alone = is_alone and rule.lookup is None and rule.branches is None and not rule.order and rule.merge is None
        if is_alone and name not in entered:
            alone[name] = rule
    return alone


def _steps_of(at: str, name: str) -> bool:
    """True if a path may lead to the items of a list."""
    return any(steps and steps[0] == name for each in at.split("&") for steps in path(each).choices)


def _names_entered(at: str) -> Iterator[Step]:
    """Yield the names of the members inside which a path looks up values. A path to the items of a list does not
    count."""
    choices = (steps for each in at.split("&") for steps in path(each).choices)
    return (steps[0] for steps in choices if steps[1:] not in ((), (EACH,)))


def _match_of(parts: Parts) -> Match:
    pattern = b"".join(re.escape(verbatim) + (hole and b"(" + hole + b")") for verbatim, hole in parts)
    return re.compile(pattern, re.DOTALL).match


def _facts(draft: Draft) -> tuple[object, ...]:
    return (
        *_kind(draft),
        draft.span,
        tuple(draft.pieces),
        draft.thread,
        draft.time_ms,
        draft.channel_word,
        draft.outcome,
    )


def _kind(draft: Draft) -> tuple[object, ...]:
    facts = (
        draft.kind,
        draft.role,
        draft.text,
        draft.channel,
        draft.call_id,
        draft.name,
        draft.is_text,
        len(draft.pieces),
    )
    return (*facts, id(draft.rule))
