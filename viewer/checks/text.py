"""Checks of one message at a time: its encoding, its header, its body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.index.calls import is_function
from viewer.model.messages import Channel, Coding, Ending, Header, Message, Span
from viewer.model.visibility import is_user_safe
from viewer.reading.embedded_turn import first_token, first_word
from viewer.reading.header import is_tool
from viewer.reading.hidden_spans import BlockKind, Source, hidden_blocks
from viewer.reading.thoughts import MAY_BE_MARK, quoted_tags, thought_blocks
from viewer.syntax.characters import find_hidden_characters
from viewer.syntax.json_text import duplicate_keys
from viewer.syntax.utf8 import ill_formed

_NULS = re.compile(rb"\0++")


def check_encoding(case: CheckContext) -> None:
    """W-ENCODING: bytes that are no UTF-8, and NUL."""
    for start, end in _spans_of_bytes(case):
        data = case.read(start, end)
        for code_span in ill_formed(data, start):
            case.report("W-ENCODING", "invalid-utf8", code_span)
        for nul in find_nul(data, start):
            case.report("W-ENCODING", "nul", nul, nul[1] - nul[0])


def _spans_of_bytes(case: CheckContext) -> list[Span]:
    """All bytes of the message, each of the input looked at once where messages share them."""
    pieces = case.message.pieces
    if len(pieces) > 1:
        return [(piece.start, piece.end) for piece in pieces]
    start, end = case.message.span
    return [(max(start, case.checked_to), end)] if end > case.checked_to else []


def find_nul(data: bytes, base: int) -> Iterator[Span]:
    """Runs of NUL bytes."""
    first = data.find(0)  # seven times as fast as the expression, and most inputs have none
    for run in _NULS.finditer(data, first) if first >= 0 else ():
        yield base + run.start(), base + run.end()


def check_hidden_characters(case: CheckContext) -> None:
    """W-TEXT-HIDDEN-CHARACTERS: invisible and reordering characters in a body."""
    for kind, start, end in find_hidden_characters(case.body.data):
        case.report_in_body("W-TEXT-HIDDEN-CHARACTERS", kind, start, end)


def check_channel(case: CheckContext) -> None:
    """E-PARSE-CHANNEL-MISSING, where the dialect or the profile requires channels."""
    if _lacks_channel(case.message.header, case.transcript):
        case.report("E-PARSE-CHANNEL-MISSING", None, case.before_mark(b"<|constrain|>", b"<|message|>"))


def _lacks_channel(header: Header, transcript: TranscriptFacts) -> bool:
    if header.channel_given is not None or header.malformed or not header.complete:
        return False
    by_dialect = transcript.dialect.channel_required and header.role == "assistant"
    return by_dialect or (transcript.profile.require_channels and header.role in ("assistant", "tool"))


def check_call_channel(case: CheckContext) -> None:
    """W-CALL-CHANNEL: a function called outside the channel for calls."""
    header = case.message.header
    if _is_call_elsewhere(header, case.transcript):
        given = header.channel_given
        place = case.place(f"<|channel|>{given}") if given else case.before_mark(b"<|constrain|>", b"<|message|>")
        lead = len("<|channel|>") if given and place[0] < place[1] else 0
        case.report("W-CALL-CHANNEL", None, (place[0] + lead, place[1]))


def _is_call_elsewhere(header: Header, transcript: TranscriptFacts) -> bool:
    if header.role != "assistant" or not is_tool(header.recipient) or transcript.dialect.name == "openchatml-1.x":
        return False
    channel = header.channel.value if header.channel else None
    return is_function(header.recipient or "") and channel != transcript.profile.tool_calls_in


def check_preamble(case: CheckContext) -> None:
    """E-PERM-VISIBILITY: `intent=preamble` where it has no force."""
    reason = _powerless_preamble(case.message)
    if reason:
        case.report("E-PERM-VISIBILITY", reason, case.place("intent=preamble", '"preamble"'))


def _powerless_preamble(message: Message) -> str | None:
    header = message.header
    if header.role != "assistant":
        return None
    if header.intent != "preamble" and dict(header.extra).get("intent") != "preamble":
        return None
    if header.channel is Channel.ANALYSIS:
        return "preamble-on-analysis"
    return "preamble-on-call" if is_tool(header.recipient) or message.ending is Ending.CALL else None


def has_faulty_header(message: Message, transcript: TranscriptFacts) -> bool:
    """Whether header and ending alone give something to report; messages that are alike in them are alike in this."""
    header = message.header
    return (
        _lacks_channel(header, transcript)
        or _is_call_elsewhere(header, transcript)
        or _powerless_preamble(message) is not None
    )


def check_thoughts(case: CheckContext) -> None:
    """E-PERM-VISIBILITY: a thought block in a shown body. W-MARKER-IN-BODY: a think tag in the middle of a line."""
    if case.message.header.role != "assistant" or not is_user_safe(case.message):
        return
    blocks = thought_blocks(case.body)
    if blocks:
        case.cut.append(case.message.number)
    if case.transcript.dialect.thoughts_first:
        blocks = _after_text(case.body.data, blocks)
    for start, end in blocks:
        case.report_in_body("E-PERM-VISIBILITY", "cot-in-final", start, end)
    for start, end in quoted_tags(case.body):
        case.report_in_body("W-MARKER-IN-BODY", "thought", start, end)


def _after_text(data: bytes, blocks: list[Span]) -> list[Span]:
    """The blocks that follow text. One that a mark in the middle closes is the first if the prompt opened it."""
    before = 0
    for index, (start, end) in enumerate(blocks):
        is_withdrawn = index > 0 and not MAY_BE_MARK.match(data, start)
        if is_withdrawn or data[before:start].strip():
            return blocks[index:]
        before = end
    return []


def check_template_marks(case: CheckContext) -> None:
    """Tokens and marks of a chat template in a body that the end user sees."""
    if not is_user_safe(case.message):
        return
    dialect = case.transcript.dialect
    blocks = hidden_blocks(case.body, case.message.header.role, in_json=dialect.json_content)
    if blocks and case.message.number not in case.cut[-1:]:
        case.cut.append(case.message.number)
    is_embedded = False
    for block in blocks:
        start, end = block.start, block.end
        match block.source:
            case Source.STRIPPED:
                case.report_in_body("W-TOKENS-STRIPPED", None, *first_word(case.body.data, start))
            case Source.EMBEDDED:
                if not is_embedded:
                    case.report_in_body("E-PERM-VISIBILITY", "tokens-in-content", *first_token(case.body.data))
                is_embedded = True
            case _ if block.kind is BlockKind.THOUGHT:
                case.report_in_body("E-PERM-VISIBILITY", "cot-in-final", start, end)
            case _:
                case.report_in_body("W-MARKER-IN-BODY", "template", *first_token(case.body.data, start, end))


def check_json(case: CheckContext) -> None:
    """E-BODY-CONSTRAINT-VIOLATION and W-JSON-DUPLICATE-KEY, in closed bodies."""
    if case.message.ending is Ending.OPEN:
        return
    if _is_constrained_json(case) and case.json_fault:
        fault = case.json_fault
        case.report_in_body("E-BODY-CONSTRAINT-VIOLATION", fault.reason, fault.offset, fault.end)
    if _may_be_json(case) and b'"' in case.json and _may_repeat_a_key(case):
        for one in duplicate_keys(case.json, case.json_start, case.glance.survey):
            case.report_in_body("W-JSON-DUPLICATE-KEY", None, one.start, one.end, one.count)


def _may_repeat_a_key(case: CheckContext) -> bool:
    return case.glance.repeats if case.glance.valid else case.json_fault is None


def _is_constrained_json(case: CheckContext) -> bool:
    header = case.message.header
    return header.constrained and (header.content_type or "").lower() == "json" and not _is_unspelled(case)


def _is_unspelled(case: CheckContext) -> bool:
    """Token ids that stand as numbers say nothing of the text that they spell."""
    by_ids = any(piece.coding is Coding.TOKEN_IDS for piece in case.message.pieces)
    return by_ids and "⟨".encode() in case.body.data


def _may_be_json(case: CheckContext) -> bool:
    header = case.message.header
    by_type = (header.content_type or "").lower() == "json"
    by_role = header.role == "tool" or is_tool(header.recipient) or case.json_start > 0
    return by_type or (by_role and case.begins_object)


MESSAGE_CHECKS: tuple[Callable[[CheckContext], None], ...] = (
    check_encoding,
    check_channel,
    check_call_channel,
    check_preamble,
    check_hidden_characters,
    check_thoughts,
    check_template_marks,
    check_json,
)
