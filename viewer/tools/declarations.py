"""Tools that a transcript declares, in all notations of the specifications, and the checks of call arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.syntax.json_text import check_json, read_json
from viewer.syntax.json_tree import JsonNode
from viewer.tools.embedded import first_json, json_values, yaml_values
from viewer.tools.schema_columns import SchemaColumns

if TYPE_CHECKING:  # imported lazily: most messages declare no tools
    from viewer.tools.argument_types import ArgumentTypes
    from viewer.tools.arguments import ArgumentFault, Schematic

PREFIX = "functions."
MOST_KNOWN = 16
"""The maximum number of strings with declarations that are kept for later transcripts."""
MOST_SCHEMATICS = 256
"""The maximum number of schemas that are kept."""
LONGEST_KNOWN = 64 * 1024
"""The maximum length, in characters, of a schema, or of a string whose declarations are kept."""
_REFERENCE = "$"
"""A character that a schema contains if its meaning depends on the document around it."""


class _Declared(Struct):
    """A declared schema. `texts` is true for YAML, where every scalar is a string."""

    schema: object
    document: object = None
    texts: bool = False
    schematic: Schematic | None = None
    """The schema, ready to check arguments; set on first use."""


class KnownTexts(dict[str, list[tuple[str, _Declared]]]):
    """The declarations in recently read messages, by text. In training data, many transcripts repeat the same
    declarations or declare subsets of the same tools."""

    def __init__(self) -> None:
        self._schematics: dict[str, Schematic] = {}
        """The most recently added schemas, by their Python repr, which differs whenever the values differ."""
        self._last: tuple[object, Schematic | None] = (None, None)
        """The last schema that was requested, and its result, because tools in a row often share a schema."""

    def read(self, text: str) -> list[tuple[str, _Declared]]:
        """Return the tools that the text declares, in order."""
        known = self.get(text)
        if known is None:
            known = [*_declared_in(text)]
            if len(text) <= LONGEST_KNOWN:
                self[text] = known
                if len(self) > MOST_KNOWN:
                    del self[next(iter(self))]
        return known

    def schematic(self, declared: _Declared) -> Schematic:
        """Return the schema of a declaration, ready to check arguments."""
        from viewer.tools.arguments import Schematic

        last, schematic = self._last
        if schematic is not None and declared.schema is last and not declared.texts:
            return schematic
        source = "" if declared.texts else repr(declared.schema)
        known = self._schematics.get(source)
        if known is None:
            known = Schematic(declared.schema, (declared.document,), texts=declared.texts)
            if source and len(source) <= LONGEST_KNOWN and _REFERENCE not in source:
                self._schematics[source] = known
                if len(self._schematics) > MOST_SCHEMATICS:
                    del self._schematics[next(iter(self._schematics))]
        if self._schematics.get(source) is known:
            self._last = declared.schema, known
        return known


_SEARCH = "tool_search_tool"
"""The beginning of the names of tools that search for tools."""


class Declarations:
    """The tools that a transcript declares. The last declaration of a name wins."""

    def __init__(self, known: KnownTexts | None = None) -> None:
        """`known` contains the declarations of earlier transcripts."""
        self._known = KnownTexts() if known is None else known
        self._declared: dict[str, _Declared] = {}
        self.columns = SchemaColumns()
        """The flat schemas of the tools for which `part` was called."""
        self.version = 0
        """The number of declarations so far."""
        self.may_find_more = False
        """True if a declared tool searches for tools, which need no declaration."""

    def read(self, text: str) -> bool:
        """Read the body of a system or developer message. Return True if it declares tools."""
        found = self._known.read(text)
        for name, declared in found:
            self._declare(name, declared)
        return bool(found)

    def read_function_list(self, text: str) -> None:
        """Read the text after `<|function_list|>` (OpenChatML 0.1, section 8.1): JSON, possibly followed by prose."""
        listed = first_json(text)
        for value in listed or json_values(text):
            for name, declared in _declared_by(value, list_of_functions=bool(listed)):
                self._declare(name, declared)

    def __bool__(self) -> bool:
        return bool(self._declared)

    def knows(self, tool: str) -> bool:
        """True if a tool with this name is declared, with or without the prefix `functions.`."""
        return tool.removeprefix(PREFIX) in self._declared

    def check(self, tool: str, data: bytes, base: int) -> list[ArgumentFault]:
        """Return the faults in arguments given as JSON text at offset `base`, or none if the text is not JSON or the
        tool is not declared."""
        return self.check_valid(tool, data, base) if self.knows(tool) and check_json(data, base) is None else []

    def check_valid(self, tool: str, data: bytes, base: int) -> list[ArgumentFault]:
        """Like `check`, for text that is known to be valid JSON. Use `check_object` if there is much of it."""
        node = read_json(data, base).node
        return self.check_node(tool, node) if node else []

    def check_object(self, tool: str, data: bytes) -> list[ArgumentFault]:
        """Like `check_valid` at offset 0, but faster, and only for text that begins with an object."""
        from viewer.syntax.json_lines import read_regular  # not needed for small files

        node = read_regular(data, 0)
        if node is None or not self.knows(tool):
            return self.check_valid(tool, data, 0)
        return self._schematic(_plain(tool)).faults(node, node.value)

    def check_node(self, tool: str, node: JsonNode) -> list[ArgumentFault]:
        """Return the faults of parsed arguments, or none if the tool is not declared."""
        return self._schematic(_plain(tool)).faults(node) if self.knows(tool) else []

    def part(self, tool: str) -> int:
        """Return the number of the part in `columns` for the arguments of a declared tool."""
        name = tool.removeprefix(PREFIX)
        known = self.columns.number(name)
        return self.columns.add(name, self._schematic(name).plain_schema) if known is None else known

    def types(self, tool: str) -> ArgumentTypes | None:
        """Return types that recognize arguments of a declared tool without a fault, or None if there are none."""
        return self._schematic(tool.removeprefix(PREFIX)).types

    def accepts(self, tool: str, value: dict[str, object]) -> bool:
        """True if the tool is not declared, or if arguments with this value have no fault. This may remove members from
        the value."""
        name = tool.removeprefix(PREFIX)
        declared = self._declared.get(name)
        if declared is None:
            return True
        schematic = declared.schematic or self._schematic(name)
        return schematic.accepts(value)

    def _schematic(self, name: str) -> Schematic:
        declared = self._declared[name]
        if declared.schematic is None:
            declared.schematic = self._known.schematic(declared)
        return declared.schematic

    def _declare(self, name: str, declared: _Declared) -> None:
        self.version += 1
        self.may_find_more |= _plain(name).startswith(_SEARCH)
        self._declared[_plain(name)] = declared
        self.columns.forget(_plain(name))


def _declared_in(text: str) -> Iterator[tuple[str, _Declared]]:
    """Yield the tools that the text declares."""
    if "namespace" in text:
        from viewer.syntax.typescript import read_namespaces

        for name, schema in read_namespaces(text).items():
            yield name, _Declared(schema)
    for value in json_values(text):
        yield from _declared_by(value)
    for value in yaml_values(text):
        yield from _declared_by(value, texts=True)


def _declared_by(
    value: object, *, list_of_functions: bool = False, texts: bool = False
) -> Iterator[tuple[str, _Declared]]:
    from viewer.tools.openapi import tools_in

    for tool in tools_in(value, list_of_functions=list_of_functions):
        yield tool.name, _Declared(tool.schema, tool.document, texts)


def _plain(tool: str) -> str:
    return tool.removeprefix(PREFIX)
