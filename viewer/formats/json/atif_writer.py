"""Write messages as trajectories: ATIF 1.7, one document per transcript."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from viewer.formats.writing import Writable, WritableTranscript, Writer
from viewer.model.messages import Span, Usage

NAME = "atif"
VERSION = "ATIF-v1.7"
UNKNOWN = "unknown"
_TEXTS = frozenset({"said", "replayed"})
_AGENT_KINDS = frozenset({"said", "thought", "call", "replayed"})


def write_atif(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
    """Return the text, and a sentence for each loss. With several transcripts, each line is one document."""
    sources = {transcript.number: transcript for transcript in transcripts}
    losses: Counter[str] = Counter()
    documents = []
    for number, group in groupby(messages, lambda message: message.transcript):
        documents.append(_document(number, sources.get(number), list(group), losses))
    text = "".join(_encoded(document, is_only=len(documents) == 1) for document in documents)
    return text, [f"ATIF: {words} ({_times(count)})." for words, count in losses.items() if count]


def _times(count: int) -> str:
    return "1 time" if count == 1 else f"{count:,} times"


def _encoded(document: dict[str, Any], *, is_only: bool) -> str:
    """Return the text of a document. If it is the only one, each step is on a separate line."""
    if not is_only:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    steps = document["steps"]
    head = json.dumps({**document, "steps": []}, ensure_ascii=False)
    lines = ",\n".join(json.dumps(step, ensure_ascii=False) for step in steps)
    return head.replace('"steps": []', f'"steps": [\n{lines}\n]', 1) + "\n" if lines else head + "\n"


def _document(
    number: int, source: WritableTranscript | None, messages: list[Writable], losses: Counter[str]
) -> dict[str, Any]:
    main = [each for each in messages if not each.thread]
    document = _trajectory(f"transcript-{number}", source, main, losses)
    threads = sorted({message.thread for message in messages} - {0})
    if threads:
        document["subagent_trajectories"] = [
            {
                "trajectory_id": f"thread-{thread}",
                **_trajectory(f"thread-{thread}", source, [each for each in messages if each.thread == thread], losses),
            }
            for thread in threads
        ]
    return document


def _trajectory(
    name: str, source: WritableTranscript | None, messages: list[Writable], losses: Counter[str]
) -> dict[str, Any]:
    agent = {"name": UNKNOWN, "version": UNKNOWN}
    if source is not None and source.model:
        agent["model_name"] = source.model
    steps = _Steps(losses, has_steps=source is not None and source.format == NAME)
    for message in messages:
        steps.add(message)
    return {"schema_version": VERSION, "session_id": name, "agent": agent, "steps": steps.numbered()}


class _Steps:
    def __init__(self, losses: Counter[str], *, has_steps: bool) -> None:
        self._losses = losses
        self._has_steps = has_steps
        """True if the source is also a trajectory. Its steps are then kept."""
        self._span: Span | None = None
        """The span of the message that started the last step."""
        self._steps: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        """The steps of calls, by call ID."""
        self._reply_came = True
        """True if the next message of the agent starts a new step."""

    def numbered(self) -> list[dict[str, Any]]:
        """Return the steps, numbered from 1."""
        return [{"step_id": number, **_with_metrics(step)} for number, step in enumerate(self._steps, 1)]

    def add(self, message: Writable) -> None:
        """Add a message to the step that it belongs to."""
        kind = _kind(message)
        if kind == "said" and not message.visible and not message.thread:
            kind = "thought" if message.role == "assistant" else "unknown"
            self._losses["text that the user did not see became reasoning"] += message.role == "assistant"
        if kind == "reply":
            self._add_reply(message)
        elif kind in _AGENT_KINDS and message.role == "assistant":
            self._add_to_agent(message, kind)
        elif kind in ("said", "injected", "replayed", "instruction"):
            self._add_other(message, kind)
        else:
            self._losses["a message of a kind that trajectories lack was omitted"] += 1

    def _goes_on(self, message: Writable) -> bool:
        """True if a message is in the same step of the source as the previous one. Text has the span of its step. Calls
        come after text and have separate spans."""
        if not self._has_steps or message.span is None or self._span is None:
            return False
        if message.message_kind != "call":
            return message.span == self._span
        last = self._steps[-1]
        is_after_calls = not self._reply_came and not last["message"] and "reasoning_content" not in last
        is_inside = self._span[0] <= message.span[0] and message.span[1] <= self._span[1]
        return is_inside or (is_after_calls and last.get("timestamp") == message.time)

    def _add_other(self, message: Writable, kind: str) -> None:
        if self._goes_on(message):
            self._steps[-1]["message"] = _joined(self._steps[-1]["message"], message.body)
            return
        source = "system" if kind == "instruction" or message.role in ("system", "developer") else "user"
        step: dict[str, Any] = {"source": source, "message": message.body}
        if kind == "injected":
            step["source"] = "system"
            self._losses["injected text became a system step"] += 1
        if kind == "replayed":
            step["is_copied_context"] = True
        self._begin(step, message)
        self._reply_came = True

    def _add_to_agent(self, message: Writable, kind: str) -> None:
        if self._begins(message, kind):
            self._begin({"source": "agent", "message": ""}, message)
            self._reply_came = False
        step = self._steps[-1]
        if message.usage is not None:
            step["_usage"] = message.usage.plus(step.get("_usage", Usage()))
        if kind == "replayed":
            step["is_copied_context"] = True
        if kind in _TEXTS:
            step["message"] = _joined(step["message"], message.body)
            if message.channel_given == "commentary":
                self._losses["a preamble became part of the answer"] += 1
        elif kind == "thought":
            step["reasoning_content"] = _joined(step.get("reasoning_content", ""), message.body)
        else:
            step.setdefault("tool_calls", []).append(self._call(message))
            if message.call_id:
                self._calls[message.call_id] = step

    def _begins(self, message: Writable, kind: str) -> bool:
        """True if a message of the agent starts a new step."""
        if self._has_steps or not self._steps:
            return not self._goes_on(message)
        last = self._steps[-1]
        is_other = ("is_copied_context" in last) != (kind == "replayed")
        return self._reply_came or is_other or (kind in _TEXTS and bool(last["message"]))

    def _call(self, message: Writable) -> dict[str, Any]:
        arguments = _loaded(message.body)
        if not isinstance(arguments, dict):
            self._losses["arguments that are not an object became the argument `input`"] += bool(message.body)
            arguments = {"input": message.body} if message.body else {}
        name = (message.recipient or UNKNOWN).removeprefix("functions.")
        return {"tool_call_id": message.call_id or "", "function_name": name, "arguments": arguments}

    def _add_reply(self, message: Writable) -> None:
        step = self._calls.get(message.call_id or "")
        if step is None:
            self._losses["a reply without its call lost its ID"] += bool(message.call_id)
            result: dict[str, Any] = {"content": message.body}
            step = next((step for step in reversed(self._steps) if step["source"] == "agent"), None)
        else:
            result = {"content": message.body, "source_call_id": message.call_id}
        if step is None:
            step = {"source": "agent", "message": ""}
            self._begin(step, message)
            step = self._steps[-1]
        step.setdefault("observation", {"results": []})["results"].append(result)
        self._reply_came = True

    def _begin(self, step: dict[str, Any], message: Writable) -> None:
        self._steps.append(step | ({"timestamp": message.time} if message.time else {}))
        self._span = message.span


def _with_metrics(step: dict[str, Any]) -> dict[str, Any]:
    """Return the step with its token counts as `metrics`."""
    usage = step.pop("_usage", None)
    if usage is None:
        return step
    numbers = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "cached_tokens": usage.cached,
    }
    metrics = {name: number for name, number in numbers.items() if number is not None}
    return {**step, "metrics": metrics} if metrics else step


def _kind(message: Writable) -> str:
    """Return the kind of a message in a trajectory. In formats without kinds, role and channel determine it."""
    if message.role == "assistant" and message.channel == "analysis":
        return "thought"
    return "said" if message.thread and message.message_kind == "subagent" else message.message_kind


def _joined(before: str, more: str) -> str:
    return f"{before}\n\n{more}" if before and more else before or more


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


WRITE_ATIF: Writer = write_atif
