"""Read the tool name, the id, and the arguments of a call that is written in the syntax of a chat template."""

from __future__ import annotations

import re

from viewer.core.json_text import JsonKind, JsonNode, read_json
from viewer.core.messages import Span
from viewer.core.patterns import rarely
from viewer.values import frozen

LONGEST_READ = 1024 * 1024
"""No name is read from a call that is longer."""
LONGEST_NAME = 512
MOST_CALLS = 1000
"""More calls between one pair of marks are one call without a name."""

_NAME = rb"([A-Za-z_][\w.:/-]{0,200})"
_SYNTAXES = tuple(
    rarely(pattern)
    for pattern in (
        rb"\s*<function=\s*" + _NAME,
        rb"\s*<invoke name=\"" + _NAME + rb"\"",
        rb"\s*call:" + _NAME + rb"\s*\{",
        rb"\s*\[\s*" + _NAME + rb"\s*\(",
        rb"\s*" + _NAME + rb"\s*\(",
        rb"\s*" + _NAME + rb"\s*(?:<arg_key>|\n|\[ARGS\]|\{)",
        rb"\s*" + _NAME + rb"\s*\Z",
    )
)
_DEEPSEEK = rarely("\\s*(?:<｜tool▁call▁begin｜>)?(?:function)?<｜tool▁sep｜>".encode() + _NAME)
_KIMI = rarely(
    rb"\s*(?:<\|tool_call_begin\|>)?\s*((?:functions\.)?[\w.-]{1,200}):(\d{1,9})\s*<\|tool_call_argument_begin\|>"
)
_UNSAFE = rarely(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@frozen
class CallText:
    """One call or reply between marks."""

    body: Span
    """The arguments if they can be read, otherwise all of the text."""
    name: str | None = None
    call_id: str | None = None
    is_json: bool = False


def read_calls(data: bytes) -> list[CallText]:
    """The calls between two marks; one without a name if nothing can be read."""
    whole = CallText((0, len(data)))
    if len(data) > LONGEST_READ:
        return [whole]
    text = data.lstrip()
    if text.startswith((b"{", b"[")):
        start = len(data) - len(text)
        reading = read_json(data, 0, start)
        node = reading.node
        if node is not None and not reading.faults and not data[reading.end :].strip():
            items = node.items if node.kind is JsonKind.ARRAY else [node]
            if 0 < len(items) <= MOST_CALLS:
                return [_json_call(item) for item in items]
        if not re.match(rb"\s*\[\s*\w+\s*\(", data):
            return [CallText((0, len(data)), is_json=bool(node) and text.startswith(b"{"), name=_name_of(node))]
    if found := _KIMI.match(data):
        name, number = found[1].decode(), found[2].decode()
        return [CallText((0, len(data)), name, f"{name}:{number}")]
    for syntax in (_DEEPSEEK, *_SYNTAXES):
        if found := syntax.match(data):
            return [CallText((0, len(data)), _safe(found[1].decode("utf-8", "replace")))]
    return [whole]


def read_reply(data: bytes) -> CallText:
    """What a reply between two marks says of the call that it answers."""
    text = data.lstrip()
    whole = CallText((0, len(data)))
    if len(data) > LONGEST_READ or not text.startswith(b"{"):
        return whole
    reading = read_json(data, 0, len(data) - len(text))
    node = reading.node
    if node is None or reading.faults or node.kind is not JsonKind.OBJECT:
        return whole
    return CallText((0, len(data)), _name_of(node), _text(node, "tool_call_id", "id"), is_json=True)


def _json_call(node: JsonNode) -> CallText:
    inner = node.get("function")
    inner = inner if inner is not None and inner.kind is JsonKind.OBJECT else node
    arguments = next((value for key in ("arguments", "parameters", "args") if (value := inner.get(key))), None)
    name = _name_of(inner)
    is_plain = arguments is not None and arguments.kind is JsonKind.OBJECT and name is not None
    body = (arguments.start, arguments.end) if arguments is not None and is_plain else (node.start, node.end)
    return CallText(body, name, _text(node, "id", "tool_call_id"), is_json=True)


def _name_of(node: JsonNode | None) -> str | None:
    return _text(node, "name", "tool_name") if node is not None and node.kind is JsonKind.OBJECT else None


def _text(node: JsonNode, *keys: str) -> str | None:
    for key in keys:
        value = node.get(key)
        if value is not None and value.kind is JsonKind.STRING and value.closed:
            return _safe(value.text)
    return None


def _safe(name: str) -> str | None:
    return name if 0 < len(name) <= LONGEST_NAME and not _UNSAFE.search(name) else None
