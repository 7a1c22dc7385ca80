"""Lines of records: regular ones are decoded at once, all others are read with care."""

from __future__ import annotations

from typing import Protocol

from viewer.formats.events.reader import EventReader, Values
from viewer.formats.json.fields import Source
from viewer.model.messages import Span
from viewer.reading.format import ReadOptions
from viewer.reading.recorder import Recorder
from viewer.syntax.json_lines import read_regular
from viewer.syntax.json_text import JsonNode

READ_WITH_CARE = 64 * 1024
"""The number of bytes before which nothing is decoded at once: what is compiled for that costs more than it saves."""


class Records(Values, Protocol):
    """What the values of the lines are read into."""

    def takes_regular(self, node: JsonNode) -> bool:
        """True if nothing in a regular record is changed in place."""
        ...


class RecordLines:
    """Reader of lines."""

    def __init__(self, record: Recorder, options: ReadOptions, records: Records, *, longest: int) -> None:
        self._records = records
        self._careful = EventReader(record, options, records, longest=longest)
        self._longest = longest
        self._at = 0

    def feed(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            if self._at >= READ_WITH_CARE and self._careful.is_between_lines:
                at = self._feed_regular(data, at)
            end = data.find(b"\n", at) + 1 or len(data)
            self._careful.feed(data[at:end])
            self._at += end - at
            at = end

    def _feed_regular(self, data: bytes, at: int) -> int:
        """Read regular lines; return where the first other line begins."""
        records, careful = self._records, self._careful
        while data.startswith(b"{", at) and (end := data.find(b"\n", at)) >= 0:
            line = data[at:end]
            node = read_regular(line, self._at) if end - at <= self._longest else None
            if node is None or not records.takes_regular(node):
                break
            careful.skip(end + 1 - at)
            records.apply(node, None, _NONE, Source(line, self._at))
            self._at += end + 1 - at
            at = end + 1
        return at

    def close(self) -> None:
        self._careful.close()


_NONE: list[Span] = []
