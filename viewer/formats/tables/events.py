"""Event streams: the event types, what each does, and the members that contain text."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.model import (
    Act,
    Container,
    EventKind,
    EventTable,
    Family,
    PartRule,
    RecordFormat,
    RecordRule,
    When,
    ends,
    has,
    is_,
    is_not,
    lacks,
    no_flag,
    starts,
)
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

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
"""The kind of text in each stream, by the name of the stream. Each stream has `.delta` and `.done` events."""

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
_HEARD = "conversation.item.input_audio_transcription"
_OF_SESSIONS = (
    *(f"input_audio_buffer.{name}" for name in ("append", "commit", "clear", "committed", "cleared")),
    *(f"input_audio_buffer.{name}" for name in ("speech_started", "speech_stopped", "timeout_triggered")),
    *(f"output_audio_buffer.{name}" for name in ("started", "stopped", "cleared", "clear")),
    *("conversation.created", "conversation.item.deleted", "conversation.item.truncated", "rate_limits.updated"),
    *(f"{_HEARD}.{name}" for name in ("delta", "segment", "updated")),
    *(f"conversation.item.{name}" for name in ("retrieve", "truncate", "delete")),
)
"""Realtime API events, from both server and client. A growing audio transcript is sent again as a whole."""
_PROGRESS = frozenset(
    ("in_progress", "searching", "calling", "generating", "interpreting", "completed", "failed", "incomplete")
)
"""Last words of event types that report the state of a tool, as in `response.web_search_call.searching`."""

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
    "response.content_part.added": EventKind(Act.PART, Family.TEXT),
    "response.content_part.done": EventKind(Act.PART_DONE, Family.TEXT),
    "response.reasoning_summary_part.added": EventKind(Act.PART, Family.SUMMARY),
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
    **{f"conversation.item.{name}": EventKind(Act.ASKED) for name in ("created", "added", "done", "retrieved")},
    f"{_HEARD}.completed": EventKind(Act.TRANSCRIPT),
    f"{_HEARD}.failed": EventKind(Act.ERROR),
    "conversation.item.create": EventKind(Act.SENT),
    "response.create": EventKind(Act.REQUESTED),
    "session.update": EventKind(Act.SESSION),
    "session.created": EventKind(Act.SESSION),
    "session.updated": EventKind(Act.SESSION),
    **dict.fromkeys((*_WITHOUT_TEXT, *_OF_SESSIONS), EventKind(Act.NOTHING)),
}

ERRORS = {
    "rate_limit_exceeded": "rate-limit",
    "insufficient_quota": "rate-limit",
    "invalid_api_key": "auth",
    "context_length_exceeded": "context-length",
    "content_filter": "content-filter",
    "server_error": "api",
}
"""The reasons for errors, by error code."""
INCOMPLETE = {
    "max_output_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
}
"""The problems to report, by the reason why a response is incomplete."""

_OF_DELTA = frozenset(
    {
        *("role", "name", "channel", "phase", "recipient", "to", "intent", "content", "refusal"),
        *("tool_calls", "function_call", "audio", "annotations", "citations", "extra_content"),
        *("provider_specific_fields", "logprobs", "content_type", "id", "type", "thought"),
    }
)
"""The members of a delta in a chat completion chunk that are read or contain no message text."""
_OF_CHOICE = frozenset(
    {
        *("index", "delta", "role", "channel", "phase", "recipient", "to", "intent", "finish_reason"),
        *("stop_reason", "native_finish_reason", "finish_details", "logprobs", "content_filter_results"),
        *("content_filter_result", "token_ids", "matched_stop", "seed", "thought"),
    }
)
"""The members of a choice that are read or contain no message text."""

_OTHER_KIND = "kind|part_kind"
_THOUGHTS = ("thinking", "reasoning", "thought")
PARTS = (
    PartRule((When("", kind=JsonKind.STRING),), Kind.SAID),
    PartRule((is_("type", "summary_text"),), Kind.THOUGHT, "text", intent="summary"),
    PartRule((starts("type", *_THOUGHTS),), Kind.THOUGHT, "text|thinking|reasoning|thought"),
    PartRule((is_("type", "redacted_thinking"),), Kind.THOUGHT),
    PartRule((is_("type", "text"),), Kind.SAID, "text|value|content"),
    PartRule((lacks("type"), has(_OTHER_KIND), is_not(_OTHER_KIND, "text")), Kind.UNKNOWN),
    *(PartRule((when,), Kind.SAID, "text") for when in (lacks("type"), is_("type", "", "output_text", "input_text"))),
    PartRule((is_("type", "refusal"),), Kind.SAID, "refusal", refusal=True),
    PartRule((is_("type", "audio", "output_audio", "input_audio"),), Kind.SAID, "transcript"),
)
"""The rules for the content parts of messages and of chunks."""
_NO_THOUGHT = (no_flag("thought"), no_flag("extra_content.google.thought"))
_CALL = RecordRule(
    (),
    Kind.CALL,
    "assistant",
    "arguments|input|code|command|action",
    also=(RecordRule((), Kind.UNKNOWN, "tool", "output&outputs&results&result&error"),),
)
ITEMS = (
    RecordRule(
        (is_("type", "reasoning"),),
        Kind.THOUGHT,
        "assistant",
        "summary",
        (PartRule((), Kind.THOUGHT, "text", intent="summary"),),
        also=(RecordRule((), Kind.THOUGHT, "assistant", "content", (PartRule((), Kind.THOUGHT, "text"),)),),
    ),
    *(
        RecordRule((*when, *_NO_THOUGHT), Kind.SAID, "assistant", "content", PARTS)
        for when in ((is_("type", "message"),), (lacks("type"), lacks("call_id")))
    ),
    *(replace(_CALL, when=when) for when in ((ends("type", "_call"),), (lacks("type"), has("call_id")))),
)
"""The rules for the items of a response."""

EVENT_TABLE = EventTable(
    _KINDS,
    items=ITEMS,
    parts=PARTS,
    chunk_members=_OF_DELTA,
    choice_members=_OF_CHOICE,
    api={"error": EventKind(Act.ERROR), "ping": EventKind(Act.NOTHING)},
    interface="response.",
    progress=_PROGRESS,
    deltas=("delta", "data", "text"),
    wholes=("text", "arguments", "refusal", "input", "transcript", "code", "command", "diff"),
    errors=ERRORS,
    incomplete=INCOMPLETE,
)
EVENTS = RecordFormat(
    name="events",
    title="Event stream",
    container=Container.SSE,
    signatures=(),
    records=(),
    events=EVENT_TABLE,
)
