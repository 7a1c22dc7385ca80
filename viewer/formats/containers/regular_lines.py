"""Reader of record lines that decodes regular lines in one step and leaves all others to the tolerant JSON parser."""

from __future__ import annotations

from typing import Protocol

from viewer.cache import lazy_regex
from viewer.formats.containers.lines import LONGEST_LINE, LineReader, Values, WholeLines
from viewer.formats.json.fields import Source
from viewer.model.messages import Span
from viewer.reading.recorder import Recorder
from viewer.syntax.json_lines import read_regular, whole_tree
from viewer.syntax.json_text import JsonNode

READ_WITH_CARE = 64 * 1024
"""The number of bytes at the start of an input that take the slow path, because preparing the fast path would take
longer."""
LONG = 1024 * 1024
"""The minimum length in bytes of a line whose value is read part by part, if possible."""


LONGEST_HELD = 256 * 1024
"""The maximum length in bytes of an incomplete line that is held until its end arrives, so that it can be decoded in
one step."""
MOST_HELD = 32
"""The maximum number of parts in which a held line may arrive, because the line is copied for each part."""


class Records(Values, Protocol):
    """Receives the values of the lines."""

    def read_long(self, data: bytes, at: int, end: int, base: int) -> bool:
        """Read a long value part by part. Return False if it must be read as a whole."""
        ...

    def read_lines(self, data: bytes, at: int, base: int) -> int:
        """Read lines as long as they have known shapes, starting at an index. Return the index after them."""
        ...

    def read_run(self, data: bytes, start: int, at: int, base: int, node: JsonNode) -> int:
        """Read the events that follow a regular one and differ from it only in the text they add. Return the index
        after them."""
        ...


class RecordLines:
    """Reads record lines. Regular ones are decoded in one step."""

    def __init__(
        self,
        record: Recorder,
        records: Records,
        *,
        longest: int = LONGEST_LINE,
        whole: WholeLines | None = None,
        decodes: bool = False,
    ) -> None:
        self._records = records
        self._careful = LineReader(record, records, longest=longest, whole=whole, decodes=decodes)
        self._longest = longest
        self._has_events = whole is None
        self._at = 0
        self._held = b""
        """The incomplete line at the end of the bytes so far. Even the slow path could not parse it yet."""
        self._parts = 0
        """The number of parts in which the incomplete line has arrived."""

    def feed(self, data: bytes) -> None:
        if self._held:
            data, self._held = self._held + data, b""
        at = 0
        while at < len(data):
            is_worth_it = self._at >= READ_WITH_CARE or len(data) - at >= LONG
            if is_worth_it and self._careful.is_between_lines:
                at = self._feed_regular(data, at)
                self._parts = 1 if at else self._parts + 1
                if self._parts <= MOST_HELD and _may_be_held(data, at):
                    self._held = data[at:]
                    break
            end = data.find(b"\n", at) + 1 or len(data)
            self._careful.read(data[at:end])
            self._at += end - at
            at = end
        self._records.grow()

    def _feed_regular(self, data: bytes, at: int) -> int:
        """Read regular lines and events, and return where the first other line begins."""
        records, careful = self._records, self._careful
        base = self._at - at
        if not careful.has_stray:
            after = records.read_lines(data, at, base)
            careful.skip(after - at)
            at = after
        while True:
            is_line = data.startswith(b"{", at)
            if not is_line and not self._has_events:
                break
            found = (_LINE if is_line else _EVENT).match(data, at)
            if found is None or found.end() - at > self._longest:
                break
            if is_line and found.end() - at >= LONG and records.read_long(data, at, found.end(1), base):
                careful.skip(found.end() - at)
                at = found.end()
                continue
            value = found.lastindex or 0
            start, line = found.start(value), found[value]
            name = None if is_line or found[1] is None else found[1].strip(_SPACE).decode("utf-8", "replace")
            regular = read_regular(line, base + start)
            if regular is None or not records.knows(regular, name):
                break
            node = whole_tree(regular) if records.changes(regular) else regular
            end = found.end()
            careful.skip(end - at)
            if not records.apply(node, name, _NONE, Source(line, base + start)):
                careful.add_stray(node.start, node.end)
            after = records.read_run(data, at, end, base, node)
            if after > end:
                careful.skip(after - end)
            at = after
        self._at = base + at
        return at

    def close(self) -> None:
        if self._held:
            self._careful.read(self._held)
            self._held = b""
        self._careful.close()


def _may_be_held(data: bytes, at: int) -> bool:
    """True if the remaining bytes are the start of a line that may turn out to be regular."""
    is_begun = at < len(data) and len(data) - at <= LONGEST_HELD and data.startswith((b"{", b"data:"), at)
    return is_begun and data.find(b"\n", at) < 0 and data.find(b"\r", at) < 0


_LINE = lazy_regex(rb"(\{[^\n]*)\n")
_EVENT = lazy_regex(rb"(?:event:([^\r\n]*)\n)?data: ?(\{[^\r\n]*)\n\n")
_SPACE = b" \t\r\n"
_NONE: list[Span] = []
