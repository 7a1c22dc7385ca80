"""Everything that is known of an input: events in, and index, diagnostics and calls kept up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from viewer.checks.context import Read
from viewer.checks.queue import CheckQueue, Ended, Messages
from viewer.index.batch import MessageBatch
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic
from viewer.model.events import Closed, Event, Grew, Opened, Started, Strayed
from viewer.model.messages import Stray, Transcript
from viewer.reading.bodies import Decoder
from viewer.reading.format import FormatTraits
from viewer.reading.open_bodies import OpenMessages

LARGEST_AHEAD = 64 * 1024
"""A message of more bytes is not checked before its turn."""
MOST_WAITING = 20_000
"""So many events wait for their checks at most; a run of messages is one."""


class Analysis:
    """Takes the events of a parser in their order; bodies are read through `read`."""

    def __init__(
        self, read: Read, dialects: Mapping[str, FormatTraits], ids: Decoder | None = None, *, defers: bool = False
    ) -> None:
        self.index = MessageIndex()
        self.transcripts: list[Transcript] = []
        self.strays: list[Stray] = []
        self.unsettled = OpenMessages()
        """The numbers of the messages that are still open."""
        self.is_partial = False
        """More of the input is there, and has not been read: what is open now is not known before it is closed."""
        self._checker = CheckQueue(self.index, read, dialects, ids)
        self.findings = self._checker.findings
        self.calls = self._checker.calls
        self._defers = defers
        """The checks run behind the index, when they are asked for."""

    @property
    def unknown(self) -> str | None:
        """What the input is if its format was not recognized; it may hold messages all the same."""
        return self._checker.unknown

    @unknown.setter
    def unknown(self, kind: str | None) -> None:
        self._checker.unknown = kind

    def take(self, events: Iterable[Event]) -> None:
        """What the parser reports next; an open message that grew is not checked before it is settled."""
        for event in events:
            match event:
                case Closed(message):
                    self.index.put(message)
                    self.unsettled.discard(message.number)
                case Opened(message):
                    self.index.put(message)
                    self.unsettled.add(message.number)
                    continue
                case Grew(number, pieces, first):
                    self.index.grow(number, pieces, first)
                    continue
                case Strayed(stray):
                    self.strays.append(stray)
                case Started(transcript):
                    self.transcripts.append(transcript)
            self._checker.add(event)
        self._check()

    def take_run(self, run: MessageBatch) -> None:
        """Whole messages that need no parser."""
        first = len(self.index) + 1
        self.index.extend(run)
        noted = self.index.columns.add(run.noted, first)
        self._checker.add(Messages(first, len(self.index), run.grammar, noted))
        self._check()

    def close(self) -> None:
        """The input has ended; what was needed to check it is forgotten when it has been checked."""
        self._checker.add(Ended())
        self._check()

    @property
    def unchecked(self) -> int:
        """How many bytes of messages wait for their checks."""
        return self._checker.waiting_bytes

    @property
    def cut(self) -> Sequence[int]:
        """The numbers of shown messages with hidden parts, as far as they are checked."""
        return self._checker.cut

    @property
    def is_checked(self) -> bool:
        """Whether nothing waits."""
        return not self._checker.waiting

    def check_some(self, size: int) -> None:
        """Check about so many bytes of what waits, in the order of the input."""
        self._checker.work(size)

    def ahead(self, number: int) -> list[Diagnostic]:
        """What is wrong with one message that waits for its checks, for someone who looks at it; given each time."""
        message = self.index[number]
        waits = self._checker.waiting and number not in self.unsettled
        is_small = message.span[1] - message.span[0] <= LARGEST_AHEAD
        is_alone = len(self.transcripts) == 1  # of several, the checker knows the one whose turn it is
        return self._checker.ahead(message) if waits and is_small and is_alone else []

    def check_all(self) -> None:
        """Check all that waits."""
        while self._checker.waiting:
            self._checker.work(self._checker.waiting_bytes + 1)

    def _check(self) -> None:
        if not self._defers or len(self._checker.waiting) > MOST_WAITING:
            self.check_all()
