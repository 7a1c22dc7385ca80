"""Step functions of the states BODY and LITERAL: find the end, and keep tokens that do not end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from viewer.model.messages import Ending, Message
from viewer.model.visibility import is_user_safe
from viewer.reading.cursor import Token
from viewer.reading.frame import Frame, State
from viewer.reading.grammar import ENDINGS
from viewer.reading.header import LONGEST_PLAUSIBLE, is_stop_expected, looks_like_channel, looks_like_header
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.rules.structure import W_END_MISSING, W_MARKER_IN_BODY, W_START_IMPLICIT, W_STOP_UNEXPECTED

if TYPE_CHECKING:
    from viewer.reading.text_reader import TextReader

LONGEST_LOOKAHEAD = 600
"""The maximum distance in bytes from a marker to its `<|message|>`. Beyond it, the marker does not begin a message."""
assert LONGEST_LOOKAHEAD > LONGEST_PLAUSIBLE


def read_body(reader: TextReader) -> State | None:
    """Read a body up to the next token."""
    cursor = reader.cursor
    tokens = reader.tokens[State.BODY]
    token = cursor.search(tokens)
    if token is None:
        cursor.hold_back(tokens)
        return None
    frame = reader.frame
    assert frame is not None
    ending = ENDINGS.get(token.name)
    if ending is not None:
        if not is_stop_expected(frame.header, ending, reader.grammar):
            reader.recorder.report(W_STOP_UNEXPECTED, None, token.start, token.end, frame.number)
        _close(reader, frame, ending, token.start, token)
        return reader.end_frame(token.end)
    cursor.scan_from(token.start)
    if token.name == "literal":
        cursor.scan_from(token.end)
        return State.LITERAL
    if token.name == "start" or (token.name == "channel" and frame.header.role == "assistant"):
        opens = _opens_message(reader, token)
        if opens is None:
            return None
        if opens:
            return _break_out(reader, frame, token)
    return _keep_token(reader, frame, token)


def end_body(reader: TextReader) -> State | None:
    """End a truncated body, or keep a marker in it that is too close to the end to begin a message."""
    token = reader.cursor.search(reader.tokens[State.BODY])
    if token is None:
        return _truncate(reader, "body")
    assert reader.frame is not None
    return _keep_token(reader, reader.frame, token)


def read_literal(reader: TextReader) -> State | None:
    """Read a literal block up to its end."""
    tokens = reader.tokens[State.LITERAL]
    token = reader.cursor.search(tokens)
    if token is None:
        reader.cursor.hold_back(tokens)
        return None
    reader.cursor.scan_from(token.end)
    return State.BODY


def end_literal(reader: TextReader) -> State | None:
    """End a truncated literal block."""
    return _truncate(reader, "literal")


def _keep_token(reader: TextReader, frame: Frame, token: Token) -> State:
    """Report a token in the body, and keep it as text."""
    if token.name == "constrain" and frame.is_blank(reader.cursor.window, token.start):
        _unassume_preamble(frame)
    reason = {"constrain": "constrain", "endliteral": "unbalanced-literal"}.get(token.name, "nested")
    reader.recorder.report(W_MARKER_IN_BODY, reason, token.start, token.end, frame.number)
    reader.cursor.scan_from(token.end)
    return State.BODY


def _unassume_preamble(frame: Frame) -> None:
    """Drop the assumption that this is a preamble, because a constraint at the start of the body marks a call."""
    if frame.header.intent == "preamble":
        frame.header = replace(frame.header, intent=None)


def _opens_message(reader: TextReader, token: Token) -> bool | None:
    """True if a plausible header follows a marker in a body; None if there are too few bytes to decide."""
    window, tokens = reader.cursor.window, reader.tokens[State.BODY]
    limit = token.end + LONGEST_LOOKAHEAD
    following = tokens.search(window, token.end, min(limit, window.end))
    while following and following.name in ("channel", "constrain") and token.name == "start":
        following = tokens.search(window, following.end, min(limit, window.end))
    if following is None:
        return False if window.end >= limit else None
    if following.name != "message":
        return False
    words = window.text(token.end, following.start)
    return looks_like_header(words) if token.name == "start" else looks_like_channel(words)


def _break_out(reader: TextReader, frame: Frame, token: Token) -> State:
    """Close the current message, which has no stop token, and begin the next one at this token."""
    reader.recorder.report(W_END_MISSING, None, token.start, token.start, frame.number)
    unclosed = _close(reader, frame, Ending.IMPLIED, token.start, None)
    broke_out = not is_user_safe(unclosed)
    if token.name == "start":
        return reader.begin(token.start, token.end, broke_out=broke_out)
    reader.recorder.report(W_START_IMPLICIT, None, token.start, token.start, reader.recorder.last_number + 1)
    return reader.begin(token.start, token.start, implied=True, broke_out=broke_out)


def _truncate(reader: TextReader, reason: str) -> State:
    frame, end = reader.frame, reader.cursor.end
    assert frame is not None
    reader.recorder.report(E_STREAM_TRUNCATED, reason, end, end, frame.number)
    _close(reader, frame, Ending.OPEN, end, None)
    return reader.end_frame(end)


def _close(reader: TextReader, frame: Frame, ending: Ending, end: int, stop: Token | None) -> Message:
    return reader.recorder.close(
        frame.number,
        ending,
        stop.end if stop else end,
        [reader.piece(frame.body_start, end)],
        stop=(stop.start, stop.end) if stop else None,
        header=frame.header,
    )
