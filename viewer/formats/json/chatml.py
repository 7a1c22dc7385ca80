"""Reader of ChatML JSON: arrays of strings and `{"token": "<|start|>"}` objects."""

from __future__ import annotations

from viewer.formats.containers.documents import JsonDocuments
from viewer.formats.json.chatml_frames import ChatMLFrames, RegularArray
from viewer.reading.format import Channels, FormatTraits, ReadOptions
from viewer.reading.recorder import SMALLEST_BATCH, Recorder
from viewer.rules.errors import E_PARSE_HEADER
from viewer.syntax.json_text import JsonKind, JsonReading


class ChatMLJsonReader(JsonDocuments):
    """Reads each array as a separate transcript."""

    def __init__(self, record: Recorder, options: ReadOptions) -> None:
        super().__init__(record)
        self._array = RegularArray(-1)
        """The regular part of the document that was read last."""

    def find_end(self) -> int | None:
        if self._array.start != self.base + self.at:
            self._array = RegularArray(self.base + self.at)
        return self._array.end(self.data, self.at)

    def read_in_place(self, at: int, end: int) -> bool:
        """Read a regular array without building a tree of its values. Return False for any other array."""
        if not self._array.is_whole:
            return False
        frames, self._array = self._array.frames, RegularArray(-1)
        self.record.start(self.base + at)
        if self.record.has_batches and len(frames.roles) >= SMALLEST_BATCH:
            batch = self.record.batch()
            frames.add_to(batch, self.data, self.base)
            self.record.count_batch(batch)
        else:
            frames.record(self.record)
        return True

    def read_document(self, reading: JsonReading, data: bytes, base: int) -> None:
        node = reading.node
        if node is None:
            return
        self.record.start(node.start)
        if node.kind is JsonKind.ARRAY:
            ChatMLFrames(self.record, reading, node).read()
        elif node.closed:
            self.record.report(E_PARSE_HEADER, "not-a-message", node.start, node.end)
            self.record.stray(node.start, node.end)

    def broken_rest(self, reading: JsonReading, data: bytes) -> None:
        """Report the unread rest of a broken document as stray text."""
        fault = reading.faults[-1]
        start = fault.offset
        if reading.node is not None and reading.node.kind is not JsonKind.ARRAY:
            start = reading.node.start
        if start < self.base + len(data.rstrip()):
            self.record.report(E_PARSE_HEADER, "not-a-message", fault.offset, fault.end)
        self.text_between(data[start - self.base :], start)


CHATML_JSON = FormatTraits(
    name="chatml-json", reader=ChatMLJsonReader, json_content=True, thoughts_first=True, channels=Channels.NONE
)
