"""Validate values with jsonschema-rs: no network, no files, linear-time patterns, and no exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import Validator

Schema = dict[str, Any]


def compiled(schema: Schema | bool) -> Validator | None:
    """Compile a validator. Return None if the schema is unusable. Nothing is fetched, and patterns run in linear
    time."""
    from jsonschema_rs import Draft202012Validator, RegexOptions

    options = RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
    try:
        return Draft202012Validator(schema, pattern_options=options, validate_formats=False, offline=True)
    except ValueError:
        return None


def is_usable(pattern: str) -> bool:
    """True if the engine accepts this pattern. It refuses look-around, for example."""
    return compiled({"pattern": pattern}) is not None


def is_valid(validator: Validator, value: object) -> bool:
    """True if a value fits, or if the validator cannot process it."""
    try:
        return validator.is_valid(value)
    except ValueError:
        return True


def is_kind(schema: Schema, value: object) -> bool:
    """True if a value has one of the types that the schema names, or if the schema names none."""
    kinds = schema.get("type")
    return kinds is None or any(kind in kinds for kind in _kinds(value))


def _kinds(value: object) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return ("integer", "number")
    return (_KINDS[type(value)],)


_KINDS = {float: "number", str: "string", list: "array", dict: "object"}
