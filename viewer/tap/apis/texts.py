"""Text completions: OpenAI's legacy API, llama.cpp, and Ollama's `/api/generate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.tap.apis.ollama import note_end
from viewer.tap.deltas import Blocks, Delta, Ending, Step, has_others, objects_at, text_of

_OF_LINE = frozenset(
    {
        *("model", "created_at", "response", "thinking", "done", "done_reason", "context", "total_duration"),
        *("load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration", "logprobs"),
        *("remote_model", "remote_host"),
    }
)
_OF_CHUNK = frozenset(
    {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "provider", "timings", "error"}
)
_OF_CHOICE = frozenset({"index", "text", "logprobs", "finish_reason", "stop_reason", "matched_stop"})
_OF_LLAMA = frozenset(
    {
        *("content", "stop", "tokens", "index", "id_slot", "model", "tokens_predicted", "tokens_evaluated", "prompt"),
        *("generation_settings", "has_new_line", "truncated", "stop_type", "stopping_word", "tokens_cached", "timings"),
        *("stopped_eos", "stopped_limit", "stopped_word", "multimodal", "slot_id", "completion_probabilities"),
    }
)


class TextAnswer:
    """Reads the events of a completion, or a complete response."""

    def __init__(self, end: Ending) -> None:
        self._end = end
        self._blocks = Blocks()
        self._is_hidden = False

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for an event, and record what it reports about the end of the answer."""
        note_end(self._end, event)
        self._end.note_usage(event.get("usage"))
        steps: list[Step] = []
        if thinking := text_of(event.get("thinking")):
            steps += self._blocks.add(Delta("thinking", "thinking", thinking))
        if "response" in event:
            steps += self._text(event.get("response"), is_odd=has_others(event, _OF_LINE))
        elif "content" in event:
            steps += self._text(event.get("content"), is_odd=has_others(event, _OF_LLAMA))
            if event.get("stop") is True:
                self._end.is_complete = True
                self._end.finish = "length" if event.get("stop_type") == "limit" else "stop"
        for choice in objects_at(event, "choices"):
            is_other = choice.get("index") not in (None, 0)
            is_odd = has_others(choice, _OF_CHOICE) or has_others(event, _OF_CHUNK)
            if is_other:
                text = text_of(choice.get("text"))
                steps += [Delta(f"unknown {text_of(choice['index'])}", "unknown", text)] if text else []
                continue
            steps += self._text(choice.get("text"), is_odd=is_odd)
            if isinstance(choice.get("finish_reason"), str):
                self._end.is_complete = True
                self._end.finish = choice["finish_reason"]
        return steps

    def _text(self, value: object, *, is_odd: bool) -> list[Step]:
        self._is_hidden = self._is_hidden or is_odd or not isinstance(value, str | None)
        text, shown = text_of(value), "unknown" if self._is_hidden else "text"
        return self._blocks.add(Delta(shown, shown, text)) if text else []
