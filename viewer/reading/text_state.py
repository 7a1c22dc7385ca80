"""What the states of a text reader share: the window on the input, the grammar, and text that is no message."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from viewer.reading.cursor import TokenSet, Window
from viewer.reading.grammar import SPACE, TextGrammar
from viewer.reading.recorder import Recorder
from viewer.values import frozen

_BETWEEN = ("start", "channel", "message", "end", "return", "call")
_HEADER = ("start", "message", "end", "return", "call")
_LITERAL_END = TokenSet({b"<|endliteral|>": "endliteral"})


class EventLines(Protocol):
    """Takes the lines between messages that are events."""

    def offer(self, line: bytes, offset: int, first: Callable[[], None]) -> bool:
        """Whether the line was an event, and has been taken; `first` is called before anything is recorded."""

    def grow(self) -> None:
        """Tell of the messages that have grown since the last time."""

    def close(self, at: int) -> None:
        """The input has ended."""


@lru_cache(maxsize=64)
def token_set(grammar: TextGrammar, names: tuple[str, ...]) -> TokenSet:
    """Those of the grammar's tokens that are among the names."""
    chosen = [name for name in names if name in grammar.tokens]
    return TokenSet({f"<|{name}|>".encode(): name for name in chosen}, escapes=grammar.literals)


@frozen
class TextSetup:
    """What a text reader is given."""

    record: Recorder
    grammar: TextGrammar
    events: EventLines
    grammar_of_version: Callable[[str | None], TextGrammar] | None = None
    """Chooses the grammar of a later transcript by its document header."""


class TextState:
    """Where a text reader stands. Each state of the machine is a method that returns whether to go on at once."""

    def __init__(self, setup: TextSetup) -> None:
        self.record = setup.record
        self.events = setup.events
        self.window = Window()
        self.at = 0
        """Everything before this offset has been read."""
        self.scan = 0
        """No token that matters begins before this offset."""
        self.line_known = False
        """The line that begins at `at` is neither an event nor a document header."""
        self._stray: tuple[int, int] | None = None
        self.use(setup.grammar)

    def use(self, grammar: TextGrammar) -> None:
        """Read by this grammar from here on."""
        self.grammar = grammar
        self.between_tokens = token_set(grammar, _BETWEEN)
        self.header_tokens = token_set(grammar, _HEADER)
        self.body_tokens = token_set(grammar, grammar.tokens)
        self.literal_end = _LITERAL_END

    def move(self, to: int) -> None:
        """Everything before this offset has been read."""
        self.at = self.scan = to
        self.line_known = False

    def add_stray(self, start: int, end: int) -> None:
        """Text outside any message; what follows it without a token between belongs to it."""
        text = self.window.text(start, end)
        bare = text.strip(SPACE)
        if bare:
            first = start + len(text) - len(text.lstrip(SPACE))
            self._stray = (self._stray[0] if self._stray else first, first + len(bare))

    @property
    def has_stray(self) -> bool:
        """Text outside any message has begun, and may go on."""
        return self._stray is not None

    def flush_stray(self) -> None:
        """The text outside any message is complete."""
        if self._stray:
            self.record.stray(*self._stray)
            self._stray = None
