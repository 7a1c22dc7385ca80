"""`Analysis` of one input: apply events, and keep the index, diagnostics, and calls up to date."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from viewer.checks.context import Read
from viewer.checks.queue import CheckQueue, ClosedRows, Ended, Messages
from viewer.columns.plain import PlainColumns
from viewer.index.agents import AgentStart
from viewer.index.batch import MessageBatch
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic
from viewer.model.events import (
    AgentStarted,
    Closed,
    ClosedBatch,
    Event,
    Grew,
    Metadata,
    Opened,
    Started,
    Strayed,
    Superseded,
    Used,
)
from viewer.model.messages import Message, Stray, Transcript
from viewer.reading.bodies import Decoder, OpenMessages
from viewer.reading.format import FormatTraits

if TYPE_CHECKING:
    from viewer.checks.offending import MissingArguments

LARGEST_AHEAD = 64 * 1024
"""The maximum size in bytes of a message that `ahead` checks. A longer one is checked only when its turn comes."""
MOST_WAITING = 20_000
"""The maximum number of events that may be queued. A batch of messages counts as one."""


class Analysis:
    """Applies parser events, in order, to the index and the checks. `read` returns bytes of the input."""

    def __init__(
        self,
        read: Read,
        formats: Mapping[str, FormatTraits],
        ids: Decoder | None = None,
        *,
        defers: bool = False,
        is_partial: bool = False,
    ) -> None:
        self.index = MessageIndex()
        self.transcripts: list[Transcript] = []
        self.strays: list[Stray] = []
        self.metadata_count = 0
        """The number of records without a message that precede the first message."""
        self.unsettled = OpenMessages()
        """The numbers of the open messages."""
        self.is_partial = is_partial
        """True if part of the input was not read. The visibility of an open message then stays undecided until it
        closes."""
        self._formats = formats
        self._ids = ids
        self._queue = CheckQueue(self.index, read, formats, ids)
        """The queue of checks, which may lag behind the index."""
        self.findings = self._queue.findings
        self.calls = self._queue.calls
        self._defers = defers
        """True if checks run on request only."""

    def last_declaring(self, first: int, last: int) -> int:
        """Return the number of the last message in this range that declares tools, or 0 if there is none."""
        declaring = self._queue.declaring
        place = bisect_right(declaring, last, key=lambda each: each.message)
        return declaring[place - 1].message if place and declaring[place - 1].message >= first else 0

    def note_whole(self) -> None:
        """Treat open messages as final from now on: the whole input has been read, or it is being followed."""
        self.is_partial = False

    @property
    def unknown(self) -> str | None:
        """A description of the input if its format was not recognized; otherwise None. An unrecognized input may still
        contain messages."""
        return self._queue.unknown

    @unknown.setter
    def unknown(self, kind: str | None) -> None:
        self._queue.unknown = kind

    def apply(self, events: Iterable[Event]) -> None:
        """Apply the next events of the parser. An open message is not checked before it closes."""
        opened: Message | None = None
        """The message that was just opened. If the next event closes it, it is never recorded as open."""
        for event in events:
            if opened is not None:
                if not (isinstance(event, Closed) and event.message.number == opened.number):
                    self._open(opened)
                opened = None
            match event:
                case Closed(message):
                    self.index.put(message)
                    self.unsettled.discard(message.number)
                case ClosedBatch(is_verbatim=True):
                    self._add_verbatim(event)
                    continue
                case ClosedBatch():
                    self._add_batch(event)
                    continue
                case Opened(message):
                    opened = message
                    continue
                case Grew(number, pieces, first):
                    self.index.grow(number, pieces, first)
                    continue
                case Superseded(first, last):
                    self.index.supersede(first, last)
                    continue
                case Used(transcript, number, usage, model):
                    self.index.usages.add(transcript, number, usage, model)
                    continue
                case AgentStarted(transcript_number, thread, id, number):
                    self.index.agents.add(transcript_number, thread, AgentStart(id, number))
                    continue
                case Metadata():
                    self.metadata_count += 1
                    continue
                case Strayed(stray):
                    self.strays.append(stray)
                case Started(transcript):
                    self.transcripts.append(transcript)
            self._queue.add(event)
        if opened is not None:
            self._open(opened)
        self._check()

    def _open(self, message: Message) -> None:
        self.index.put(message)
        self.unsettled.add(message.number)

    def _add_batch(self, batch: ClosedBatch) -> None:
        self.transcripts += [transcript for _, transcript in batch.started]
        self.index.extend_closed(batch)
        for _, agent in batch.agents:
            self.index.agents.add(agent.transcript, agent.thread, AgentStart(agent.id, agent.number))
        for _, used in batch.used:
            self.index.usages.add(used.transcript, used.number, used.usage, used.model)
        started = [(batch.first + row, transcript) for row, transcript in batch.started]
        found = [(batch.first + row - (row in batch.opened), one) for row, one in batch.found]
        self._queue.add(ClosedRows(batch.first, batch.first + len(batch) - 1, batch.signed, started, found))

    def _add_verbatim(self, batch: ClosedBatch) -> None:
        """Add a batch of plain text. Without NumPy, its messages are checked one by one."""
        if isinstance(self.index.columns, PlainColumns):
            for event in batch.one_by_one():
                if isinstance(event, Closed):
                    self.index.put(event.message)
                    self._queue.add(event)
            return
        self.index.extend_closed(batch)
        self._queue.add(Messages(batch.first, batch.first + len(batch) - 1, None, array("I")))

    def apply_batch(self, batch: MessageBatch) -> None:
        """Apply a batch of regular messages, which bypass the parser."""
        first = len(self.index) + 1
        self.index.extend(batch)
        noted = self.index.columns.add(batch.noted, first)
        self._queue.add(Messages(first, len(self.index), batch.grammar, noted))
        self._check()

    def close(self) -> None:
        """End the input. Once everything is checked, the state of the checks is dropped."""
        self._queue.add(Ended())
        self._check()

    @property
    def unchecked(self) -> int:
        """The number of bytes in messages that await their checks."""
        return self._queue.waiting_bytes

    @property
    def cut(self) -> Sequence[int]:
        """The numbers of checked messages that are shown but have hidden parts."""
        return self._queue.cut

    @property
    def is_checked(self) -> bool:
        """True if no checks are queued."""
        return not self._queue.waiting

    def check_some(self, size: int) -> None:
        """Check about `size` queued bytes, in input order."""
        self._queue.run(size)

    def ahead(self, number: int) -> list[Diagnostic]:
        """Return the diagnostics of one queued message ahead of its turn, without caching them. The list is empty if
        the message is long or still open, or if the input has several transcripts."""
        message = self.index[number]
        waits = self._queue.waiting and number not in self.unsettled
        is_small = message.span[1] - message.span[0] <= LARGEST_AHEAD
        is_alone = len(self.transcripts) == 1  # the queue only has the state of the transcript being checked
        return self._queue.ahead(message) if waits and is_small and is_alone else []

    def missing_arguments(self, read: Read) -> MissingArguments:
        """Return an object that validates calls again to name their missing arguments. It reads the calls with
        `read`."""
        from viewer.checks.offending import MissingArguments  # lazy: only wrong calls need it

        return MissingArguments(self.index, self._queue.declaring, self.transcripts, self._formats, read, self._ids)

    def check_all(self) -> None:
        """Run all queued checks."""
        while self._queue.waiting:
            self._queue.run(self._queue.waiting_bytes + 1)

    def _check(self) -> None:
        if not self._defers or len(self._queue.waiting) > MOST_WAITING:
            self.check_all()
