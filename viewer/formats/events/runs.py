"""Runs of events that differ only in the text they add to one message: recognized by their bytes, and read together."""

from __future__ import annotations

from viewer.formats.engine.deltas import DeltaRun, begins, read_texts, template_of
from viewer.model.messages import Coding, Piece
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonNode

MOST_MISSES = 32
"""After this many events that no run followed, the search for runs ends."""
LONGEST_TOGETHER = 64 * 1024
"""The maximum length in bytes. A longer event is not read as part of a run."""
_UNREAD = frozenset({"obfuscation", "event_id", "created"})
"""Members that do not affect the text that an event adds to an open message."""
_COUNTED = "sequence_number"
"""A further such member, in events that are known to come from the API."""


class EventRuns:
    """The runs of one input."""

    def __init__(self) -> None:
        self._misses = 0
        self._was_delta = False

    def note_other(self) -> None:
        """Record an event that does more than add text."""
        self._was_delta = False

    def after(
        self, data: bytes, start: int, at: int, base: int, node: JsonNode, piece: Piece, *, is_api: bool
    ) -> DeltaRun | None:
        """Return the run of events after one that only added a piece of text to an open message, or None if there is
        none.

        The run excludes its last event, because later events may refer to the newest one. `start` is the index of the
        first event in the data, `at` the index after it, and `base` the offset of the data."""
        was_delta, self._was_delta = self._was_delta, True
        if not was_delta or self._misses >= MOST_MISSES or not isinstance(node, LazyNode):
            return None
        if piece.coding not in (Coding.PLAIN, Coding.JSON_STRING):
            return None
        unread = _UNREAD | {_COUNTED} if is_api else _UNREAD
        template = template_of(data, start, at, base, node, piece, unread.__contains__)
        if not begins(template, data, at):
            self._misses += 1
            return None
        self._misses = 0
        return read_texts(template, data, at, base, node.end - base - at, keep=1, longest=LONGEST_TOGETHER)
