"""Read the values of an event stream, from separate lines or between the messages of a log."""

from __future__ import annotations

from collections.abc import Callable

from viewer.formats.events.apply import EventApplier
from viewer.formats.events.runs import EventRuns, InterleavedRuns
from viewer.formats.json.fields import Source
from viewer.formats.tables.events import EVENT_TABLE
from viewer.formats.tables.model import EventTable
from viewer.formats.text.log_lines import may_be_event
from viewer.model.messages import Span
from viewer.reading.recorder import Recorder
from viewer.rules.notes import I_JSON_LENIENT
from viewer.syntax.json_text import JsonNode, read_json

_SPACE = b" \t\r\n"


class EventLines:
    """Reads the event lines of a log."""

    def __init__(self, record: Recorder, table: EventTable = EVENT_TABLE, *, preambles: bool = False) -> None:
        self._record = record
        self._applier = EventApplier(record, table, preambles=preambles)
        self._runs = EventRuns()
        self._interleaved = InterleavedRuns(self._applier.streams)
        self._applied = 0
        """The number of events since the last regular one."""

    def try_line(self, line: bytes, offset: int, first: Callable[[], None] = lambda: None) -> bool:
        """Apply the line if it is an event of a known type. Return True if it was applied. `first` is called before
        anything is applied."""
        if not may_be_event(line):
            return False
        reading = read_json(line, offset)
        if reading.node is None or reading.fault or line[reading.end - offset :].strip(_SPACE):
            return False
        if not self.knows(reading.node, None):
            return False
        first()
        return self.apply(reading.node, None, reading.lenient)

    def knows(self, node: JsonNode, name: str | None) -> bool:
        """True if this value, or the `event:` line before it, has a known type."""
        return self._applier.types.knows(node, name)

    def apply(self, node: JsonNode, name: str | None, lenient: list[Span], source: Source | None = None) -> bool:
        """Apply a parsed value. Return False if it is not an event or was rejected. `name` is its type if the previous
        line named it."""
        self._applied += 1
        if not self._applier.apply(node, name):
            return False
        for span in lenient:
            self._record.report(I_JSON_LENIENT, None, *span)
        return True

    def changes(self, node: JsonNode) -> bool:
        """Return False, because no value is replaced."""
        return False

    def read_long(self, data: bytes, at: int, end: int, base: int) -> bool:
        """Return False, because no value is read part by part."""
        return False

    def read_lines(self, data: bytes, at: int, base: int) -> int:
        """Read nothing: further lines are only read by `read_run`, after a similar line. Return the index unchanged."""
        return at

    def read_run(self, data: bytes, start: int, at: int, base: int, node: JsonNode) -> int:
        """After a regular event, read the events that only add text to the same message, or to several messages in
        turn. Return the index after them."""
        applier = self._applier
        grown = applier.grown
        applied, self._applied = self._applied, 0
        if applied != 1:
            self._interleaved.note_other(None)
        is_api = applier.types.is_api
        is_named = applier.touched is not None
        if grown is None:
            self._runs.note_other()
            self._interleaved.note_other(applier.touched)
            if applier.opened is None:
                return at
            grown = applier.opened
        run = self._runs.after(data, start, at, base, node, grown.piece, is_api=is_api, is_named=is_named)
        if run is None and applier.grown is None:
            self._runs.note_other()
            return at
        if run is None:
            return self._interleaved.after(
                data, start, at, base, node, grown.number, grown.piece, applier.touch, is_api=is_api
            )
        applier.streams.add_run(grown.number, run)
        return run.next

    def end_response(self) -> None:
        """Close all open messages."""
        self._interleaved.note_other(None)
        self._applier.end_response()

    def grow(self) -> None:
        """Report the messages that have grown since the last call. Called at the end of each fed chunk."""
        self._applier.streams.grow()

    def close(self, at: int) -> None:
        self._applier.close(at)
