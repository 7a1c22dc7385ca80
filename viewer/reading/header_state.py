"""Step functions of the state HEADER: read the words of a header, and record headers without a body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from viewer.model.messages import Ending, Header
from viewer.reading.cursor import Token
from viewer.reading.frame import CutOffHeader, Frame, State
from viewer.reading.grammar import ENDINGS, LONGEST_HEADER, SPACE, HeaderReading
from viewer.reading.header import read_header, split_words
from viewer.rules.errors import E_PARSE_HEADER, E_STREAM_TRUNCATED
from viewer.rules.notes import I_OPEN_PROMPT
from viewer.rules.structure import W_START_REPEATED

if TYPE_CHECKING:
    from viewer.reading.text_reader import TextReader

_LONGEST_TOKEN = 16


def read_header_words(reader: TextReader) -> State | None:
    """Read a header up to the token that ends it."""
    cursor = reader.cursor
    tokens = reader.tokens[State.HEADER]
    limit = cursor.at + LONGEST_HEADER
    token = cursor.search(tokens, limit + _LONGEST_TOKEN)
    if token is None or token.start > limit:
        if cursor.end > limit + _LONGEST_TOKEN:
            return _end_oversize_header(reader, limit)
        cursor.hold_back(tokens)
        return None
    words = cursor.peek(token.start)
    frame = reader.frame
    assert frame is not None
    if frame.cut_off is not None:
        frame = _settle_cut_off(reader, words, token.name == "start")
    if token.name == "message":
        reading = read_header(words, reader.grammar.header, implied=frame.implied)
        if reading.problems:
            _report_problems(reader, reading, reader.recorder.last_number + 1, cursor.at)
        return _open_body(reader, frame, reading.header, token.end)
    if token.name == "start":
        return _start_again(reader, frame, token, words)
    _record_without_body(reader, frame, reader.cursor.at, words, token.start, ENDINGS[token.name], token)
    return reader.end_frame(token.end)


def end_header(reader: TextReader) -> State | None:
    """Record a header that was cut off by the end of the input."""
    cursor, recorder = reader.cursor, reader.recorder
    end = cursor.end
    words = cursor.peek(end)
    frame = _settle_cut_off(reader, words, False)
    if words.split() == [b"assistant"]:
        recorder.report(I_OPEN_PROMPT, None, frame.start, cursor.at + len(words.rstrip(SPACE)))
    elif not words.strip(SPACE):
        recorder.report(E_STREAM_TRUNCATED, "header", end, end)
    else:
        reading = read_header(words, reader.grammar.header, implied=frame.implied, partial=True)
        body = cursor.at + reading.rest
        number = recorder.open(reading.header, frame.start, broke_out=frame.broke_out)
        recorder.report(E_STREAM_TRUNCATED, "header", end, end, number)
        recorder.close(number, Ending.OPEN, end, [reader.piece(body, end)])
    return reader.end_frame(end)


def _open_body(reader: TextReader, frame: Frame, header: Header, body: int) -> State:
    frame.header = header
    frame.number = reader.recorder.open(header, frame.start, broke_out=frame.broke_out)
    frame.body_start = frame.reported_to = body
    if reader.grammar.header.assume_preambles:
        frame.blank_to = body
    reader.cursor.move_to(body)
    return State.BODY


def _start_again(reader: TextReader, frame: Frame, token: Token, words: bytes) -> State:
    if words.strip(SPACE):
        frame.cut_off = CutOffHeader(frame.start, reader.cursor.at, words, frame.implied)
        frame.start = token.start
    else:
        reader.recorder.report(W_START_REPEATED, None, token.start, token.end)
    frame.implied = False
    reader.cursor.move_to(token.end)
    return State.HEADER


def _settle_cut_off(reader: TextReader, words: bytes, again: bool) -> Frame:
    """Decide whether a header that was cut off by `<|start|>` is repeated by the next header, which is now known.

    Return the frame of the next header, which continues the message or begins a new one."""
    frame = reader.frame
    assert frame is not None
    cut_off = frame.cut_off
    if cut_off is None or (again and not words.strip(SPACE)):
        return frame
    frame.cut_off = None
    before = split_words(cut_off.words)
    start = frame.start
    if split_words(words)[: len(before)] == before:
        reader.recorder.report(W_START_REPEATED, None, start, start + len(b"<|start|>"))
        frame.start = cut_off.start
        return frame
    implied = frame.implied
    frame.start, frame.implied = cut_off.start, cut_off.implied
    _record_without_body(reader, frame, cut_off.at, cut_off.words, start, Ending.IMPLIED, None)
    reader.begin(start, reader.cursor.at, implied=implied)
    assert reader.frame is not None
    return reader.frame


def _record_without_body(
    reader: TextReader, frame: Frame, at: int, words: bytes, end: int, ending: Ending, stop: Token | None
) -> None:
    """Record a header without `<|message|>` as a separate message, from the words that could be read."""
    reading = read_header(words, reader.grammar.header, implied=frame.implied, partial=True)
    body = at + reading.rest
    _report_missing(reader, reading, at)
    number = reader.recorder.open(_malformed(reading), frame.start, broke_out=frame.broke_out)
    span = (stop.start, stop.end) if stop else None
    reader.recorder.close(number, ending, stop.end if stop else end, [reader.piece(body, end)], stop=span)


def _end_oversize_header(reader: TextReader, limit: int) -> State:
    words = reader.cursor.peek(limit)
    frame = _settle_cut_off(reader, words, False)
    reading = read_header(words, reader.grammar.header, implied=frame.implied, partial=True)
    at = reader.cursor.at
    _report_missing(reader, reading, at)
    return _open_body(reader, frame, _malformed(reading), at + reading.rest)


def _report_missing(reader: TextReader, reading: HeaderReading, at: int) -> None:
    number = reader.recorder.last_number + 1
    _report_problems(reader, reading, number, at)
    body = at + reading.rest
    reader.recorder.report(E_PARSE_HEADER, "message-missing", body, body, number)


def _malformed(reading: HeaderReading) -> Header:
    return replace(reading.header, malformed=True)


def _report_problems(reader: TextReader, reading: HeaderReading, number: int, at: int) -> None:
    for problem in reading.problems:
        reader.recorder.report(problem.rule, problem.reason, at + problem.start, at + problem.end, number)
