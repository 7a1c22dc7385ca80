"""In a header: its words, where it ends, and what becomes of headers that nothing ends."""

from __future__ import annotations

from dataclasses import replace

from viewer.model.messages import Coding, Ending, Header, Piece
from viewer.reading.cursor import Token
from viewer.reading.grammar import ENDINGS, LONGEST_HEADER, SPACE
from viewer.reading.header import HeaderReading, read_header, split_words
from viewer.reading.outside import Between
from viewer.reading.text_state import TextSetup
from viewer.values import mutable


@mutable
class _Pending:
    """A header that was cut off by another `<|start|>`: repeated, or a message without its body."""

    start: int
    words: bytes
    at: int
    implied: bool


class InHeader(Between):
    """The states between `<|start|>` and `<|message|>`."""

    def __init__(self, setup: TextSetup) -> None:
        super().__init__(setup)
        self.frame_start = 0
        self.broke_out = False
        self._implied = False
        self._pending: _Pending | None = None

    def open_body(self, header: Header, body: int) -> None:
        """The header is complete; the body begins."""
        raise NotImplementedError

    def piece(self, start: int, end: int) -> Piece:
        """A body, or what is known of it."""
        return Piece(start, end, Coding.ESCAPED if self.grammar.literals else Coding.PLAIN)

    def begin(self, start: int, words_at: int, *, implied: bool = False, broke_out: bool = False) -> None:
        self.missing_document_header(start)
        self.record.start_if_none(start)
        self.frame_start = start
        self._implied = implied
        self.broke_out = broke_out
        self.move(words_at)
        self.state = self.header_state

    def header_state(self, ended: bool) -> bool:
        limit = self.at + LONGEST_HEADER
        token = self.header_tokens.search(self.window, self.scan, min(limit + 16, self.window.end))
        if token and token.start <= limit:
            self._header_token(token)
            return True
        if self.window.end > limit + 16:
            self._oversize_header(limit)
            return True
        if ended:
            self._cut_off_header()
            return False
        self.scan = max(self.scan, self.window.end - self.header_tokens.held_back(self.window))
        return False

    def _header_token(self, token: Token) -> None:
        words = self.window.text(self.at, token.start)
        self._settle_pending(words, token.name == "start")
        if token.name == "message":
            self._open(read_header(words, self.grammar.header, implied=self._implied), token.end)
        elif token.name == "start":
            self._start_again(token, words)
        else:
            self._without_message(words, token.start, ENDINGS[token.name], token)

    def _open(self, reading: HeaderReading, body: int) -> None:
        self._report_header(reading, self.record.last_number + 1)
        self.open_body(reading.header, body)

    def _start_again(self, token: Token, words: bytes) -> None:
        if words.strip(SPACE):
            self._pending = _Pending(self.frame_start, words, self.at, self._implied)
            self.frame_start = token.start
        else:
            self.record.report("W-START-REPEATED", None, token.start, token.end)
        self._implied = False
        self.move(token.end)

    def _settle_pending(self, words: bytes, again: bool) -> None:
        """Decide what a header that was cut off by `<|start|>` was, now that the next one is known."""
        pending = self._pending
        if pending is None or (again and not words.strip(SPACE)):
            return
        self._pending = None
        before = split_words(pending.words)
        frame_start, implied, at = self.frame_start, self._implied, self.at
        if split_words(words)[: len(before)] == before:
            self.record.report("W-START-REPEATED", None, frame_start, frame_start + len(b"<|start|>"))
            self.frame_start = pending.start
            return
        self.frame_start, self._implied, self.at = pending.start, pending.implied, pending.at
        self._without_message(pending.words, frame_start, Ending.IMPLIED, None)
        self.begin(frame_start, at, implied=implied)

    def _without_message(self, words: bytes, end: int, ending: Ending, stop: Token | None) -> None:
        """A header that no `<|message|>` ended: a message of its own with what could be read."""
        reading = read_header(words, self.grammar.header, implied=self._implied, partial=True)
        body = self.at + reading.rest
        self._report_missing(reading, body)
        number = self.record.open(self._malformed(reading), self.frame_start, broke_out=self.broke_out)
        span = (stop.start, stop.end) if stop else None
        self.record.close(number, ending, stop.end if stop else end, [self.piece(body, end)], stop=span)
        if stop:
            self.move(stop.end)
        self.state = self.between_state

    def _report_missing(self, reading: HeaderReading, at: int) -> None:
        number = self.record.last_number + 1
        self._report_header(reading, number)
        self.record.report("E-PARSE-HEADER", "message-missing", at, at, number)

    def _malformed(self, reading: HeaderReading) -> Header:
        return replace(reading.header, malformed=True)

    def _report_header(self, reading: HeaderReading, number: int) -> None:
        for problem in reading.problems:
            self.record.report(problem.code, problem.reason, self.at + problem.start, self.at + problem.end, number)

    def _oversize_header(self, limit: int) -> None:
        words = self.window.text(self.at, limit)
        self._settle_pending(words, False)
        reading = read_header(words, self.grammar.header, implied=self._implied, partial=True)
        body = self.at + reading.rest
        self._report_missing(reading, body)
        self.open_body(self._malformed(reading), body)

    def _cut_off_header(self) -> None:
        """The input ends inside a header."""
        end = self.window.end
        words = self.window.text(self.at, end)
        self._settle_pending(words, False)
        if words.split() == [b"assistant"]:
            self.record.report("I-OPEN-PROMPT", None, self.frame_start, self.at + len(words.rstrip(SPACE)))
        elif not words.strip(SPACE):
            self.record.report("E-STREAM-TRUNCATED", "header", end, end)
        else:
            reading = read_header(words, self.grammar.header, implied=self._implied, partial=True)
            body = self.at + reading.rest
            number = self.record.open(reading.header, self.frame_start, broke_out=self.broke_out)
            self.record.report("E-STREAM-TRUNCATED", "header", end, end, number)
            self.record.close(number, Ending.OPEN, end, [self.piece(body, end)])
        self.move(end)
        self.state = self.between_state
