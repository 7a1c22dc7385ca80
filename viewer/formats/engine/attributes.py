"""Read the attributes of OpenTelemetry as a tree, whether they are a list of pairs or an object with dotted keys."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

OWN = "="
"""The member for the value of an attribute whose name continues in others: `a` next to `a.b`."""
_SINGLE = ("stringValue", "intValue", "boolValue", "doubleValue", "bytesValue")
_DEEPEST = 16
_Tree = dict[str, "JsonNode | list[JsonNode] | _Tree"]


def attribute_tree(node: JsonNode) -> JsonNode:
    """The attributes as nested objects, and as arrays where the names are numbers: `a.0.b` is at `a[0].b`."""
    tree: _Tree = {}
    for key, value in _pairs(node):
        parts = key.split(".")
        _insert(tree, parts if len(parts) <= _DEEPEST else [key], value)
    return _node(tree, node.start, node.end)


def _pairs(node: JsonNode) -> Iterator[tuple[str, JsonNode]]:
    if node.kind is JsonKind.OBJECT:
        yield from ((member.key, member.value) for member in node.members)
    for item in node.items:
        key, value = item.get("key"), item.get("value")
        if key is not None and key.kind is JsonKind.STRING and value is not None:
            yield key.text, _plain(value)


def _plain(value: JsonNode, depth: int = 0) -> JsonNode:
    """The value without its type."""
    if value.kind is not JsonKind.OBJECT or len(value.members) != 1 or depth > _DEEPEST:
        return value
    name, inner = value.members[0].key, value.members[0].value
    if name in _SINGLE:
        return inner
    values = inner.get("values")
    if name == "arrayValue":
        items = [_plain(item, depth + 1) for item in (values.items if values is not None else [])]
        return JsonNode(JsonKind.ARRAY, value.start, value.end, items=items, closed=value.closed)
    if name == "kvlistValue":
        members: list[JsonMember] = []
        for item in values.items if values is not None else []:
            key, held = item.get("key"), item.get("value")
            if key is not None and held is not None:
                members.append(JsonMember(key.text, key.start, key.end, _plain(held, depth + 1)))
        return JsonNode(JsonKind.OBJECT, value.start, value.end, members=members, closed=value.closed)
    return value


def _insert(tree: _Tree, parts: list[str], value: JsonNode) -> None:
    for part in parts[:-1]:
        inner = tree.get(part)
        if not isinstance(inner, dict):
            inner = tree[part] = {} if inner is None else _as_tree(inner)
        tree = inner
    last = parts[-1]
    known = tree.get(last)
    if known is None:
        tree[last] = value
    elif isinstance(known, dict):
        _merge(known, value)
    else:
        tree[last] = [*(known if isinstance(known, list) else [known]), value]


def _as_tree(value: JsonNode | list[JsonNode]) -> _Tree:
    if isinstance(value, JsonNode | LazyNode) and value.kind is JsonKind.OBJECT:
        return {member.key: member.value for member in value.members}
    return {OWN: value}


def _merge(tree: _Tree, value: JsonNode) -> None:
    if value.kind is not JsonKind.OBJECT:
        _insert(tree, [OWN], value)
        return
    for member in value.members:
        _insert(tree, [member.key], member.value)


def _node(tree: _Tree, start: int, end: int) -> JsonNode:
    members: list[JsonMember] = []
    for key, value in tree.items():
        for one in value if isinstance(value, list) else [value]:
            inner = one if isinstance(one, JsonNode | LazyNode) else _inner_node(one, start, end)
            members.append(JsonMember(key, inner.start, inner.start, inner))
    closed = all(member.value.closed for member in members)
    if members and all(member.key.isascii() and member.key.isdigit() for member in members):
        ordered = sorted(members, key=lambda member: int(member.key[:9]))
        return JsonNode(JsonKind.ARRAY, start, end, items=[member.value for member in ordered], closed=closed)
    return JsonNode(JsonKind.OBJECT, start, end, members=members, closed=closed)


def _inner_node(tree: _Tree, start: int, end: int) -> JsonNode:
    """The node of a part of the tree, with the span of the values in it."""
    node = _node(tree, start, end)
    values = node.items or [member.value for member in node.members]
    node.start, node.end = min(value.start for value in values), max(value.end for value in values)
    return node
