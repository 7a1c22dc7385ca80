"""OpenAI Responses: items are announced, grow through deltas, and are marked as done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.tap.deltas import Closed, Delta, Ending, Step, Whole, has_others, object_at, text_of, unmapped

_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "thinking",
    "response.reasoning.delta": "thinking",
    "response.reasoning_summary_text.delta": "summary",
    "response.function_call_arguments.delta": "call",
    "response.custom_tool_call_input.delta": "call",
    "response.mcp_call_arguments.delta": "call",
    "response.code_interpreter_call_code.delta": "call",
}
"""The type in the log for each type of event."""
_OF_DELTA = frozenset(
    {"type", "sequence_number", "item_id", "output_index", "content_index", "delta", "logprobs", "obfuscation"}
)
_OF_MESSAGE = frozenset({"type", "id", "role", "status", "content", "phase"})
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_DONE = ".done"
_PARTS = (
    *("response.created", "response.queued", "response.in_progress"),
    *("response.content_part.added", "response.content_part.done"),
    *("response.reasoning_summary_part.added", "response.reasoning_summary_part.done"),
    *("response.output_text.annotation.added", "keepalive"),
)
_PROGRESS = frozenset({"in_progress", "searching", "calling", "generating", "interpreting", "completed", "failed"})
"""The last words of event types that only report the state of a tool."""


class ResponsesAnswer:
    """Reads the events of a response. An item without deltas is logged when it is done."""

    def __init__(self, end: Ending) -> None:
        self._end = end
        self._shown: set[str] = set()
        """The keys of messages with text that may be shown."""
        self._calls: dict[str, tuple[str, str]] = {}
        """The ID and name of each announced call, kept until its first delta."""
        self._grown: dict[str, dict[str, None]] = {}
        """The blocks of each item that has received deltas."""

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for an event, and record what it reports about the end of the answer."""
        kind = text_of(event.get("type"))
        if kind in _DELTAS:
            return self._grow(event, _DELTAS[kind])
        if kind == "response.output_item.added":
            return self._announce(event)
        if kind == "response.output_item.done":
            return self._finish(event)
        response = object_at(event, "response")
        if kind in _ENDS:
            self._end.is_complete = True
            self._end.note_usage(response.get("usage"))
            self._end.finish = text_of(object_at(response, "incomplete_details").get("reason"))
            if response.get("error"):
                self._end.note_error(response["error"])
            elif kind in ("response.failed", "response.cancelled"):
                self._end.problem = "failed"
            return []
        if kind == "error":
            self._end.note_error(event.get("error") or event)
            return []
        self._end.id = self._end.id or text_of(response.get("id"))
        is_known = kind in _PARTS or kind.removesuffix(_DONE) + ".delta" in _DELTAS
        is_known = is_known or (kind.startswith("response.") and kind.rpartition(".")[2] in _PROGRESS)
        return [] if is_known else [unmapped(event)]

    def _announce(self, event: Mapping[str, Any]) -> list[Step]:
        item, key = object_at(event, "item"), _key(event)
        kind = item.get("type")
        if kind == "message" and not has_others(item, _OF_MESSAGE):
            if item.get("role") == "assistant" and item.get("phase") in (None, "final_answer"):
                self._shown.add(key)
        elif isinstance(kind, str) and kind.endswith("_call"):
            id, name = item.get("call_id") or item.get("id"), item.get("name") or kind.removesuffix("_call")
            self._calls[key] = text_of(id), text_of(name)
        return []

    def _grow(self, event: Mapping[str, Any], type: str) -> list[Step]:
        key = _key(event)
        part = text_of(event.get("content_index", event.get("summary_index")))
        block = f"{type} {key} {part}"
        if type in ("text", "refusal") and (key not in self._shown or has_others(event, _OF_DELTA)):
            type, block = "unknown", f"unknown {key}"
        if type == "call" and key not in self._calls and block not in self._grown.get(key, {}):
            type, block = "unknown", f"unknown {key}"
        self._grown.setdefault(key, {})[block] = None
        id, name = self._calls.pop(key, ("", "")) if type == "call" else ("", "")
        return [Delta(block, type, text_of(event.get("delta")), id, name)]

    def _finish(self, event: Mapping[str, Any]) -> list[Step]:
        item, key = object_at(event, "item"), _key(event)
        self._shown.discard(key)
        blocks = self._grown.pop(key, None)
        if blocks is None:
            return [Whole({"output": [item]})] if item else []
        steps: list[Step] = [Closed(block) for block in blocks]
        encrypted = item.get("encrypted_content")
        if encrypted:
            steps.append(Whole({"output": [{"type": "reasoning", "encrypted_content": encrypted}]}))
        if item.get("type") in ("mcp_call", "code_interpreter_call") and (item.get("output") or item.get("outputs")):
            output = item.get("output") or item.get("outputs")
            steps.append(
                Delta(f"reply {key}", "reply", text_of(output), text_of(item.get("call_id") or item.get("id")))
            )
            steps.append(Closed(f"reply {key}"))
        return steps


def _key(event: Mapping[str, Any]) -> str:
    return text_of(event.get("output_index"))
