"""`TextReader` runs the state table of the text formats: bytes in, messages and diagnostics out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from viewer.model.messages import Coding, Piece, Span
from viewer.reading.cursor import Cursor, TokenSet
from viewer.reading.frame import Frame
from viewer.reading.grammar import SPACE, TextGrammar
from viewer.reading.recorder import Recorder
from viewer.reading.states import STATES, Keeps, State, StateRow, token_set
from viewer.rules.structure import W_HEADER_MISSING


class EventLines(Protocol):
    """Reads event lines between messages."""

    def try_line(self, line: bytes, offset: int, first: Callable[[], None]) -> bool:
        """Read the line if it is an event. Return True if it is one. `first` is called before anything is recorded."""

    def grow(self) -> None:
        """Report messages that have grown since the last call."""

    def close(self, at: int) -> None:
        """Handle the end of the input."""


class TextReader:
    """Reads the text formats with `<|start|>`, in chunks of any size."""

    def __init__(
        self,
        recorder: Recorder,
        grammar: TextGrammar,
        events: EventLines,
        *,
        states: Mapping[State, StateRow] = STATES,
        first: State | None = None,
        grammar_of_version: Callable[[str | None], TextGrammar] | None = None,
    ) -> None:
        self.recorder = recorder
        self.events = events
        self.cursor = Cursor()
        self.frame: Frame | None = None
        """The open message."""
        self.stray: Span | None = None
        """Stray text that may still continue."""
        self.state = first or (State.DOCUMENT_HEADER if grammar.document_header else State.OUTSIDE)
        self.grammar_of_version = grammar_of_version
        """A function that selects the grammar of a later transcript based on the version in its document header."""
        self._states = states
        self.grammar = grammar
        self.tokens = self._token_sets()

    def feed(self, data: bytes) -> None:
        """Read the next bytes of the input."""
        states, window = self._states, self.cursor.window
        window.append(data)
        while (state := states[self.state].step(self)) is not None:
            self.state = state
        row = states[self.state]
        if row.grows:
            self._grow()
        self.events.grow()
        window.drop(self.cursor.at if row.keeps is Keeps.FROM_START else min(self.cursor.scan, window.end))

    def close(self) -> None:
        """Handle the end of the input."""
        while True:
            row = self._states[self.state]
            state = row.step(self) or row.at_end(self)
            if state is None:
                break
            self.state = state
        self.events.close(self.cursor.end)
        self.flush_stray()

    @property
    def is_resting(self) -> bool:
        """True if nothing is open, and only whitespace follows the last message."""
        window = self.cursor.window
        return (
            self.state is State.OUTSIDE
            and self.recorder.transcript > 0
            and self.stray is None
            and window.byte_before(window.end) != ord("<")
            and not self.cursor.peek(window.end).strip(SPACE)
        )

    def skip(self, to: int, count: int) -> None:
        """Continue at this offset, where a token ends, after the scanner has read `count` messages."""
        self.cursor.window.restart(to, ord(">"))
        self.cursor.move_to(to)
        self.recorder.last_number += count

    def use(self, grammar: TextGrammar) -> None:
        """Switch to this grammar."""
        if grammar is not self.grammar:
            self.grammar = grammar
            self.tokens = self._token_sets()

    def begin(self, start: int, words_at: int, *, implied: bool = False, broke_out: bool = False) -> State:
        """Begin a message. The words of its header begin at `words_at`."""
        if not self.recorder.transcript:
            self.start_without_header(start)
            self.recorder.start_if_none(start)
        self.frame = Frame(start, implied, broke_out)
        self.cursor.move_to(words_at)
        return State.HEADER

    def end_frame(self, to: int) -> State:
        """Clear the open message, and continue after it."""
        self.frame = None
        self.cursor.move_to(to)
        return State.OUTSIDE

    def start_without_header(self, at: int) -> None:
        """Start a transcript that lacks the document header of its format."""
        if self.grammar.document_header and not self.recorder.transcript:
            self.recorder.start(at)
            self.recorder.report(W_HEADER_MISSING, None, at, at)

    def piece(self, start: int, end: int) -> Piece:
        """Return a body, or its known part, as a piece."""
        return Piece(start, end, Coding.ESCAPED if self.grammar.literals else Coding.PLAIN)

    def add_stray(self, to: int) -> None:
        """Extend the stray text from the cursor to this offset. A token ends stray text."""
        text = self.cursor.peek(to)
        bare = text.strip(SPACE)
        if bare:
            first = self.cursor.at + len(text) - len(text.lstrip(SPACE))
            self.stray = (self.stray[0] if self.stray else first, first + len(bare))

    def flush_stray(self) -> None:
        """Record the stray text collected so far, if any."""
        if self.stray:
            self.recorder.stray(*self.stray)
            self.stray = None

    def _token_sets(self) -> dict[State, TokenSet]:
        sets = ((state, token_set(self.grammar, row)) for state, row in self._states.items())
        return {state: tokens for state, tokens in sets if tokens}

    def _grow(self) -> None:
        frame, scan = self.frame, self.cursor.scan
        assert frame is not None
        if scan > frame.reported_to:
            frame.reported_to = scan
            self.recorder.grow(frame.number, [self.piece(frame.body_start, scan)])
        frame.is_blank(self.cursor.window, min(scan, self.cursor.end))  # before the window drops these bytes
