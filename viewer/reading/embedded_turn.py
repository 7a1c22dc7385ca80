"""Find embedded turns: turns that a server failed to parse and left in a shown body."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.model.messages import Channel, Ending, Header, Message, Span
from viewer.model.visibility import is_user_safe
from viewer.reading.grammar import HeaderGrammar
from viewer.reading.header import is_tool, read_header
from viewer.reading.template_marks import MARK, any_of, read_mark

_TOKEN = lazy_regex(rb"<\|(start|channel|message|constrain|end|return|call)\|>")
_HEADER = rb"[^<]{0,512}(?:<\|(?:channel|constrain)\|>[^<]{0,512}){0,4}"
_TURN = lazy_regex(rb"<\|(?:start|channel)\|>" + _HEADER + rb"(?:<\|message\|>|(?:<(?:\|[a-z]{0,9}\|?)?)?\Z)")
_PLAUSIBLE_TURN = lazy_regex(
    rb"(?:<\|start\|>[ \t\r\n]*assistant[ \t]*)?<\|channel\|>[ \t]*(?:analysis|commentary|final)"
    rb"(?:[ \t<][^\r\n]{0,256}?)?<\|message\|>"
)
_STOPS = {b"end": Ending.END, b"return": Ending.RETURN, b"call": Ending.CALL}
LONGEST_WORDS = 128
"""The maximum length in bytes of the rest of a header before the first token. Longer text is not part of a header."""
_GRAMMAR = HeaderGrammar(attributes=frozenset({"to"}), harmony=True)
_HEADER_WORDS = lazy_regex(
    rb"\s*(?:assistant|user|system|developer|tool|functions\.\S+)?\s*(?:to=\S+\s*)?"
    rb"(analysis|commentary|final)?\s*(?:to=\S+\s*)?(?:json\s*)?"
)

_STRIPPED = lazy_regex(
    rb"\s{0,8}(?:assistant)?(?:analysis|commentary)(?:(?=[A-Z])|\s{0,8}to=[A-Za-z]|[\s\S]*?assistantfinal)"
)
"""A pattern that matches a body whose control tokens a decoder dropped."""
MAY_BE_STRIPPED = lazy_regex(rb"\s{0,8}(?:assistant)?(?:analysis|commentary)")
STRIPPED_SOURCE = lazy_regex(rb"(?> |\\[tnrf])*+(?:assistant)?(?:analysis|commentary)")
"""Like `MAY_BE_STRIPPED`, but for the source of a JSON string. It misses strings that spell a character by its code
point."""
STRIPPED_SIGN = lazy_regex(rb"analysis|commentary")
"""A pattern that occurs near the start of every body whose control tokens were dropped. Prefilters search for it in
many bodies at a time."""
_STRIPPED_WORD = lazy_regex(rb"(?:assistant)?(?:analysis|commentary|final)")
_STRIPPED_HEADER = lazy_regex(rb"assistant(analysis|commentary|final)")

_FRAME_WORDS = (
    *("start", "channel", "message", "constrain", "end", "return", "call", "function_call", "function_output"),
    *("im_start", "im_end", "im_user", "im_assistant", "im_system", "im_middle", "system", "user", "assistant"),
    *("start_header_id", "end_header_id", "eot_id", "eom_id", "endoftext", "begin_of_text", "end_of_text"),
    *("START_OF_TURN_TOKEN", "END_OF_TURN_TOKEN", "USER_TOKEN", "CHATBOT_TOKEN", "SYSTEM_TOKEN"),
)
_FRAME_TOKENS = (
    *(f"<|{word}|>" for word in _FRAME_WORDS),
    *("<|turn>", "<turn|>", "</s>", "<start_of_turn>", "<end_of_turn>", "[gMASK]", "]~b]", "[e~["),
    *("[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[MODEL_SETTINGS]", "[/MODEL_SETTINGS]", "[TOOL_CONTENT]"),
    *("<｜User｜>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
)
TEMPLATE_TOKEN = lazy_regex(lambda: any_of((token.encode() for token in _FRAME_TOKENS), rb"(?<![\w?]<)(?<=<)s>"))
"""The frame tokens of chat templates. In `(?P<s>…)` and `set<s>`, `<s>` is the name of a group or a type."""
NEUTRAL = (
    r"(?:[A-Za-z_]*(?:image|video|audio|vision|media|box|quad|object|fim|file|repo|pad|sep|eos|bos|endof|begin_of|end_of)"
    r"[A-Za-z0-9_]*|(?:end)?literal|(?:start|end)_(?:reason|reflect|introspect)|function_(?:call|output|list))"
)
"""A pattern for names of control tokens that never begin another speaker's text."""
_UNKNOWN_TOKEN = lazy_regex(
    rb"<(?:\|(?!%(neutral)s\|>)[A-Za-z][A-Za-z0-9_-]{1,40}\|"
    rb"|%(bar)s(?!%(neutral)s%(bar)s)[A-Za-z][A-Za-z0-9_-]{1,40}%(bar)s)>"
    % {b"neutral": NEUTRAL.encode(), b"bar": "｜".encode()},
    signs=(b"<|", "<｜".encode()),
)
PLACEHOLDER = lazy_regex(
    rb"<(?:SPECIAL_|unused_?|reserved_?|extra_id_)\d{1,4}>|\[(?:unused|UNUSED_?)\d{1,4}\]",
    signs=(b"<special_", b"<unused", b"<reserved", b"<extra_id_", b"[unused"),
)
"""A token that a vocabulary reserves, in every format. What it means in the output of a model is unknown."""
_RESERVED = (b"<SPECIAL_", b"<unused", b"<reserved", b"<extra_id_", b"[unused", b"[UNUSED")
"""The beginnings of such tokens."""
_BEGUN_PLACEHOLDER = lazy_regex(
    rb"<(?:S(?:P(?:E(?:C(?:I(?:AL?)?)?)?)?)?|SPECIAL_\d{0,4}|u(?:n(?:u(?:s(?:e)?)?)?)?|unused_?\d{0,4}"
    rb"|r(?:e(?:s(?:e(?:r(?:ve?)?)?)?)?)?|reserved_?\d{0,4}|e(?:x(?:t(?:r(?:a(?:_(?:id?)?)?)?)?)?)?|extra_id_\d{0,4})?"
    rb"|\[(?:[uU](?:[nN](?:[uU](?:[sS](?:[eE](?:[dD](?:_?\d{0,4})?)?)?)?)?)?)?"
)
LONGEST_PLACEHOLDER = 24
_QUOTED = (b"`", b"'", b'"')
_FENCE = lazy_regex(rb"(?m)^[ \t]{0,8}(?:```|~~~)", signs=(b"```", b"~~~"))


def unknown_tokens(data: bytes) -> Iterator[Span]:
    """Yield the spans of control tokens that no template has, unless they are quoted or in a code block."""
    yield from _unquoted(_UNKNOWN_TOKEN, data)


def placeholders(data: bytes) -> Iterator[Span]:
    """Yield the spans of reserved tokens, unless they are quoted or in a code block."""
    if may_have_placeholder(data):
        yield from _unquoted(PLACEHOLDER, data)


def may_have_placeholder(data: bytes) -> bool:
    """True if the text may have a reserved token. This test is inexpensive."""
    return any(map(data.__contains__, _RESERVED))


def begun_placeholder(data: bytes) -> int:
    """Return the number of bytes at the end that may begin a reserved token."""
    at = max(data.rfind(b"<", -LONGEST_PLACEHOLDER), data.rfind(b"[", -LONGEST_PLACEHOLDER))
    return len(data) - at if at >= 0 and _BEGUN_PLACEHOLDER.fullmatch(data, at) else 0


def is_quoted(data: bytes, start: int) -> bool:
    """True if a quote precedes this offset."""
    return data[start - 1 : start] in _QUOTED


def _unquoted(token: re.Pattern[bytes], data: bytes) -> Iterator[Span]:
    fences: list[int] | None = None
    for found in token.finditer(data):
        start = found.start()
        if MARK.match(data, start) or is_quoted(data, start):
            continue
        fences = [fence.start() for fence in _FENCE.finditer(data)] if fences is None else fences
        if bisect(fences, start) % 2 == 0:
            yield found.span()


class Piece(Struct, frozen=True):
    """One part of an embedded turn."""

    start: int
    end: int
    body: Span
    header: Header | None
    """The header of the part; None for tokens outside any part and for text without a header."""
    ending: Ending = Ending.END

    @property
    def is_shown(self) -> bool:
        """True if an end user sees the body of this part."""
        if self.header is None:
            return False
        message = Message(0, 0, self.header, self.ending, (0, 0), ())
        return self.header.role == "assistant" and is_user_safe(message)


def find_turn(data: bytes, *, in_json: bool) -> int | None:
    """Return the offset of the first control token of an embedded turn, or None if there is no such turn. Outside JSON,
    a plausible header must follow, because formats that use these tokens never leave such a turn in a body."""
    if b"<|channel|>" not in data and not (in_json and b"<|start|>" in data):
        return None
    turn = (_TURN if in_json else _PLAUSIBLE_TURN).search(data)
    if turn is None:
        return None
    first = _TOKEN.search(data)
    return min(turn.start(), first.start()) if first else turn.start()


def read_turn(data: bytes, first: int) -> list[Piece]:
    """Split a body into the parts of its embedded turn, in order and without gaps."""
    parts = list(_parts(data, first))
    lead = _lead(data, first, parts)
    return [lead, *parts] if lead else parts


def _lead(data: bytes, first: int, parts: list[Piece]) -> Piece | None:
    """Return the text before the first token as a part, or None if there is none. The text is an answer, unless a shown
    part follows, the first token is `<|call|>`, or the text is the rest of a header."""
    if not first:
        return None
    text = data[:first]
    token = _TOKEN.match(data, first)
    name = token[1] if token else b""
    is_header = name in (b"channel", b"message", b"constrain") and text.strip() and _header_words(text) is not None
    is_said = not is_header and name != b"call" and not any(part.is_shown for part in parts)
    header = Header("assistant", channel=Channel.FINAL) if is_said else None
    return Piece(0, first, (0, first), header)


def _header_words(text: bytes) -> re.Match[bytes] | None:
    return _HEADER_WORDS.fullmatch(text) if len(text) <= LONGEST_WORDS else None


def _parts(data: bytes, first: int) -> Iterator[Piece]:
    """Yield the parts from the first token on."""
    tokens = list(_TOKEN.finditer(data, first))
    at, index = first, 0
    while index < len(tokens):
        token = tokens[index]
        if token[1] in (b"start", b"channel", b"message", b"constrain"):
            message = index
            while message < len(tokens) and tokens[message][1] in (b"start", b"channel", b"constrain"):
                message += 1
            if message == len(tokens) or tokens[message][1] != b"message":
                stop = tokens[message].end() if message < len(tokens) else len(data)
                yield Piece(at, stop, (stop, stop), None)
                at, index = stop, message + 1
                continue
            header = _read(data, token, tokens[message].start(), first)
            body = tokens[message].end()
            index = message + 1
            end = tokens[index].start() if index < len(tokens) else len(data)
            ending, after = Ending.OPEN, end
            if index < len(tokens) and tokens[index][1] in _STOPS:
                ending, after = _STOPS[tokens[index][1]], tokens[index].end()
                index += 1
            yield Piece(at, after, (body, end), header, ending)
            at = after
        else:
            after = tokens[index + 1].start() if index + 1 < len(tokens) else len(data)
            yield Piece(at, after, (after, after), None)
            at, index = after, index + 1
    if at < len(data):
        yield Piece(at, len(data), (at, len(data)), None)


def _read(data: bytes, token: re.Match[bytes], message: int, first: int) -> Header:
    if token[1] == b"start":
        return read_header(data[token.end() : message], _GRAMMAR).header
    if token[1] == b"message" and token.start() == first:
        words = _header_words(data[:first])
        channel = words[1] if words else None
        return read_header(b"assistant<|channel|>" + (channel or b"?"), _GRAMMAR).header
    return read_header(data[token.start() : message], _GRAMMAR, implied=True).header


def is_call(piece: Piece) -> bool:
    """True if the part is addressed to a tool, or ends with `<|call|>`."""
    return piece.header is not None and (is_tool(piece.header.recipient) or piece.ending is Ending.CALL)


def may_be_stripped(data: bytes, start: int = 0) -> bool:
    """True if the body at `start` may be a turn without its tokens. This test is inexpensive."""
    return MAY_BE_STRIPPED.match(data, start) is not None


def stripped_spans(data: bytes) -> list[Span]:
    """Return the hidden spans of a body whose control tokens were dropped, or an empty list for other text."""
    if not may_be_stripped(data) or not _STRIPPED.match(data):
        return []
    spans: list[Span] = []
    hidden_from: int | None = 0
    for found in _STRIPPED_HEADER.finditer(data):
        if found[1] != b"final":
            hidden_from = found.start() if hidden_from is None else hidden_from
        elif hidden_from is not None:
            spans.append((hidden_from, found.end()))
            hidden_from = None
    return spans if hidden_from is None else [*spans, (hidden_from, len(data))]


def first_token(data: bytes, start: int = 0, end: int | None = None) -> Span:
    """Return the span of the first control token or template mark between two offsets, or an empty span."""
    limit = len(data) if end is None else end
    unknown = _UNKNOWN_TOKEN.match(data, start, limit) or PLACEHOLDER.match(data, start, limit)
    if unknown is not None:
        return unknown.span()
    token = TEMPLATE_TOKEN.search(data, start, limit)
    mark = next((mark for mark in map(read_mark, MARK.finditer(data, start, limit)) if mark.opens or mark.closes), None)
    found = [*([token.span()] if token else []), *([(mark.start, mark.end)] if mark else [])]
    return min(found, default=(start, start))


def first_word(data: bytes, start: int) -> Span:
    """Return the span of the word that begins a stripped part, or an empty span."""
    found = _STRIPPED_WORD.search(data, start)
    return found.span() if found else (start, start)
