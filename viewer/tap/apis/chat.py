"""OpenAI Chat Completions: chunks that contain deltas, `choices[].delta`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from viewer.formats.json.fields import is_thought_key
from viewer.tap.deltas import Blocks, Delta, Ending, Step, has_others, object_at, objects_at, text_of, unmapped

_OF_CHUNK = frozenset(
    {
        *("id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "provider"),
        *("obfuscation", "x_groq", "timings", "prompt_filter_results", "prompt_token_ids", "kv_transfer_params"),
        *("citations", "search_results", "error", "logprobs"),
    }
)
_OF_CHOICE = frozenset(
    {
        *("index", "delta", "finish_reason", "native_finish_reason", "stop_reason", "logprobs", "token_ids"),
        *("content_filter_results", "content_filter_result", "matched_stop", "seed"),
    }
)
_OF_DELTA = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "logprobs", "token_ids"})


class ChatAnswer:
    """Reads the chunks of an answer. An unknown member hides all further text of its entry in `choices`."""

    def __init__(self, end: Ending) -> None:
        self._end = end
        self._blocks: dict[int, Blocks] = {}
        self._hidden: set[int] = set()
        """The indexes of the choices with hidden text."""

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for a chunk, and record what it reports about the end of the answer."""
        if event.get("error"):
            self._end.note_error(event["error"])
        self._end.note_usage(event.get("usage"))
        is_odd = has_others(event, _OF_CHUNK)
        steps: list[Step] = []
        for choice in objects_at(event, "choices"):
            given = choice.get("index")
            index = given if isinstance(given, int) and given >= 0 else 0
            delta = object_at(choice, "delta")
            if is_odd or self._is_odd(choice, delta):
                self._hidden.add(index)
            blocks = self._blocks.setdefault(index, Blocks())
            for piece in self._pieces(delta, index):
                if index or (index in self._hidden and piece.type in ("text", "refusal")):
                    piece.type, piece.block = "unknown", f"unknown {index}"
                steps += blocks.add(piece)
            finish = choice.get("finish_reason")
            if isinstance(finish, str) and finish and not index:
                self._end.finish = finish
                self._end.is_complete = True
        return steps

    @staticmethod
    def _is_odd(choice: Mapping[str, Any], delta: Mapping[str, Any]) -> bool:
        others = {
            key: value
            for key, value in delta.items()
            if not is_thought_key(key) and not (key == "annotations" and isinstance(value, list))
        }
        is_flag = any(value is True for key, value in delta.items() if is_thought_key(key))
        role = delta.get("role")
        return (
            has_others(choice, _OF_CHOICE) or has_others(others, _OF_DELTA) or role not in (None, "", "assistant")
        ) or is_flag

    def _pieces(self, delta: Mapping[str, Any], index: int) -> Iterator[Delta]:
        thoughts = list(dict.fromkeys(text for key in delta if is_thought_key(key) for text in _texts(delta[key])))
        yield from (Delta("thinking", "thinking", text) for text in thoughts)
        content = delta.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                if part:
                    yield Delta("text", "text", part)
            elif isinstance(part, Mapping) and part.get("type") == "text" and not has_others(part, ("type", "text")):
                yield Delta("text", "text", text_of(part.get("text")))
            elif isinstance(part, Mapping) and part.get("type") == "thinking":
                yield from (Delta("thinking", "thinking", text) for text in _texts(part.get("thinking")))
            elif part:
                yield unmapped(part)
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            yield Delta("refusal", "refusal", delta["refusal"])
        legacy = delta.get("function_call")
        calls = objects_at(delta, "tool_calls")
        if isinstance(legacy, Mapping):
            calls = [*calls, {"function": legacy}]
        for call in calls:
            function = object_at(call, "function") or object_at(call, "custom")
            arguments = text_of(function.get("arguments", function.get("input")))
            block = f"call {index} {text_of(call.get('index')) or 0}"
            yield Delta(block, "call", arguments, text_of(call.get("id")), text_of(function.get("name")))


def _texts(value: object) -> list[str]:
    """Return the nonempty strings in a thought, which is a string, a part, or a list of parts."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if isinstance(value, Mapping):
        return _texts(value.get("text") or value.get("thinking") or value.get("summary"))
    return []
