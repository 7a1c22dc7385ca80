"""Runs of events that differ only in the text they add to one message: recognized by their bytes, and read together."""

from __future__ import annotations

from viewer.formats.engine.deltas import DeltaRun, begins, read_texts, template_of
from viewer.model.messages import Coding, Piece
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonNode

MOST_MISSES = 32
"""Events after which no run began, before none is looked for anymore."""
LONGEST_TOGETHER = 64 * 1024
"""A longer event is read alone."""
_UNREAD = frozenset({"obfuscation", "event_id", "created"})
"""Members that say nothing about the text of an event for a message that is open."""
_COUNTED = "sequence_number"
"""The same where events are known to be those of the interface."""


class EventRuns:
    """Owner of the runs of one input."""

    def __init__(self) -> None:
        self._misses = 0
        self._was_delta = False

    def note_other(self) -> None:
        """Note an event that is more than an addition."""
        self._was_delta = False

    def after(
        self, data: bytes, start: int, at: int, base: int, node: JsonNode, piece: Piece, *, is_api: bool
    ) -> DeltaRun | None:
        """The run of events after one that only added a piece of text to an open message, without its last one, which
        is the newest that later events refer to; None if there is none.

        `start` is the index of that event in the data, `at` the index after it, and `base` the offset of the data."""
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
