"""Positions of invalid arguments, found by walking the tool's schema.

A validator checks the values. The walk only finds positions, so checking a large value with many faults takes no longer
than reading it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from viewer.syntax.json_tree import JsonKind, JsonNode, number_value
from viewer.tools.plain_schemas import Judge, is_plain, judge_of, plain_judge
from viewer.tools.schema import Written, write_out
from viewer.tools.validate import Schema, is_kind, is_usable

if TYPE_CHECKING:
    from viewer.tools.argument_types import ArgumentTypes

ALWAYS_ALLOWED = "deadline_ms"
MOST_FAULTS = 1_000
MOST_STEPS = 200_000
MOST_WORK = 20_000_000
"""The maximum product of schema size and number of values. Beyond it, arguments are not checked."""

LARGEST_ARGUMENTS = 64 * 1024
"""The maximum size in bytes of arguments that the native accelerator checks, which also limits the number of their
values."""

_CHOICE = ("enum",)
_WALKED = frozenset(
    {
        "type",
        "enum",
        "required",
        "dependentRequired",
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "items",
        "prefixItems",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "then",
        "else",
    }
)
"""Keywords whose faults are located in parts of a value. All others apply to the value as a whole."""


class ArgumentFault(Struct, frozen=True, gc=False):
    """A fault in the arguments of a call. The span is empty if something is missing."""

    reason: str
    start: int
    end: int
    name: str = ""
    """The missing argument; empty for other faults."""


class Schematic:
    """The schema of one tool, ready to check arguments."""

    def __init__(self, raw: object, roots: tuple[object, ...] = (), *, texts: bool = False) -> None:
        self._written = write_out(raw, roots, texts=texts)
        self._whole = judge_of(self._written.schema)
        if self._whole is None:
            self._written = write_out(raw, roots, texts=texts, usable=is_usable)
            self._whole = judge_of(self._written.schema)
        if self._whole is None:
            self._written = Written({}, 1)
        self._is_plain = is_plain(self._written.schema)
        self._types: ArgumentTypes | Literal[False] | None = None
        """False if the schema is not flat; None if they have not been requested yet."""
        self._may_drop: bool | None = None
        """True if the schema does not mention the argument that is always allowed; None if this has not been checked
        yet."""
        self._judges: dict[tuple[int, tuple[str, ...]], Judge | None] = {}
        self._patterns: dict[str, Schema] = {}
        """Each pattern as a separate schema, cached so that it is compiled only once."""
        self._missing: set[tuple[int, str]] = set()
        """The missing arguments that have been reported. Several can share a position."""
        self._steps = 0
        self._skips_fitting = False
        """True if the walk may skip the values that fit their part of the schema."""
        self._part_judges: dict[int, Judge | None] = {}
        """The judge of each part of a flat schema, by identity; None for a part that accepts everything."""
        self._member_judges: dict[int, tuple[dict[str, Judge | None], Judge | None]] = {}
        """Likewise, the judges of the members of each part by name, and the judge of all other members."""

    def faults(self, node: JsonNode, decoded: dict[str, object] | None = None) -> list[ArgumentFault]:
        """Return the faults in the arguments, sorted by position. Return none if the check would take too much work.

        `decoded` is the value of the node if it is known, with numbers as text."""
        schema = self._written.schema
        value, size = python_value(node) if decoded is None else decoded_value(decoded)
        if self._whole is None or not schema or self._written.weight * size > MOST_WORK:
            return []
        if not isinstance(value, dict):
            return self._no_object(node, value)
        self._drop_allowed(value)
        if self._whole(value):
            return []
        self._steps = MOST_STEPS
        self._skips_fitting = self._is_plain and size < MOST_STEPS
        self._missing.clear()
        found: list[ArgumentFault] = []
        seen: set[ArgumentFault] = set()
        for fault in self._walk(schema, node, value):
            if fault.start == fault.end or fault not in seen:
                found.append(fault)
                seen.add(fault)
            if len(found) >= MOST_FAULTS:
                break
        found = found or [ArgumentFault("wrong-type", node.start, node.end)]
        return sorted(found, key=lambda fault: (fault.start, fault.end))

    def accepts(self, value: dict[str, object]) -> bool:
        """True if arguments with this value have no fault. No nodes are built, but members may be removed from the
        value."""
        if self._whole is None or not self._written.schema:
            return True
        if self._may_drop is not False:
            self._drop_allowed(value)
        return self._whole(value)

    @property
    def plain_schema(self) -> Schema | bool | None:
        """The schema if it is small and uses only types, properties, items, and enums of strings; True if it allows
        everything; None for any other schema."""
        if self._whole is None or not self._written.schema:
            return True
        is_small = self._written.weight * LARGEST_ARGUMENTS <= MOST_WORK
        return self._written.schema if is_small and self._is_plain else None

    @property
    def types(self) -> ArgumentTypes | None:
        """Types that recognize arguments without a fault, or None for a schema that is not flat."""
        if self._types is None:
            from viewer.tools.argument_types import ArgumentTypes  # without the accelerator only

            schema = self.plain_schema
            self._types = ArgumentTypes(schema) if isinstance(schema, dict) else False
        return self._types or None

    def _drop_allowed(self, value: dict[str, object]) -> None:
        if self._may_drop is None:
            schema = self._written.schema
            self._may_drop = isinstance(schema, dict) and not _mentions(schema, ALWAYS_ALLOWED)
        if self._may_drop:
            value.pop(ALWAYS_ALLOWED, None)

    def _no_object(self, node: JsonNode, value: object) -> list[ArgumentFault]:
        """Return the fault of arguments that are not an object, unless the schema explicitly allows them."""
        schema = self._written.schema
        kinds = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kinds, list) and "object" not in kinds:
            refused = self._whole is not None and not self._whole(value)
            return [ArgumentFault("wrong-type", node.start, node.end)] if refused else []
        expected = isinstance(schema, dict) and ("properties" in schema or "required" in schema)
        if expected or (self._whole is not None and not self._whole(value)):
            return [ArgumentFault("not-an-object", node.start, node.end)]
        return []

    def _walk(self, schema: Schema | bool, node: JsonNode, value: object) -> Iterator[ArgumentFault]:
        """Yield the faults in a value under a schema."""
        self._steps -= 1
        if self._steps < 0 or schema is True:
            return
        here = ArgumentFault("wrong-type", node.start, node.end)
        if schema is False or not is_kind(schema, value):
            yield here
            return
        if "enum" in schema and not self._fits(schema, _CHOICE, value):
            yield ArgumentFault("not-in-enum", node.start, node.end)
            return
        if not schema.keys() <= _WALKED:
            others = tuple(name for name in schema if name not in _WALKED)
            if not self._fits(schema, others, value):
                yield here
        if isinstance(value, dict):
            yield from self._members(schema, node, value)
        elif isinstance(value, list):
            yield from self._items(schema, node, value)
        yield from self._alternatives(schema, node, value)

    def _members(self, schema: Schema, node: JsonNode, value: dict[str, object]) -> Iterator[ArgumentFault]:
        """Yield the missing and unexpected members of an object, and the faults of its values."""
        for name in _wanted(schema, value):
            if name not in value and (node.end, name) not in self._missing:
                self._missing.add((node.end, name))
                end = node.end - 1 if node.closed else node.end
                yield ArgumentFault("missing-argument", end, end, name)
        suspects = self._misfits(schema, value) if self._skips_fitting else value
        if not suspects:
            return
        listed = {member.key: member for member in node.members}
        names = _known_names(schema) if schema.get("unevaluatedProperties") is False else None
        for key, child in suspects.items():
            member = listed[key]
            unknown = ArgumentFault("unknown-argument", member.key_start, member.key_end)
            if names is not None and key not in names:
                yield unknown
            if "propertyNames" in schema and not self._fits(schema["propertyNames"], None, key):
                yield unknown
            for part in self._parts(schema, key):
                if part is False and key not in schema.get("properties", {}):
                    yield unknown
                elif not (self._skips_fitting and self._fits_part(part, child)):
                    yield from self._walk(part, member.value, child)

    def _misfits(self, schema: Schema, value: dict[str, object]) -> dict[str, object]:
        """Return the members that do not fit their part of a flat schema."""
        key = id(schema)
        if key not in self._member_judges:
            properties = schema.get("properties", {})
            judges = {name: plain_judge(part) for name, part in properties.items()}
            self._member_judges[key] = judges, plain_judge(schema.get("additionalProperties", True))
        judges, others = self._member_judges[key]
        return {
            name: child
            for name, child in value.items()
            if (judge := judges.get(name, others)) is not None and not judge(child)
        }

    def _parts(self, schema: Schema, key: str) -> list[Schema | bool]:
        """Return the subschemas that a member with this name must fit."""
        properties = schema.get("properties", {})
        parts = [properties[key]] if key in properties else []
        for pattern, part in schema.get("patternProperties", {}).items():
            if self._fits(self._patterns.setdefault(pattern, {"pattern": pattern}), None, key):
                parts.append(part)
        return parts or [schema.get("additionalProperties", True)]

    def _items(self, schema: Schema, node: JsonNode, value: list[object]) -> Iterator[ArgumentFault]:
        first = schema.get("prefixItems", [])
        rest = schema.get("items", True)
        for index, (item, child) in enumerate(zip(node.items, value, strict=True)):
            part = first[index] if index < len(first) else rest
            if not (self._skips_fitting and self._fits_part(part, child)):
                yield from self._walk(part, item, child)

    def _alternatives(self, schema: Schema, node: JsonNode, value: object) -> Iterator[ArgumentFault]:
        for part in schema.get("allOf", ()):
            yield from self._walk(part, node, value)
        for name in ("anyOf", "oneOf"):
            if name in schema:
                yield from self._choose(schema[name], name == "oneOf", node, value)
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], None, value) else "else"
            yield from self._walk(schema.get(branch, True), node, value)

    def _choose(
        self, parts: list[Schema | bool], only_one: bool, node: JsonNode, value: object
    ) -> Iterator[ArgumentFault]:
        """Yield no fault if an alternative fits (for `oneOf`, exactly one). Otherwise, yield the faults under the
        intended alternative if it is clear, or else one fault for the value."""
        fitting = sum(self._fits(part, None, value) for part in parts)
        if fitting == 1 or (fitting and not only_one):
            return
        container = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
        meant = [part for part in parts if container and _is_for(part, container)]
        if not fitting and len(meant) == 1:
            yield from self._walk(meant[0], node, value)
            return
        closed = not fitting and all(_is_choice(part) for part in parts)
        yield ArgumentFault("not-in-enum" if closed else "wrong-type", node.start, node.end)

    def _fits_part(self, part: Schema | bool, value: object) -> bool:
        """True if a value fits this part of a flat schema."""
        if isinstance(part, bool):
            return part
        key = id(part)
        if key not in self._part_judges:
            self._part_judges[key] = plain_judge(part)
        judge = self._part_judges[key]
        return judge is None or judge(value)

    def _fits(self, schema: Schema | bool, keywords: tuple[str, ...] | None, value: object) -> bool:
        """True if a value fits these keywords of a schema, or all of them."""
        if isinstance(schema, bool):
            return schema
        names = tuple(schema) if keywords is None else tuple(name for name in keywords if name in schema)
        if not names:
            return True
        key = (id(schema), names)
        if key not in self._judges:
            self._judges[key] = judge_of({name: schema[name] for name in names})
        judge = self._judges[key]
        return judge is None or judge(value)


def python_value(node: JsonNode) -> tuple[object, int]:
    """Return the value as validators expect it, without infinite numbers, and the number of values in it."""
    size = 1
    if node.kind is JsonKind.OBJECT:
        mapping: dict[str, object] = {}
        for member in node.members:
            mapping[member.key], more = python_value(member.value)
            size += more
        return mapping, size
    if node.kind is JsonKind.ARRAY:
        values: list[object] = []
        for item in node.items:
            value, more = python_value(item)
            values.append(value)
            size += more
        return values, size
    if node.kind is JsonKind.NUMBER:
        return _number(node.text), 1
    return node.to_python(), 1


def decoded_value(value: object) -> tuple[object, int]:
    """Like `python_value`, for a decoded value with numbers as text that is no `str`."""
    kind, size = type(value), 1
    if isinstance(value, dict):
        mapping: dict[str, object] = {}
        for key, each in value.items():
            if type(each) is str:
                mapping[key], more = each, 1
            else:
                mapping[key], more = decoded_value(each)
            size += more
        return mapping, size
    if isinstance(value, list):
        values: list[object] = []
        for each in value:
            one, more = decoded_value(each)
            values.append(one)
            size += more
        return values, size
    return (_number(value) if isinstance(value, str) and kind is not str else value), 1


def _number(text: str) -> int | float:
    value = number_value(text)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return -(10**300) if text.startswith("-") else 10**300
    return value


def _wanted(schema: Schema, value: dict[str, object]) -> list[str]:
    wanted = list(schema.get("required", ()))
    for name, others in schema.get("dependentRequired", {}).items():
        if name in value:
            wanted += others
    return list(dict.fromkeys(wanted))


def _in_place(schema: Schema | bool) -> Iterator[Schema]:
    """Yield a schema and the subschemas in it that apply to the same value."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            for name in ("allOf", "anyOf", "oneOf"):
                waiting += part.get(name, ())
            waiting += [part[name] for name in ("if", "then", "else") if name in part]


def _known_names(schema: Schema) -> set[str] | None:
    """Return the member names in all parts, or None if they cannot be listed."""
    parts = list(_in_place(schema))
    if any("patternProperties" in part or part.get("additionalProperties", False) is not False for part in parts):
        return None
    return {name for part in parts for name in part.get("properties", {})}


def _mentions(schema: Schema, name: str) -> bool:
    return any(name in part.get("properties", {}) or name in part.get("required", ()) for part in _in_place(schema))


def _is_for(schema: Schema | bool, kind: str) -> bool:
    """True if a schema describes values of this kind, objects or arrays."""
    speaks = {"object": ("properties", "required"), "array": ("items", "prefixItems")}[kind]
    for part in _in_place(schema):
        kinds = part.get("type")
        if kind in kinds if isinstance(kinds, list) else any(name in part for name in speaks):
            return True
    return False


def _is_choice(schema: Schema | bool) -> bool:
    """True if a schema lists its values. The type null is treated as a list of one value."""
    return isinstance(schema, dict) and ("enum" in schema or schema.get("type") == ["null"])
