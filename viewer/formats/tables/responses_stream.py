"""Streams of the OpenAI Responses API: events with announced items, errors, and an end."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.detect import LEAST_SCORE
from viewer.formats.tables.events import EVENT_TABLE
from viewer.formats.tables.model import Container, RecordFormat, Signature

_TYPES = frozenset(
    {
        *("response.created", "response.queued", "response.in_progress", "response.completed", "response.failed"),
        *("response.incomplete", "response.output_item.*", "response.content_part.*", "response.output_text.*"),
        *("response.refusal.*", "response.function_call_arguments.*", "response.custom_tool_call_input.*"),
        *("response.mcp_*", "response.reasoning_*", "response.code_interpreter_call*", "response.web_search_call.*"),
        *("response.file_search_call.*", "response.image_generation_call.*", "response.output_audio*"),
    }
)
"""The event types of the API. OpenChatML streams also have some of them, but not the members in `_MARKS`."""
_PLACES = "item_id|output_index|response|item|data.item_id|data.output_index|data.response"
_MARKS = "|".join(
    f"{layer}{member}"
    for layer in ("", "data.")
    for member in ("sequence_number", "content_index", "summary_index", "response.id", "response.output", "item.status")
)
"""Members that only the API has."""

RESPONSES_STREAM = RecordFormat(
    name="responses-stream",
    title="OpenAI Responses stream",
    container=Container.SSE,
    signatures=(
        Signature(95, (_MARKS,), {"type|event": _TYPES}),
        Signature(LEAST_SCORE - 1, (_PLACES,), {"type|event": _TYPES}),
    ),
    records=(),
    events=replace(EVENT_TABLE, is_api=True),
)
