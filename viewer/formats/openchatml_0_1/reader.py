"""Reader of OpenChatML 0.1: frames of `<|im_start|>` and `<|im_end|>`, fill-in-the-middle, multi-file sequences.

`header.py` reads header lines, `parts.py` the inside of a frame, and `between.py` the text between frames."""

from __future__ import annotations

from collections.abc import Callable

from viewer.formats.openchatml_0_1.between import FILL_IN, Outside
from viewer.formats.openchatml_0_1.header import (
    LONGEST_PLAUSIBLE,
    Head,
    header_follows,
    read_broken_head,
    read_head,
)
from viewer.formats.openchatml_0_1.parts import MARKS, Frame, token_set
from viewer.formats.text.plain_frames import FrameRules, PlainFrames, PlainHead
from viewer.model.messages import Coding, Ending, Piece
from viewer.reading.cursor import Token, TokenSet, Window
from viewer.reading.format import Channels, FormatTraits, ReadOptions
from viewer.reading.recorder import Recorder
from viewer.reading.template_marks import LONGEST_FOLD
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.rules.notes import I_OPEN_PROMPT
from viewer.rules.structure import W_END_MISSING, W_START_REPEATED

LONGEST_HEADER = 64 * 1024

_PLAIN_ROLES = frozenset({"system", "user", "assistant"})
"""The roles whose frames contain one text unless they contain marks."""
_ALL_MARKS = tuple(mark for marks in MARKS.values() for mark in marks)
_IN_HEADER = token_set("im_start", "im_end", "file_separator", *FILL_IN, *_ALL_MARKS)
"""The tokens that end a header."""


def _plain_head(start: bytes, line: bytes) -> PlainHead | None:
    head = read_head(line, 0)
    is_plain = head.role in _PLAIN_ROLES and not (head.problems or head.extra or head.recipient or head.intent)
    return PlainHead(head.header(), begins_at_text=False) if is_plain and b"<" not in line else None


FRAME_RULES = FrameRules(
    frozenset({b"<|im_start|>"}),
    frozenset({b"<|im_end|>"}),
    frozenset(),
    (b"\n",),
    LONGEST_PLAUSIBLE,
    _plain_head,
)


class OpenChatML01Reader:
    """Reads OpenChatML 0.1 with a state machine. Each state is a method that returns True to continue."""

    def __init__(self, record: Recorder, options: ReadOptions) -> None:
        self._record = record
        self._window = Window()
        self._at = 0
        """Everything before this offset has been read."""
        self._scan = 0
        """How far the search for the end of the current header line has progressed."""
        self._outside = Outside(record)
        self._plain = PlainFrames(FRAME_RULES)
        self._frame: Frame | None = None
        self._frame_start = 0
        self._broke_out = False
        self._state = self._between

    def feed(self, data: bytes) -> None:
        self._window.append(data)
        while self._state(False):
            pass
        (self._frame or self._outside).settle()
        self._window.drop(self._at)

    def close(self) -> None:
        while self._state(True):
            pass
        if self._frame:
            self._truncate(self._frame)
        self._outside.close()

    def _between(self, ended: bool) -> bool:
        outside = self._outside
        if outside.is_blank:
            end = self._plain.take(self._window, self._at, self._record, outside.begin_frame)
            if end > self._at:
                self._leave_frame(end)
        token = self._next_token(outside.tokens, outside.add, ended)
        if token is None:
            return False
        if token.name == "im_start":
            return self._start_outside(token, ended)
        outside.token(self._text(token), token)
        self._at = token.end
        return True

    def _start_outside(self, token: Token, ended: bool) -> bool:
        opens = self._opens_frame(token, ended) if self._outside.is_text else True
        if opens is None:
            return False
        if opens:
            self._outside.begin_frame(token.start)
            self._begin(token, broke_out=False)
        else:
            self._outside.nested(self._text(token), token)
            self._at = token.end
        return True

    def _begin(self, token: Token, *, broke_out: bool) -> None:
        self._frame_start = token.start
        self._broke_out = broke_out
        self._at = self._scan = token.end
        self._state = self._header

    # In a header line.

    def _header(self, ended: bool) -> bool:
        window = self._window
        limit = self._at + LONGEST_HEADER
        token = _IN_HEADER.search(window, self._scan, min(limit, window.end))
        line_end = self._line_end(token.start if token else min(limit, window.end))
        if line_end is not None:
            head = read_head(window.text(self._at, line_end), self._at)
            self._open(head, line_end + 1)
            return True
        if token:
            return self._token_in_header(token, ended)
        if window.end >= limit:
            self._break_header(limit)
            return True
        if ended:
            self._cut_header_off()
            return False
        self._scan = max(self._scan, window.end - _IN_HEADER.held_back(window))
        return False

    def _line_end(self, limit: int) -> int | None:
        base = self._window.base
        found = self._window.data.find(b"\n", self._scan - base, limit - base)
        return found + base if found >= 0 else None

    def _token_in_header(self, token: Token, ended: bool) -> bool:
        self._scan = token.start
        if token.name != "im_start":
            self._break_header(token.start)
            return True
        words = self._window.text(self._at, token.start).split()
        repeats = self._repeats(words, token, ended) if words else True
        if repeats is None:
            return False
        if repeats:
            self._record.report(W_START_REPEATED, None, token.start, token.end)
            self._at = self._scan = token.end
        else:
            self._break_header(token.start)
        return True

    def _repeats(self, words: list[bytes], token: Token, ended: bool) -> bool | None:
        """True if the token begins the same header line again; None if more bytes are needed."""
        opens = self._opens_frame(token, ended)
        if not opens:
            return opens
        line, _, _ = self._window.text(token.end, token.end + LONGEST_PLAUSIBLE).partition(b"\n")
        return line.split() == words

    def _break_header(self, end: int) -> None:
        """End a header without a newline. The text from here on is body."""
        head = read_broken_head(self._window.text(self._at, end), self._at)
        rest = self._window.text(head.rest, end)
        self._open(head, head.rest).add(rest, head.rest)
        self._at = end

    def _open(self, head: Head, body: int) -> Frame:
        frame = Frame(self._record, head, self._frame_start, body, self._broke_out)
        self._frame = frame
        self._at = body
        self._state = self._body
        return frame

    def _cut_header_off(self) -> None:
        """Handle the end of the input inside a header."""
        end = self._window.end
        head = read_head(self._window.text(self._at, end), self._at)
        self._at = end
        self._state = self._between
        self._outside.end_frame(end)
        if head.role == "assistant" and not head.malformed:
            self._prompt(head)
            return
        head.problems, head.complete = [], False
        piece = Piece(end, end, Coding.PLAIN)
        span = (self._frame_start, end)
        number = self._record.add(head.header(), Ending.OPEN, span, [piece], broke_out=self._broke_out)
        self._record.report(E_STREAM_TRUNCATED, "header", end, end, number)

    def _prompt(self, head: Head) -> None:
        """Report that the input ends where an answer is expected."""
        for problem in head.problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end)
        self._record.report(I_OPEN_PROMPT, None, self._frame_start, head.words_end)

    # In a body.

    def _body(self, ended: bool) -> bool:
        frame = self._frame
        assert frame is not None
        token = self._next_token(frame.tokens, frame.add, ended)
        if token is None:
            return False
        if token.name == "im_start":
            return self._start_in_body(frame, token, ended)
        if token.name == "im_end":
            frame.finish(Ending.END, token.end, (token.start, token.end))
            self._leave_frame(token.end)
            return True
        frame.mark(self._text(token), token)
        self._at = token.end
        return True

    def _start_in_body(self, frame: Frame, token: Token, ended: bool) -> bool:
        opens = self._opens_frame(token, ended)
        if opens is None:
            return False
        if not opens:
            frame.nested(self._text(token), token)
            self._at = token.end
            return True
        broke_out = frame.hides
        number = frame.finish(Ending.IMPLIED, token.start)
        self._record.report(W_END_MISSING, None, token.start, token.start, number)
        self._frame = None
        self._begin(token, broke_out=broke_out)
        return True

    def _leave_frame(self, at: int) -> None:
        self._frame = None
        self._at = at
        self._state = self._between
        self._outside.end_frame(at)

    def _truncate(self, frame: Frame) -> None:
        """Handle the end of the input inside a body."""
        end = self._window.end
        self._leave_frame(end)
        if frame.is_prompt:
            self._prompt(frame.head)
            return
        number = frame.finish(Ending.OPEN, end)
        self._record.report(E_STREAM_TRUNCATED, "body", end, end, number)

    # The window.

    def _next_token(self, tokens: TokenSet, add: Callable[[bytes, int], None], ended: bool) -> Token | None:
        """Pass the text before the next token to `add`, and return the token, or None if more bytes are needed."""
        window = self._window
        token = tokens.search(window, self._at)
        if ended or (token and window.end - token.end > LONGEST_FOLD):
            end = token.start if token else window.end
        else:
            end = window.end - tokens.held_back(window)
            if token and token.start < end:
                end = token.start
            else:  # a token at the end may be a part of a longer one that is not complete
                token = None
        if end > self._at:
            add(window.text(self._at, end), self._at)
            self._at = end
        return token

    def _opens_frame(self, token: Token, ended: bool) -> bool | None:
        """True if a plausible header follows; None if more bytes are needed."""
        return header_follows(self._window.text(token.end, token.end + LONGEST_PLAUSIBLE), ended)

    def _text(self, token: Token) -> bytes:
        return self._window.text(token.start, token.end)


OPENCHATML_0_1 = FormatTraits(
    name="openchatml-0.1",
    reader=OpenChatML01Reader,
    shares_spans=True,
    thoughts_first=True,
    plain_runs=True,
    channels=Channels.NONE,
)
