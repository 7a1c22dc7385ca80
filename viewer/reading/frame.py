"""The states of the text reader, and the frame of the message that is being read."""

from __future__ import annotations

from enum import Enum, auto

from viewer.model.messages import Header
from viewer.reading.cursor import Window
from viewer.reading.grammar import SPACE

NO_HEADER = Header("")


class State(Enum):
    """The state of a text reader: what the bytes at its cursor belong to."""

    DOCUMENT_HEADER = auto()
    OUTSIDE = auto()
    """Between messages."""
    HEADER = auto()
    BODY = auto()
    LITERAL = auto()
    """A literal block inside a body."""
    BEGINNING = auto()
    """Harmony: it is not clear yet whether the input is a conversation, a completion, or text without tokens."""
    STRIPPED = auto()
    """Harmony: a decoder dropped the special tokens."""

    __hash__ = object.__hash__  # Enum's own hash is written in Python, and every step looks up its state


class CutOffHeader:
    """A header that another `<|start|>` cut off. It is either repeated after that token, or a message without a
    body."""

    __slots__ = ("at", "implied", "start", "words")

    def __init__(self, start: int, at: int, words: bytes, implied: bool) -> None:
        self.start = start
        self.at = at
        self.words = words
        self.implied = implied


class Frame:
    """The open message, from its first byte until it closes."""

    __slots__ = (
        "blank_to",
        "body_start",
        "broke_out",
        "cut_off",
        "header",
        "implied",
        "number",
        "reported_to",
        "start",
    )

    def __init__(self, start: int, implied: bool = False, broke_out: bool = False) -> None:
        self.header = NO_HEADER
        self.number = 0
        """The number of the message; 0 until its body begins."""
        self.start = start
        self.body_start = 0
        self.reported_to = 0
        """The offset up to which the growth of the body has been reported."""
        self.broke_out = broke_out
        """True if the message began inside an unclosed hidden message."""
        self.implied = implied
        """True if there was no `<|start|>`."""
        self.cut_off: CutOffHeader | None = None
        self.blank_to: int | None = None
        """The offset up to which the body is whitespace; None if it is not, or if preambles are not assumed."""

    def is_blank(self, window: Window, end: int) -> bool:
        """True if the body is whitespace up to this offset. This is tracked only if preambles are assumed."""
        if self.blank_to is not None:
            has_text = window.text(self.blank_to, end).strip(SPACE)
            self.blank_to = None if has_text else max(end, self.blank_to)
        return self.blank_to is not None
