"""Find the hidden parts of a shown body: thought blocks, calls, and replies of chat templates, embedded turns, and
steps of agents."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from itertools import chain, islice

from msgspec import Struct

from viewer.cache import bounded_cache, lazy_regex
from viewer.model.messages import Channel, Span
from viewer.reading.bodies import Body, ByteRun
from viewer.reading.embedded_turn import (
    PLACEHOLDER,
    TEMPLATE_TOKEN,
    begun_placeholder,
    find_turn,
    is_call,
    is_quoted,
    may_be_stripped,
    may_have_placeholder,
    placeholders,
    read_turn,
    stripped_spans,
    unknown_tokens,
)
from viewer.reading.template_marks import (
    ADDED_TAGS,
    CALL_TAGS,
    MARK,
    MAY_BE_MARK,
    THINK_PAIRS,
    Mark,
    MarkKind,
    MarkPair,
    begun,
    is_fold,
    read_mark,
)
from viewer.reading.thoughts import LINE_ENDS, text_so_far, thought_spans, without_thoughts, without_thoughts_so_far
from viewer.syntax.agent_text import StepKind, begun_steps, may_have_steps, steps_of

_SPACE = b" \t\r\n"
_TAG_END = lazy_regex(rb"(?:\s[^<>]{0,200})?(?<!/)>")
_BEGUN_TOKEN = lazy_regex(
    rb"<(?:\|[A-Za-z0-9_:=-]*\|?|\xef\xbd?|%(bar)s[A-Za-z0-9_-]*(?:\xef\xbd?|%(bar)s)?)?" % {b"bar": "｜".encode()}
)
_LONGEST_TOKEN = 64
_ADDED = lazy_regex(rb"(?i)<(%s)(?=[\s>/])[^<>]{0,256}>" % "|".join(ADDED_TAGS).encode(), signs=(b"<",))
_CALLED = lazy_regex(rb"(?i)<(%s)(?=[\s>/])[^<>]{0,256}(?<!/)>" % "|".join(CALL_TAGS).encode(), signs=(b"<",))
_EDGES = {
    role: lazy_regex(rb"(?i)<(/?)(%s)(?=[\s>/])[^<>]{0,256}(?<!/)>" % "|".join(tags).encode(), signs=(b"<",))
    for role, tags in (("assistant", CALL_TAGS), ("user", ADDED_TAGS))
}
"""Patterns for the opening and closing tags of the elements that may be hidden in the text of each role."""
_CUT_CALL = lazy_regex(
    rb"<[\w-]+(?:\s[^<>]{0,256}?\bname\s?=[^<>]{0,256}|[^<>]{0,256}>\s{0,64}<[A-Za-z][\w:.-]{0,64})>"
)
"""A pattern for the beginning of a call: its tag has a name, or the first parameter follows. It hides the rest of the
text if it is not closed, because the text was cut off."""
_DEEPEST_INDENT = 8
"""The maximum number of spaces and tabs before an element that begins a line."""
_FENCE = lazy_regex(rb"(?m)^[ \t]{0,8}(?:```|~~~)", signs=(b"```", b"~~~"))
_BEGUN_TAG = lazy_regex(rb"([\w:-]*)([\s/][^<>]*)?")
_LONGEST_TAG = 320
_MOST_NEW = 64 * 1024
_LEAD = "type|text|thought|thinking|reasoning|functionCall|functionResponse|toolUse|toolResult|reasoningContent"
_PRINTED = lazy_regex(rb"\s*\[\{\s*([\"'])(?:%s)\1\s*:" % _LEAD.encode(), signs=(b"[{",))
"""A pattern for the beginning of a body that is a printed list of content parts."""
_BEGUN_PRINTED = lazy_regex(rb"\s*\[(?:\{\s*(?:[\"'][A-Za-z]{0,24}[\"']?\s*)?)?")
_HIDDEN_TYPES = (
    "thinking|reasoning|thought|redacted_thinking|(?:server_|mcp_|custom_)?tool[_-](?:use|result|call|response|invocation)"
    "|tool(?:Use|Result|Call)|function_call(?:_output)?|function_response"
)
_HIDDEN_PART = lazy_regex(
    rb"([\"'])type\1\s*:\s*([\"'])(?:%s)\2|([\"'])thought\3\s*:\s*[Tt]rue"
    rb"|([\"'])(?:functionCall|functionResponse|toolUse|toolResult|reasoningContent|executableCode)\4\s*:\s*\{"
    % _HIDDEN_TYPES.encode()
)
"""A pattern for a part of a printed list that the user did not see."""
LONGEST_INDENT = 256
"""The maximum length in bytes of the whitespace before a mark that begins a line."""


class BlockKind(Enum):
    """Why a block is hidden."""

    THOUGHT = "thought"
    CALL = "call"
    REPLY = "reply"
    TOKENS = "tokens"
    """Control tokens of an embedded turn, and parts that no rule covers."""


class Source(Enum):
    """How a hidden block was recognized."""

    MARKS = "marks"
    EMBEDDED = "embedded"
    STRIPPED = "stripped"
    TEMPLATE = "template"
    AGENT = "agent"
    """A step of an agent: see `viewer/syntax/agent_text.py`."""


class Block(Struct, frozen=True, gc=False):
    """A hidden part of a body, including its marks."""

    start: int
    end: int
    kind: BlockKind
    source: Source = Source.MARKS


ALL_KINDS = frozenset(BlockKind)
_KIND_OF = {MarkKind.THOUGHT: BlockKind.THOUGHT, MarkKind.CALL: BlockKind.CALL, MarkKind.REPLY: BlockKind.REPLY}
_KIND_OF_STEP = {
    StepKind.THOUGHT: BlockKind.THOUGHT,
    StepKind.CALL: BlockKind.CALL,
    StepKind.REPLY: BlockKind.REPLY,
    StepKind.ADDED: BlockKind.TOKENS,
}


def hidden_blocks(body: Body, role: str, *, in_json: bool = False, thoughts: list[Span] | None = None) -> list[Block]:
    """Return the blocks of a shown body that the safe view hides, in order, except those from `thought_spans`.

    `in_json` is True for JSON content, where control tokens have no other meaning. `thoughts` is the result of
    `thought_spans` if it is known."""
    steps = _steps(body, role)
    if not _may_hide(body):
        return steps
    if _PRINTED.match(body.data) and _HIDDEN_PART.search(body.data):
        return [Block(0, len(body.data), BlockKind.TOKENS)]
    if role == "assistant":
        thoughts = thought_spans(body) if thoughts is None else thoughts
        steps = steps or _steps_after(body, _end_of_lead(body.data, thoughts))
        elements = _elements(_called(body, thoughts))
        found = [*(_embedded(body, _spans(elements), in_json=in_json) or steps), *elements]
        hidden = [*thoughts, *_spans(found)]
        blocks = [*found, *_marked(body, sorted(hidden), is_assistant=True)]
        return _apart([*blocks, *_crossing(role, body.data, [*thoughts, *_spans(blocks)])[0]])
    added = [*steps, *_elements(_added(body.data))] if role == "user" else []
    blocks = [*added, *_marked(body, sorted(_spans(added)), is_assistant=False)]
    return _apart([*blocks, *_crossing(role, body.data, _spans(blocks))[0]])


def _spans(blocks: list[Block]) -> list[Span]:
    return [(block.start, block.end) for block in blocks]


def _crossing(role: str, data: bytes, hidden: list[Span]) -> tuple[list[Block], int]:
    """Return a block for each element that begins inside a hidden part and ends after it: from the end of that part to
    the closing tag. Also return where the first hidden part ends that contains the beginning of such an element whose
    end is missing."""
    edge = _EDGES.get(role)
    if not hidden or edge is None:
        return [], len(data)
    hidden = _merged(hidden)
    blocks: list[Block] = []
    inside: dict[bytes, list[int]] = {}
    """Where the hidden parts end that contain unclosed elements with this name."""
    outside = Counter[bytes]()
    for found in edge.finditer(data):
        name, is_closing = found[2].lower(), bool(found[1])
        index = bisect(hidden, found.start(), key=lambda span: span[0]) - 1
        ends = inside.setdefault(name, [])
        if index >= 0 and found.start() < hidden[index][1]:
            if not is_closing:
                ends.append(hidden[index][1])
            elif ends:
                ends.pop()
        elif not is_closing:
            outside[name] += 1
        elif outside[name]:
            outside[name] -= 1
        elif ends:
            blocks.append(Block(ends.pop(), found.end(), BlockKind.TOKENS))
    return blocks, min((ends[0] for ends in inside.values() if ends), default=len(data))


def _steps(body: Body, role: str) -> list[Block]:
    """Return the steps of an agent, unless the text begins in a literal block, which quotes it."""
    first = len(body.data) - len(body.data.lstrip())
    if not may_have_steps(body.data) or not body.is_live(first, first + 1):
        return []
    return [Block(step.start, step.end, _KIND_OF_STEP[step.kind], Source.AGENT) for step in steps_of(body.data, role)]


def _steps_after(body: Body, at: int) -> list[Block]:
    """Return the steps of an agent in an answer that begins with thoughts, which end at an offset."""
    left = body.data[at:]
    first = at + len(left) - len(left.lstrip())
    if not at or not body.is_live(first, first + 1):
        return []
    found = steps_of(left, "assistant")
    return [Block(at + step.start, at + step.end, _KIND_OF_STEP[step.kind], Source.AGENT) for step in found]


def _end_of_lead(data: bytes, thoughts: list[Span]) -> int:
    """Return the end of the thoughts with which a text begins, or 0 if it begins with other text."""
    at = 0
    for start, end in thoughts:
        if data[at:start].strip():
            break
        at = end
    return at


def _elements(found: Iterator[tuple[int, int | None]]) -> list[Block]:
    return [Block(start, end, BlockKind.TOKENS) for start, end in found if end is not None]


def _added(data: bytes, *, grows: bool = False) -> Iterator[tuple[int, int | None]]:
    """Yield the start and end of each element that an agent added to a prompt. The end is None for an unclosed element
    inside a line, which is text, and for an element that is still open in a growing body."""
    at, unclosed = 0, set[bytes]()
    while found := _ADDED.search(data, at):
        start, at = found.start(), found.end()
        if data[start - 1 : start] == b"`" and data.startswith(b"`", at):
            continue  # the user mentions the tag
        name = found[1].lower()
        end = None if name in unclosed else _end_of(name, data, at, grows=grows)
        if end is None:
            unclosed.add(name)
            line = data[max(0, start - LONGEST_INDENT) : start].rstrip(b" \t")
            if not grows and (not line or line.endswith(LINE_ENDS)):
                end = len(data)
        at = at if end is None else end
        yield start, end


def _called(body: Body, thoughts: list[Span], *, grows: bool = False) -> Iterator[tuple[int, int | None]]:
    """Yield the start and end of each element of an answer that contains calls or results. The end is None for an
    element that is not closed, which is text unless the body grows or the element is a call that was cut off."""
    data, at, unclosed = body.data, 0, set[bytes]()
    fences: list[int] | None = None
    ends = {end for _, end in thoughts}
    while found := _CALLED.search(data, at):
        start, at, name = found.start(), found.end(), found[1].lower()
        if name in unclosed or not _begins_run(data, start, ends):
            continue
        fences = [fence.start() for fence in _FENCE.finditer(data)] if fences is None else fences
        if bisect(fences, start) % 2:
            continue
        end = _end_of(name, data, at, grows=grows)
        if end is None:
            unclosed.add(name)
            if not grows and _CUT_CALL.match(data, start):
                end = len(data)
        if end is not None:
            at = end
            ends.add(end)
        yield start, end


def _begins_run(data: bytes, start: int, ends: set[int]) -> bool:
    """True if the text at an offset begins a line, or follows a mark or one of the blocks that end at these offsets."""
    before = data[max(0, start - LONGEST_INDENT) : start]
    line = before.rstrip(b" \t")
    end = start - len(before) + len(line)
    if not line or line.endswith(LINE_ENDS):
        return start - end <= _DEEPEST_INDENT
    if end in ends:
        return True
    closing = (found for found in MARK.finditer(data, max(0, end - LONGEST_INDENT), end) if found.end() == end)
    return any(read_mark(found).closes for found in closing)


def _end_of(name: bytes, data: bytes, at: int, *, grows: bool) -> int | None:
    """Return the end of an element whose opening tag ends at an offset, or None if it is not closed. Elements of one
    name nest. If some of them are not closed, the last closing tag ends the element, unless the body grows."""
    depth, last = 1, None
    for tag in _tags_of(name).finditer(data, at):
        is_closing = tag[0].startswith(b"</")
        depth += -1 if is_closing else 1
        last = tag.end() if is_closing else last
        if not depth:
            return last
    return None if grows else last


class OpenElement:
    """Follows growing text of a user or an assistant, to know whether it ends inside an element that may be hidden.

    Marks inside such an element do not divide the text, so that the element is hidden as a whole. The same holds after
    a reserved token, which hides the rest of the text."""

    def __init__(self, role: str) -> None:
        self._is_prompt = role == "user"
        self._tag = _ADDED if self._is_prompt else _CALLED if role == "assistant" else None
        self._new: list[bytes] = []
        """Text that has not been searched. Few texts have marks, so most are never searched."""
        self._size = 0
        self._tail = b""
        self._from = 0
        """Where in the tail the next tag may begin."""
        self._name = b""
        self._depth = 0
        self._begins = False
        """True if the current element begins a line, or follows a block."""
        self._is_over = False

    @property
    def is_open(self) -> bool:
        """True inside an element, and after a reserved token."""
        if self._new and self._tag is not None:
            self._search(self._tag)
        return self._depth > 0 or self._is_over

    @property
    def holds_frames(self) -> bool:
        """True inside an element that is more than a mention in a line. A frame that begins here is part of it."""
        return self.is_open and self._depth > 0 and self._begins

    def add(self, data: bytes) -> None:
        """Add text to the end."""
        if self._tag is None or self._is_over:
            return
        self._new.append(data)
        self._size += len(data)
        if self._size > _MOST_NEW:
            self._search(self._tag)

    def _search(self, tag: re.Pattern[bytes]) -> None:
        text = self._tail = b"".join((self._tail, *self._new))
        self._new, self._size = [], 0
        while self._closes() if self._depth else self._opens(tag):
            pass
        if not self._is_prompt and may_have_placeholder(text):
            self._is_over = any(not is_quoted(text, found.start()) for found in PLACEHOLDER.finditer(text))
        kept = 2 * _LONGEST_TAG
        if len(text) > kept:
            self._from = max(_LONGEST_TAG, self._from - (len(text) - kept))
            self._tail = text[-kept:]

    def _opens(self, tag: re.Pattern[bytes]) -> bool:
        found = tag.search(self._tail, self._from)
        if found is None:
            return False
        self._from = found.end()
        begins = _begins_run(self._tail, found.start(), set())
        if self._is_prompt or begins:
            self._name, self._depth, self._begins = found[1].lower(), 1, begins
        return True

    def _closes(self) -> bool:
        found = _tags_of(self._name).search(self._tail, self._from)
        if found is None:
            return False
        self._from = found.end()
        self._depth += -1 if found[0].startswith(b"</") else 1
        return True


class CrossingElements:
    """Follows the text of a block and the text after it, to find elements that begin in the block and end after it."""

    def __init__(self, role: str) -> None:
        self._edge = _EDGES.get(role)
        self._tail = b""
        self._inside = Counter[bytes]()
        self._outside = Counter[bytes]()

    @property
    def is_awaited(self) -> bool:
        """True if an element that began in a block has not ended."""
        return bool(self._inside)

    def add(self, data: bytes) -> None:
        """Add text of the block."""
        for name, is_closing, _ in self._edges(data):
            self._inside[name] += 1 if not is_closing else -1 if self._inside[name] else 0

    def leave(self) -> None:
        """End the block."""
        self._tail = b""
        self._inside += Counter()  # names without a count make every search pointless
        self._outside.clear()

    def end_in(self, data: bytes) -> int | None:
        """Add text after the block. Return the offset in this text at which such an element ends, or None. Text after
        that offset is not added."""
        if not self._inside:
            return None
        before = len(self._tail)
        for name, is_closing, end in self._edges(data):
            if not is_closing:
                self._outside[name] += 1
            elif self._outside[name]:
                self._outside[name] -= 1
            elif self._inside[name]:
                self._inside[name] -= 1
                self._inside += Counter()
                self._tail = b""
                return end - before
        return None

    def _edges(self, data: bytes) -> Iterator[tuple[bytes, bool, int]]:
        """Yield the name of each tag that ends in this text, whether it closes, and where it ends, counted from the
        start of the text that is kept."""
        if self._edge is None or not (self._tail or b"<" in data):
            return
        text, last = self._tail + data, 0
        for found in self._edge.finditer(text):
            last = found.end()
            yield found[2].lower(), bool(found[1]), last
        begun_at = text.rfind(b"<", max(last, len(text) - _LONGEST_TAG))
        self._tail = text[begun_at:] if begun_at >= 0 else b""


@bounded_cache(64)
def _tags_of(name: bytes) -> re.Pattern[bytes]:
    name = re.escape(name)
    return re.compile(rb"</%s\s?>|<%s(?=[\s>/])[^<>]{0,256}(?<!/)>" % (name, name), re.IGNORECASE)


def shown_text(body: Body, role: str, kinds: frozenset[BlockKind] = ALL_KINDS, *, in_json: bool = False) -> str:
    """Return the text without blocks of these kinds."""
    if not _may_hide(body) and not may_have_steps(body.data):
        return body.text
    blocks = [block for block in hidden_blocks(body, role, in_json=in_json) if block.kind in kinds]
    left = _without(body, [(block.start, block.end) for block in blocks]) if blocks else body
    if role != "assistant" or BlockKind.THOUGHT not in kinds:
        return left.text if left.data.strip() or not blocks else ""
    text = without_thoughts(left)
    return text if text.strip() or not blocks else ""


def left_of(body: Body, role: str, kinds: frozenset[BlockKind]) -> Body:
    """Return a body that is not JSON, without blocks of these kinds. Unchanged runs keep their positions in the
    input."""
    blocks = [(block.start, block.end) for block in hidden_blocks(body, role) if block.kind in kinds]
    left = _without(body, blocks) if blocks else body
    is_cut = role == "assistant" and BlockKind.THOUGHT in kinds
    return _without(left, thought_spans(left)) if is_cut else left


def shown_so_far(body: Body, role: str, kinds: frozenset[BlockKind] = ALL_KINDS, *, in_json: bool = False) -> str:
    """Return the text of `shown_text` for a growing body, without bytes that may still become part of a mark."""
    blocks = hidden_blocks(body, role, in_json=in_json)
    spans = _spans([block for block in blocks if block.kind in kinds])
    hidden = _spans(blocks) + (thought_spans(body) if role == "assistant" and _may_hide(body) else [])
    held = len(body.data) - _crossing(role, body.data, hidden)[1]
    held = max(held, begun(body.data), _begun_parts(body.data), _begun_element(body, role))
    if role == "assistant":
        held = max(held, _begun_token(body.data), begun_placeholder(body.data), _begun_stripped(body.data))
    lead = _end_of_lead(body.data, thought_spans(body)) if role == "assistant" and _may_hide(body) else 0
    held = max(held, begun_steps(body.data, role), begun_steps(body.data[lead:], role))
    if held:
        spans.append((len(body.data) - held, len(body.data)))
    left = _without(body, _merged(spans))
    if role != "assistant" or BlockKind.THOUGHT not in kinds:
        return text_so_far(left) if left.data.strip() else ""
    return without_thoughts_so_far(left)


def _may_hide(body: Body) -> bool:
    return MAY_BE_MARK.search(body.data) is not None or may_be_stripped(body.data)


def _embedded(body: Body, elements: list[Span], *, in_json: bool) -> list[Block]:
    """Return the blocks of an embedded turn. A turn that begins in an element is only quoted there, so all of it is
    hidden, like other control tokens."""
    stripped = stripped_spans(body.data)
    if stripped:
        return [Block(start, end, BlockKind.THOUGHT, Source.STRIPPED) for start, end in stripped]
    first = find_turn(body.data, in_json=in_json)
    token = min(_live_tokens(body, in_json=in_json), default=None)
    if first is not None and _is_in(elements, first):
        token = first if token is None else min(first, token)
        first = None
    if first is not None and body.is_live(first, first + 1) and (token is None or first <= token):
        return list(_hidden_parts(body, first))
    if token is not None:
        return [Block(token, len(body.data), BlockKind.TOKENS, Source.TEMPLATE)]
    return []


def _live_tokens(body: Body, *, in_json: bool) -> Iterator[int]:
    """Yield the offset of the first token of a chat template, and that of the first token that no template has, outside
    thoughts, calls, and replies. Outside JSON, yield only that of a reserved token."""
    if in_json:
        live = (found.start() for found in TEMPLATE_TOKEN.finditer(body.data) if body.is_live(*found.span()))
        yield from islice(live, 1)
    found = chain(unknown_tokens(body.data) if in_json else (), placeholders(body.data))
    unknown = sorted(start for start, end in found if body.is_live(start, end))
    if unknown:
        blocks = [(block.start, block.end) for block in _marked(body, [], is_assistant=True)]
        hidden = _merged([*blocks, *thought_spans(body)])
        yield from islice((start for start in unknown if not _is_in(hidden, start)), 1)


def _is_in(spans: list[Span], at: int) -> bool:
    index = bisect(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _hidden_parts(body: Body, first: int) -> Iterator[Block]:
    for piece in read_turn(body.data, first):
        if piece.is_shown:
            if piece.body[0] > piece.start:
                yield Block(piece.start, piece.body[0], BlockKind.TOKENS, Source.EMBEDDED)
            if piece.end > piece.body[1]:
                yield Block(piece.body[1], piece.end, BlockKind.TOKENS, Source.EMBEDDED)
            continue
        kind = BlockKind.TOKENS
        if is_call(piece):
            kind = BlockKind.CALL
        elif piece.header and piece.header.role == "tool":
            kind = BlockKind.REPLY
        elif piece.header and piece.header.channel is Channel.ANALYSIS:
            kind = BlockKind.THOUGHT
        yield Block(piece.start, piece.end, kind, Source.EMBEDDED)


def _marked(body: Body, skipped: list[Span], *, is_assistant: bool) -> list[Block]:
    """Return the blocks between marks. Marks inside the skipped spans, which are in order, are ignored."""
    scan = _Scan(body, is_assistant)
    index = 0
    for found in MARK.finditer(body.data):
        start, end = found.span()
        while index < len(skipped) and skipped[index][1] <= start:
            index += 1
        if (index < len(skipped) and skipped[index][0] <= start) or not body.is_live(start, end):
            continue
        scan.take(read_mark(found))
    return scan.finish()


class _Scan:
    """Reads marks in order. Marks nest by pair, and the outermost pair determines the block."""

    def __init__(self, body: Body, is_assistant: bool) -> None:
        self._body = body
        self._is_assistant = is_assistant
        self._blocks: list[Block] = []
        self._open: tuple[MarkPair, int] | None = None
        self._depth = 0
        self._seen: set[BlockKind] = set()
        self._thought_end = 0
        self._last_mark_end = -1

    def take(self, mark: Mark) -> None:
        if self._open and self._is_quoted(mark):
            return
        if self._open:
            self._inside(mark, *self._open)
        elif mark.opens and self._counts(mark, mark.opens):
            self._open, self._depth = (mark.opens, mark.start), 1
        elif mark.closes:
            self._unmatched(mark)

    def _is_quoted(self, mark: Mark) -> bool:
        """True for a tag of a folded element in a line that begins with `>`. Such a tag is part of the thought."""
        if not is_fold(mark):
            return False
        line = self._body.data.rfind(b"\n", 0, mark.start) + 1
        return self._body.data[line : line + 1] == b">"

    def _inside(self, mark: Mark, pair: MarkPair, start: int) -> None:
        if pair in mark.closes:
            self._depth -= 1
            if not self._depth:
                self._add(start, mark.end, pair)
                self._open = None
        elif pair in mark.nests:
            self._depth += 1

    def _counts(self, mark: Mark, pair: MarkPair) -> bool:
        if pair.kind is MarkKind.THOUGHT and not self._is_assistant:
            return False
        if pair not in THINK_PAIRS:
            return True
        if pair.name == "think" and not _TAG_END.match(self._body.data, mark.end):
            return False
        data = self._body.data
        if self._last_mark_end >= 0 and not data[self._last_mark_end : mark.start].strip(_SPACE):
            return True
        line = data[max(0, mark.start - LONGEST_INDENT) : mark.start].rstrip(b" \t")
        return pair.name == "THINK" and (not line or line.endswith((b"\n", b"\r")))

    def _unmatched(self, mark: Mark) -> None:
        """Hide the text before a closing mark that has no opening mark: everything since the last thought if the
        mark ends a thought, and otherwise everything since the last block."""
        pair = next((pair for pair in mark.closes if not pair.shared_close and pair not in THINK_PAIRS), None)
        if pair is None or (pair.kind is MarkKind.THOUGHT and not self._is_assistant):
            return
        if pair.kind is MarkKind.THOUGHT:
            start = self._thought_end
        elif self._is_assistant or _KIND_OF[pair.kind] in self._seen:
            start = self._blocks[-1].end if self._blocks else 0
        else:
            return
        while self._blocks and self._blocks[-1].end > start:
            self._blocks.pop()
        self._add(start, mark.end, pair)

    def _add(self, start: int, end: int, pair: MarkPair) -> None:
        kind = _KIND_OF[pair.kind]
        self._blocks.append(Block(start, end, kind))
        self._seen.add(kind)
        self._last_mark_end = end
        if kind is BlockKind.THOUGHT:
            self._thought_end = end

    def finish(self) -> list[Block]:
        """Return all blocks. An open block extends to the end of the body."""
        if self._open:
            pair, start = self._open
            self._add(start, len(self._body.data), pair)
        return self._blocks


def _apart(blocks: list[Block]) -> list[Block]:
    """Sort the blocks and remove overlaps."""
    ordered: list[Block] = []
    for block in sorted(blocks, key=lambda block: block.start):
        start = max(block.start, ordered[-1].end) if ordered else block.start
        if start < block.end:
            ordered.append(Block(start, block.end, block.kind, block.source))
    return ordered


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _without(body: Body, spans: list[Span]) -> Body:
    """Return the body without these spans. Only runs whose bytes are unchanged keep their positions in the input."""
    parts: list[bytes] = []
    runs: list[ByteRun] = []
    length = 0
    gaps = list(_gaps(spans, len(body.data)))
    place = 0
    for run in body.runs:
        at, stop = run.at, run.at + run.length
        while place < len(gaps) and gaps[place][0] < stop:
            start, end = gaps[place]
            low, high = max(start, at), min(end, stop)
            if low < high:
                runs.append(_part_of(run, low, high, length))
                parts.append(body.data[low:high])
                length += high - low
            if end > stop:
                break  # continues in the next run
            place += 1
    return Body(b"".join(parts), runs)


def _part_of(run: ByteRun, low: int, high: int, at: int) -> ByteRun:
    """Return a part of a run at its new offset. It keeps its position in the input if the bytes of the run are
    unchanged."""
    is_same = run.raw is None and run.whole is None and run.length == run.source_length
    source = (run.source + low - run.at, high - low) if is_same else (0, 0)
    return ByteRun(at, high - low, *source, run.live)


def _gaps(spans: list[Span], length: int) -> Iterator[Span]:
    at = 0
    for start, end in spans:
        yield at, start
        at = max(at, end)
    yield at, length


def _begun_token(data: bytes) -> int:
    """Return the number of bytes at the end that may begin a control token."""
    at = data.rfind(b"<", max(0, len(data) - _LONGEST_TOKEN))
    return len(data) - at if at >= 0 and _BEGUN_TOKEN.fullmatch(data, at) else 0


def _begun_stripped(data: bytes) -> int:
    """Return the length of the body if it may be a stripped turn whose final part has not arrived yet; otherwise 0."""
    head = data[:64].lstrip()
    words = (b"analysis", b"commentary", b"assistantanalysis", b"assistantcommentary")
    return len(data) if head and any(word.startswith(head) or head.startswith(word) for word in words) else 0


def _begun_element(body: Body, role: str) -> int:
    """Return the number of bytes from the first open element that may be hidden once it is closed, or from an
    incomplete tag at the end that may open such an element."""
    data, is_user = body.data, role == "user"
    if _may_hide(body):
        found = _added(data, grows=True) if is_user else _called(body, thought_spans(body), grows=True)
        first = next((start for start, end in found if end is None), None)
        if first is not None:
            return len(data) - first
    names = ADDED_TAGS if is_user else CALL_TAGS
    at = data.rfind(b"<", max(0, len(data) - _LONGEST_TAG))
    begun_tag = _BEGUN_TAG.fullmatch(data, at + 1) if at >= 0 else None
    if begun_tag is None:
        return 0
    name = begun_tag[1].lower()
    is_begun = any(each.encode() == name if begun_tag[2] else each.encode().startswith(name) for each in names)
    return len(data) - at if is_begun else 0


def _begun_parts(data: bytes) -> int:
    """Return the length of the body if it may be a printed list of parts, one of which may be hidden; otherwise 0."""
    is_begun = _PRINTED.match(data) is not None or _BEGUN_PRINTED.fullmatch(data) is not None
    return len(data) if is_begun else 0
