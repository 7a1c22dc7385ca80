"""Checks of text: encoding, hidden characters, thoughts, and marks of chat templates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from viewer.cache import lazy_regex
from viewer.checks.check import (
    AllOf,
    AnyOf,
    BodyStarts,
    Check,
    Contains,
    HasByte,
    HeaderIs,
    IllFormed,
    LoneByte,
    Matches,
    Scope,
)
from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import Message, Span
from viewer.model.visibility import is_user_safe
from viewer.reading.embedded_turn import MAY_BE_STRIPPED, STRIPPED_SOURCE, first_token, first_word
from viewer.reading.hidden_spans import BlockKind, Source, hidden_blocks
from viewer.reading.template_marks import MAY_BE_MARK as MAY_BE_TOKEN
from viewer.reading.template_marks import TEXT_SIGNS
from viewer.reading.thoughts import MAY_BE_MARK, quoted_tags, thought_blocks
from viewer.reading.thoughts import SIGNS as THOUGHT_SIGNS
from viewer.rules.errors import E_PERM_VISIBILITY
from viewer.rules.structure import W_ENCODING, W_MARKER_IN_BODY, W_TEXT_HIDDEN_CHARACTERS, W_TOKENS_STRIPPED
from viewer.syntax.agent_text import HEAD_LEADS, MAY_HAVE_LABELS
from viewer.syntax.characters import HIDING_LEADS, MAY_HIDE, find_hidden_characters, search_hidden_characters
from viewer.syntax.utf8 import ill_formed

if TYPE_CHECKING:
    from viewer.scan.blocks import Positions

CONTROLS = bytes([*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
"""Control characters except NUL, tab, line feed, and carriage return."""
MOST_UNEXPLAINED = 64
"""If more characters than this may be hidden in a batch, an exact search takes less time than checking their
messages."""
_TOKEN_LEADS = "<[]◁".encode()
_STEP_LEADS = HEAD_LEADS + b" \t\n\r\v\f"
_STRIPPED_LEADS = b"ac \t\n\r\v\f"
_NULS = lazy_regex(rb"\0++")


def check_encoding(case: CheckContext) -> Iterator[Diagnostic]:
    """W-ENCODING: NUL, and bytes that are not UTF-8."""
    for start, end in _spans_of_bytes(case):
        data = case.read(start, end)
        for code_span in ill_formed(data, start):
            yield case.diagnose(W_ENCODING, "invalid-utf8", code_span)
        for nul in find_nul(data, start):
            yield case.diagnose(W_ENCODING, "nul", nul, nul[1] - nul[0])


def _spans_of_bytes(case: CheckContext) -> list[Span]:
    """Return the spans of the message that must be checked. Bytes that several messages share are checked only once."""
    pieces = case.message.pieces
    if len(pieces) > 1:
        return [(piece.start, piece.end) for piece in pieces]
    start, end = case.message.span
    return [(max(start, case.checked_to), end)] if end > case.checked_to else []


def find_nul(data: bytes, base: int) -> Iterator[Span]:
    """Yield the runs of NUL bytes."""
    first = data.find(0)  # seven times faster than the pattern, and most inputs have none
    for run in _NULS.finditer(data, first) if first >= 0 else ():
        yield base + run.start(), base + run.end()


ENCODING = Check((W_ENCODING,), Scope.MESSAGE, AnyOf(IllFormed(), HasByte(b"\0")), check_encoding)


def check_hidden_characters(case: CheckContext) -> Iterator[Diagnostic]:
    """W-TEXT-HIDDEN-CHARACTERS: invisible and reordering characters in a body."""
    for kind, start, end in find_hidden_characters(case.body.data):
        yield case.diagnose_body(W_TEXT_HIDDEN_CHARACTERS, kind, start, end)


def _places_of_hidden_characters(data: bytes, leads: Positions) -> list[int]:
    from viewer.checks.hidden_numpy import find_unexplained

    places: list[int] = find_unexplained(data, leads).tolist()
    if len(places) <= MOST_UNEXPLAINED:
        return places
    return [start for _, start, _ in search_hidden_characters(data)]


HIDDEN_CHARACTERS = Check(
    (W_TEXT_HIDDEN_CHARACTERS,),
    Scope.MESSAGE,
    AnyOf(
        HasByte(CONTROLS),
        LoneByte(b"\r", unless_before=b"\n"),
        Matches(HIDING_LEADS, MAY_HIDE, _places_of_hidden_characters, in_source=True),
    ),
    check_hidden_characters,
)


def check_thoughts(case: CheckContext) -> Iterator[Diagnostic]:
    """E-PERM-VISIBILITY: a thought block in a shown body. W-MARKER-IN-BODY: a think tag in the middle of a line."""
    if not _is_shown_answer(case.message, case.transcript):
        return
    blocks = thought_blocks(case.body)
    if blocks:
        case.mark_cut()
    if case.transcript.format.thoughts_first:
        blocks = _after_text(case.body.data, blocks)
    for start, end in blocks:
        yield case.diagnose_body(E_PERM_VISIBILITY, "cot-in-final", start, end)
    for start, end in quoted_tags(case.body):
        yield case.diagnose_body(W_MARKER_IN_BODY, "thought", start, end)


def _after_text(data: bytes, blocks: list[Span]) -> list[Span]:
    """Return the blocks from the first misplaced one on: a block that follows text, or that follows another block and
    has no opening mark."""
    before = 0
    for index, (start, end) in enumerate(blocks):
        is_withdrawn = index > 0 and not MAY_BE_MARK.match(data, start)
        if is_withdrawn or data[before:start].strip():
            return blocks[index:]
        before = end
    return []


def _is_shown_answer(message: Message, _: TranscriptFacts) -> bool:
    return message.header.role == "assistant" and is_user_safe(message)


THOUGHTS = Check(
    (
        E_PERM_VISIBILITY,
        W_MARKER_IN_BODY,
    ),
    Scope.MESSAGE,
    AllOf(
        HeaderIs(_is_shown_answer),
        Contains(*THOUGHT_SIGNS, ignore_case=True),
    ),
    check_thoughts,
)


def check_template_marks(case: CheckContext) -> Iterator[Diagnostic]:
    """Report tokens and marks of a chat template in a body that the end user sees."""
    if not _is_shown(case.message, case.transcript):
        return
    format = case.transcript.format
    blocks = hidden_blocks(case.body, case.message.header.role, in_json=format.json_content)
    if blocks:
        case.mark_cut()
    is_embedded = False
    for block in blocks:
        start, end = block.start, block.end
        match block.source:
            case Source.STRIPPED:
                yield case.diagnose_body(W_TOKENS_STRIPPED, None, *first_word(case.body.data, start))
            case Source.EMBEDDED:
                if not is_embedded:
                    yield case.diagnose_body(E_PERM_VISIBILITY, "tokens-in-content", *first_token(case.body.data))
                is_embedded = True
            case Source.AGENT:
                continue
            case _ if block.kind is BlockKind.THOUGHT:
                yield case.diagnose_body(E_PERM_VISIBILITY, "cot-in-final", start, end)
            case _:
                yield case.diagnose_body(W_MARKER_IN_BODY, "template", *first_token(case.body.data, start, end))


def _is_shown(message: Message, _: TranscriptFacts) -> bool:
    return is_user_safe(message)


def _is_shown_json_content(message: Message, transcript: TranscriptFacts) -> bool:
    return transcript.format.json_content and is_user_safe(message)


TEMPLATE_MARKS = Check(
    (
        E_PERM_VISIBILITY,
        W_MARKER_IN_BODY,
        W_TOKENS_STRIPPED,
    ),
    Scope.MESSAGE,
    AnyOf(
        AllOf(
            HeaderIs(_is_shown),
            AnyOf(
                Contains(*TEXT_SIGNS, ignore_case=True), BodyStarts(_STRIPPED_LEADS, MAY_BE_STRIPPED, STRIPPED_SOURCE)
            ),
        ),
        AllOf(
            HeaderIs(_is_shown_json_content),
            AnyOf(
                Matches(_TOKEN_LEADS, MAY_BE_TOKEN, in_source=True),
                BodyStarts(_STEP_LEADS, MAY_HAVE_LABELS, MAY_HAVE_LABELS),
            ),
        ),
    ),
    check_template_marks,
)
