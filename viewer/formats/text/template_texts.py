"""Recognize calls, tool lists, and replies that have no marks around them, in the frames of chat templates.

Functions return kinds and offsets."""

from __future__ import annotations

import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.formats.json.call_text import read_calls, read_replies
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind, JsonNode, read_json

_SPACE = b" \t\r\n"
_TOOLS = b"Given the following functions, please respond with a JSON"
_RECIPIENT = b">>>"
_TO = lazy_regex(rb">>>([\w.-]{0,200})[ \t]*(?:\r?\n|\Z)")
_NEXT_OBJECT = lazy_regex(rb"[\s;]*(?=\{)")
MOST_OBJECTS = 64
_FENCE = b"```tool_output"
_ACTION = b"Action:"
_PROCESS = (b"Here is my thought process:", b"Here's my thought process:")
_RESPONSE_WORDS = lazy_regex(rb"Here(?: is|'s) my response:")
_LABELS = ("用户：".encode(), "助手：".encode())
_NAMED_CALL = lazy_regex(rb"[A-Za-z_][\w.-]{0,200}[ \t]*\r?\n\s*\{")
_MAY_BE_NAMED = lazy_regex(rb"[A-Za-z_][\w.-]{0,200}(?:[ \t]*\r?\n\s*(?:\{.*)?|[ \t]*\r?)", re.DOTALL)
_RETURN = lazy_regex(rb"\s*## Return of ([^\s<\\]{1,200})[ \t]*(?:\r?\n|\\n)?")
_RESPONSE = lazy_regex(rb"<response>(.*?)(?:</response>|\Z)", re.DOTALL)
_FENCE_END = lazy_regex(rb"\n```[ \t]*(?=\r?\n|\Z)")
_ACTION_LIST = lazy_regex(rb"\s*Action:\s*(?:```(?:json)?\s*)?(.*?)(?:```|\Z)", re.DOTALL)


class Run(Struct, frozen=True):
    """A run of text with its kind."""

    kind: Kind
    start: int
    end: int
    name: str | None = None
    call_id: str | None = None
    is_json: bool = False


def _begins(text: bytes, word: bytes) -> bool:
    """True if the text starts with the word, or may do so once more of it arrives."""
    bare = text.lstrip(_SPACE)
    return bare.startswith(word) or word.startswith(bare)


# Llama 3.


def may_be_call(text: bytes) -> bool:
    """True if the text may be a JSON call or addressed to a recipient."""
    return _begins(text, b"{") or _begins(text, _RECIPIENT)


def whole_call(text: bytes) -> list[Run]:
    """Return the runs of a whole answer: JSON calls, even an unfinished one; parts that each follow `>>>` and a
    recipient; or plain text."""
    if text.lstrip(_SPACE).startswith(_RECIPIENT):
        return _to_recipients(text)
    said = [Run(Kind.SAID, 0, len(text))]
    if not text.lstrip(_SPACE).startswith(b"{"):
        return said
    reading = read_json(text, 0, len(text) - len(text.lstrip(_SPACE)))
    node = reading.node
    is_whole = node is not None and node.closed and not reading.faults
    if is_whole and node is not None and not (_has_text(node, "name") and _has_arguments(node)):
        return said
    return _objects(text) or _calls(text, 0, len(text))


def _objects(text: bytes) -> list[Run]:
    """Return the calls in two or more consecutive objects, or none if anything else follows them."""
    runs: list[Run] = []
    found = _NEXT_OBJECT.match(text)
    while found is not None and len(runs) < MOST_OBJECTS:
        node = read_json(text, 0, found.end()).node
        if node is None or not node.closed:
            return []
        runs += _calls(text, node.start, node.end)
        at = node.end
        found = _NEXT_OBJECT.match(text, at)
        if found is None and text[at:].strip(b"; \t\r\n"):
            return []
    return runs if len(runs) > 1 else []


def _to_recipients(text: bytes) -> list[Run]:
    """Return a run for the text after each `>>>all` and `>>>name`."""
    runs: list[Run] = []
    heads = [*_TO.finditer(text)]
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        end = after.start() if after else len(text)
        if head[1] == b"all":
            runs.append(Run(Kind.SAID, head.end(), end))
        else:
            runs.append(Run(Kind.CALL, head.end(), end, head[1].decode() or None, None, True))
    return runs or [Run(Kind.CALL, 0, len(text))]


def _has_text(node: JsonNode, key: str) -> bool:
    value = node.get(key)
    return value is not None and value.kind is JsonKind.STRING


def _has_arguments(node: JsonNode) -> bool:
    return any(node.get(key) is not None for key in ("parameters", "arguments"))


def _calls(text: bytes, start: int, end: int) -> list[Run]:
    return [
        Run(Kind.CALL, start + call.body[0], start + call.body[1], call.name, call.call_id, call.is_json)
        for call in read_calls(text[start:end])
    ]


def may_list_tools(text: bytes) -> bool:
    """True if the text may begin with a list of tools."""
    return _begins(text, _TOOLS)


def tools_first(text: bytes) -> list[Run]:
    """Return the runs of a prompt: the tool list that the template writes first, if any, and the user's words."""
    at = text.find(b"{", text.find(b"\n\n", text.find(b"Do not use variables.")))
    if not text.lstrip(_SPACE).startswith(_TOOLS):
        return [Run(Kind.SAID, 0, len(text))]
    end = 0
    while at >= 0 and text[at : at + 1] == b"{":
        reading = read_json(text, 0, at)
        node = reading.node
        if node is None or not node.closed or not _is_tool(node):
            break
        end = node.end
        at = end + len(text[end:]) - len(text[end:].lstrip(_SPACE))
    if not end:
        return [Run(Kind.INJECTED, 0, len(text))]
    return [Run(Kind.INJECTED, 0, end), Run(Kind.SAID, end, len(text))]


def _is_tool(node: JsonNode) -> bool:
    function = node.get("function")
    return _has_text(node, "name") or (function is not None and _has_text(function, "name"))


# ChatML and Gemma.


_OLD_PARTS = {
    b"<|function_call|>": Kind.CALL,
    b"<|function_output|>": Kind.REPLY,
    b"<|function_list|>": Kind.INSTRUCTION,
}
"""Marks of OpenChatML 0.1 parts. They may occur in ChatML, because both formats have the same frames."""


def may_be_old_part(text: bytes) -> bool:
    """True if the text may begin with the mark of an OpenChatML 0.1 part."""
    return any(_begins(text, mark) for mark in _OLD_PARTS)


def old_part(text: bytes) -> list[Run]:
    """Return the run of the text: the content of a single OpenChatML 0.1 part, or plain text."""
    bare = text.lstrip(_SPACE)
    mark = next((mark for mark in _OLD_PARTS if bare.startswith(mark)), None)
    if mark is None:
        return [Run(Kind.SAID, 0, len(text))]
    return [Run(_OLD_PARTS[mark], text.index(mark) + len(mark), len(text))]


def may_be_fenced_reply(text: bytes) -> bool:
    """True if the text may begin with a fenced output."""
    return _begins(text, _FENCE)


def fenced_reply(text: bytes) -> list[Run]:
    """Return the runs of the text: the fenced output at its start, if any, and the rest."""
    if not text.lstrip(_SPACE).startswith(_FENCE):
        return [Run(Kind.SAID, 0, len(text))]
    start = text.index(_FENCE) + len(_FENCE)
    closing = _FENCE_END.search(text, start)
    if closing is None:
        return [Run(Kind.REPLY, start, len(text))]
    return [Run(Kind.REPLY, start, closing.start()), Run(Kind.SAID, closing.end(), len(text))]


# GLM.


def may_be_named_call(text: bytes) -> bool:
    """True if the text may be a tool name with arguments."""
    return _MAY_BE_NAMED.fullmatch(text) is not None


def named_call(text: bytes) -> list[Run]:
    """Return the run of a whole answer: a call if it is a tool name, a line break, and arguments; otherwise, plain
    text."""
    found = _NAMED_CALL.match(text)
    if found is None:
        return [Run(Kind.SAID, 0, len(text))]
    name = text.partition(b"\n")[0].strip().decode()
    return [Run(Kind.CALL, found.end() - 1, len(text), name, None, True)]


# Granite.


def may_be_process(text: bytes) -> bool:
    """True if the text may begin with a thought after `Here is my thought process:`."""
    return any(_begins(text, words) for words in _PROCESS)


def process(text: bytes) -> list[Run]:
    """Return the runs of an answer: the thought before `Here is my response:`, if any, and the rest."""
    bare = text.lstrip(_SPACE)
    words = next((words for words in _PROCESS if bare.startswith(words)), None)
    if words is None:
        return [Run(Kind.SAID, 0, len(text))]
    start = text.index(words) + len(words)
    found = _RESPONSE_WORDS.search(text, start)
    if found is None:
        return [Run(Kind.THOUGHT, start, len(text))]
    return [Run(Kind.THOUGHT, start, found.start()), Run(Kind.SAID, found.end(), len(text))]


# Cohere.


def may_be_action(text: bytes) -> bool:
    """True if the text may be a list of calls after `Action:`."""
    return _begins(text, _ACTION)


def action(text: bytes) -> list[Run]:
    """Return the runs of an answer: the calls after `Action:`, if any, and the remaining text."""
    found = _ACTION_LIST.match(text)
    if found is None:
        return [Run(Kind.SAID, 0, len(text))]
    return [*_calls(text, *found.span(1)), Run(Kind.SAID, found.end(), len(text))]


# Hunyuan.


def always(text: bytes) -> bool:
    """True: nothing is shown before the frame ends."""
    return True


def may_be_labeled(text: bytes) -> bool:
    """True if the text may begin with a label."""
    return any(_begins(text, label) for label in _LABELS)


def labeled(text: bytes) -> list[Run]:
    """Return the run of a text without the label that the template writes before it."""
    return [Run(Kind.SAID, _label_end(text), len(text))]


def next_question(text: bytes) -> list[Run]:
    """Return the run of a text after an answer: a question if it has a label, and a reply otherwise."""
    end = _label_end(text)
    return [Run(Kind.SAID if end else Kind.REPLY, end, len(text))]


def _label_end(text: bytes) -> int:
    bare = text.lstrip(_SPACE)
    label = next((label for label in _LABELS if bare.startswith(label)), b"")
    return len(text) - len(bare) + len(label) if label else 0


# GigaChat.


def whole_calls(text: bytes) -> list[Run]:
    """Return the calls in a frame that contains nothing else."""
    return _calls(text, 0, len(text))


# Apertus.


def may_be_outputs(text: bytes) -> bool:
    """True if the text may begin with a list of outputs."""
    return _begins(text, b"[")


def outputs(text: bytes) -> list[Run]:
    """Return the runs of the text after a call: the outputs in brackets, if any, and the answer. Outputs may be any
    text, so the list ends with the last bracket if it is not JSON."""
    start = len(text) - len(text.lstrip(_SPACE))
    if text[start : start + 1] != b"[":
        return [Run(Kind.SAID, 0, len(text))]
    reading = read_json(text, 0, start)
    node = reading.node
    if node is not None and node.closed and not reading.faults:
        spans = [(item.start, item.end) for item in node.items] if len(node.items) > 1 else [(node.start, node.end)]
        return [*(Run(Kind.REPLY, *span) for span in spans), Run(Kind.SAID, node.end, len(text))]
    end = text.rfind(b"]") + 1 or len(text)
    return [Run(Kind.REPLY, start, end), Run(Kind.SAID, end, len(text))]


# Replies in the frame of a tool.


def return_of(text: bytes) -> list[Run]:
    """Return the run of a reply. Its first line may name the call."""
    found = _RETURN.match(text)
    if found is None:
        return [Run(Kind.REPLY, 0, len(text))]
    call_id = found[1].decode("utf-8", "replace")
    name = call_id.rpartition(":")[0] if call_id.startswith("functions.") else None
    return [Run(Kind.REPLY, found.end(), len(text), name, call_id)]


def responses(text: bytes) -> list[Run]:
    """Return the replies in `<response>` tags, and any text outside these tags as further replies."""
    runs: list[Run] = []
    at = 0
    for found in _RESPONSE.finditer(text):
        runs += [Run(Kind.REPLY, at, found.start()), Run(Kind.REPLY, *found.span(1))]
        at = found.end()
    runs.append(Run(Kind.REPLY, at, len(text)))
    return [run for run in runs if text[run.start : run.end].strip()]


def whole_reply(text: bytes) -> list[Run]:
    """Return the run of a whole frame: one reply, whatever its text."""
    return [Run(Kind.REPLY, 0, len(text))]


def replies_as_json(text: bytes) -> list[Run]:
    """Return the replies in JSON, with the calls that they answer."""
    return [Run(Kind.REPLY, *each.body, each.name, each.call_id, each.is_json) for each in read_replies(text)]
