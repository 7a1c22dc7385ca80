"""Between messages: document headers, event lines, stray text, and where the next message begins."""

from __future__ import annotations

import re
from collections.abc import Callable

from viewer.reading.cursor import Token
from viewer.reading.document_header import DocumentHeaderSpan, begins_block, find_document_header, start_transcript
from viewer.reading.grammar import LONGEST_HEADER, LONGEST_LINE, SPACE
from viewer.reading.header import looks_like_header
from viewer.reading.recorder import Recorder
from viewer.reading.text_state import TextSetup, TextState

NEXT = re.compile(rb"[ \t\r\n]{0,64}+(<\|start\|>)")
State = Callable[[bool], bool]
LONGEST_BLOCK_LINE = 256
"""So much of a line tells whether it begins a document header."""


class Between(TextState):
    """The states outside any message."""

    state: State

    def __init__(self, setup: TextSetup) -> None:
        super().__init__(setup)
        self._grammar_of_version = setup.grammar_of_version
        self.state = self.document_header_state if setup.grammar.document_header else self.between_state

    def begin(self, start: int, words_at: int, *, implied: bool = False, broke_out: bool = False) -> None:
        """A message begins; its words stand from `words_at` on."""
        raise NotImplementedError

    def document_header_state(self, ended: bool) -> bool:
        preface = find_document_header(self.window, self.at, self.scan, ended)
        if preface is None:
            self.scan = max(self.scan, self.window.end - len(b"\n<|start|>"))
            return False
        self.scan = self.at
        if preface.is_header:
            self._read_document_header(preface)
        self.state = self.between_state
        return True

    def _read_document_header(self, preface: DocumentHeaderSpan) -> None:
        self.flush_stray()
        text = self.window.text(self.at, preface.end + preface.is_cut)
        lead = len(text) - len(text.lstrip(SPACE))
        data = text[lead:]
        if self._grammar_of_version and self.record.transcript:
            self._switch_grammar(data, self.at + lead)
        else:
            start_transcript(self.record, data, self.at + lead)
        self.move(preface.end)

    def _switch_grammar(self, data: bytes, base: int) -> None:
        """A later transcript is read by its own version."""
        assert self._grammar_of_version is not None
        quiet = Recorder(self.record.dialect)
        grammar = self._grammar_of_version(start_transcript(quiet, data, base))
        start_transcript(self.record, data, base, grammar.name)
        self.use(grammar)

    def between_state(self, ended: bool) -> bool:
        if self.at >= self.window.end:
            return False
        if self._begin_next():
            return True
        if not self.line_known:
            taken = self._look_at_line(ended)
            if taken is not None:
                return taken
        line_end = self.window.line_end(self.scan)
        limit = line_end + 1 if line_end >= 0 else self.window.end
        token = self.between_tokens.search(self.window, self.scan, limit)
        if token:
            self._between_token(token)
            return True
        if line_end >= 0:
            self.add_stray(self.at, limit)
            self.move(limit)
            return True
        return self._wait_in_line(ended)

    def _begin_next(self) -> bool:
        """What is most common: nothing but white space before the next message."""
        found = NEXT.match(self.window.data, self.at - self.window.base)
        if found is None:
            return False
        start, end = found.start(1) + self.window.base, found.end() + self.window.base
        if self.grammar.literals and self.window.byte_before(start) == ord("<"):
            return False
        self.flush_stray()
        self.begin(start, end)
        return True

    def _wait_in_line(self, ended: bool) -> bool:
        if ended:
            self.add_stray(self.at, self.window.end)
            self.move(self.window.end)
            return False
        self.scan = max(self.scan, self.window.end - self.between_tokens.held_back(self.window))
        if self.scan - self.at > LONGEST_LINE:
            cut = self.scan - LONGEST_HEADER // 8
            self.add_stray(self.at, cut)
            self.at = cut
        return False

    def _look_at_line(self, ended: bool) -> bool | None:
        """An event, or the beginning of a new document header; None for any other line, False to wait for more."""
        self.line_known = True
        if self.at and self.window.byte_before(self.at) != ord("\n"):
            return None
        found = self.window.line_end(self.at)
        whole = found >= 0 or ended
        end = found + 1 if found >= 0 else self.window.end
        first = self.window.text(self.at, min(end, self.at + LONGEST_BLOCK_LINE))
        if first.startswith(b"{"):
            return self._offer_line(end, whole)
        begins = (
            begins_block(first, whole or len(first) == LONGEST_BLOCK_LINE) if self.grammar.document_header else False
        )
        if begins is None:
            self.line_known = False
            return False
        if begins:
            self.state = self._block
            return True
        return None

    def _offer_line(self, end: int, whole: bool) -> bool | None:
        if end - self.at > LONGEST_LINE:
            return None
        if not whole:
            self.line_known = False
            return False
        if not self.events.offer(self.window.text(self.at, end), self.at, self.flush_stray):
            return None
        self.move(end)
        return True

    def _block(self, ended: bool) -> bool:
        preface = find_document_header(self.window, self.at, self.scan, ended)
        if preface is None:
            self.scan = max(self.scan, self.window.end - len(b"\n<|start|>"))
            return False
        self._read_document_header(preface)
        self.state = self.between_state
        return True

    def _between_token(self, token: Token) -> None:
        if token.name in ("channel", "message"):
            self._begin_implied(token)
            return
        self.add_stray(self.at, token.start)
        self.flush_stray()
        if token.name == "start":
            self.begin(token.start, token.end)
            return
        self.record.start_if_none(token.start)
        self.record.report("W-STOP-REDUNDANT", None, token.start, token.end)
        self.move(token.end)

    def _begin_implied(self, token: Token) -> None:
        """A message that began without its `<|start|>`; words of a header may stand before the token."""
        words = self.window.text(self.at, token.start)
        lead = len(words) - len(words.lstrip(SPACE))
        start = token.start
        if looks_like_header(words):
            start = self.at + lead
        self.add_stray(self.at, start)
        self.flush_stray()
        self.missing_document_header(start)
        self.record.report("W-START-IMPLICIT", None, start, start, self.record.last_number + 1)
        self.begin(start, start, implied=start == token.start and token.name == "channel")

    def missing_document_header(self, at: int) -> None:
        if self.grammar.document_header and not self.record.transcript:
            self.record.start(at)
            self.record.report("W-HEADER-MISSING", None, at, at)
