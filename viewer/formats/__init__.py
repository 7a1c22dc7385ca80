"""`FORMATS`, the table of all formats that can be read, and `WRITERS`, the table of those that can be written."""

from __future__ import annotations

from viewer.formats.detect import Detection, detect
from viewer.formats.registry import Entry, LazyRegistry
from viewer.formats.writing import Writer
from viewer.reading.format import FormatTraits

__all__ = ["FORMATS", "WRITERS", "Detection", "Writer", "body_of_ids", "detect"]

FORMATS: LazyRegistry[FormatTraits] = LazyRegistry(
    Entry("openchatml-2.2", "text.openchatml", "OPENCHATML_2_2", "OpenChatML 2.2"),
    Entry("openchatml-2.0", "text.openchatml", "OPENCHATML_2_0", "OpenChatML 2.0"),
    Entry("openchatml-1.x", "text.openchatml", "OPENCHATML_1_X", "OpenChatML 1.x"),
    Entry("openchatml-0.1", "openchatml_0_1.reader", "OPENCHATML_0_1", "OpenChatML 0.1"),
    Entry("harmony", "text.harmony", "HARMONY", "Harmony"),
    Entry("harmony-tokens", "tokens.reader", "HARMONY_TOKENS", "Harmony token ids"),
    Entry("chatml-json", "json.chatml", "CHATML_JSON", "ChatML JSON"),
    Entry("json", "json.messages", "JSON", "JSON messages"),
    Entry("events", "events.reader", "EVENTS", "Event stream"),
)

WRITERS: LazyRegistry[Writer] = LazyRegistry(
    Entry("openchatml-2.2", "text.writer", "WRITE_2_2", ending=".ocml"),
    Entry("openchatml-2.0", "text.writer", "WRITE_2_0", ending=".ocml"),
    Entry("openchatml-0.1", "openchatml_0_1.writer", "WRITE_0_1", ending=".ocml"),
    Entry("harmony", "text.writer", "WRITE_HARMONY", ending=".harmony"),
    Entry("chatml-json", "json.chatml_writer", "WRITE_CHATML_JSON", ending=".json"),
    Entry("json", "json.writer", "WRITE_JSON", ending=".json"),
)


def body_of_ids(data: bytes) -> str:
    """The text of a body that is a list of token ids."""
    from viewer.formats.tokens.reader import body_of_ids as spelled_out

    return spelled_out(data)
