"""Harmony (gpt-oss): conversations, bare completions, and text whose tokens a decoder dropped."""

from __future__ import annotations

import re
from dataclasses import replace

from viewer.formats.text.log_lines import LogLines
from viewer.model.messages import Channel, Coding, Ending, Header, Piece
from viewer.reading.format import FormatTraits, Options, Reader
from viewer.reading.grammar import ENDINGS, LONGEST_HEADER, LONGEST_LINE, HeaderGrammar, TextGrammar
from viewer.reading.recorder import Recorder
from viewer.reading.text_reader import FrameReader
from viewer.reading.text_state import TextSetup

STRIPPED = re.compile(rb"\s*(analysis|commentary|final).*?assistant(analysis|commentary|final)", re.DOTALL)
"""Text that a decoder made by dropping the special tokens."""

_SEPARATOR = re.compile(rb"assistant(analysis|commentary|final)")
_CONTROL = re.compile(rb"<\|(?:start|end|message|channel|constrain|return|call)\|>")
_LONGEST_SEPARATOR = len(b"assistantcommentary")

GRAMMAR = TextGrammar(
    name="harmony",
    header=HeaderGrammar(attributes=frozenset({"to"}), harmony=True),
    tokens=("start", "end", "message", "channel", "constrain", "return", "call"),
)


class HarmonyReader(FrameReader):
    """What the frames of Harmony have beyond the others: the beginning of the input may be a bare completion."""

    def __init__(self, record: Recorder, options: Options) -> None:
        header = replace(GRAMMAR.header, assume_preambles=True)
        grammar = replace(GRAMMAR, header=header) if options.harmony_preambles else GRAMMAR
        super().__init__(TextSetup(record, grammar, LogLines(record)))
        self.state = self._beginning
        self._segment: tuple[int, int, Channel] | None = None

    def _beginning(self, ended: bool) -> bool:
        """Conversation or completion: the first marker decides."""
        log = self._event_line_first(ended)
        if log is None:
            return False
        if log:
            self.state = self.between_state
            return True
        limit = min(self.at + LONGEST_HEADER, self.window.end)
        token = self.between_tokens.search(self.window, self.scan, limit)
        if token is None and not ended and self.window.end < self.at + LONGEST_HEADER:
            self.scan = max(self.scan, self.window.end - self.between_tokens.held_back(self.window))
            return False
        self.scan = self.at
        if token is None:
            self._without_tokens(limit)
        elif token.name == "start" or (token.name in ENDINGS and not self.window.text(self.at, token.start).strip()):
            self.state = self.between_state
        else:
            self.begin(self.at, self.at, implied=True)
        return True

    def _event_line_first(self, ended: bool) -> bool | None:
        """Whether the input begins with a line that looks like an event: a log; None while the line is not whole."""
        if not self.window.data.startswith(b"{"):
            return False
        end = self.window.line_end(self.at)
        if end < 0:
            return False if ended or len(self.window.data) > LONGEST_LINE else None
        if end - self.at > LONGEST_LINE:
            return False
        return self.window.text(self.at, end).rstrip().endswith(b"}")

    def _without_tokens(self, limit: int) -> None:
        if STRIPPED.match(self.window.text(self.at, limit)):
            self.record.start_if_none(self.at)
            self.state = self._stripped
        else:
            self.state = self.between_state

    def _stripped(self, ended: bool) -> bool:
        """A best effort: messages begin at `assistant` and a channel word; all of them are hidden."""
        data, base = self.window.data, self.window.base
        if self._segment is None:
            self._first_segment()
        match = _SEPARATOR.search(data, self.scan - base)
        control = _CONTROL.search(data, self.scan - base, match.start() if match else len(data))
        if control:
            self._close_segment(control.start() + base)
            self.move(control.start() + base)
            self.state = self.between_state
            return True
        if match:
            at = match.start() + base
            self._close_segment(at)
            self._open_segment(at, match.end() + base, match[1])
            return True
        if ended:
            self._close_segment(self.window.end)
            self.move(self.window.end)
            self.state = self.between_state
            return False
        self.scan = max(self.scan, self.window.end - _LONGEST_SEPARATOR)
        self.at = self.scan
        return False

    def _first_segment(self) -> None:
        match = re.compile(rb"\s*(analysis|commentary|final)").match(self.window.data)
        assert match is not None
        start = match.start(1) + self.window.base
        self._open_segment(start, match.end() + self.window.base, match[1])
        self.record.report("W-TOKENS-STRIPPED", None, start, self.scan, self.record.last_number + 1)

    def _open_segment(self, start: int, body: int, channel: bytes) -> None:
        self._segment = (start, body, Channel(channel.decode()))
        self.move(body)

    def _close_segment(self, end: int) -> None:
        assert self._segment is not None
        start, body, channel = self._segment
        header = Header("assistant", channel=channel, channel_given=channel.value, malformed=True)
        number = self.record.add(header, Ending.IMPLIED, (start, end), [Piece(body, end, Coding.PLAIN)])
        self.record.report("E-PARSE-HEADER", "message-missing", body, body, number)


def _read(record: Recorder, options: Options) -> Reader:
    return HarmonyReader(record, options)


HARMONY = FormatTraits(name="harmony", reader=_read, infers_calls=True, channel_required=True)
