"""`Part`: one message of OpenChatML 0.1 while it is being read, with the start and end of its body."""

from __future__ import annotations

import re
from enum import Enum

from viewer.model.messages import Coding, Ending, Header, Piece, Span
from viewer.reading.recorder import Recorder
from viewer.reading.template_marks import MarkPair

SPACE = b" \t\r\n"
LONGEST_KEPT = 1024 * 1024
"""The maximum length in bytes. No name is read from longer JSON."""
_TAG_END = re.compile(rb"[<>\n]")


class Begins(Enum):
    """Where the body of a part begins."""

    EXACTLY = "exactly"
    AFTER_LINE_END = "after-line-end"
    """After a leading line end, which is not part of the body."""
    AFTER_TAG = "after-tag"
    """At the first nonblank character after the attributes of the tag."""
    AT_TEXT = "at-text"
    """At the first nonblank character."""


class Part:
    """A message while it is being read. It is reported once it certainly is a message."""

    def __init__(
        self,
        header: Header,
        span_start: int,
        at: int,
        begins: Begins = Begins.EXACTLY,
        *,
        certain: bool = False,
        broke_out: bool = False,
        block: MarkPair | None = None,
        ending: Ending = Ending.END,
    ) -> None:
        self.header = header
        self.span_start = span_start
        self.at = at
        """Where the bytes of the part start."""
        self.begins = begins
        self.certain = certain
        """True if the part is a message even if it is empty."""
        self.broke_out = broke_out
        self.kept: bytearray | None = None
        """The JSON of a call or an output, if it is short enough."""
        self.block = block
        """The marks of a chat template that enclose the part."""
        self.number: int | None = None
        self.ending = ending
        self.first: int | None = None
        """The offset of the first nonblank character."""
        self.end = -1
        """The offset after the last nonblank character."""
        self._head = b""
        self._reported = -1

    def add(self, data: bytes, at: int) -> None:
        """Add bytes at this offset."""
        if self.begins is Begins.AFTER_TAG:
            found = _TAG_END.search(data)
            if not found:
                return
            self.begins = Begins.AT_TEXT
            skipped = found.end() if found[0] == b">" else found.start()
            data, at = data[skipped:], at + skipped
        self._keep(data)
        bare = data.rstrip(SPACE)
        if not bare:
            return
        if self.first is None:
            self.first = at + len(data) - len(data.lstrip(SPACE))
        self.end = at + len(bare)

    def _keep(self, data: bytes) -> None:
        if len(self._head) < 2:
            self._head += data[: 2 - len(self._head)]
        if self.kept is not None:
            self.kept += data
            if len(self.kept) > LONGEST_KEPT:
                self.kept = None

    def piece(self) -> Piece:
        """Return the body so far."""
        start = self._start()
        return Piece(start, max(start, self.end), Coding.PLAIN)

    def _start(self) -> int:
        if self.first is None or self.begins in (Begins.EXACTLY, Begins.AFTER_TAG):
            return self.at
        if self.begins is Begins.AT_TEXT:
            return self.first
        if self._head == b"\r\n":
            return self.at + 2
        return self.at + self._head.startswith(b"\n")

    @property
    def is_message(self) -> bool:
        """True if this is certainly a message."""
        return self.certain or self.first is not None

    def announce(self, record: Recorder) -> None:
        """Report the current state of the part, if it certainly is a message."""
        if not self.is_message:
            return
        if self.number is None:
            self.number = record.open(self.header, self.span_start, [self.piece()], broke_out=self.broke_out)
        elif self.end != self._reported:
            record.grow(self.number, [self.piece()])
        self._reported = self.end

    def close(self, record: Recorder, end: int, stop: Span | None = None) -> None:
        """Close the message. `end` is the end of the whole message."""
        self.announce(record)
        if self.number is not None:
            record.close(self.number, self.ending, end, [self.piece()], stop=stop, header=self.header)
