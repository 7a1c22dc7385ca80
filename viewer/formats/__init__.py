"""The formats: `DIALECTS`, the table of all that can be read, and `WRITERS`, of all that can be written."""

from __future__ import annotations

from viewer.core.dialect import Dialect
from viewer.formats.detect import Detection, detect
from viewer.formats.loading import Row, Table
from viewer.formats.writable import Writer

__all__ = ["DIALECTS", "WRITERS", "Detection", "Writer", "body_of_ids", "detect"]

DIALECTS: Table[Dialect] = Table(
    Row("openchatml-2.2", "openchatml", "OPENCHATML_2_2", "OpenChatML 2.2"),
    Row("openchatml-2.0", "openchatml", "OPENCHATML_2_0", "OpenChatML 2.0"),
    Row("openchatml-1.x", "openchatml", "OPENCHATML_1_X", "OpenChatML 1.x"),
    Row("openchatml-0.1", "openchatml_0_1", "OPENCHATML_0_1", "OpenChatML 0.1"),
    Row("harmony", "harmony", "HARMONY", "Harmony"),
    Row("harmony-tokens", "token_ids", "HARMONY_TOKENS", "Harmony token ids"),
    Row("chatml-json", "chatml_json", "CHATML_JSON", "ChatML JSON"),
    Row("json", "json_messages", "JSON", "JSON messages"),
    Row("events", "events", "EVENTS", "Event stream"),
)

WRITERS: Table[Writer] = Table(
    Row("openchatml-2.2", "write_text", "WRITE_2_2"),
    Row("openchatml-2.0", "write_text", "WRITE_2_0"),
    Row("openchatml-0.1", "openchatml_0_1_write", "WRITE_0_1"),
    Row("harmony", "write_text", "WRITE_HARMONY"),
    Row("chatml-json", "chatml_json_writing", "WRITE_CHATML_JSON"),
    Row("json", "json_writing", "WRITE_JSON"),
)


def body_of_ids(data: bytes) -> str:
    """The text of a body that is a list of token ids."""
    from viewer.formats.token_ids import body_of_ids as spelled_out

    return spelled_out(data)
