"""Tools that a transcript declares, in all notations of the specifications, and the checks of call arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.syntax.json_text import check_json, read_json
from viewer.syntax.json_tree import JsonNode
from viewer.tools.embedded import first_json, json_values, yaml_values
from viewer.tools.schema_columns import SchemaColumns

if TYPE_CHECKING:  # imported lazily: most messages declare no tools
    from viewer.tools.arguments import ArgumentFault, Schematic

PREFIX = "functions."
MANY_CALLS = 256
"""From this many calls on, compiling plain schemas pays off."""


class _Declared(Struct, frozen=True):
    """A declared schema. `texts` is true for YAML, where every scalar is a string."""

    schema: object
    document: object = None
    texts: bool = False


class Declarations:
    """The tools that a transcript declares. The last declaration of a name wins."""

    def __init__(self) -> None:
        self._declared: dict[str, _Declared] = {}
        self._schematics: dict[str, Schematic] = {}
        self.columns = SchemaColumns()
        """The flat schemas of the tools for which `part` was called."""
        self._count = 0
        """The number of declarations that were read."""
        self._calls = 0
        """The number of calls whose arguments were checked without nodes."""

    def read(self, text: str) -> bool:
        """Read the body of a system or developer message. Return True if it declares tools."""
        count = self._count
        if "namespace" in text:
            from viewer.syntax.typescript import read_namespaces

            for name, schema in read_namespaces(text).items():
                self._declare(name, _Declared(schema))
        for value in json_values(text):
            self._declare_all(value)
        for value in yaml_values(text):
            self._declare_all(value, texts=True)
        return self._count > count

    def read_function_list(self, text: str) -> None:
        """Read the text after `<|function_list|>` (OpenChatML 0.1, section 8.1): JSON, possibly followed by prose."""
        listed = first_json(text)
        for value in listed or json_values(text):
            self._declare_all(value, list_of_functions=bool(listed))

    def __bool__(self) -> bool:
        return bool(self._declared)

    def knows(self, tool: str) -> bool:
        """True if a tool with this name is declared, with or without the prefix `functions.`."""
        return tool.removeprefix(PREFIX) in self._declared

    def check(self, tool: str, data: bytes, base: int) -> list[ArgumentFault]:
        """Return the faults of arguments given as JSON text at offset `base`, or none if it is not JSON."""
        if not self.knows(tool) or check_json(data, base) is not None:
            return []
        node = read_json(data, base).node
        return self.check_node(tool, node) if node else []

    def check_node(self, tool: str, node: JsonNode) -> list[ArgumentFault]:
        """Return the faults of parsed arguments."""
        return self._schematic(_plain(tool)).faults(node) if self.knows(tool) else []

    def part(self, tool: str) -> int:
        """Return the part of a declared tool in `columns`."""
        name = tool.removeprefix(PREFIX)
        known = self.columns.number(name)
        return self.columns.add(name, self._schematic(name).plain_schema) if known is None else known

    def accepts(self, tool: str, value: dict[str, object]) -> bool:
        """True if arguments with this value have no fault. May remove members from the value."""
        self._calls += 1
        name = tool.removeprefix(PREFIX)
        schematic = self._schematics.get(name)
        if schematic is None:
            if name not in self._declared:
                return True
            schematic = self._schematic(name)
        return schematic.accepts(value, is_one_of_many=self._calls > MANY_CALLS)

    def _schematic(self, name: str) -> Schematic:
        if name not in self._schematics:
            from viewer.tools.arguments import Schematic

            declared = self._declared[name]
            self._schematics[name] = Schematic(declared.schema, (declared.document,), texts=declared.texts)
        return self._schematics[name]

    def _declare_all(self, value: object, *, list_of_functions: bool = False, texts: bool = False) -> None:
        from viewer.tools.openapi import tools_in

        for tool in tools_in(value, list_of_functions=list_of_functions):
            self._declare(tool.name, _Declared(tool.schema, tool.document, texts))

    def _declare(self, name: str, declared: _Declared) -> None:
        self._count += 1
        self._declared[_plain(name)] = declared
        self._schematics.pop(_plain(name), None)
        self.columns.forget(_plain(name))


def _plain(tool: str) -> str:
    return tool.removeprefix(PREFIX)
