"""Columns of flat schemas, for the native accelerator: the parts of all schemas, and the names in them."""

from __future__ import annotations

import struct
from array import array

from viewer.columns.api import Column
from viewer.tools.validate import Schema

ANYTHING, NOTHING, UNKNOWN = -1, -2, -3
"""Numbers in place of a part: any value is accepted, none is accepted, or the value needs the full check."""
MOST_PARTS = 4096
"""The maximum number of parts across all schemas. Calls with schemas that no longer fit need the full check."""
MOST_NAMES = 64
"""The maximum number of members or words of a part."""
MOST_ALL_NAMES = 16384
"""The approximate maximum number of names across all schemas."""
_KINDS = {"object": 1, "array": 2, "string": 4, "number": 8, "integer": 16, "boolean": 32, "null": 64}
_ANY_KIND = sum(_KINDS.values())


class _TooComplexError(Exception):
    """A schema has too many names or parts, or forbids a member that it lists."""


class SchemaColumns:
    """Flat schemas as columns. A value needs the full check if it contains a number that is written with a decimal
    point and is beyond the range of integers."""

    def __init__(self) -> None:
        self.parts, self.names, self.text = bytearray(), bytearray(), bytearray()
        self._numbers: dict[str, int] = {}
        self._added: dict[int, tuple[Schema, int]] = {}
        """The schemas that have a part, with its number, by identity. Tools with equal declarations share a schema."""

    def number(self, tool: str) -> int | None:
        """Return the number of the part for a tool, or None for a tool that was not added."""
        return self._numbers.get(tool)

    def add(self, tool: str, schema: Schema | bool | None) -> int:
        """Add a tool with its plain schema, or with None if it has no such schema. Return the number of the part for
        the tool."""
        known = self._added.get(id(schema))
        if known is not None:
            self._numbers[tool] = known[1]
            return known[1]
        draft = _Draft(len(self.parts) // 32, len(self.names) // 16, len(self.text))
        part = UNKNOWN
        if schema is not None:
            try:
                part = draft.add(schema)
            except _TooComplexError:
                draft = _Draft(0, 0, 0)
        for part_bytes in draft.parts:
            self.parts += part_bytes
        self.names += draft.names.tobytes()
        self.text += draft.text
        self._numbers[tool] = part
        if isinstance(schema, dict) and part >= 0:
            self._added[id(schema)] = schema, part
        return part

    def forget(self, tool: str) -> None:
        """Drop the schema of a tool that has been declared again."""
        self._numbers.pop(tool, None)


class _Draft:
    """The columns of one schema, which follow the columns of all others."""

    def __init__(self, part: int, name: int, text: int) -> None:
        self._first_part, self._first_name, self._first_text = part, name, text
        self.parts: list[bytes] = []
        self.names: Column = array("i")
        self.text = bytearray()

    def add(self, schema: Schema | bool) -> int:
        """Add a schema and return the number of its part."""
        if isinstance(schema, bool) or not schema:
            return NOTHING if schema is False else ANYTHING
        number = self._first_part + len(self.parts)
        self.parts.append(b"")
        if number >= MOST_PARTS:
            raise _TooComplexError
        others, items = (self.add(schema.get(name, True)) for name in ("additionalProperties", "items"))
        properties, required = schema.get("properties", {}), dict.fromkeys(schema.get("required", ()))
        places = {name: place for place, name in enumerate(required)}
        if False in properties.values():
            raise _TooComplexError
        members = [(name, self.add(part), places.get(name, -1)) for name, part in properties.items()]
        members += [(name, others, place) for name, place in places.items() if name not in properties]
        first, last = self._add_names(members)
        words = schema.get("enum")
        first_word, last_word = self._add_names([(word, 0, -1) for word in words]) if words is not None else (-1, -1)
        kinds = sum(_KINDS[kind] for kind in schema["type"]) if "type" in schema else _ANY_KIND
        self.parts[number - self._first_part] = struct.pack(
            "=8i", kinds, first, last, others, items, first_word, last_word, len(required)
        )
        return number

    def _add_names(self, names: list[tuple[str, int, int]]) -> tuple[int, int]:
        if len(names) > MOST_NAMES or self._first_name + len(self.names) // 4 > MOST_ALL_NAMES:
            raise _TooComplexError
        first = self._first_name + len(self.names) // 4
        for name, part, place in names:
            text = name.encode("ascii")
            self.names.extend((self._first_text + len(self.text), len(text), part, place))
            self.text += text
        return first, first + len(names)
