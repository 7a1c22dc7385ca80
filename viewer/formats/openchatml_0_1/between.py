"""Read what is between the frames of OpenChatML 0.1: transcript edges, stray text, fill-in-the-middle, and files."""

from __future__ import annotations

from viewer.formats.openchatml_0_1.part import Begins, Part
from viewer.model.messages import Channel, Header
from viewer.reading.cursor import Token, TokenSet
from viewer.reading.recorder import Recorder
from viewer.rules.structure import W_MARKER_IN_BODY, W_STOP_REDUNDANT

FILL_IN = {"fim_prefix": "user", "fim_middle": "assistant", "fim_suffix": "user"}
"""The marks of fill-in-the-middle, and the role of the text after each."""

_EDGES = {b"[BOS]": "begin", b"[EOS]": "end", b"<|endoftext|>": "end"}
_SHORT_EDGES = {b"<s>": "begin", b"</s>": "end"}
"""Edge marks that are text in files and fill-ins, because they also occur in HTML."""
_MARKS = {f"<|{name}|>".encode(): name for name in ("im_start", "im_end", "file_separator", *FILL_IN)}
_BETWEEN = TokenSet({**_EDGES, **_SHORT_EDGES, **_MARKS})
_INSIDE = TokenSet({**_EDGES, **_MARKS})
MEANT_OUTSIDE = frozenset(spelling.decode() for spelling in (*_EDGES, *_MARKS))
"""Tokens that never count as text in a file or a fill-in."""


class Outside:
    """Reads everything except frames. Until a mark decides, text may be stray text or the first file."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._part: Part | None = None
        """The current file, or part of a fill-in-the-middle prompt."""
        self._text = _text_at(0)
        self._fresh = True
        """True if nothing of the current transcript has been read yet."""
        self._ended = False
        """True if the current transcript was closed, so the next message begins another one."""
        self._framed = False
        """True if the current transcript has frames, so `<|file_separator|>` has no meaning."""
        self._files = 0
        self._filled = ""
        """The name of the last piece of the current fill-in that was a message."""
        self._next = ""
        """The mark that ends the current piece, if that piece belongs to a fill-in."""

    @property
    def is_text(self) -> bool:
        """True inside a file or a fill-in, where `<|im_start|>` may be text."""
        return self._part is not None

    @property
    def is_blank(self) -> bool:
        """True if there is no text before the next frame, and that frame begins no transcript."""
        return self._framed and not self._ended and self._part is None and self._text.first is None

    @property
    def tokens(self) -> TokenSet:
        """The tokens with a meaning here."""
        return _INSIDE if self._part else _BETWEEN

    def add(self, data: bytes, at: int) -> None:
        """Add text without tokens."""
        (self._part or self._text).add(data, at)

    def nested(self, text: bytes, token: Token) -> None:
        """Add a token as text, because it has no meaning in a file or a fill-in."""
        self.add(text, token.start)
        self.settle()
        number = self._part.number if self._part else None
        self._record.report(W_MARKER_IN_BODY, "nested", token.start, token.end, number)

    def token(self, text: bytes, token: Token) -> None:
        """Handle any token except `<|im_start|>`."""
        if token.name in FILL_IN:
            self._fill_in(token)
        elif token.name == "file_separator":
            self._separate(text, token)
        elif token.name == "im_end":
            self._stop(text, token)
        else:
            self._edge(token)

    def settle(self) -> None:
        """Report everything that has been added."""
        if self._part:
            self._part.announce(self._record)

    def begin_frame(self, at: int) -> None:
        self._leave(at)
        self._begin_item(at)
        self._framed = True

    def end_frame(self, at: int) -> None:
        """Handle the end of a frame, where text begins."""
        self._text = _text_at(at)

    def close(self) -> None:
        self._leave(0)

    # Internals.

    def _edge(self, token: Token) -> None:
        self._leave(token.end)
        if token.name == "end":
            self._ended = not self._fresh
        elif not self._fresh or not self._record.transcript:
            self._start(token.start)

    def _start(self, at: int) -> None:
        self._record.start(at)
        self._fresh, self._ended, self._framed, self._files = True, False, False, 0

    def _begin_item(self, at: int) -> None:
        if self._ended:
            self._start(at)
        self._record.start_if_none(at)
        self._fresh = False

    def _stop(self, text: bytes, token: Token) -> None:
        if self._part:
            self.nested(text, token)
            return
        self._leave(token.end)
        self._record.start_if_none(token.start)
        self._record.report(W_STOP_REDUNDANT, None, token.start, token.end)

    def _leave(self, at: int, *, exactly_at: int | None = None) -> None:
        """End the current part or text. New text begins at this offset."""
        part, text = self._part, self._text
        self._part, self._text = None, _text_at(at)
        if part:
            if exactly_at is not None and part.begins is Begins.EXACTLY:
                part.end = exactly_at
            part.close(self._record, max(part.piece().end, part.at))
            self._note_fill_in(part, exactly_at)
        elif text.first is not None:
            self._fresh = False
            self._record.stray(text.first, text.end)

    def _note_fill_in(self, part: Part, next_fill_in: int | None) -> None:
        """Handle the end of a piece. An empty piece of a fill-in is not a message; its mark is kept as stray text."""
        mark = part.header.name or ""
        if not mark.startswith("fim."):
            self._filled = ""
        elif part.is_message:
            self._filled = mark
        elif not (mark == "fim.middle" and self._filled == "fim.prefix" and self._next == "fim_suffix"):
            self._record.leave_out(part.span_start, part.at)
        if next_fill_in is None:
            self._filled = ""

    def _fill_in(self, token: Token) -> None:
        self._next = token.name
        self._leave(token.end, exactly_at=token.start)
        self._begin_item(token.start)
        extra = (("file", str(self._files)),) if self._files else ()
        role, name = FILL_IN[token.name], token.name.replace("_", ".")
        header = Header(role, name=name, channel=Channel.FINAL, extra=extra)
        self._next = ""
        self._part = Part(header, token.start, token.end, certain=False)

    def _separate(self, text: bytes, token: Token) -> None:
        if self._framed and not self._ended:
            self.add(text, token.start)
            return
        first = None if self._part or self._text.first is None else self._text
        if first:
            self._first_file(first)
        elif self._part and not self._files:
            self._files = 1
        self._leave(token.end)
        self._begin_item(token.start)
        self._files += 1
        self._part = Part(_file_header(self._files), token.start, token.end, Begins.AFTER_LINE_END)

    def _first_file(self, text: Part) -> None:
        """Turn the text before the first separator into a file."""
        start = text.piece().start
        self._begin_item(start)
        self._files += 1
        text.header, text.span_start = _file_header(self._files), start
        text.close(self._record, text.end)
        self._text = _text_at(text.end)


def _text_at(at: int) -> Part:
    return Part(Header(""), at, at, Begins.AT_TEXT)


def _file_header(number: int) -> Header:
    return Header("user", name=f"file {number}", channel=Channel.FINAL)
