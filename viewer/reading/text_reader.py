"""Tokens to frames: where each message of a text transcript begins, where its body is, and how it ends."""

from __future__ import annotations

from dataclasses import replace

from viewer.model.messages import Ending, Header, Message
from viewer.model.visibility import is_user_safe
from viewer.reading.cursor import Token
from viewer.reading.grammar import ENDINGS, SPACE
from viewer.reading.header import is_stop_expected, looks_like_channel, looks_like_header
from viewer.reading.header_state import InHeader
from viewer.reading.text_state import TextSetup


class FrameReader(InHeader):
    """The reader of the text dialects with `<|start|>`: the states in a body, and the run of all states."""

    def __init__(self, setup: TextSetup) -> None:
        super().__init__(setup)
        self._header = Header("")
        self._number = 0
        self._body_start = 0
        self._grown_to = 0
        self._blank_to: int | None = None
        """The body is white space up to here; None once it is not."""

    def feed(self, data: bytes) -> None:
        """The next bytes of the input."""
        self.window.append(data)
        while self.state(False):
            pass
        self._grow()
        self.events.grow()
        keep_from = self._keep_from()
        self._is_blank(keep_from)
        self.window.drop(keep_from)

    def close(self) -> None:
        """The input has ended."""
        while self.state(True):
            pass
        self.events.close(self.window.end)
        self.flush_stray()

    @property
    def is_resting(self) -> bool:
        """Nothing is open, and since the last thing that was read there is nothing but white space."""
        return (
            self.state == self.between_state
            and self.record.transcript > 0
            and not self.has_stray
            and self.window.byte_before(self.window.end) != ord("<")
            and not self.window.text(self.at, self.window.end).strip(SPACE)
        )

    def skip(self, to: int, count: int) -> None:
        """So many messages up to this offset have been read by another; the last byte of them ends a token."""
        self.window.restart(to, ord(">"))
        self.record.last_number += count
        self.move(to)

    def _keep_from(self) -> int:
        if self.state in (self.body_state, self.literal_state):
            return min(self.scan, self.window.end)
        return self.at

    def open_body(self, header: Header, body: int) -> None:
        self._header = header
        self._number = self.record.open(header, self.frame_start, broke_out=self.broke_out)
        self._body_start = self._grown_to = body
        self._blank_to = body if self.grammar.header.assume_preambles else None
        self.move(body)
        self.state = self.body_state

    def _grow(self) -> None:
        if self.state in (self.body_state, self.literal_state) and self.scan > self._grown_to:
            self._grown_to = self.scan
            self.record.grow(self._number, [self.piece(self._body_start, self.scan)])

    def body_state(self, ended: bool) -> bool:
        token = self.body_tokens.search(self.window, self.scan)
        if token is None:
            if ended:
                self._truncate("body")
                return False
            self.scan = max(self.scan, self.window.end - self.body_tokens.held_back(self.window))
            return False
        self.scan = token.start
        if token.name in ENDINGS:
            self._close_body(ENDINGS[token.name], token.start, token)
            return True
        if token.name == "literal":
            self.scan = token.end
            self.state = self.literal_state
            return True
        return self._marker_in_body(token, ended)

    def literal_state(self, ended: bool) -> bool:
        token = self.literal_end.search(self.window, self.scan)
        if token:
            self.scan = token.end
            self.state = self.body_state
            return True
        if ended:
            self._truncate("literal")
        else:
            self.scan = max(self.scan, self.window.end - self.literal_end.held_back(self.window))
        return False

    def _marker_in_body(self, token: Token, ended: bool) -> bool:
        may_open = token.name == "start" or (token.name == "channel" and self._header.role == "assistant")
        if may_open:
            opens = self._opens_message(token, ended)
            if opens is None:
                return False
            if opens:
                self._break_out(token)
                return True
        if token.name == "constrain" and self._is_blank(token.start):
            self._unassume_preamble()
        reason = {"constrain": "constrain", "endliteral": "unbalanced-literal"}.get(token.name, "nested")
        self.record.report("W-MARKER-IN-BODY", reason, token.start, token.end, self._number)
        self.scan = token.end
        return True

    def _unassume_preamble(self) -> None:
        """A constraint at the head of the body marks a call."""
        if self._header.intent == "preamble":
            self._header = replace(self._header, intent=None)

    def _is_blank(self, end: int) -> bool:
        """True if the body is white space up to here; known only where preambles are assumed."""
        if self._blank_to is not None:
            is_blank = not self.window.text(self._blank_to, end).strip(SPACE)
            self._blank_to = max(end, self._blank_to) if is_blank else None
        return self._blank_to is not None

    def _opens_message(self, token: Token, ended: bool) -> bool | None:
        """Whether a plausible header follows a marker inside a body; None while too little is there to tell."""
        limit = token.end + 600
        following = self.body_tokens.search(self.window, token.end, min(limit, self.window.end))
        while following and following.name in ("channel", "constrain") and token.name == "start":
            following = self.body_tokens.search(self.window, following.end, min(limit, self.window.end))
        if following is None:
            return False if ended or self.window.end >= limit else None
        if following.name != "message":
            return False
        words = self.window.text(token.end, following.start)
        return looks_like_header(words) if token.name == "start" else looks_like_channel(words)

    def _break_out(self, token: Token) -> None:
        """The next message begins before this one was closed."""
        self.record.report("W-END-MISSING", None, token.start, token.start, self._number)
        unclosed = self._close_body(Ending.IMPLIED, token.start, None)
        words_at = token.end
        if token.name == "channel":
            self.record.report("W-START-IMPLICIT", None, token.start, token.start, self.record.last_number + 1)
            words_at = token.start
        implied = token.name == "channel"
        self.begin(token.start, words_at, implied=implied, broke_out=not is_user_safe(unclosed))

    def _truncate(self, reason: str) -> None:
        end = self.window.end
        self.record.report("E-STREAM-TRUNCATED", reason, end, end, self._number)
        self._close_body(Ending.OPEN, end, None)

    def _close_body(self, ending: Ending, end: int, stop: Token | None) -> Message:
        if stop and not is_stop_expected(self._header, ending, self.grammar):
            self.record.report("W-STOP-UNEXPECTED", None, stop.start, stop.end, self._number)
        span = (stop.start, stop.end) if stop else None
        message = self.record.close(
            self._number,
            ending,
            stop.end if stop else end,
            [self.piece(self._body_start, end)],
            stop=span,
            header=self._header,
        )
        self.move(stop.end if stop else end)
        self.state = self.between_state
        return message
