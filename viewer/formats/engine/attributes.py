"""Read OpenTelemetry data: attributes (as pairs or with dotted keys) as a tree, and log records as spans."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.formats.engine.paths import path, string_at
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

OWN = "="
"""The member that contains the value of an attribute whose name is also a prefix of other names, such as `a` next to
`a.b`."""
_SINGLE = ("stringValue", "intValue", "boolValue", "doubleValue", "bytesValue")
_DEEPEST = 16
LOGS = "|".join(
    (
        *("resourceLogs[].scopeLogs[].logRecords[]", "resourceLogs[].instrumentationLibraryLogs[].logRecords[]"),
        *("resource_logs[].scope_logs[].log_records[]", "scopeLogs[].logRecords[]", "logRecords[]"),
    )
)
_KEPT = ("gen_ai", "session")
"""The attribute groups of a log record that describe its call. In `gen_ai`, only the names in `_OF_CALL` do."""
_OF_CALL = frozenset({"conversation", "request", "response", "agent", "system", "provider"})
_Tree = dict[str, "JsonNode | list[JsonNode] | _Tree"]


def attribute_tree(node: JsonNode) -> JsonNode:
    """Return the attributes as nested objects, or as arrays if names are numbers: `a.0.b` becomes `a[0].b`."""
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
    """Unwrap an OTLP value: `{"stringValue": "a"}` becomes `"a"`."""
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
    """Return the node for a part of the tree. Its span covers the values in it."""
    node = _node(tree, start, end)
    values = node.items or [member.value for member in node.members]
    node.start, node.end = min(value.start for value in values), max(value.end for value in values)
    return node


def spans_of_logs(record: JsonNode) -> list[JsonNode]:
    """Group log records into one span per model call, in the order of their first records."""
    calls: dict[tuple[str, str], list[JsonNode]] = {}
    for log in path(LOGS).all(record):
        if log.kind is JsonKind.OBJECT:
            trace, span = (string_at(log, name) or "" for name in ("traceId|trace_id", "spanId|span_id"))
            calls.setdefault((trace, span), []).append(log)
    return [_logged_span(logs) for logs in calls.values()]


def _logged_span(logs: list[JsonNode]) -> JsonNode:
    first, last = logs[0], logs[-1]
    start, end = first.start, last.end
    members = [_member("events", JsonNode(JsonKind.ARRAY, start, end, items=[_event(log) for log in logs]))]
    for name, at in (
        ("traceId", "traceId|trace_id"),
        ("parentSpanId", "spanId|span_id"),
        ("startTimeUnixNano", "timeUnixNano|time_unix_nano|observedTimeUnixNano|observed_time_unix_nano"),
    ):
        value = path(at).first(first)
        if value is not None:
            members.append(_member(name, value))
    members.append(_member("attributes", _described(first)))
    return JsonNode(JsonKind.OBJECT, start, end, members=members, closed=all(log.closed for log in logs))


def _event(log: JsonNode) -> JsonNode:
    """Return the record as a span event, with its body among the attributes."""
    tree = attribute_tree(given) if (given := log.get("attributes")) is not None else None
    members = [*tree.members] if tree is not None else []
    body = attribute_tree(_as_pairs(log)) if log.get("body") is not None else None
    value = body.get("body") if body is not None else None
    if value is not None and value.kind is JsonKind.OBJECT:
        members += value.members
    elif value is not None:
        members.append(_member("body", value))
    attributes = JsonNode(JsonKind.OBJECT, log.start, log.end, members=members, closed=log.closed)
    found = [_member("attributes", attributes)]
    name = path("eventName|event_name").first(log) or path("event.name").first(attributes)
    if name is not None:
        found.append(_member("name", name))
    return JsonNode(JsonKind.OBJECT, log.start, log.end, members=found, closed=log.closed)


def _as_pairs(log: JsonNode) -> JsonNode:
    """Wrap the body in a list with a single attribute, so that `attribute_tree` can unwrap its typed values."""
    body = next(member for member in log.members if member.key == "body")
    key = JsonNode(JsonKind.STRING, body.key_start, body.key_start, text="body", plain=True)
    pair = JsonNode(
        JsonKind.OBJECT,
        body.value.start,
        body.value.end,
        members=[_member("key", key), _member("value", body.value)],
        closed=log.closed,
    )
    return JsonNode(JsonKind.ARRAY, pair.start, pair.end, items=[pair], closed=log.closed)


def _described(log: JsonNode) -> JsonNode:
    """Return the attributes of a log record that describe its call, without those that contain messages."""
    given = log.get("attributes")
    tree = attribute_tree(given) if given is not None else None
    members: list[JsonMember] = []
    for member in tree.members if tree is not None else ():
        if member.key not in _KEPT:
            continue
        inner = [each for each in member.value.members if member.key != "gen_ai" or each.key in _OF_CALL]
        value = JsonNode(JsonKind.OBJECT, member.value.start, member.value.end, members=inner)
        members.append(_member(member.key, value))
    return JsonNode(JsonKind.OBJECT, log.start, log.end, members=members)


def _member(name: str, value: JsonNode) -> JsonMember:
    return JsonMember(name, value.start, value.start, value)
