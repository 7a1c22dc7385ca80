"""Anthropic Messages: blocks that start, grow, and stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.tap.deltas import Closed, Delta, Ending, Step, Whole, has_others, object_at, text_of, unmapped

_BLOCKS = {
    "text": ("text", frozenset({"type", "text", "citations"})),
    "thinking": ("thinking", None),
    "tool_use": ("call", None),
    "server_tool_use": ("call", None),
    "mcp_tool_use": ("call", None),
}
"""For each block type: the type in the log, and the members that a block may have without being hidden (None: any)."""
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("call", "partial_json"),
}
"""For each delta type, the type in the log and the member that contains the text."""
_WITHOUT_TEXT = ("signature_delta", "citations_delta")
_OF_DELTA = ("type", "text")
_OF_EVENT = ("type", "index", "content_block", "delta")


class MessagesAnswer:
    """Reads the events of a message."""

    def __init__(self, end: Ending) -> None:
        self._end = end
        self._types: dict[object, str] = {}
        """The type in the log of each open block, by its index; empty for a type that is not in `_BLOCKS`."""

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for an event, and record what it reports about the end of the answer."""
        kind = event.get("type")
        block = text_of(event.get("index"))
        match kind:
            case "message_start":
                message = object_at(event, "message")
                self._end.note_usage(message.get("usage"))
                return [Whole(message)] if message.get("content") else []
            case "content_block_start":
                return self._start(event, block)
            case "content_block_delta":
                return self._grow(event, block)
            case "content_block_stop":
                self._types.pop(block, None)
                return [Closed(block)]
            case "message_delta":
                self._end.finish = text_of(object_at(event, "delta").get("stop_reason")) or self._end.finish
                self._end.note_usage(event.get("usage"))
            case "message_stop":
                self._end.is_complete = True
            case "error":
                self._end.note_error(event.get("error"))
            case "ping":
                pass
            case _:
                return [unmapped(event)]
        return []

    def _start(self, event: Mapping[str, Any], block: str) -> list[Step]:
        part = object_at(event, "content_block")
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in _BLOCKS:
            self._types[block] = ""
            is_listed = isinstance(kind, str) and (kind.endswith("tool_result") or kind == "redacted_thinking")
            return [Whole({"role": "assistant", "content": [part]}) if is_listed else unmapped(part, block)]
        type, known = _BLOCKS[kind]
        if known is not None and (has_others(part, known) or has_others(event, _OF_EVENT)):
            type = "unknown"
        self._types[block] = type
        if type == "call":
            return [Delta(block, type, "", text_of(part.get("id")), text_of(part.get("name")))]
        text = text_of(part.get("text") or part.get("thinking"))
        return [Delta(block, type, text)] if text else []

    def _grow(self, event: Mapping[str, Any], block: str) -> list[Step]:
        delta = object_at(event, "delta")
        kind = delta.get("type")
        if kind in _WITHOUT_TEXT:
            return []
        type, member = _DELTAS.get(kind, ("", "")) if isinstance(kind, str) else ("", "")
        text = text_of(delta.get(member)) if type else ""
        is_odd = type == "text" and (has_others(delta, _OF_DELTA) or has_others(event, _OF_EVENT))
        if not type or self._types.get(block) != type or is_odd:
            return [Delta(f"unknown {block}", "unknown", text) if text else unmapped(delta, f"unknown {block}")]
        return [Delta(block, type, text)]
