"""The tools that a transcript declares, in all the ways the specifications show, and the check of arguments."""

from __future__ import annotations

from viewer.syntax.json_text import check_json, read_json
from viewer.syntax.json_tree import JsonNode
from viewer.syntax.typescript import read_namespaces
from viewer.tools.arguments import ArgumentFault, Schematic
from viewer.tools.embedded import first_json, json_values, yaml_values
from viewer.tools.openapi import tools_in
from viewer.values import frozen

__all__ = ["ArgumentFault", "Declarations"]

PREFIX = "functions."


@frozen
class _Declared:
    """A schema as it was declared; `texts` says that it came from YAML, which gives every scalar as a string."""

    schema: object
    document: object = None
    texts: bool = False


class Declarations:
    """The tools that a transcript declares; of two declarations of one name the later holds."""

    def __init__(self) -> None:
        self._declared: dict[str, _Declared] = {}
        self._schematics: dict[str, Schematic] = {}

    def read(self, text: str) -> None:
        """The body of a system or developer message."""
        for name, schema in read_namespaces(text).items():
            self._declare(name, _Declared(schema))
        for value in json_values(text):
            for tool in tools_in(value):
                self._declare(tool.name, _Declared(tool.schema, tool.document))
        for value in yaml_values(text):
            for tool in tools_in(value):
                self._declare(tool.name, _Declared(tool.schema, tool.document, texts=True))

    def read_function_list(self, text: str) -> None:
        """What follows `<|function_list|>` (OpenChatML 0.1, section 8.1): JSON, and perhaps prose after it."""
        listed = first_json(text)
        for value in listed or json_values(text):
            for tool in tools_in(value, list_of_functions=bool(listed)):
                self._declare(tool.name, _Declared(tool.schema, tool.document))

    def __bool__(self) -> bool:
        return bool(self._declared)

    def knows(self, tool: str) -> bool:
        """Whether a tool of that name is declared; the prefix `functions.` makes no difference."""
        return _plain(tool) in self._declared

    def check(self, tool: str, data: bytes, base: int) -> list[ArgumentFault]:
        """What is wrong with the JSON text of the arguments, which stands at `base`; nothing where it is not JSON."""
        if not self.knows(tool) or check_json(data, base) is not None:
            return []
        node = read_json(data, base).node
        return self.check_node(tool, node) if node else []

    def check_node(self, tool: str, node: JsonNode) -> list[ArgumentFault]:
        """What is wrong with arguments that have been read."""
        name = _plain(tool)
        if name not in self._declared:
            return []
        if name not in self._schematics:
            declared = self._declared[name]
            self._schematics[name] = Schematic(declared.schema, (declared.document,), texts=declared.texts)
        return self._schematics[name].faults(node)

    def _declare(self, name: str, declared: _Declared) -> None:
        self._declared[_plain(name)] = declared
        self._schematics.pop(_plain(name), None)


def _plain(tool: str) -> str:
    return tool.removeprefix(PREFIX)
