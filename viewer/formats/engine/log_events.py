"""Log records of OpenTelemetry that are events of model calls: each call becomes a span with its events."""

from __future__ import annotations

from viewer.formats.engine.attributes import attribute_tree
from viewer.formats.engine.paths import path, string_at
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

LOGS = "|".join(
    (
        *("resourceLogs[].scopeLogs[].logRecords[]", "resourceLogs[].instrumentationLibraryLogs[].logRecords[]"),
        *("resource_logs[].scope_logs[].log_records[]", "scopeLogs[].logRecords[]", "logRecords[]"),
    )
)
_KEPT = ("gen_ai", "session")
"""The attributes of a record that describe its call."""
_OF_CALL = frozenset({"conversation", "request", "response", "agent", "system", "provider"})


def spans_of_logs(record: JsonNode) -> list[JsonNode]:
    """The model calls whose events are log records, in the order of their first events."""
    calls: dict[tuple[str, str], list[JsonNode]] = {}
    for log in path(LOGS).all(record):
        if log.kind is JsonKind.OBJECT:
            trace, span = (string_at(log, name) or "" for name in ("traceId|trace_id", "spanId|span_id"))
            calls.setdefault((trace, span), []).append(log)
    return [_span(logs) for logs in calls.values()]


def _span(logs: list[JsonNode]) -> JsonNode:
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
    """The record as an event of a span: its body is among its attributes."""
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
    """The body as the only attribute of a list of pairs, so that its types are read like theirs."""
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
    """The attributes of a record that hold no messages."""
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
