"""Check arguments against a flat schema while they are decoded: msgspec types, built from arguments that fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any, Literal

import msgspec

from viewer.tools.validate import Schema

LEAST_SEEN = 8
"""A type is built after this many arguments that fit, because building one takes as long as checking about as many."""
MOST_TYPES = 4
"""The maximum number of types with the same number of members."""
MOST_TOGETHER = 16
"""The maximum number of types of one schema."""
MOST_MEMBERS = 64
"""The maximum number of members of a type. Building a larger one takes long, and few arguments have as many."""
_DEEPEST = 4
SCALARS: dict[str, Any] = {"string": str, "number": float, "integer": int, "boolean": bool, "null": None}
_ALL_KINDS = (*SCALARS, "array", "object")

_PLAIN_KEY = re.compile(r"[ !#-\[\]-~]*")
"""A key that needs no escape. Types can have no other keys."""

Decode = Callable[[bytes], object]


class ArgumentTypes:
    """Types for one flat schema, each for objects with exactly the same members. It recognizes most arguments that fit
    the schema, and no others."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._decoders: dict[int, list[Decode]] = {}
        """The decoders of the types by their number of members, including those of nested objects."""
        self._seen: dict[int, int] = {}
        """By number of members, how many arguments fit the schema but no type, since the last type was built."""
        self._left = MOST_TOGETHER

    def recognizes(self, data: bytes, members: int) -> bool:
        """True if this is JSON text whose value fits the schema and has no repeated keys. `members` is the number of
        members in the text, or more if that is uncertain. The text must have no `\\u` escape."""
        for decode in self._decoders.get(members, ()):
            try:
                decode(data)
            except (msgspec.MsgspecError, ValueError):
                continue
            return True
        return False

    def learn(self, value: dict[str, object], members: int) -> None:
        """Note arguments that fit the schema but were not recognized, so that more arguments with the same members will
        be."""
        if not self._left or members > MOST_MEMBERS or len(self._decoders.get(members, ())) >= MOST_TYPES:
            return
        seen = self._seen[members] = self._seen.get(members, 0) + 1
        if seen < LEAST_SEEN:
            return
        self._seen[members] = 0
        self._left -= 1
        typed = _Typed()
        type_of_value = typed.object_type(self._schema, value, 0)
        if type_of_value is not None and typed.members == members:
            self._decoders.setdefault(members, []).append(msgspec.json.Decoder(type_of_value).decode)


class _Typed:
    """Builds the type of one value, and counts its members."""

    def __init__(self) -> None:
        self.members = 0

    def object_type(self, schema: Schema | bool, value: dict[str, object], depth: int) -> Any:
        """Return a type of objects with the same members as this one, or None if there is no such type."""
        if depth > _DEEPEST or not isinstance(schema, dict) or "enum" in schema:
            return None
        if "object" not in schema.get("type", _ALL_KINDS):
            return None
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        fields = [(f"member_{place}", key) for place, key in enumerate(value)]
        if not all(_PLAIN_KEY.fullmatch(key) for _, key in fields):
            return None
        self.members += len(fields)
        types = []
        for _, key in fields:
            one = self._value_type(properties.get(key, others), value[key], depth + 1)
            if one is _NO_TYPE:
                return None
            types.append(one)
        if not value.keys() >= set(schema.get("required", ())):
            return None
        return msgspec.defstruct(
            "Arguments",
            [(name, one) for (name, _), one in zip(fields, types, strict=True)],
            rename=dict(fields),
            forbid_unknown_fields=True,
        )

    def _value_type(self, schema: Schema | bool, value: object, depth: int) -> Any:
        """Return a type of values that fit the schema and have as many members as this one, or `_NO_TYPE`."""
        if schema is False:
            return _NO_TYPE
        part = {} if schema is True else schema
        if isinstance(value, dict):
            nested = self.object_type(part, value, depth)
            return _NO_TYPE if nested is None else nested
        if isinstance(value, list):
            return self._list_type(part)
        return _scalar_type(part)

    def _list_type(self, schema: Schema) -> Any:
        if "enum" in schema or "array" not in schema.get("type", _ALL_KINDS):
            return _NO_TYPE
        items = schema.get("items", True)
        item = _NO_TYPE if items is False else _scalar_type({} if items is True else items)
        return _NO_TYPE if item is _NO_TYPE else list[item]  # type: ignore[valid-type]


class _NoType:
    """The type of `_NO_TYPE`."""


_NO_TYPE = _NoType()
"""The result if no type accepts only what fits the schema. None is the type of null."""


def _scalar_type(schema: Schema) -> Any:
    """Return a type of the scalars that fit the schema, or `_NO_TYPE`."""
    kinds, words = schema.get("type", _ALL_KINDS), schema.get("enum")
    if words is not None:
        return Literal[tuple(words)] if words and "string" in kinds else _NO_TYPE
    types = [SCALARS[kind] for kind in dict.fromkeys(kinds) if kind in SCALARS]
    return reduce(or_, types) if types else _NO_TYPE
