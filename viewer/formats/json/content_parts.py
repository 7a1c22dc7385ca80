"""Split the text of a record into messages: answers, and the thoughts, calls, and replies between template marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.json.call_text import CallText, read_calls, read_command, read_replies
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Channel, Ending, Header, Kind, Piece, Span
from viewer.model.visibility import is_header_safe
from viewer.reading.bodies import THOUGHT_KINDS, Body, read_body
from viewer.reading.embedded_turn import Piece as TurnPiece
from viewer.reading.embedded_turn import find_turn, first_token, first_word, read_turn
from viewer.reading.header import full_tool_name
from viewer.reading.hidden_spans import Block, BlockKind, Source, hidden_blocks
from viewer.reading.template_marks import LONGEST_ATTRIBUTES, MARK, MAY_BE_MARK, Mark, MarkPair, read_mark
from viewer.reading.thoughts import thought_spans
from viewer.rules.errors import E_CALL_SCHEMA, E_PERM_VISIBILITY
from viewer.rules.structure import W_MARKER_IN_BODY, W_TOKENS_STRIPPED
from viewer.syntax.agent_text import may_have_steps

_SPACE = b" \t\r\n"
_OWN_THOUGHT = lazy_regex(rb"<\|(?:start|end)_(?:" + "|".join(THOUGHT_KINDS).encode() + rb")\|>")
_LEADING_THOUGHT = lazy_regex(rb"[ \t\r\n]*<think>")
_THOUGHT_END = b"</think>"
_STEP_KEY = lazy_regex(rb"\"(commands?|actions?)\"\s*:")
"""The member of a step that contains its calls. It serves as the name of a call without a name."""
_TAG_END = lazy_regex(rb"[^<>]{0,%d}>" % LONGEST_ATTRIBUTES)
_TAGGED = ("think", "details")
"""The pairs whose opening tag may have attributes, which are not part of the thought."""


class ContentPart(Struct):
    """A run of the text that becomes one message."""

    kind: BlockKind | None
    """The kind of the block; None for ordinary text."""
    pieces: list[Piece]
    call: CallText | None = None
    header: Header | None = None
    """The header of an embedded turn."""
    reports: list[Problem] = field(default_factory=list)


def split_content(pieces: list[Piece], read: Callable[[int, int], bytes], role: str) -> list[ContentPart]:
    """Return the parts of the text in order, or none if it has no marks."""
    body = read_body(tuple(pieces), read)
    bounds = _lone_thought(body.data) if role == "assistant" else None
    if bounds is not None:
        return list(_Splitter(body, []).thought_first(*bounds))
    if not may_be_split(body.data):
        return []
    blocks = _blocks(body, role)
    return list(_Splitter(body, blocks).parts()) if blocks else []


def _lone_thought(data: bytes) -> tuple[Span, int] | None:
    """Return the bounds of the thought with which a text begins, and where its closing tag ends, if the text has no
    other marks and no steps. Otherwise, return None. Many models write all their answers in this way."""
    opening = _LEADING_THOUGHT.match(data)
    start = opening.end() if opening else -1
    end = data.find(_THOUGHT_END, start) if opening else -1
    after = end + len(_THOUGHT_END)
    if end < 0 or MAY_BE_MARK.search(data, start, end) or MAY_BE_MARK.search(data, after) or may_have_steps(data):
        return None
    return (start, end), after


def is_split_at_marks(pieces: list[Piece], read: Callable[[int, int], bytes], role: str) -> bool:
    """True if the text has blocks at which `split_content` splits it."""
    body = read_body(tuple(pieces), read)
    return may_be_split(body.data) and bool(_blocks(body, role))


def may_be_split(data: bytes) -> bool:
    """True if the text may have marks or steps of an agent, or may be a completion without its control tokens."""
    is_turn = data[:32].lstrip().startswith((b"analysis", b"commentary", b"assistant"))
    return is_turn or may_have_steps(data) or MAY_BE_MARK.search(data) is not None


def _blocks(body: Body, role: str) -> list[Block]:
    if role != "assistant":
        return hidden_blocks(body, role, in_json=True)
    thoughts = thought_spans(body)
    blocks = hidden_blocks(body, role, in_json=True, thoughts=thoughts)
    if _OWN_THOUGHT.search(body.data):
        return blocks  # OpenChatML keeps its thought blocks inside a message
    taken = [Block(start, end, BlockKind.THOUGHT) for start, end in thoughts]
    if any(block.source not in (Source.MARKS, Source.AGENT) for block in blocks):
        return blocks
    return _apart([*blocks, *taken])


def _apart(blocks: list[Block]) -> list[Block]:
    ordered: list[Block] = []
    for block in sorted(blocks, key=lambda block: (block.start, -block.end)):
        start = max(block.start, ordered[-1].end) if ordered else block.start
        if start < block.end:
            ordered.append(Block(start, block.end, block.kind, block.source))
    return ordered


class _Splitter:
    """Splits a body at its blocks."""

    def __init__(self, body: Body, blocks: list[Block]) -> None:
        self._body = body
        self._blocks = blocks
        self._has_said = False

    def parts(self) -> Iterator[ContentPart]:
        if self._blocks[0].source is Source.EMBEDDED:
            yield from self._turn()
            return
        at = 0
        for block in self._blocks:
            yield from self._said(at, block.start)
            yield from self._hidden(block)
            at = block.end
        yield from self._said(at, len(self._body.data))

    def thought_first(self, thought: Span, after: int) -> Iterator[ContentPart]:
        """Yield a thought with these bounds, and the text after it. There are no other marks."""
        yield ContentPart(BlockKind.THOUGHT, self._body.pieces(*self._trimmed(*thought)))
        yield from self._said(after, len(self._body.data))

    def _said(self, start: int, end: int) -> Iterator[ContentPart]:
        start, end = self._trimmed(start, end)
        if start < end:
            self._has_said = True
            yield ContentPart(None, self._body.pieces(start, end))

    def _hidden(self, block: Block) -> Iterator[ContentPart]:
        reports = self._reports(block)
        start, end = self._inner(block)
        if block.kind is BlockKind.CALL:
            yield from self._calls(block, start, end, reports)
            return
        if block.kind is BlockKind.REPLY:
            for reply in read_replies(self._body.data[start:end]):
                low, high = reply.body
                yield ContentPart(block.kind, self._body.pieces(start + low, start + high), reply, reports=reports)
                reports = []
            return
        yield ContentPart(block.kind, self._body.pieces(start, end), reports=reports)

    def _calls(self, block: Block, start: int, end: int, reports: list[Problem]) -> Iterator[ContentPart]:
        must_be_named = block.source is not Source.AGENT
        opening = self._opening(block)
        if opening and opening.tool:
            call = read_command(self._body.data[start:end], opening.tool)
            yield ContentPart(BlockKind.CALL, self._body.pieces(start, end), call, reports=reports)
            return
        for call in read_calls(self._body.data[start:end]):
            low, high = call.body
            found = reports
            if not must_be_named and not call.name and (key := _STEP_KEY.search(self._body.data, start, end)):
                call = replace(call, name=key[1].decode())
            if must_be_named and call.is_json and not call.name:
                span = self._body.source_span(start + low, start + high)
                found = [*reports, Problem(E_CALL_SCHEMA, "missing-argument", *span)]
            yield ContentPart(BlockKind.CALL, self._body.pieces(start + low, start + high), call, reports=found)
            reports = []

    def _reports(self, block: Block) -> list[Problem]:
        data = self._body.data
        if block.source is Source.STRIPPED:
            return [self._report(W_TOKENS_STRIPPED, None, first_word(data, block.start))]
        if block.source is Source.TEMPLATE:
            return [self._report(W_MARKER_IN_BODY, "template", first_token(data, block.start))]
        if block.kind is BlockKind.THOUGHT and self._has_said:
            return [self._report(E_PERM_VISIBILITY, "cot-in-final", (block.start, block.end))]
        return []

    def _report(self, rule: Rule, reason: str | None, span: Span) -> Problem:
        return Problem(rule, reason, *self._body.source_span(*span))

    def _turn(self) -> Iterator[ContentPart]:
        first = find_turn(self._body.data, in_json=True)
        assert first is not None
        reports = [self._report(E_PERM_VISIBILITY, "tokens-in-content", first_token(self._body.data))]
        for piece in read_turn(self._body.data, first):
            for part in self._turn_part(piece):
                part.reports += reports
                reports = []
                yield part

    def _turn_part(self, piece: TurnPiece) -> Iterator[ContentPart]:
        start, end = self._trimmed(*(piece.body if piece.header else (piece.start, piece.end)))
        if piece.is_shown:
            yield from self._said(start, end)
        elif piece.header is not None:
            yield ContentPart(BlockKind.TOKENS, self._body.pieces(start, end), header=piece.header)
        elif self._body.data[start:end]:
            yield ContentPart(BlockKind.TOKENS, self._body.pieces(start, end))

    def _inner(self, block: Block) -> Span:
        """Return the content of a block, without its marks and the whitespace next to them."""
        data, (start, end) = self._body.data, (block.start, block.end)
        if block.source is not Source.MARKS:
            return self._trimmed(start, end)
        start, _ = self._trimmed(start, end)
        mark = self._mark(start)
        if mark and mark.opens:
            start = mark.end - mark.opens.kept
            if mark.opens.name in _TAGGED and (rest := _TAG_END.match(data, start, end)):
                start = rest.end()
        for found in MARK.finditer(data, max(start, end - 32), end):
            closes = read_mark(found).closes
            if found.end() == end and any(pair.name != "function" for pair in closes):
                end = found.start()
        return self._trimmed(start, max(start, end))

    def _opening(self, block: Block) -> MarkPair | None:
        """Return the pair whose mark opens a block, or None if no mark opens it."""
        mark = self._mark(self._trimmed(block.start, block.end)[0]) if block.source is Source.MARKS else None
        return mark.opens if mark else None

    def _mark(self, at: int) -> Mark | None:
        found = MARK.match(self._body.data, at)
        return read_mark(found) if found else None

    def _trimmed(self, start: int, end: int) -> Span:
        text = self._body.data[start:end]
        first = start + len(text) - len(text.lstrip(_SPACE))
        return (first, first + len(text.strip(_SPACE))) if text.strip(_SPACE) else (start, start)


def part_header(part: ContentPart, spoken: Header) -> tuple[Header, Ending | None]:
    """Return the header of a part, derived from the header of the whole text, and its ending, or None for the usual
    ending."""
    if part.kind is None:
        return spoken, None
    if part.header is not None:
        return _unknown(part.header) if is_header_safe(part.header) else part.header, None
    if part.kind is BlockKind.THOUGHT:
        return replace(spoken, channel=Channel.ANALYSIS, channel_given="analysis"), None
    if part.kind is BlockKind.CALL:
        return _call_header(part.call, spoken), Ending.CALL
    if part.kind is BlockKind.REPLY:
        call = part.call
        name = full_tool_name(call.name) if call and call.name else None
        call_id = call.call_id if call else None
        return Header("tool", name, None, spoken.channel, spoken.channel_given, None, call_id), None
    return _unknown(spoken), None


def _unknown(header: Header) -> Header:
    """Return the header with a kind and a channel that every format hides."""
    return replace(header, kind=Kind.UNKNOWN, channel=Channel.COMMENTARY, channel_given="commentary")


def _call_header(call: CallText | None, spoken: Header) -> Header:
    return replace(
        spoken,
        recipient=full_tool_name(call.name) if call and call.name else None,
        channel=Channel.COMMENTARY,
        channel_given="commentary",
        call_id=call.call_id if call else None,
        content_type="json" if call and call.is_json else None,
        constrained=bool(call and call.is_json),
    )
