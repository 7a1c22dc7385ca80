"""Write drafts as messages, either complete or open for later records that may add to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from msgspec import Struct

from viewer.formats.engine.drafts import MOST_TURNS, Draft
from viewer.formats.engine.writing.arrived import Arrived
from viewer.formats.engine.writing.headers import SPOKEN, DraftHeaders
from viewer.formats.engine.writing.text_hooks import TextHooks, is_one_text
from viewer.formats.json.content_parts import ContentPart, may_be_split, split_content
from viewer.formats.json.fields import Source
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Coding, Ending, Header, Kind, Outcome, Piece, Span
from viewer.reading.recorder import Recorder
from viewer.rules.calls import W_TOOL_FAILED
from viewer.rules.errors import E_STREAM_TRUNCATED, E_TOOL_CANCELLED, E_TOOL_TIMEOUT
from viewer.rules.notes import I_ROW_ORDER
from viewer.rules.structure import W_COPY_DIFFERS

_TURNS = (Kind.SAID, Kind.CALL, Kind.REPLY)
_OUTCOME_RULES: dict[Outcome, tuple[Rule, str | None]] = {
    Outcome.FAILED: (W_TOOL_FAILED, None),
    Outcome.REFUSED: (W_TOOL_FAILED, None),
    Outcome.TIMEOUT: (E_TOOL_TIMEOUT, "reported"),
    Outcome.CANCELLED: (E_TOOL_CANCELLED, "reported"),
}


class OpenMessage(Struct):
    """A message that may still grow."""

    number: int
    pieces: list[Piece]
    text: str
    end: int
    must_end: bool = False
    """True if the message is incomplete until its last record arrives."""
    draft: Draft | None = None
    """The newest record of the message, or the first record if its text arrives in pieces."""
    arrived: Arrived | None = None
    """The whole text, if it arrives in pieces. `pieces` then contains only the pieces that are already shown."""


class RowOrder:
    """Checks the message order of a training row: answers alternate with other messages, and an answer comes last.
    `report` receives the number and span of a message that is out of order."""

    def __init__(self, report: Callable[[int, Span], None]) -> None:
        self._report = report
        self._last: tuple[bool, int, Span] | None = None

    def add(self, header: Header, number: int, span: Span) -> None:
        """Add a message. Only text, calls, and replies of the main thread count."""
        if header.thread or header.kind not in _TURNS:
            return
        is_answer = header.kind is Kind.SAID and header.role == "assistant"
        if is_answer and self._last is not None and self._last[0] and self._last[2] != span:
            self._report(number, span)
        self._last = is_answer, number, span

    def end(self) -> None:
        """End the row, and report its last message if that is not an answer."""
        if self._last is not None and not self._last[0]:
            self._report(*self._last[1:])
        self._last = None


class DraftMessages:
    """Writes single drafts, regardless of how they relate to each other."""

    def __init__(self, record: Recorder, headers: DraftHeaders, hooks: TextHooks, *, has_order: bool) -> None:
        self._record = record
        self._headers = headers
        self._hooks = hooks
        self.source: Source | None = None
        """The bytes of the current record; None if they are not available."""
        self._prompts: deque[int] = deque(maxlen=MOST_TURNS)
        """The numbers of the latest prompts."""
        self.has_prompt = False
        """True if the last record contained text that the user typed."""
        self._row_order = RowOrder(self._report_order) if has_order else None

    def start(self) -> None:
        self._prompts.clear()

    def begin_record(self, source: Source | None) -> None:
        self.source = source
        self.has_prompt = False

    def rewind(self, turns: int) -> None:
        """Mark the last turns as a superseded branch."""
        prompts = [*self._prompts][-turns:]
        if prompts:
            self._record.supersede(prompts[0], self._record.last_number)
            self._prompts = deque([*self._prompts][: -len(prompts)], maxlen=MOST_TURNS)

    def close(self) -> None:
        """End the current row at the end of the input or of the transcript."""
        if self._row_order is not None:
            self._row_order.end()

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of the current record between two offsets."""
        assert self.source is not None
        return self.source.data[start - self.source.base : end - self.source.base]

    # Whole messages.

    def runs(self, draft: Draft) -> Iterable[Draft]:
        """Yield the draft itself or, if a hook splits its text, one draft for each run of one kind."""
        return self._hooks.runs(draft, self.read if self.source is not None else None)

    def emit(self, draft: Draft) -> int:
        """Write a draft as one or more messages, and return the number of the last one."""
        for part in self.runs(draft) if draft.rule.split else (draft,):
            header = self._headers.of(part)
            if part.kind is not Kind.SAID or not self._emit_marked(part, header):
                number = self._record.add_complete(
                    header, ending_of(part), part.span, part.pieces, time_ms=part.time_ms, time_at=part.time_at
                )
                self.report(part.problems, number)
                self.report_outcome(part, number)
                self.note(header, number, part.span)
        return self._record.last_number

    def _emit_marked(self, draft: Draft, header: Header) -> bool:
        """Write text with template marks as the messages that it contains. Return False for any other text."""
        marked = self._marked(draft, header.role)
        for part in marked:
            own, ending = self._headers.of_marked(part, header)
            number = self._record.add_complete(
                own, ending, draft.span, part.pieces, time_ms=draft.time_ms, time_at=draft.time_at
            )
            self.note(own, number, draft.span)
            self.report(part.reports, number)
        return bool(marked)

    def note(self, header: Header, number: int, span: Span) -> None:
        """Check the order of a message that was written, and remember it if it is a prompt."""
        if self._row_order is not None:
            self._row_order.add(header, number, span)
        if is_prompt(header):
            self.has_prompt = True
            self._prompts.append(number)

    # Text with template marks.

    def is_marked(self, draft: Draft) -> bool:
        """True if the text of the draft has template marks at which it is split."""
        return bool(self._split(draft, draft.role))

    def _marked(self, draft: Draft, role: str) -> list[ContentPart]:
        """Return the parts of text with template marks, or none for any other draft. The draft keeps the parts, because
        the bytes are only available while the record is being read."""
        if draft.kind is not Kind.SAID or role not in SPOKEN or draft.is_open:
            return []
        if draft.marked is None:
            draft.marked = self._split(draft, role)
        return draft.marked

    def _split(self, draft: Draft, role: str) -> list[ContentPart]:
        if self.source is None or (is_one_text(draft) and not may_be_split(draft.text.encode())):
            return []
        return split_content(draft.pieces, self.read, role)

    def _unmarked(self, draft: Draft) -> list[Piece]:
        """Return the pieces that may already be shown. Text with marks has none until it is complete and split."""
        return [] if self._marked(draft, draft.role) else draft.pieces

    # Messages that stay open.

    def open(self, draft: Draft) -> OpenMessage:
        """Begin a message that may grow, and return its state."""
        pieces = self._unmarked(draft)
        number = self._record.open(
            self._headers.of(draft), draft.span[0], pieces, time_ms=draft.time_ms, time_at=draft.time_at
        )
        self.report(draft.problems, number)
        return OpenMessage(number, pieces, draft.text, draft.span[1], draft=draft)

    def open_hidden(self, draft: Draft) -> int:
        """Begin a message that stays hidden until it is settled, and return its number."""
        header = self._headers.of_hidden(draft)
        self._marked(draft, draft.role)
        return self._record.open(header, draft.span[0], draft.pieces, time_ms=draft.time_ms, time_at=draft.time_at)

    def replace(self, known: OpenMessage, draft: Draft) -> OpenMessage:
        """Replace the content of an open message with that of a later record. Return the new state of the message."""
        if known.draft is not None:
            draft.name = draft.name or known.draft.name
        draft.pieces = draft.pieces or known.pieces
        pieces = self._unmarked(draft)
        self._record.grow(known.number, pieces, 0)
        return OpenMessage(known.number, pieces, draft.text, draft.span[1], known.must_end, draft)

    def append(self, known: OpenMessage, draft: Draft) -> None:
        """Add the pieces of a record to an open message."""
        known.end = draft.span[1]
        if known.arrived is not None:
            known.arrived.add(draft.pieces, self.read)
        if known.arrived is not None and known.arrived.look(draft.role):
            return
        first = len(known.pieces)
        known.pieces += draft.pieces
        self._record.grow(known.number, draft.pieces, first)

    def continue_with(self, known: OpenMessage, draft: Draft) -> OpenMessage:
        """Continue a message with the text of the next one, so that both become a single message. Return its new
        state."""
        self._record.grow(known.number, draft.pieces, len(known.pieces))
        return OpenMessage(known.number, [*known.pieces, *draft.pieces], known.text + draft.text, draft.span[1])

    def settle(self, number: int, draft: Draft) -> None:
        """Close a message with the header and the content of its draft. Text with template marks becomes several
        messages."""
        header = self._headers.of(draft)
        marked = self._marked(draft, header.role)
        if not marked:
            self._record.close(number, ending_of(draft), draft.span[1], draft.pieces, header=header)
            self.note(header, number, draft.span)
            self.report(draft.problems, number)
            self.report_outcome(draft, number)
            return
        for index, part in enumerate(marked):
            own, ending = self._headers.of_marked(part, header)
            if index:
                number = self._record.add_complete(
                    own, ending, draft.span, part.pieces, time_ms=draft.time_ms, time_at=draft.time_at
                )
            else:
                self._record.close(number, ending, draft.span[1], part.pieces, header=own)
            self.report(part.reports, number)

    def end(self, known: OpenMessage) -> None:
        """Close a message that no longer grows, and report it if it is truncated."""
        ending = Ending.OPEN if known.must_end else Ending.END
        if known.must_end:
            self._record.report(E_STREAM_TRUNCATED, "event-stream", known.end, known.end, known.number)
        if known.draft is None:
            self._record.close(known.number, ending, known.end, known.pieces)
            return
        if known.arrived is not None:
            known.draft.pieces = known.pieces = known.arrived.pieces
            known.draft.span = known.draft.span[0], known.end
            known.draft.marked = [] if known.must_end else known.arrived.parts(known.draft.role)
        if known.draft.marked and (known.arrived is not None or not known.pieces):
            self.settle(known.number, known.draft)
            return
        header = self._headers.of(known.draft)
        ending = Ending.OPEN if known.must_end else ending_of(known.draft)
        self._record.close(known.number, ending, known.end, known.pieces, header=header)
        self.report_outcome(known.draft, known.number)

    # Diagnostics.

    def report(self, problems: list[Problem], number: int) -> None:
        for problem in problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end, number)

    def report_outcome(self, draft: Draft, number: int) -> None:
        """Report the outcome of a reply if its tool failed, timed out, or was cancelled."""
        found = outcome_report(draft)
        if found is not None and draft.outcome_span is not None:
            self._record.report(*found, *draft.outcome_span, number)

    def report_difference(self, draft: Draft, number: int) -> None:
        """Report that two records at copy positions differ, so both are messages."""
        pieces = draft.pieces or [Piece(*draft.span, Coding.PLAIN)]
        self._record.report(W_COPY_DIFFERS, None, pieces[0].start, pieces[-1].end, number)

    def _report_order(self, number: int, span: Span) -> None:
        self._record.report(I_ROW_ORDER, None, *span, number)


def is_prompt(header: Header) -> bool:
    """True for the header of text that the user typed."""
    return header.role == "user" and header.kind is Kind.SAID and not header.thread


def outcome_report(draft: Draft) -> tuple[Rule, str | None] | None:
    """Return the rule and the reason to report if a tool failed, timed out, or was cancelled, or else None."""
    is_reply = draft.kind is Kind.REPLY and draft.outcome is not None
    return _OUTCOME_RULES.get(draft.outcome) if is_reply and draft.outcome is not None else None


def ending_of(draft: Draft) -> Ending:
    """Return the ending of the message of a draft."""
    if draft.is_open:
        return Ending.OPEN
    return Ending.CALL if draft.kind is Kind.CALL else Ending.END
