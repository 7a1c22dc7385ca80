"""Step functions between messages: document headers, event lines, stray text, and the start of the next message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from viewer.reading.cursor import Token
from viewer.reading.document_header import DocumentHeaderSpan, begins_block, find_document_header, start_transcript
from viewer.reading.frame import State
from viewer.reading.grammar import LONGEST_HEADER, LONGEST_LINE, SPACE
from viewer.reading.header import looks_like_header
from viewer.reading.recorder import Recorder
from viewer.rules.structure import W_START_IMPLICIT, W_STOP_REDUNDANT

if TYPE_CHECKING:
    from viewer.reading.text_reader import TextReader

LONGEST_BLOCK_LINE = 256
"""The number of bytes at the start of a line that are enough to decide whether it begins a document header."""

_NEXT = re.compile(rb"[ \t\r\n]{0,64}+(<\|start\|>)")
_LINE_START = b"\n<|start|>"


def read_document_header(reader: TextReader) -> State | None:
    """Read an optional document header up to the first message."""
    cursor = reader.cursor
    found = find_document_header(cursor.window, cursor.at, cursor.scan, False)
    if found is None:
        cursor.hold_back_bytes(len(_LINE_START))
        return None
    return _begin_transcript(reader, found)


def end_document_header(reader: TextReader) -> State | None:
    """Read a document header that extends to the end of the input."""
    cursor = reader.cursor
    found = find_document_header(cursor.window, cursor.at, cursor.scan, True)
    assert found is not None
    return _begin_transcript(reader, found)


def _begin_transcript(reader: TextReader, found: DocumentHeaderSpan) -> State:
    cursor = reader.cursor
    if not found.is_header:
        cursor.scan_from(cursor.at)
        return State.OUTSIDE
    reader.flush_stray()
    text = cursor.peek(found.end + found.is_cut)
    lead = len(text) - len(text.lstrip(SPACE))
    data = text[lead:]
    if reader.grammar_of_version and reader.recorder.transcript:
        _switch_grammar(reader, data, cursor.at + lead)
    else:
        start_transcript(reader.recorder, data, cursor.at + lead)
    cursor.move_to(found.end)
    return State.OUTSIDE


def _switch_grammar(reader: TextReader, data: bytes, base: int) -> None:
    """Switch to the grammar of a later transcript, according to its version."""
    assert reader.grammar_of_version is not None
    quiet = Recorder(reader.recorder.format)
    grammar = reader.grammar_of_version(start_transcript(quiet, data, base))
    start_transcript(reader.recorder, data, base, grammar.name)
    reader.use(grammar)


def read_outside(reader: TextReader) -> State | None:
    """Read up to the next message or document header."""
    cursor = reader.cursor
    window = cursor.window
    if cursor.at >= window.end:
        return None
    found = _NEXT.match(window.data, cursor.at - window.base)  # the usual case: only whitespace before a message
    if found is not None:
        first, last = found.span(1)
        start = first + window.base
        if not reader.grammar.literals or window.byte_before(start) != ord("<"):
            if reader.stray:
                reader.flush_stray()
            return reader.begin(start, last + window.base)
    if not cursor.is_line_checked:
        state = _check_line(reader, False)
        if not cursor.is_line_checked or state is not None:
            return state
    return _search_line(reader)


def end_outside(reader: TextReader) -> State | None:
    """Read the last line, which has no line end, or record it as stray text."""
    cursor = reader.cursor
    if cursor.at >= cursor.end:
        return None
    if not cursor.is_line_checked:
        return _check_line(reader, True) or State.OUTSIDE
    reader.add_stray(cursor.end)
    cursor.move_to(cursor.end)
    return None


def _search_line(reader: TextReader) -> State | None:
    """Search the line for a token. Without a token, the line is stray text."""
    cursor = reader.cursor
    tokens = reader.tokens[State.OUTSIDE]
    line_end = cursor.window.line_end(cursor.scan)
    limit = line_end + 1 if line_end >= 0 else cursor.end
    token = cursor.search(tokens, limit)
    if token:
        return _read_token(reader, token)
    if line_end >= 0:
        reader.add_stray(limit)
        cursor.move_to(limit)
        return State.OUTSIDE
    cursor.hold_back(tokens)
    if cursor.scan - cursor.at > LONGEST_LINE:
        cut = cursor.scan - LONGEST_HEADER // 8
        reader.add_stray(cut)
        cursor.release(cut)
    return None


def _check_line(reader: TextReader, ended: bool) -> State | None:
    """Read an event, or find the start of a document header.

    For any other line, return None and mark it as checked. To wait for more bytes, return None without the mark."""
    cursor = reader.cursor
    window = cursor.window
    if cursor.at and window.byte_before(cursor.at) != ord("\n"):
        cursor.set_line_checked()
        return None
    line_end = window.line_end(cursor.at)
    is_whole = line_end >= 0 or ended
    end = line_end + 1 if line_end >= 0 else window.end
    first = cursor.peek(min(end, cursor.at + LONGEST_BLOCK_LINE))
    if first.startswith(b"{"):
        return _offer_line(reader, end, is_whole)
    begins: bool | None = False
    if reader.grammar.document_header:
        begins = begins_block(first, is_whole or len(first) == LONGEST_BLOCK_LINE)
    if begins:
        return State.DOCUMENT_HEADER
    if begins is not None:
        cursor.set_line_checked()
    return None


def _offer_line(reader: TextReader, end: int, is_whole: bool) -> State | None:
    cursor = reader.cursor
    is_long = end - cursor.at > LONGEST_LINE
    if not is_whole and not is_long:
        return None
    if not is_long and reader.events.try_line(cursor.peek(end), cursor.at, reader.flush_stray):
        cursor.move_to(end)
        return State.OUTSIDE
    cursor.set_line_checked()
    return None


def _read_token(reader: TextReader, token: Token) -> State:
    if token.name in ("channel", "message"):
        return _begin_implied(reader, token)
    reader.add_stray(token.start)
    reader.flush_stray()
    if token.name == "start":
        return reader.begin(token.start, token.end)
    reader.recorder.start_if_none(token.start)
    reader.recorder.report(W_STOP_REDUNDANT, None, token.start, token.end)
    reader.cursor.move_to(token.end)
    return State.OUTSIDE


def _begin_implied(reader: TextReader, token: Token) -> State:
    """Begin a message without `<|start|>`. Some words of its header may precede the token."""
    words = reader.cursor.peek(token.start)
    lead = len(words) - len(words.lstrip(SPACE))
    start = token.start
    if looks_like_header(words):
        start = reader.cursor.at + lead
    reader.add_stray(start)
    reader.flush_stray()
    reader.start_without_header(start)
    reader.recorder.report(W_START_IMPLICIT, None, start, start, reader.recorder.last_number + 1)
    return reader.begin(start, start, implied=start == token.start and token.name == "channel")
