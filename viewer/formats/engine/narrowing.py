"""Narrow the visibility of messages that are history from another session or belong to another agent."""

from __future__ import annotations

from viewer.formats.engine.conditions import Unreadable, all_hold
from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.engine.paths import path
from viewer.formats.tables.model import Narrowing
from viewer.model.messages import Kind
from viewer.reading.recorder import Recorder
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.syntax.times import parse_time

_OTHER_AGENT = "session"
"""The thread of another agent's messages if their record names none."""


class Narrowings:
    """Tracks the narrowings that apply to the records of a transcript."""

    def __init__(self, record: Recorder, replays: Narrowing | None) -> None:
        self._record = record
        self._replays = replays
        self._active: list[Narrowing] = []
        self._first: JsonNode | None = None
        """The first record of the transcript."""

    def start(self, node: JsonNode) -> None:
        """Begin a transcript with this record. No narrowing applies yet."""
        self._active = []
        self._first = node

    @property
    def is_idle(self) -> bool:
        """True if no narrowing applies."""
        return not self._active

    def is_replay(self, node: JsonNode) -> bool:
        """True if a record that seems to start another session only begins that session's history in this transcript.
        In that case, the following records are narrowed."""
        replays = self._replays
        if replays is None or not self._is_close(replays, node):
            return False
        self._begin(replays, node)
        return True

    def apply(self, reading: RecordReading, node: JsonNode) -> None:
        """Narrow the messages of a record, and begin the narrowings that the record calls for."""
        if not self._active and not reading.narrows:
            return
        self._active = [each for each in self._active if not self._ends(each, node)]
        for narrowing in self._active:
            self._narrow(narrowing, reading.drafts)
        for narrowing in reading.narrows:
            self._begin(narrowing, node)
            self._narrow(narrowing, [draft for draft in reading.drafts if draft.kind is Kind.SAID])

    @staticmethod
    def _narrow(narrowing: Narrowing, drafts: list[Draft]) -> None:
        for draft in drafts:
            if draft.kind is Kind.SAID:
                draft.kind = narrowing.kind
            if narrowing.kind is Kind.SUBAGENT:
                draft.thread = draft.thread or _OTHER_AGENT

    def _begin(self, narrowing: Narrowing, node: JsonNode) -> None:
        if narrowing in self._active:
            return
        self._active.append(narrowing)
        if narrowing.fault is not None:
            self._record.report(*narrowing.fault, node.start, node.end)

    def _ends(self, narrowing: Narrowing, node: JsonNode) -> bool:
        if narrowing.time and not self._is_close(narrowing, node):
            return True
        try:
            return bool(narrowing.until) and all_hold(narrowing.until, node)
        except Unreadable:
            return False

    def _is_close(self, narrowing: Narrowing, node: JsonNode) -> bool:
        """True if a record is close in time to the first one, or if either of them has no time."""
        first, now = _time(narrowing, self._first), _time(narrowing, node)
        return first is None or now is None or now - first <= narrowing.within_ms


def _time(narrowing: Narrowing, node: JsonNode | None) -> int | None:
    """Return the time of a record in milliseconds, or None if it is missing or not a string. The unit of a number would
    be unknown."""
    value = path(narrowing.time).first(node) if node is not None else None
    return parse_time(value) if value is not None and value.kind is JsonKind.STRING else None
