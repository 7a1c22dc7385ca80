"""The state table of the text reader: the functions and tokens of each of its states."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.reading.body import end_body, end_literal, read_body, read_literal
from viewer.reading.cursor import TokenSet
from viewer.reading.frame import State
from viewer.reading.grammar import TextGrammar
from viewer.reading.header_state import end_header, read_header_words
from viewer.reading.outside import end_document_header, end_outside, read_document_header, read_outside

if TYPE_CHECKING:
    from viewer.reading.text_reader import TextReader

__all__ = ["ALL_TOKENS", "OUTSIDE_TOKENS", "STATES", "Keeps", "State", "StateRow", "token_set"]

ALL_TOKENS = ("start", "channel", "message", "call", "return", "end", "constrain", "literal", "endliteral")
OUTSIDE_TOKENS = ("start", "channel", "message", "end", "return", "call")


class Keeps(Enum):
    """The bytes that the window must retain in a state."""

    FROM_START = auto()
    """From the start of what is being read."""
    FROM_SCAN = auto()
    """From the offset at which the next search begins."""


class StateRow(Struct, frozen=True):
    """One state: its functions and requirements."""

    step: Callable[[TextReader], State | None]
    """A function that continues reading, and returns the next state, or None to wait for more bytes."""
    at_end: Callable[[TextReader], State | None]
    """The function to run if `step` waits, but the input has ended. It returns None if nothing is left."""
    tokens: tuple[str, ...]
    """The tokens to search for, if the grammar has them."""
    keeps: Keeps
    grows: bool = False
    """True if a body is open, so its growth is reported after each feed."""
    escapes: bool = True
    """True if a doubled `<` escapes a token, provided that the grammar has escapes."""


STATES: dict[State, StateRow] = {
    State.DOCUMENT_HEADER: StateRow(read_document_header, end_document_header, ("start",), Keeps.FROM_START),
    State.OUTSIDE: StateRow(read_outside, end_outside, OUTSIDE_TOKENS, Keeps.FROM_START),
    State.HEADER: StateRow(
        read_header_words, end_header, ("start", "message", "end", "return", "call"), Keeps.FROM_START
    ),
    State.BODY: StateRow(read_body, end_body, ALL_TOKENS, Keeps.FROM_SCAN, grows=True),
    State.LITERAL: StateRow(read_literal, end_literal, ("endliteral",), Keeps.FROM_SCAN, grows=True, escapes=False),
}


@lru_cache(maxsize=64)
def token_set(grammar: TextGrammar, row: StateRow) -> TokenSet | None:
    """Return the tokens of the grammar that a state searches for, or None if there are none."""
    spellings = {f"<|{name}|>".encode(): name for name in row.tokens if name in grammar.tokens}
    return TokenSet(spellings, escapes=grammar.literals and row.escapes) if spellings else None
