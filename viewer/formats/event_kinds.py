"""The types of events: the table of what each says and what kind of message it belongs to."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Family(Enum):
    """Kinds of messages that come as deltas."""

    TEXT = "text"
    REASONING = "reasoning"
    SUMMARY = "summary"
    CALL = "call"


class Act(Enum):
    """What an event does."""

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
    BEGINS = "begins"
    """A response begins."""
    ENDS = "ends"
    """A response ends, and all its messages."""
    BREAKS_OFF = "breaks-off"
    """A response ends, its messages unfinished."""
    NOTHING = "nothing"
    """An event of the interface that says nothing of messages."""


class EventKind(NamedTuple):
    """One row of the table."""

    act: Act
    family: Family | None = None


_STREAMS = {
    "response.output_text": Family.TEXT,
    "response.text": Family.TEXT,
    "response.refusal": Family.TEXT,
    "response.audio_transcript": Family.TEXT,
    "response.output_audio_transcript": Family.TEXT,
    "response.reasoning_text": Family.REASONING,
    "response.reasoning": Family.REASONING,
    "response.reasoning_summary_text": Family.SUMMARY,
    "response.reasoning_summary": Family.SUMMARY,
    "response.function_call_arguments": Family.CALL,
    "response.mcp_call_arguments": Family.CALL,
    "response.custom_tool_call_input": Family.CALL,
}
"""Each has a `.delta` and a `.done`."""

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
    "response.created": EventKind(Act.BEGINS),
    "response.done": EventKind(Act.ENDS),
    "response.completed": EventKind(Act.ENDS),
    "response.failed": EventKind(Act.BREAKS_OFF),
    "response.incomplete": EventKind(Act.BREAKS_OFF),
    "done": EventKind(Act.ENDS),
    **{f"{name}.delta": EventKind(Act.DELTA, family) for name, family in _STREAMS.items()},
    **{f"{name}.done": EventKind(Act.DONE, family) for name, family in _STREAMS.items()},
}

TEXT_KEYS = ("text", "arguments", "refusal", "input")
"""Where a `…done` may repeat the whole text."""


def kind_of(name: str) -> EventKind | None:
    """The row of a type; None where it is no event known here."""
    known = _KINDS.get(name)
    if known or not name.startswith("response."):
        return known
    return EventKind(Act.DONE) if name.endswith("done") else EventKind(Act.NOTHING)
