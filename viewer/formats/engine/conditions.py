"""Decide which rule of a table applies to a record or a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from viewer.formats.engine.paths import Path, path
from viewer.formats.tables.model import When
from viewer.syntax.json_text import JsonKind, JsonNode

_SPACE = " \t\r\n\f\v"


class _Rule(Protocol):
    @property
    def when(self) -> tuple[When, ...]: ...


Rule = TypeVar("Rule", bound=_Rule)


class Unreadable(Exception):  # noqa: N818 - not an error: the record has no meaning that two readers share
    """A condition depends on a flag that is not a JSON truth value, or on a repeated key."""


def first_rule(rules: Sequence[Rule], node: JsonNode) -> Rule | None:
    """The first rule whose conditions all hold."""
    return next((rule for rule in rules if all_hold(rule.when, node)), None)


def all_hold(conditions: tuple[When, ...], node: JsonNode) -> bool:
    """True if all conditions hold."""
    return all(holds(condition, node) for condition in conditions)


def holds(when: When, node: JsonNode) -> bool:
    """True if a condition holds. Raises `Unreadable`."""
    value = _value(path(when.path), node)
    if when.true is not None and not _is_flag(value, when.true):
        return False
    if when.present is not None and (value is not None) is not when.present:
        return False
    if when.kind is not None and (value is None or value.kind is not when.kind):
        return False
    word = value.text if value is not None and value.kind in (JsonKind.STRING, JsonKind.NUMBER) else None
    if when.equals and word not in when.equals:
        return False
    if when.not_equals and word in when.not_equals:
        return False
    if when.ends and (word is None or not word.endswith(when.ends)):
        return False
    if when.only and (value is None or not _has_only(value, when.only)):
        return False
    return not when.starts or (word is not None and word.lstrip(_SPACE).startswith(when.starts))


def _has_only(value: JsonNode, known: frozenset[str]) -> bool:
    keys = [member.key for member in value.members]
    return known.issuperset(keys) and len(set(keys)) == len(keys)


def _is_flag(value: JsonNode | None, wanted: bool) -> bool:
    if value is None or value.kind is JsonKind.FALSE:
        return not wanted
    if value.kind is not JsonKind.TRUE:
        raise Unreadable
    return wanted


def _value(at: Path, node: JsonNode) -> JsonNode | None:
    for steps in at.choices:
        found: JsonNode | None = node
        for step in steps:
            if isinstance(step, str) and found is not None and found.kind is JsonKind.OBJECT:
                values = [member.value for member in found.members if member.key == step]
                if len(values) > 1:
                    raise Unreadable
                found = values[0] if values else None
            else:
                found = found.items[step] if isinstance(step, int) and found and step < len(found.items) else None
            if found is None:
                break
        if found is not None and found.kind is not JsonKind.NULL:
            return found
    return None
