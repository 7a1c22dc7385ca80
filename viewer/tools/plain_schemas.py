"""Fast path for the simple JSON Schemas that most tools declare, because the validator loads slowly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from viewer.tools.schema_keywords import TYPES
from viewer.tools.validate import Schema, compiled, is_kind, is_valid

Judge = Callable[[object], bool]
"""A function that returns True if a value fits a schema."""

MOST_WORDS = 64
"""The maximum length of a list. Longer lists are left to the validator, which does not search them linearly."""

_SAID = frozenset({"type", "enum", "properties", "required", "additionalProperties", "items"})
_KINDS = frozenset(TYPES.values())


def judge_of(schema: Schema | bool) -> Judge | None:
    """Return a function that checks values against an expanded schema, or None if the schema is unusable."""
    if is_plain(schema):
        return partial(fits, schema)
    validator = compiled(schema)
    return partial(is_valid, validator) if validator is not None else None


def is_fit(judge: Judge) -> bool:
    """True if `judge_of` returned this function for a plain schema."""
    return isinstance(judge, partial) and judge.func is fits


def is_plain(schema: object) -> bool:
    """True if an expanded schema uses only types, properties, items, and enums of strings."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or not schema.keys() <= _SAID:
        return False
    properties = schema.get("properties", {})
    return (
        all(_is_word(name) and is_plain(part) for name, part in properties.items())
        and all(_are_words(schema.get(name, [])) for name in ("type", "enum", "required"))
        and _KINDS.issuperset(schema.get("type", ()))
        and all(is_plain(schema.get(name, True)) for name in ("additionalProperties", "items"))
    )


def fits(schema: Schema | bool, value: object) -> bool:
    """True if a value fits a plain schema."""
    if isinstance(schema, bool):
        return schema
    if not is_kind(schema, value) or ("enum" in schema and not _is_among(schema["enum"], value)):
        return False
    if isinstance(value, list):
        return all(fits(schema.get("items", True), item) for item in value)
    if not isinstance(value, dict):
        return True
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return all(name in value for name in schema.get("required", ())) and all(
        fits(properties.get(name, others), member) for name, member in value.items()
    )


def _are_words(names: list[object]) -> bool:
    return len(names) <= MOST_WORDS and all(map(_is_word, names))


def _is_word(name: object) -> bool:
    """True for text that every validator accepts."""
    return isinstance(name, str) and name.isascii()


def _is_among(words: list[str], value: object) -> bool:
    return isinstance(value, str) and value in words
