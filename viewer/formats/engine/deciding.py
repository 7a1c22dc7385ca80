"""Find the deciding values of a record, which determine how it is read. All other values may differ within a shape."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct, field

from viewer.formats.engine.conditions import all_hold
from viewer.formats.engine.paths import all_at, path
from viewer.formats.engine.repeats import compared_values
from viewer.formats.hiding import (
    ADDRESSES,
    CONTENTS,
    FLAGS,
    KINDS,
    OFF,
    PHASES,
    RANGES,
    RECIPIENTS,
    SHOWN,
    SOURCES,
    STARTERS,
    STATES,
    TAGS,
    TEXTUAL,
    TYPES,
    WORDS,
)
from viewer.formats.tables.model import Outcomes, PartRule, RecordFormat, RecordRule, When, Words
from viewer.syntax.json_text import JsonKind, JsonNode

DECIDING_NAMES = (
    FLAGS
    | SHOWN
    | OFF
    | STARTERS
    | KINDS
    | RANGES
    | RECIPIENTS
    | STATES
    | CONTENTS
    | TAGS
    | TYPES
    | PHASES
    | SOURCES
    | ADDRESSES
    | (WORDS - TEXTUAL)
    | {"audience", "channel", "flags", "phase", "role", "status", "subtype", "type"}
)
"""Members with values that are decisive in every format."""
DECIDING_NUMBERS = WORDS
"""Members with values that are decisive if they are numbers."""


class Deciding(Struct):
    """The deciding values of one record, by offset."""

    values: set[int] = field(default_factory=set)
    """The offsets of decisive values, with everything inside them."""
    beginnings: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    """For each string of which only the start is decisive, the prefixes that rules test."""
    holders: set[int] = field(default_factory=set)
    """The offsets of objects in which a rule looks up values."""
    times: set[int] = field(default_factory=set)
    compared: set[int] = field(default_factory=set)
    """The offsets of strings that a rule compares with each other. Only their equality is decisive."""

    def add(self, at: str, node: JsonNode) -> None:
        """Add the values at a path."""
        self.values.update(value.start for value in _values(at, node))

    def add_condition(self, when: When, node: JsonNode) -> None:
        """Add the values that a condition tests."""
        if when.starts and when == When(when.path, starts=when.starts):
            for value in _values(when.path, node):
                self.beginnings.setdefault(value.start, []).append(when.starts)
        elif when != When(when.path, present=when.present, kind=when.kind):
            self.add(when.path, node)

    def add_compared(self, rule: RecordRule, node: JsonNode) -> None:
        """Add the values that a rule compares to detect a repeated list."""
        lists = [path(at).all(node) for at in rule.repeats]
        if not any(lists):
            return
        own = path(rule.each or rule.body).all(node)
        for item in (*own, *(item for each in lists for item in each)):
            self.holders.add(item.start)
            for value in compared_values(item):
                if value.kind is JsonKind.STRING:
                    self.compared.add(value.start)
                else:
                    self.values.add(value.start)


def deciding(rules: tuple[RecordRule, ...], node: JsonNode) -> Deciding:
    """Return the deciding values of a record. Raise `Unreadable` if a condition cannot be decided."""
    found = Deciding()
    _add_rules(found, rules, node)
    return found


def _add_rules(found: Deciding, rules: tuple[RecordRule, ...], node: JsonNode) -> None:
    for rule in rules:
        for when in rule.when:
            found.add_condition(when, node)
        if all_hold(rule.when, node):
            _add_rule(found, rule, node)


def _add_rule(found: Deciding, rule: RecordRule, node: JsonNode) -> None:
    found.add_compared(rule, node)
    if rule.known_ids is not None:
        found.add(rule.known_ids[0], node)
        found.add(f"{rule.each}.{rule.known_ids[1]}", node)
    for at in (*(fault.path for fault in rule.faults), *outcome_paths(rule.outcome), rule.rewind, rule.rewind_turns):
        found.add(at, node)
    if rule.role.startswith("@"):
        found.add(rule.role[1:], node)
    found.times.update(value.start for value in _values(rule.time, node))
    if isinstance(rule.channel, Words):
        found.add(rule.channel.path, node)
    for when in (rule.merge.done, rule.merge.begins) if rule.merge is not None else ():
        if when is not None:
            found.add_condition(when, node)
    _add_rules(found, rule.also, node)
    for item in path(rule.each).all(node) if rule.each else ():
        found.holders.add(item.start)
        _add_rules(found, rule.rules, item)
    for body in path(rule.body).all(node) if rule.parts else ():
        for part in body.items if body.kind is JsonKind.ARRAY else [body]:
            found.holders.add(part.start)
            _add_parts(found, rule.parts, rule.parts, part)


def _add_parts(found: Deciding, rules: tuple[PartRule, ...], inner: tuple[PartRule, ...], part: JsonNode) -> None:
    """Add the deciding values of a part. `inner` are the rules for the parts nested in it."""
    for rule in rules:
        for when in rule.when:
            found.add_condition(when, part)
        if not all_hold(rule.when, part):
            continue
        for at in outcome_paths(rule.outcome):
            found.add(at, part)
        _add_parts(found, rule.also, inner, part)
        if rule.reply is not None:
            _add_parts(found, (rule.reply,), inner, part)
        for item in path(rule.each).all(part) if rule.each else ():
            found.holders.add(item.start)
            _add_parts(found, inner, inner, item)


def _values(at: str, node: JsonNode) -> Iterator[JsonNode]:
    for joined in at.split("&") if at else ():
        yield from all_at(joined, node)


def outcome_paths(outcomes: Outcomes | None) -> Iterator[str]:
    """Yield the paths of the values that indicate how a call ended."""
    if outcomes is not None:
        for tests in (outcomes.ok, outcomes.failed, outcomes.cancelled, outcomes.timeout, outcomes.refused):
            yield from (test.partition("!=")[0].partition("=")[0] for test in tests)


@lru_cache(256)  # independent of inputs, so `clear_caches` need not clear it
def inner_names(format: RecordFormat) -> frozenset[str]:
    """Return the names of all members in which a rule of the format looks up other members. The result may also contain
    other names."""
    names: set[str] = set()
    for text in _strings((format.records, format.inner, format.usage), set()):
        for choice in text.replace("&", "|").split("|"):
            *holders, last = choice.partition("=")[0].split(".")
            names.update(name.partition("[")[0] for name in (*holders, *([last] if "[" in last else [])))
    return frozenset(names)


def _strings(value: object, seen: set[int]) -> Iterator[str]:
    """Yield all strings in a table, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, Struct)) and id(value) not in seen:
        seen.add(id(value))
        names = value if isinstance(value, tuple) else (getattr(value, name) for name in value.__struct_fields__)
        for each in names:
            yield from _strings(each, seen)
