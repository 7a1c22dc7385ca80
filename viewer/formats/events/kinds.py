"""Event types: the table of their actions, and the message families of their text."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Family(Enum):
    """Families of messages that arrive as deltas."""

    TEXT = "text"
    REASONING = "reasoning"
    SUMMARY = "summary"
    CALL = "call"
    OTHER = "other"
    """Text that no rule maps: always hidden."""


class Act(Enum):
    """The action of an event."""

    DELTA = "delta"
    DONE = "done"
    """A message closes."""
    FLUSH = "flush"
    """A segment ends."""
    CANCEL = "cancel"
    TOOL_CANCEL = "tool-cancel"
    ITEM = "item"
    """An item of the response begins; it may name a tool."""
    ITEM_DONE = "item-done"
    PART_DONE = "part-done"
    """A content part closes and repeats its text."""
    BEGINS = "begins"
    """A response begins."""
    ENDS = "ends"
    """A response ends with all its messages."""
    ERROR = "error"
    BREAKS_OFF = "breaks-off"
    """A response ends; its messages stay unfinished."""
    NOTHING = "nothing"
    """A known event without message text."""
    UNKNOWN = "unknown"
    """An event of the interface that this table does not list."""


class EventKind(Struct, frozen=True, gc=False):
    """One row of the table."""

    act: Act
    family: Family | None = None
    is_refusal: bool = False


_STREAMS = {
    "response.output_text": Family.TEXT,
    "response.text": Family.TEXT,
    "response.audio_transcript": Family.TEXT,
    "response.output_audio_transcript": Family.TEXT,
    "response.reasoning_text": Family.REASONING,
    "response.reasoning": Family.REASONING,
    "response.reasoning_summary_text": Family.SUMMARY,
    "response.reasoning_summary": Family.SUMMARY,
    "response.function_call_arguments": Family.CALL,
    "response.mcp_call_arguments": Family.CALL,
    "response.custom_tool_call_input": Family.CALL,
    "response.code_interpreter_call_code": Family.CALL,
    "response.shell_call_command": Family.CALL,
    "response.apply_patch_call_operation_diff": Family.CALL,
}
"""Each has a `.delta` and a `.done`."""

_WITHOUT_TEXT = (
    "response.in_progress",
    "response.queued",
    "response.output_text.annotation.added",
    "response.audio.delta",
    "response.audio.done",
    "response.output_audio.delta",
    "response.output_audio.done",
    "response.image_generation_call.partial_image",
)
_PROGRESS = ("in_progress", "searching", "calling", "generating", "interpreting", "completed", "failed", "incomplete")
"""Last words of events that report the state of a tool: `response.web_search_call.searching`."""

_KINDS = {
    "response.delta": EventKind(Act.DELTA, Family.TEXT),
    "response.delta.done": EventKind(Act.DONE, Family.TEXT),
    "response.delta.flush": EventKind(Act.FLUSH),
    "response.cancel": EventKind(Act.CANCEL),
    "response.cancelled": EventKind(Act.CANCEL),
    "response.canceled": EventKind(Act.CANCEL),
    "tool.cancel": EventKind(Act.TOOL_CANCEL),
    "response.output_item.added": EventKind(Act.ITEM),
    "response.output_item.done": EventKind(Act.ITEM_DONE),
    "response.content_part.added": EventKind(Act.PART_DONE),
    "response.content_part.done": EventKind(Act.PART_DONE, Family.TEXT),
    "response.reasoning_summary_part.added": EventKind(Act.PART_DONE),
    "response.reasoning_summary_part.done": EventKind(Act.PART_DONE, Family.SUMMARY),
    "response.created": EventKind(Act.BEGINS),
    "response.done": EventKind(Act.ENDS),
    "response.completed": EventKind(Act.ENDS),
    "response.failed": EventKind(Act.BREAKS_OFF),
    "response.incomplete": EventKind(Act.BREAKS_OFF),
    "done": EventKind(Act.ENDS),
    **{f"{name}.delta": EventKind(Act.DELTA, family) for name, family in _STREAMS.items()},
    **{f"{name}.done": EventKind(Act.DONE, family) for name, family in _STREAMS.items()},
    "response.refusal.delta": EventKind(Act.DELTA, Family.TEXT, is_refusal=True),
    "response.refusal.done": EventKind(Act.DONE, Family.TEXT, is_refusal=True),
    **dict.fromkeys(_WITHOUT_TEXT, EventKind(Act.NOTHING)),
}

ERROR = EventKind(Act.ERROR)
"""An event `error` of a stream of the Responses API."""

TEXT_KEYS = ("text", "arguments", "refusal", "input", "transcript", "code", "command", "diff")
"""Members of a `…done` event that may repeat the whole text."""


def kind_of(name: str) -> EventKind | None:
    """The row of a type; None for an unknown event."""
    known = _KINDS.get(name)
    if known or not name.startswith("response."):
        return known
    return EventKind(Act.UNKNOWN)


def is_progress(name: str) -> bool:
    """True if an unlisted event only reports the state of a tool."""
    return name.rpartition(".")[2] in _PROGRESS
