"""The values that every dialect is read into: headers, messages, stray text and transcripts."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import NamedTuple

from viewer.values import frozen

Span = tuple[int, int]


class Fixed(Enum):
    """An enumeration whose members are told apart by identity, so that looking one up is fast."""

    __hash__ = object.__hash__


class Channel(Fixed):
    """The logical channel of a message, as far as a specification knows it."""

    ANALYSIS = "analysis"
    COMMENTARY = "commentary"
    FINAL = "final"


class Kind(Fixed):
    """What a message is, as its format maps it. Only what was said to somebody can be shown to an end user."""

    SAID = "said"
    """Words of a speaker; role, channel and recipient decide who may see them."""
    UNKNOWN = "unknown"
    """Content that no rule of the format maps, in whatever role."""


class Ending(Fixed):
    """How a message came to its end."""

    END = "end"
    RETURN = "return"
    CALL = "call"
    OPEN = "open"
    """The input ended, or has not yet gone on."""
    IMPLIED = "implied"
    """The next message began before this one was closed."""


class Coding(Fixed):
    """How the bytes of a piece become text."""

    PLAIN = "plain"
    """UTF-8, as it stands."""
    ESCAPED = "escaped"
    """OpenChatML 2.2: `<<|` escapes are undone, the markers of literal blocks are dropped."""
    JSON_STRING = "json-string"
    """A JSON string with its quotes."""
    JSON_TEXT = "json-text"
    """Part of a JSON string, without quotes."""
    SPLIT_STRING = "split-string"
    """A JSON string with its quotes, over several `data:` lines of a server-sent event."""
    TOKEN_IDS = "token-ids"
    """Numbers of an o200k_harmony vocabulary."""
    BREAK = "break"
    """An empty line that stands for a segment boundary; the span is where the boundary was announced."""
    JSON_VALUE = "json-value"
    """The source text of JSON values that are not strings."""
    LABEL = "label"
    """A content part with an image or another attachment, shown as `[image/png, 40 KB]`; the span is the part."""
    LINE = "line"
    """A line break between two pieces; the span is empty."""


VERBATIM = (Coding.PLAIN, Coding.JSON_VALUE)
"""Codings whose bytes are the text."""


class Piece(NamedTuple):
    """One run of bytes of a body."""

    start: int
    end: int
    coding: Coding


@frozen
class Header:
    """What the header of a message says; equal headers may be shared by many messages."""

    role: str
    """`system`, `developer`, `user`, `assistant`, `tool`, or the word as given; empty where none was given."""
    name: str | None = None
    recipient: str | None = None
    channel: Channel | None = None
    """The effective channel: final where none was given, None where it is unknown."""
    channel_given: str | None = None
    intent: str | None = None
    """As given; `preamble` only where the dialect gives it force (elsewhere it stays in `extra`)."""
    call_id: str | None = None
    content_type: str | None = None
    constrained: bool = False
    extra: tuple[tuple[str, str], ...] = ()
    malformed: bool = False
    """The header carries an E-PARSE-HEADER."""
    complete: bool = True
    """The mark that ends the header has been read; before that nothing is known."""
    kind: Kind = Kind.SAID

    def with_call_id(self, call_id: str | None) -> Header:
        """The same header for another call."""
        return Header(
            self.role,
            self.name,
            self.recipient,
            self.channel,
            self.channel_given,
            self.intent,
            call_id,
            self.content_type,
            self.constrained,
            self.extra,
            self.malformed,
            self.complete,
            self.kind,
        )


@frozen
class Message:
    """One message: its header, its ending, and where its bytes are."""

    number: int
    """1-based, through the whole input."""
    transcript: int
    header: Header
    ending: Ending
    span: Span
    pieces: tuple[Piece, ...]
    stop: Span | None = None
    """The stop token, where there is one."""
    broke_out: bool = False
    """It began inside the unclosed body of a hidden message, so by the specification it is still part of it."""
    time_ms: int | None = None
    """Milliseconds since 1970 in UTC, if the input gives a time."""
    cancelled: bool = False

    @property
    def body_span(self) -> Span | None:
        """The body as one run of bytes, where it is one."""
        if len(self.pieces) != 1 or self.pieces[0].coding not in (*VERBATIM, Coding.ESCAPED):
            return None
        return self.pieces[0].start, self.pieces[0].end


@frozen
class Stray:
    """Text outside any message."""

    transcript: int
    after: int
    """The number of the last message before it; 0 before the first."""
    span: Span


@frozen
class Transcript:
    """One transcript of the input; call ids and turns never link across two of them."""

    number: int
    dialect: str
    start: int
    version: str | None = None
    model: str | None = None
    header: dict[str, object] = field(default_factory=dict)
    """The document header as read: mappings, lists and strings; strings stay strings."""
