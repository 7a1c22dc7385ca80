"""Ollama's `/api/chat`: one object per line. In the last object, `done` is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.tap.deltas import Blocks, Delta, Ending, Step, has_others, numbers, object_at, objects_at, text_of, unmapped

_OF_MESSAGE = frozenset({"role", "content", "thinking", "tool_calls", "images"})
_OF_LINE = frozenset(
    {
        *("model", "created_at", "message", "done", "done_reason", "total_duration", "load_duration", "logprobs"),
        *("prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration", "remote_model", "remote_host"),
    }
)
COUNTS = ("prompt_eval_count", "eval_count")
"""The members that contain token counts."""


class OllamaAnswer:
    """Reads the lines of an answer from `/api/chat`."""

    def __init__(self, end: Ending) -> None:
        self._end = end
        self._blocks = Blocks()
        self._calls = 0
        self._is_hidden = False

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for a line, and record what it reports about the end of the answer."""
        note_end(self._end, event)
        message = object_at(event, "message")
        is_odd = has_others(message, _OF_MESSAGE) or has_others(event, _OF_LINE)
        self._is_hidden = self._is_hidden or is_odd or message.get("role") != "assistant"
        steps: list[Step] = []
        if thinking := text_of(message.get("thinking")):
            steps += self._blocks.add(Delta("thinking", "thinking", thinking))
        if content := text_of(message.get("content")):
            shown = "unknown" if self._is_hidden else "text"
            steps += self._blocks.add(Delta(shown, shown, content))
        for call in objects_at(message, "tool_calls"):
            function = object_at(call, "function")
            self._calls += 1
            arguments, name = text_of(function.get("arguments")), text_of(function.get("name"))
            id = text_of(call.get("id") or function.get("id"))
            steps += self._blocks.add(Delta(f"call {self._calls}", "call", arguments, id, name))
        if message.get("images"):
            steps += self._blocks.add(unmapped(message["images"]))
        return steps


def note_end(end: Ending, event: Mapping[str, Any]) -> None:
    """Record what a line reports about the end of the answer."""
    if event.get("error"):
        end.note_error(event["error"])
    if event.get("done") is True:
        end.is_complete = True
        end.finish = text_of(event.get("done_reason"))
        end.usage |= numbers({key: event[key] for key in COUNTS if key in event})
