"""Read TypeScript-like tool declarations, `namespace functions { type f = (_: {...}) => any; }`, as JSON Schemas.

`typescript_types` reads the types. A tool with an unreadable type gets the open schema `{}`, and reading continues at
the next `type`.
"""

from __future__ import annotations

import re

from viewer.cache import lazy_regex
from viewer.syntax.typescript_types import NAME, Reader, Schema, UnreadableError

_NEXT = lazy_regex(
    rf"""
      (?P<skip> //[^\n]*+ | /\*(?>[^*]|\*(?!/))*+(?:\*/)? | "(?>[^"\\\n]|\\.)*+"? )
    | \btype\s{{1,64}}+(?P<tool>{NAME})\s{{0,64}}+=(?![=>])
    | \bnamespace\s{{1,64}}+(?P<namespace>{NAME})\s{{0,64}}+(?P<open>\{{)
    | (?P<brace>[{{}}])
    """,
    re.VERBOSE,
)
_NAMESPACE = re.compile(r"\bnamespace\s")


def read_namespaces(text: str) -> dict[str, Schema]:
    """Return the tools that the text declares: names with namespaces, and argument schemas."""
    tools: dict[str, Schema] = {}
    found = _NAMESPACE.search(text)
    position = found.start() if found else len(text)
    namespace: str | None = None
    depth = 0
    last, last_schema = "", dict[str, object]()
    """The text and the schema of the last type, if it was readable. Tools in a row often have equal types."""
    while match := _NEXT.search(text, position):
        position = match.end()
        if match["namespace"] is not None:
            namespace, depth = match["namespace"], 0
        elif namespace is None:
            position = _next_namespace(text, position)
        elif match["brace"] is not None:
            depth += 1 if match["brace"] == "{" else -1
            namespace = None if depth < 0 else namespace
        elif match["tool"] is not None:
            start = position
            if last and text.startswith(last, start):
                schema, position, depth = last_schema, start + len(last), 0
            else:
                schema, position, depth = _declaration(text, start)
                last, last_schema = text[start:position] if schema else "", schema
            tools[f"{namespace}.{match['tool']}"] = schema
    return tools


def _next_namespace(text: str, position: int) -> int:
    """Return the position of the next namespace, or the end of the text. Text outside namespaces is skipped, so quotes
    and braces in prose cannot hide a namespace."""
    found = _NAMESPACE.search(text, position)
    return found.start() if found else len(text)


def _declaration(text: str, position: int) -> tuple[Schema, int, int]:
    """Return the schema of a tool, the position where reading continues, and the number of open braces there."""
    reader = Reader(text, position)
    try:
        schema = reader.function()
    except UnreadableError:
        return {}, reader.position, reader.braces
    return schema, reader.position, 0
