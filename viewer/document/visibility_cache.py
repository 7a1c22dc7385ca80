"""Cache of the visibility of messages for an audience, and access to their headers, by kind of message."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from viewer.checks.analysis import Analysis
from viewer.columns.api import Column
from viewer.formats import FORMATS
from viewer.index.messages import MessageIndex
from viewer.model.messages import Ending, Header, Message
from viewer.reading.format import Channels

AT_ONCE = 64 * 1024
"""The number of messages that are processed together, so their columns fit into a processor cache."""
_UNKNOWN = 2


Rule = Callable[[Message], bool]
"""A test of a message that depends only on its header and ending."""


class VisibilityCache:
    """Evaluates a rule once per kind of message. The rule may depend only on the header (except its call ID) and the
    ending."""

    def __init__(self, index: MessageIndex, rule: Rule) -> None:
        self._index = index
        self._rule = rule
        self._verdicts = bytearray(b"\1")
        """For each kind: 1 if its messages are visible, 0 if they are not, 2 if the rule has not run yet. Kind 0
        belongs to no message; its entry is always 1."""

    def sees(self, number: int) -> bool:
        """True if the audience sees the message with this number; False until its header is known."""
        return number <= len(self._index) and self.sees_kind(self._index.kinds[number])

    def sees_kind(self, kind: int) -> bool:
        """True if the audience sees messages of this kind."""
        if kind >= len(self._verdicts):
            self._cover_all_kinds()
        verdict = self._verdicts[kind]
        if verdict == _UNKNOWN:
            verdict = self._verdicts[kind] = self._rule(self._index.example(kind))
        return verdict == 1

    def count(self, first: int, last: int) -> int:
        """Return how many of these messages are visible."""
        starts = range(first, last + 1, AT_ONCE)
        return sum(self.mask(start, min(last, start + AT_ONCE - 1)).count(1) for start in starts)

    def first(self, first: int, last: int) -> int | None:
        """Return the first visible message in this range, or None if there is none."""
        for start in range(first, last + 1, AT_ONCE):
            place = self.mask(start, min(last, start + AT_ONCE - 1)).find(1)
            if place >= 0:
                return start + place
        return None

    def mask(self, first: int, last: int) -> bytearray:
        """Return a mask of the visible messages in this range."""
        return self._mask(self._index.kinds, first, last + 1)

    def mask_at(self, numbers: Column) -> bytearray:
        """Return a mask of the visible messages among these, which need not be adjacent."""
        return self._mask(self._index.columns.take(self._index.kinds, numbers), 0, len(numbers))

    def _mask(self, kinds: array[int], first: int, last: int) -> bytearray:
        columns = self._index.columns
        self._cover_all_kinds()
        mask = columns.mask(kinds, self._verdicts, first, last)
        if _UNKNOWN not in mask:
            return mask
        for kind in columns.count_by(kinds[first:last], None):
            self.sees_kind(kind)
        return columns.mask(kinds, self._verdicts, first, last)

    def _cover_all_kinds(self) -> None:
        self._verdicts.extend(bytes((_UNKNOWN,)) * (self._index.kind_count - len(self._verdicts)))


class Heads:
    """The headers and endings of one transcript, for an audience that sees everything."""

    def __init__(self, analysis: Analysis, transcript: int) -> None:
        self._index = analysis.index
        self.transcript = transcript
        """The number of the transcript in the input."""
        self._format = analysis.transcripts[transcript - 1].format if analysis.transcripts else None
        first, last = self._index.numbers_of_transcript(transcript) or (1, 0)
        self.first = first
        """The number of the first message."""
        self.last = last

    @property
    def channels(self) -> Channels:
        """How messages of the transcript's format name their channels; `WRITTEN` for an empty input."""
        return FORMATS[self._format].channels if self._format else Channels.WRITTEN

    @property
    def branches(self) -> Iterator[tuple[int, int]]:
        """The first and last message of each superseded branch."""
        return (each for each in self._index.branches if self.first <= each[0] <= self.last)

    def header(self, number: int) -> Header:
        """Return the header of a message, without its call ID."""
        return self._index.example(self._index.header_key(number)).header

    def ending(self, number: int) -> Ending:
        """Return how a message ended."""
        return self._index.example(self._index.header_key(number)).ending

    def mask(self, rule: Rule) -> bytearray:
        """Return a mask of the messages that a rule selects, in order. The rule runs once per distinct header."""
        return VisibilityCache(self._index, rule).mask(self.first, self.last) if self.last else bytearray()

    def keys(self, numbers: Column) -> Column:
        """Return the header keys of these messages. Messages with equal keys have equal headers."""
        return self._index.columns.take(self._index.kinds, numbers)

    def rows(self, mask: bytearray) -> Column:
        """Return the numbers of the messages that a mask selects."""
        return self._index.columns.select(mask, self.first)
