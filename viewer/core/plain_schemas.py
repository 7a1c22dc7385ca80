"""The plainest JSON Schemas: what most tools declare, and values that fit them, known without a validator.

Nothing is found wrong here: a value that does not fit, and a schema that says more, are for the validator.
"""

from __future__ import annotations

from viewer.core.schema_keywords import TYPES
from viewer.core.validators import Schema, is_kind

_SAID = frozenset({"type", "enum", "properties", "required", "additionalProperties", "items"})
_KINDS = frozenset(TYPES.values())


def is_plain(schema: object) -> bool:
    """Whether types, names and lists of words are all that a schema asks for."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or not schema.keys() <= _SAID:
        return False
    properties = schema.get("properties", {})
    return (
        _are_words(properties)
        and all(map(is_plain, properties.values()))
        and all(_are_words(schema.get(name, [])) for name in ("type", "enum", "required"))
        and _KINDS.issuperset(schema.get("type", ()))
        and all(is_plain(schema.get(name, True)) for name in ("additionalProperties", "items"))
    )


def fits(schema: Schema | bool, value: object) -> bool:
    """Whether a value fits a plain schema."""
    if isinstance(schema, bool):
        return schema
    if not is_kind(schema, value) or ("enum" in schema and not _is_among(schema["enum"], value)):
        return False
    if isinstance(value, list):
        return all(fits(schema.get("items", True), item) for item in value)
    if not isinstance(value, dict):
        return True
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return value.keys() >= set(schema.get("required", ())) and all(
        fits(properties.get(name, others), member) for name, member in value.items()
    )


def _are_words(names: object) -> bool:
    """Nothing but texts that every validator takes."""
    return isinstance(names, dict | list) and all(isinstance(name, str) and name.isascii() for name in names)


def _is_among(words: list[str], value: object) -> bool:
    return isinstance(value, str) and value in words
