"""Combine TypeScript-like types into JSON Schemas: unions, intersections, and the parameters of a function."""

from __future__ import annotations

from msgspec import Struct

Schema = dict[str, object]

_SINGLE = frozenset({"string", "number", "integer", "boolean", "array"})


class Type(Struct, frozen=True):
    """A type: its schema, and properties that a schema does not express."""

    schema: Schema
    known: bool = True
    """False if the type cannot be determined, for example because it is declared elsewhere."""
    absent: bool = False
    """True if `undefined` is one of the alternatives."""
    listed: Schema | None = None
    """The schema of the items, if the type was written as `T[]` without parentheses."""


class Parameter(Struct, frozen=True):
    """A parameter of a function."""

    name: str
    optional: bool
    type: Type


def arguments(parameters: list[Parameter]) -> Schema:
    """Return the schema of the arguments: an object with the parameters as properties, or the schema of the only
    parameter, unless that is a named scalar, enum, or array."""
    if len(parameters) == 1:
        only = parameters[0]
        single = "enum" in only.type.schema or only.type.schema.get("type") in _SINGLE
        if not single or not only.name.isidentifier() or only.name == "_":
            return only.type.schema
    schema: Schema = {
        "type": "object",
        "properties": {parameter.name: parameter.type.schema for parameter in parameters},
        "additionalProperties": False,
    }
    required = [each.name for each in parameters if not each.optional and not each.type.absent and each.type.known]
    return {**schema, "required": required} if required else schema


def union(alternatives: list[Type]) -> Type:
    """Return the union of types. Literals are combined in one `enum`."""
    if len(alternatives) == 1:
        return alternatives[0]
    absent = any(each.absent for each in alternatives)
    present = [each for each in alternatives if not each.absent]
    if not all(each.known for each in present):
        return Type({}, known=False, absent=absent)
    schemas = [each.schema for each in present]
    if present and present[-1].listed is not None:
        schemas[-1] = {"type": "array", "items": _any_of([*schemas[:-1], present[-1].listed])}
    return Type(_any_of(schemas), absent=absent)


def _any_of(schemas: list[Schema]) -> Schema:
    values: list[object] = []
    others: list[Schema] = []
    for schema in schemas:
        if not schema:
            return {}
        literal = schema.get("enum")
        if isinstance(literal, list):
            values += literal
        else:
            others.append(schema)
    if values and {"type": "null"} in others:
        others = [schema for schema in others if schema != {"type": "null"}]
        values.append(None)
    everything: list[Schema] = [{"enum": values}, *others] if values else others
    if not everything:
        return {"type": "null"}
    return everything[0] if len(everything) == 1 else {"anyOf": everything}


def together(parts: list[Type]) -> Type:
    """Return the intersection of types: closed objects are merged, and with anything else the result is unknown."""
    properties: dict[str, object] = {}
    required: list[str] = []
    for part in parts:
        own, names = part.schema.get("properties"), part.schema.get("required", [])
        if not isinstance(own, dict) or part.schema.get("additionalProperties") is not False:
            return Type({}, known=False)
        properties |= own
        required += names if isinstance(names, list) else []
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Type({**schema, "required": list(dict.fromkeys(required))} if required else schema)
