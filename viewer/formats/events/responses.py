"""Streams of the OpenAI Responses API, which the reader of event streams reads with their errors and endings."""

from __future__ import annotations

from viewer.formats.containers.lines import LineReader
from viewer.formats.detect import LEAST_SCORE
from viewer.formats.events.apply import StreamTraits
from viewer.formats.events.values import EventLines
from viewer.formats.tables.model import Container, RecordFormat, Signature
from viewer.reading.format import Reader, ReadOptions
from viewer.reading.recorder import Recorder


def _open(record: Recorder, options: ReadOptions) -> Reader:
    traits = StreamTraits(is_api=True, preambles=options.harmony_preambles)
    return LineReader(record, EventLines(record, traits))


_TYPES = frozenset(
    {
        *("response.created", "response.queued", "response.in_progress", "response.completed", "response.failed"),
        *("response.incomplete", "response.output_item.*", "response.content_part.*", "response.output_text.*"),
        *("response.refusal.*", "response.function_call_arguments.*", "response.custom_tool_call_input.*"),
        *("response.mcp_*", "response.reasoning_*", "response.code_interpreter_call*", "response.web_search_call.*"),
        *("response.file_search_call.*", "response.image_generation_call.*", "response.output_audio*"),
    }
)
"""The types of the API. OpenChatML streams have some of them as well, but not the marks below."""
_PLACES = "item_id|output_index|response|item|data.item_id|data.output_index|data.response"
_MARKS = "|".join(
    f"{layer}{member}"
    for layer in ("", "data.")
    for member in ("sequence_number", "content_index", "summary_index", "response.id", "response.output", "item.status")
)
"""Members of the API alone."""

RESPONSES_STREAM = RecordFormat(
    name="responses-stream",
    title="OpenAI Responses stream",
    container=Container.SSE,
    signatures=(
        Signature(95, (_MARKS,), {"type|event": _TYPES}),
        Signature(LEAST_SCORE - 1, (_PLACES,), {"type|event": _TYPES}),
    ),
    records=(),
    reader=_open,
)
