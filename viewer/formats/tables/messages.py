"""JSON messages: OpenChatML interchange, chat-completions messages, and conversations of the Harmony library."""

from __future__ import annotations

from viewer.formats.tables.model import Container, MessageTable, RecordFormat

MESSAGE_TABLE = MessageTable(
    lists=("messages", "choices"),
    inner="message",
    requests=("request", "kwargs", "body"),
    responses=("response", "response_obj"),
    items="output",
    chosen="chosen",
    rejected="rejected",
)
JSON = RecordFormat(
    name="json",
    title="JSON messages",
    container=Container.JSON,
    signatures=(),
    records=(),
    messages=MESSAGE_TABLE,
)
