"""Read the tool names, IDs, and arguments of calls written in the syntax of a chat template."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.model.messages import Span
from viewer.syntax.agent_text import COMMAND_FENCE
from viewer.syntax.json_text import JsonKind, JsonNode, read_json

LONGEST_READ = 1024 * 1024
"""The maximum length in bytes. No name is read from a longer call."""
LONGEST_NAME = 512
MOST_CALLS = 1000
"""The maximum number of calls between a pair of marks. More calls are read as a single call without a name."""

_NAME = rb"([A-Za-z_][\w.:/-]{0,200})"
_SYNTAXES = tuple(
    lazy_regex(pattern)
    for pattern in (
        rb"\s*<function=\s*" + _NAME,
        rb"\s*<invoke name=\"" + _NAME + rb"\"",
        '\\s*<｜DSML｜invoke name="'.encode() + _NAME + rb"\"",
        rb"\s*<\|open\|>call tool=\"" + _NAME + rb"\"",
        rb"\s*call:" + _NAME + rb"\s*\{",
        rb"\s*\[\s*" + _NAME + rb"\s*\(",
        rb"\s*[*#_]{0,4} ?(?:Action|ACTION|Function Name|Tool)(?: ?\d{1,3})?[*_]{0,2} ?:[*_]{0,2}[ \t]*[`\"]?"
        + _NAME
        + rb"[`\"]?\s*(?:[\r\n\[({]|\Z)",
        rb"\s*" + _NAME + rb"\s*\(",
        rb"\s*" + _NAME + rb"\s*(?:<arg_key>|\n|\[ARGS\]|\{)",
        rb"\s*" + _NAME + rb"\s*\Z",
    )
)
_LEAD = lazy_regex(rb"\s*(?:<\|(?:plugin|interpreter)\|>\s*(?:```[a-z]{0,10}\s*)?|```python\s+)")
"""What InternLM and MiniCPM write before a call."""
_DEEPSEEK = lazy_regex("\\s*(?:<｜tool▁call▁begin｜>)?(?:function)?<｜tool▁sep｜>".encode() + _NAME)
_DEEPSEEK_SHORT = lazy_regex("\\s*(?:<｜tool▁call▁begin｜>)?".encode() + _NAME + "<｜tool▁sep｜>".encode())
_MISTRAL = lazy_regex(_NAME + rb"\s*\[CALL_ID\]\s*([\w-]{1,64})\s*\[ARGS\]")
_MISTRAL_REPLY = lazy_regex(rb"\s*([\w-]{1,64})\s*\[TOOL_CONTENT\]")
_NAMED_REPLY = lazy_regex(rb"\s*response:" + _NAME + rb"\s*\{")
_KIMI = lazy_regex(
    rb"\s*(?:<\|tool_call_begin\|>)?\s*((?:functions\.)?[\w.-]{1,200}):(\d{1,9})\s*<\|tool_call_argument_begin\|>"
)
_SOLAR = lazy_regex(
    rb"\s*<\|tool_call:begin\|>\s*([\w-]{1,64})\s*<\|tool_call:name\|>\s*" + _NAME + rb"\s*<\|tool_call:args\|>"
)
_NEXT_CALL = lazy_regex(
    rb"(?<=</function>)\s*(?=<function=)|(?<=</invoke>)\s*(?=<invoke name=)"
    rb"|(?<=<\|tool_call_end\|>)\s*(?=<\|tool_call_begin\|>)"
    rb"|(?<=<\|close\|>call<\|sep\|>)\s*(?=<\|open\|>call )"
    rb"|(?<=<\|tool_call:end\|>)\s*(?=<\|tool_call:begin\|>)|\[TOOL_CALLS\]\s*(?=[A-Za-z_])|"
    + "(?<=</｜DSML｜invoke>)\\s*(?=<｜DSML｜invoke name=)|".encode()
    + "(?<=<｜tool▁call▁end｜>)\\s*(?=<｜tool▁call▁begin｜>)".encode()
)
_NEXT_REPLY = lazy_regex("<｜tool▁output▁end｜>\\s*<｜tool▁output▁begin｜>|</result>\\s*<result>".encode())
_REPLY_EDGES = lazy_regex(
    "\\A\\s*(?:<｜tool▁output▁begin｜>|<result>)|(?:<｜tool▁output▁end｜>|</result>)\\s*\\Z".encode()
)
_PYTHON_LIST = lazy_regex(rb"\s*\[\s*[A-Za-z_][\w.]{0,200}\s*\(")
_PYTHON_TOKEN = lazy_regex(rb"\"(?:[^\"\\]|\\[\s\S])*(?:\"|\\?\Z)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?\Z)|[\[({]|[\])}]|,")
"""Python strings, brackets, and commas."""
SHELL = "shell"
"""The tool that runs the commands of mini-SWE-agent."""
_ENDS_RUN = lazy_regex(rb"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT")
_NAMES = ("name", "tool_name", "tool", "function_name", "recipient_name", "action", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "tool_input", "action_input", "tool_args", "input")
_PLAIN_NAME = lazy_regex(r"[A-Za-z_][\w.-]{0,200}")
_UNSAFE = lazy_regex(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class CallText(Struct, frozen=True, gc=False):
    """One call or reply between marks."""

    body: Span
    """The span of the arguments, or of the whole text if they are unreadable."""
    name: str | None = None
    call_id: str | None = None
    is_json: bool = False
    whole: Span | None = None
    """The span of the whole text, if it contains several calls or replies or is JSON."""


def read_calls(data: bytes) -> list[CallText]:
    """Return the calls between two marks, or a single call without a name if nothing is readable."""
    if len(data) > LONGEST_READ:
        return [CallText((0, len(data)))]
    lead = _LEAD.match(data)
    if lead is not None:
        calls = read_calls(data[lead.end() :].rstrip().removesuffix(b"```"))
        return [_moved_call(call, lead.end()) for call in calls]
    parts = list(_python_calls(data)) if _PYTHON_LIST.match(data) else _split(data, _NEXT_CALL)
    if len(parts) == 1:
        return _read_part(data)
    if len(parts) > MOST_CALLS:
        return [CallText((0, len(data)))]
    return [_moved_call(call, start) for start, end in parts for call in _read_part(data[start:end])]


def _moved_call(call: CallText, by: int) -> CallText:
    return replace(call, body=_moved(call.body, by), whole=call.whole and _moved(call.whole, by))


def read_command(data: bytes, tool: str) -> CallText:
    """Return a command for a tool. One that only ends the run gets no reply, so it counts as text without a tool."""
    return CallText((0, len(data)), None if _ENDS_RUN.search(data) else tool)


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _split(data: bytes, separator: re.Pattern[bytes]) -> list[Span]:
    """Return the parts before the separators, except blank ones, and the part after the last separator."""
    parts: list[Span] = []
    at = 0
    for found in separator.finditer(data):
        if data[at : found.start()].strip():
            parts.append((at, found.start()))
        at = found.end()
    return [*parts, (at, len(data))]


def _python_calls(data: bytes) -> Iterator[Span]:
    """Yield the items of a list like `[f(a=1), g(b="x")]`, or the whole text if the brackets do not match."""
    start = data.index(b"[") + 1
    depth, at = 0, start
    items: list[Span] = []
    for found in _PYTHON_TOKEN.finditer(data, start):
        if found[0] in (b"[", b"(", b"{"):
            depth += 1
        elif found[0] in (b"]", b")", b"}"):
            depth -= 1
        if depth < 0 or (found[0] == b"," and not depth):
            items.append((at, found.start()))
            at = found.end()
        if depth < 0:
            break
    items = [(low, high) for low, high in items if data[low:high].strip()]
    is_list = depth < 0 and not data[at:].strip() and len(items) > 1
    for low, high in items if is_list else [(0, len(data))]:
        text = data[low:high]
        yield low + len(text) - len(text.lstrip()), low + len(text.rstrip())


def _read_part(data: bytes) -> list[CallText]:
    whole = CallText((0, len(data)))
    text = data.lstrip()
    if text.startswith((b"{", b"[")):
        start = len(data) - len(text)
        reading = read_json(data, 0, start)
        node = reading.node
        if node is not None and not reading.faults and not data[reading.end :].strip():
            items = node.items if node.kind is JsonKind.ARRAY else [node]
            if 0 < len(items) <= MOST_CALLS:
                return [_json_call(item) for item in items]
        if not _PYTHON_LIST.match(text):
            return [CallText((0, len(data)), is_json=bool(node) and text.startswith(b"{"), name=_name_of(node))]
    if (found := COMMAND_FENCE.match(data)) and data.rstrip().endswith(b"```"):
        return [replace(read_command(data, SHELL), body=(found.end(), len(data.rstrip()) - len(b"```")))]
    if found := _MISTRAL.match(text):
        start = len(data) - len(text) + found.end()
        return [CallText((start, len(data)), _safe(found[1].decode()), found[2].decode())]
    if found := _KIMI.match(text):
        name, number = found[1].decode(), found[2].decode()
        return [CallText((0, len(data)), name, f"{name}:{number}")]
    if found := _SOLAR.match(text):
        return [CallText((0, len(data)), _safe(found[2].decode()), found[1].decode())]
    for syntax in (_DEEPSEEK, _DEEPSEEK_SHORT, *_SYNTAXES):
        if found := syntax.match(text):
            return [CallText((0, len(data)), _safe(found[1].decode("utf-8", "replace")))]
    return [whole]


def read_replies(data: bytes) -> list[CallText]:
    """Return the replies between two marks, each with the ID of the call that it answers, if readable."""
    if len(data) > LONGEST_READ:
        return [CallText((0, len(data)))]
    text = data.strip()
    if text.startswith(b"["):
        return _json_replies(data) or [CallText((0, len(data)))]
    parts = _split(data, _NEXT_REPLY)
    if not 1 < len(parts) <= MOST_CALLS:
        return [_read_reply(data)]
    replies = []
    for start, end in parts:
        edges = [found.span() for found in _REPLY_EDGES.finditer(data[start:end])]
        low = next((after for at, after in edges if not data[start : start + at].strip()), 0)
        high = next((at for at, after in edges if at >= low and after == end - start), end - start)
        replies.append(CallText((start + low, start + high), whole=(start + low, start + high)))
    return replies


def _json_replies(data: bytes) -> list[CallText]:
    """Return the replies in a JSON array, or none if one of them has no call ID."""
    reading = read_json(data, 0, len(data) - len(data.lstrip()))
    node = reading.node
    if node is None or reading.faults or data[reading.end :].strip() or not 0 < len(node.items) <= MOST_CALLS:
        return []
    if any(item.kind is not JsonKind.OBJECT or item.get("tool_call_id") is None for item in node.items):
        return []
    spans = [(item.start, item.end) for item in node.items]
    return [
        CallText(span, _name_of(item), _text(item, "tool_call_id"), is_json=True, whole=span)
        for span, item in zip(spans, node.items, strict=True)
    ]


def _read_reply(data: bytes) -> CallText:
    text = data.lstrip()
    whole = CallText((0, len(data)))
    if found := _MISTRAL_REPLY.match(data):
        return CallText((found.end(), len(data)), call_id=found[1].decode())
    if found := _NAMED_REPLY.match(data):
        return CallText((0, len(data)), _safe(found[1].decode()))
    if not text.startswith(b"{"):
        return whole
    reading = read_json(data, 0, len(data) - len(text))
    node = reading.node
    if node is None or reading.faults or node.kind is not JsonKind.OBJECT:
        return whole
    return CallText((0, len(data)), _name_of(node), _text(node, "tool_call_id", "call_id", "id"), is_json=True)


def _json_call(node: JsonNode) -> CallText:
    inner = node.get("function")
    inner = inner if inner is not None and inner.kind is JsonKind.OBJECT else node
    arguments = next((value for key in _ARGUMENTS if (value := inner.get(key))), None)
    name = _name_of(inner)
    if name is None and arguments is None and len(inner.members) == 1:
        [member] = inner.members
        if member.value.kind is JsonKind.OBJECT and _PLAIN_NAME.fullmatch(member.key):
            name, arguments = member.key, member.value
    is_plain = arguments is not None and arguments.kind is JsonKind.OBJECT and name is not None
    body = (arguments.start, arguments.end) if arguments is not None and is_plain else (node.start, node.end)
    return CallText(body, name, _text(node, "id", "tool_call_id"), is_json=True, whole=(node.start, node.end))


def _name_of(node: JsonNode | None) -> str | None:
    return _text(node, *_NAMES) if node is not None and node.kind is JsonKind.OBJECT else None


def _text(node: JsonNode, *keys: str) -> str | None:
    for key in keys:
        value = node.get(key)
        if value is not None and value.kind is JsonKind.STRING and value.closed:
            return _safe(value.text)
    return None


def _safe(name: str) -> str | None:
    return name if 0 < len(name) <= LONGEST_NAME and not _UNSAFE.search(name) else None
