"""The JSON Schema keywords that are checked, by the type of their value, and tolerant readers for these values."""

from __future__ import annotations

import math

NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
FLAGS = ("uniqueItems",)
SCHEMAS = (
    "items",
    "additionalProperties",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)
MAPS = ("properties", "dependentSchemas")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")

TYPES = {name: name for name in ("string", "number", "integer", "boolean", "object", "array", "null")} | {
    "str": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}
"""The seven types, and the names that tool declarations use for them by mistake."""

_LARGEST = 1e300


def as_flag(value: object) -> bool:
    """True for the value `true`, even if a YAML reader returned it as text."""
    return value is True or value == "true"


def as_number(value: object) -> int | float | None:
    """Return a finite number, even if a YAML reader returned it as text, or None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = _number(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float)) and abs(value) <= _LARGEST else None


def options(schema: dict[str, object], kinds: list[str], texts: bool) -> list[object] | None:
    """Return the values that `enum` or `const` allows, or None if there is neither. Scalars that were read as text are
    converted to the required type."""
    given = schema.get("enum")
    values = given if isinstance(given, list) and given else [schema["const"]] if "const" in schema else None
    if values is None or not texts:
        return values
    return [reading for value in values for reading in _readings(value, kinds)]


def _readings(value: object, kinds: list[str]) -> list[object]:
    """Return the values that a plain YAML scalar may mean."""
    if not isinstance(value, str):
        return [value]
    readings: list[object] = [value] if not kinds or "string" in kinds else []
    number = as_number(value)
    if number is not None and (not kinds or "number" in kinds or "integer" in kinds):
        readings.append(number)
    if value in ("true", "false") and (not kinds or "boolean" in kinds):
        readings.append(value == "true")
    if value in ("null", "~", "") and (not kinds or "null" in kinds):
        readings.append(None)
    return readings or [value]


def _number(text: str) -> int | float | None:
    if len(text) > 300:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None
