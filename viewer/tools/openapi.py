"""Find tools in JSON or YAML documents: OpenAPI paths, chat-completions functions, and names with parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from viewer.tools.schema import pointed_at
from viewer.tools.schema_keywords import TYPES, as_flag

Mapping = dict[str, object]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
DEEPEST = 8
MOST_REFERENCES = 32

_PARAMETERS = ("parameters", "input_schema", "inputSchema")
_LISTS = ("tools", "functions")
_HOSTED = re.compile(r"\w_20\d{6}\Z")
"""The type of a tool that the server provides ends with a date, as in `web_search_20250305`. It needs no parameters."""
_SCHEMA_KEYS = ("$ref", "anyOf", "oneOf", "allOf", "properties")


class Tool(Struct, frozen=True):
    """A tool: its name, its argument schema, and the document to which its references refer."""

    name: str
    schema: object
    document: object


def tools_in(document: object, *, list_of_functions: bool = False) -> Iterator[Tool]:
    """Yield the tools in a document. An entry in a list of functions needs only a name."""
    waiting: list[tuple[object, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            continue
        if isinstance(value, list):
            waiting += [(item, depth + 1) for item in reversed(value)]
        elif isinstance(value, dict):
            tool = _function(value, document, list_of_functions)
            if tool:
                yield tool
                continue
            yield from _operations(value, document)
            waiting += [(value[key], depth + 1) for key in _LISTS if isinstance(value.get(key), (list, dict))]


def _function(value: Mapping, document: object, named: bool) -> Tool | None:
    """Return the tool that an object, or its member `function`, describes, or None if it describes none. A tool needs a
    name and, unless `named` is true, also parameters, the type `function`, or the type of a tool of the server."""
    inner = value.get("function")
    wrapped = isinstance(inner, dict) and value.get("type", "function") == "function"
    function = inner if wrapped and isinstance(inner, dict) else value
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    for key in _PARAMETERS:
        if _is_schema(function.get(key)):
            return Tool(name.strip(), function[key], document)
    without = not any(key in function for key in _PARAMETERS)
    kind = value.get("type")
    is_hosted = isinstance(kind, str) and _HOSTED.search(kind) is not None
    if named or (without and (wrapped or kind == "function" or is_hosted)):
        return Tool(name.strip(), {}, document)
    return None


def _is_schema(value: object) -> bool:
    """True if parameters are a schema rather than the arguments of an example call."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return (
        not value
        or any(isinstance(each, str) and each in TYPES for each in kinds)
        or isinstance(value.get("required"), list)
        or any(isinstance(value.get(key), (dict, list, str)) for key in _SCHEMA_KEYS)
    )


def _operations(document: Mapping, whole: object) -> Iterator[Tool]:
    """Yield the operations in OpenAPI `paths`. If several have the same name, the tool accepts what any of them
    accepts."""
    paths = document.get("paths")
    found: dict[str, list[object]] = {}
    for path, item in paths.items() if isinstance(paths, dict) else ():
        if not isinstance(item, dict):
            continue
        for method in METHODS:
            operation = item.get(method)
            if isinstance(operation, dict):
                name = _operation_name(operation, str(path))
                found.setdefault(name, []).append(_arguments(operation, item.get("parameters"), document))
    for name, schemas in found.items():
        if name:
            yield Tool(name, schemas[0] if len(schemas) == 1 else {"anyOf": schemas}, document)


def _operation_name(operation: Mapping, path: str) -> str:
    """Return the ID of an operation or, if it has none, the last segment of its path that is not a parameter. Return an
    empty string if there is no such segment."""
    given = operation.get("operationId")
    if isinstance(given, str) and given.strip():
        return given.strip()
    segments = [part for part in path.split("/") if part and not part.startswith("{")]
    return segments[-1] if segments else ""


def _arguments(operation: Mapping, shared: object, document: object) -> object:
    """Return one schema for the body and the parameters of an operation."""
    body = _body(operation, document)
    properties: Mapping = {}
    required: list[object] = []
    given = operation.get("parameters")
    for raw in [*(shared if isinstance(shared, list) else []), *(given if isinstance(given, list) else [])]:
        parameter = _followed(raw, document)
        name = parameter.get("name")
        if parameter.get("in") == "body":
            body = parameter.get("schema")
        elif isinstance(name, str) and parameter.get("in", "query") in ("query", "path", "formData"):
            properties[name] = _parameter_schema(parameter)
            if as_flag(parameter.get("required")) or parameter.get("in") == "path":
                required.append(name)
    return _merged(body, properties, required, document)


def _body(operation: Mapping, document: object) -> object:
    """Return the schema of the request body as JSON or, if it cannot be JSON, as another media type. Return None if
    there is no schema."""
    content = _followed(operation.get("requestBody"), document).get("content")
    if not isinstance(content, dict):
        return None
    kinds = sorted(content, key=lambda kind: "json" not in str(kind))
    media = content[kinds[0]] if kinds else None
    return media.get("schema") if isinstance(media, dict) else None


def _parameter_schema(parameter: Mapping) -> object:
    """Return the schema of a parameter. In older documents, the type is in the parameter itself."""
    if isinstance(parameter.get("schema"), dict):
        return parameter["schema"]
    content = parameter.get("content")
    for media in content.values() if isinstance(content, dict) else ():
        if isinstance(media, dict):
            return media.get("schema", {})
    return {key: value for key, value in parameter.items() if key not in ("name", "in", "required")}


def _merged(body: object, properties: Mapping, required: list[object], document: object) -> object:
    plain = _followed(body, document)
    if not properties:
        return {"type": "object", **plain} if plain else {"type": "object"}
    own = plain.get("properties", {})
    names = plain.get("required", [])
    if not isinstance(own, dict) or not isinstance(names, list) or any(key in plain for key in _SCHEMA_KEYS[1:4]):
        return {"allOf": [body, {"type": "object", "properties": properties, "required": required}]}
    return {"type": "object", **plain, "properties": {**own, **properties}, "required": [*names, *required]}


def _followed(value: object, document: object) -> Mapping:
    """Return the mapping at the end of a chain of references, or an empty mapping if there is none."""
    for _ in range(MOST_REFERENCES):
        if not isinstance(value, dict):
            return {}
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return value
        value = pointed_at(document, reference) if reference.startswith("#") else None
    return {}
