"""Fast path for the simple JSON Schemas that most tools declare, because the validator loads slowly and converts
each value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from viewer.tools.schema_keywords import TYPES
from viewer.tools.validate import Schema, compiled, is_valid

Judge = Callable[[object], bool]
"""A function that returns True if a value fits a schema."""

MOST_WORDS = 64
"""The maximum length of a list. Longer lists are left to the validator, which does not search them linearly."""

_SAID = frozenset({"type", "enum", "properties", "required", "additionalProperties", "items"})
_KINDS = frozenset(TYPES.values())
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
"""The Python types of values, by JSON Schema type. A float without a fraction is also an integer."""


def judge_of(schema: Schema | bool) -> Judge | None:
    """Return a function that checks values against an expanded schema, or None if the schema is unusable."""
    if is_plain(schema):
        return plain_judge(schema) or _accept
    validator = compiled(schema)
    return partial(is_valid, validator) if validator is not None else None


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


def plain_judge(schema: Schema | bool) -> Judge | None:
    """Return a function that checks values against a plain schema, or None if every value fits."""
    if isinstance(schema, bool):
        return None if schema else _refuse
    kinds, words = schema.get("type"), schema.get("enum")
    members = {name: plain_judge(part) for name, part in schema.get("properties", {}).items()}
    others, items = (plain_judge(schema.get(name, True)) for name in ("additionalProperties", "items"))
    required = tuple(schema.get("required", ()))
    if words is not None:
        is_string = kinds is None or "string" in kinds
        return partial(_is_among, frozenset(words)) if is_string else _refuse
    is_checked = required or others or items or any(members.values())
    if kinds is None and not is_checked:
        return None
    types = frozenset(one for kind in (_PYTHON_TYPES if kinds is None else kinds) for one in _PYTHON_TYPES[kind])
    accepts_whole = kinds is not None and "integer" in kinds and float not in types

    def judge(value: object) -> bool:
        kind = type(value)
        if kind not in types:
            return accepts_whole and isinstance(value, float) and value.is_integer()
        if isinstance(value, dict):
            for name in required:
                if name not in value:
                    return False
            for name, member in value.items():
                part = members.get(name, others)
                if part is not None and not part(member):
                    return False
        elif items is not None and isinstance(value, list):
            return all(map(items, value))
        return True

    return judge


def _accept(_: object) -> bool:
    return True


def _refuse(_: object) -> bool:
    return False


def _are_words(names: list[object]) -> bool:
    return len(names) <= MOST_WORDS and all(map(_is_word, names))


def _is_word(name: object) -> bool:
    """True for an ASCII string. A plain schema contains no other words."""
    return isinstance(name, str) and name.isascii()


def _is_among(words: frozenset[str], value: object) -> bool:
    return isinstance(value, str) and value in words
