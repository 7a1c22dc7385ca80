"""Reader of chats that browser extensions export from ChatGPT as Markdown: a heading before each message names the
speaker."""

from __future__ import annotations

import re

from viewer.formats.json.content_parts import part_header, split_content
from viewer.formats.text.input_lines import InputLines
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Piece, Span
from viewer.reading.format import FormatTraits, Reader, ReadOptions
from viewer.reading.recorder import Recorder

_SPEAKER = re.compile(
    rb"#### (?:(You)|(ChatGPT)|Plugin(?: \(.*\))?|system|developer|tool):|## (?:(Prompt)|(Response)):"
)
_USER, _ASSISTANT = Header("user", channel=Channel.FINAL), Header("assistant", channel=Channel.FINAL)
_THOUGHT = Header("assistant", channel=Channel.ANALYSIS, channel_given="analysis", kind=Kind.THOUGHT)
_CALL = Header("assistant", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.CALL)
_OTHER = Header("assistant", channel=Channel.FINAL, kind=Kind.UNKNOWN)
"""The header of text from a plug-in or a program."""
_ABOUT = re.compile(rb"---|# .*|\*\*[A-Z][a-z]+:\*\* .*|[A-Za-z_]+: .*")
"""A line about the chat, before its first message."""
_FOLDED, _UNFOLDED = b"<details>", b"</details>"
_TIME = re.compile(rb"<time datetime=[^<>]*>[^<]*</time>")
_DATE = re.compile(rb"\d{1,4}([./-])\d{1,2}\1\d{1,4},? \d{1,2}:\d\d:\d\d(?:(?: |\xe2\x80\xaf)?[AP]M)?")
"""A date and a time. ChatGPT Exporter writes them, and an empty line, before the text of a message."""
_CODE = re.compile(rb"Code:\s*```")
"""The start of code that the model ran."""
_FOOTER = re.compile(rb"Powered by \[[^\]]*\]\([^)]*\)")


class ChatMarkdownReader:
    """Reads line by line. A message is recorded when the next one begins."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._input = InputLines()
        self._speaker: Header | None = None
        self._data = bytearray()
        """The lines of the current message."""
        self._base = 0
        self._lines: list[Span] = []
        """The text lines of the current message, without trailing spaces."""
        self._has_started = False

    def feed(self, data: bytes) -> None:
        for line, start, ending in self._input.feed(data):
            self._read_line(line, start, ending)

    def close(self) -> None:
        for line, start, ending in self._input.close():
            self._read_line(line, start, ending)
        self._end_message()

    def _read_line(self, line: bytes, start: int, ending: bytes) -> None:
        text = line.rstrip(b" \t\r")
        if not self._has_started:
            self._record.start(start)
            self._has_started = True
        found = _SPEAKER.fullmatch(text)
        if found:
            self._end_message()
            is_user, is_assistant = found[1] or found[3], found[2] or found[4]
            self._speaker = _USER if is_user else _ASSISTANT if is_assistant else _OTHER
        elif self._speaker is None:
            if text and not _ABOUT.fullmatch(text):
                self._record.stray(start, start + len(text))
        else:
            if not self._data:
                self._base = start
            self._data += line + ending
            if text and (self._lines or not _TIME.fullmatch(text)):
                self._lines.append((start, start + len(text)))

    def _end_message(self) -> None:
        """Record the current message."""
        lines = self._lines
        if len(lines) > 1 and _FOOTER.fullmatch(self._read(*lines[-1])) and self._read(*lines[-2]) == b"---":
            del lines[-2:]
        if len(lines) > 1 and self._is_dated(lines):
            lines = lines[1:]
        if self._speaker is _ASSISTANT and lines:
            lines = self._without_thought(lines)
        if lines and self._speaker is not None:
            pieces = [Piece(lines[0][0], lines[-1][1], Coding.PLAIN)]
            is_answer = self._speaker is _ASSISTANT
            if is_answer and _CODE.match(self._read(lines[0][0], lines[-1][1])):
                self._write(_CALL, pieces)
            elif not (is_answer and self._write_marked(pieces)):
                self._write(self._speaker, pieces)
        self._lines = []
        self._data.clear()

    def _is_dated(self, lines: list[Span]) -> bool:
        """True if the first line is the date of the message."""
        between = self._read(lines[0][1], lines[1][0])
        return between.count(b"\n") > 1 and _DATE.fullmatch(self._read(*lines[0])) is not None

    def _without_thought(self, lines: list[Span]) -> list[Span]:
        """If an answer begins with a folded thought, record the thought. Return the remaining lines."""
        if self._read(*lines[0]) != _FOLDED:
            return lines
        ends = [at for at, line in enumerate(lines) if self._read(*line) == _UNFOLDED]
        last = ends[0] if ends else len(lines) - 1
        self._write(_THOUGHT, [Piece(lines[0][0], lines[last][1], Coding.PLAIN)])
        return lines[last + 1 :]

    def _write_marked(self, pieces: list[Piece]) -> bool:
        """Record an answer with template marks as the messages that it contains. Return False if it has no marks."""
        parts = split_content(pieces, self._read, "assistant")
        for part in parts:
            header, ending = part_header(part, _ASSISTANT)
            is_call = header.recipient not in (None, "user")
            ending = ending or (Ending.CALL if is_call else Ending.END)
            number = self._record.add(header, ending, (pieces[0].start, pieces[-1].end), part.pieces)
            for each in part.reports:
                self._record.report(each.rule, each.reason, each.start, each.end, number)
        return bool(parts)

    def _write(self, header: Header, pieces: list[Piece]) -> None:
        self._record.add(header, Ending.END, (pieces[0].start, pieces[-1].end), pieces)

    def _read(self, start: int, end: int) -> bytes:
        return bytes(self._data[start - self._base : end - self._base])


def _read(record: Recorder, options: ReadOptions) -> Reader:
    return ChatMarkdownReader(record)


CHAT_MARKDOWN = FormatTraits(
    name="chat-markdown", reader=_read, json_content=True, thoughts_first=True, states_outcomes=True
)
