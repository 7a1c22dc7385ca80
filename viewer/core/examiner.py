"""Everything that is known of an input: events in, and index, diagnostics and calls kept up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from viewer.core.bodies import Decoder, read_body
from viewer.core.calls import CallLedger
from viewer.core.case import Case, Read, Transcribed
from viewer.core.dialect import Dialect
from viewer.core.events import Closed, DeclaredTools, Event, Found, Grew, Opened, Started, Strayed, ToolCancelled
from viewer.core.findings import Findings
from viewer.core.index import MessageIndex
from viewer.core.message_checks import MESSAGE_CHECKS, find_nul
from viewer.core.messages import Message, Stray, Transcript
from viewer.core.tool_checks import ToolChecks
from viewer.core.utf8 import ill_formed
from viewer.core.yaml_header import profile


class Examiner:
    """Takes the events of a parser in their order; bodies are read through `read`."""

    def __init__(self, read: Read, dialects: Mapping[str, Dialect], ids: Decoder | None = None) -> None:
        self.index = MessageIndex()
        self.transcripts: list[Transcript] = []
        self.strays: list[Stray] = []
        self.findings = Findings()
        self.calls = CallLedger(self._report)
        self.unsettled: set[int] = set()
        """The numbers of the messages that are still open."""
        self._read = read
        self._ids = ids
        self._dialects = dialects
        self._tools = ToolChecks(self.calls)
        self._transcribed: Transcribed | None = None
        self._checked_to = 0

    def take(self, events: Iterable[Event]) -> None:
        """What the parser reports next; an open message that grew is not checked before it is settled."""
        for event in events:
            match event:
                case Closed(message):
                    self._closed(message)
                case Opened(message):
                    self.index.put(message)
                    self.unsettled.add(message.number)
                case Grew(number, pieces, first):
                    self.index.grow(number, pieces, first)
                case Found(code, reason, start, end, number):
                    self._report(code, reason, start, end, number)
                case Strayed(stray):
                    self._strayed(stray)
                case Started(transcript):
                    self._started(transcript)
                case ToolCancelled(_, call_id, start, end):
                    self.calls.cancel(call_id, start, end)
                case DeclaredTools(_, _, start, end):
                    self._tools.declare(self._read(start, end).decode("utf-8", "replace"))

    def close(self) -> None:
        """The input has ended; what was needed to check it is forgotten."""
        self.calls.end_transcript()
        self._tools, self._transcribed = ToolChecks(self.calls), None

    def _report(self, code: str, reason: str | None, start: int, end: int, message: int | None) -> None:
        self.findings.add(code, reason, start, end, message)

    def _started(self, transcript: Transcript) -> None:
        if self.transcripts:
            self._tools.start_transcript()
        self.transcripts.append(transcript)
        self._transcribed = Transcribed(self._dialects[transcript.dialect], profile(transcript.header))

    def _closed(self, message: Message) -> None:
        self.index.put(message)
        self.unsettled.discard(message.number)
        case = self._case(message)
        for check in MESSAGE_CHECKS:
            check(case)
        self._tools.take(case)
        self._checked_to = max(self._checked_to, message.span[1])

    def _case(self, message: Message) -> Case:
        assert self._transcribed is not None
        body = read_body(message.pieces, self._read, self._ids)
        turn = self.index.turn(message.number)
        return Case(message, turn, body, self._read, self._transcribed, self._report, self._checked_to)

    def _strayed(self, stray: Stray) -> None:
        self.strays.append(stray)
        start, end = stray.span
        data = self._read(start, end)
        for span in ill_formed(data, start):
            self._report("W-ENCODING", "invalid-utf8", *span, None)
        for span in find_nul(data, start):
            self._report("W-ENCODING", "nul", *span, None)
