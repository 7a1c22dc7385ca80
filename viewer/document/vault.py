"""The vault: the only reader of bodies. Each audience gets only what it may see."""

from __future__ import annotations

import codecs
import copy
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from viewer.document.rows import Rows
from viewer.document.visibility_cache import VisibilityCache
from viewer.errors import FileRewrittenError, HiddenError, UnprovenError
from viewer.formats import FORMATS, body_of_ids
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import VERBATIM, Coding, Kind, Message, Piece, Span, Transcript
from viewer.model.visibility import END_USER, Audience, Reveal, is_user_safe, message_kind
from viewer.reading.bodies import Body, hold_back, read_body
from viewer.reading.embedded_turn import may_be_stripped
from viewer.reading.hidden_spans import ALL_KINDS, BlockKind, shown_so_far, shown_text
from viewer.reading.offset_map import all_characters_of
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.reading.thoughts import text_so_far
from viewer.sources.file_source import FileSource
from viewer.sources.files import Source
from viewer.syntax.agent_text import may_have_steps

if TYPE_CHECKING:
    from viewer.checks.offending import FindMissing
    from viewer.document.redaction.redactor import Redactor
    from viewer.document.search.block_search import BlockSearcher
    from viewer.document.search.byte_pattern import BytePattern

BLOCK = 1024 * 1024
"""The size in bytes of the blocks in which larger bodies are returned."""
WHOLE_SPAN = 64 * 1024
"""The maximum size in bytes of a message that is read as a whole, with its header and stop token."""

Judge = Callable[[Message, bytes], bool]
Read = Callable[[int, int], bytes]

_LONGEST_MARK = 32
_NEIGHBORS, _NEAR = 1024, 128 * 1024
"""The maximum number of messages, and of bytes, to read together."""


class Vault:
    """Reads bodies from a source for an audience. For a growing message, it returns only the part that is certain.

    If the source no longer contains the indexed bytes, no body is returned. Instead, `on_rewritten` is called and the
    text is empty or, without that function, FileRewrittenError is raised."""

    def __init__(
        self,
        source: Source,
        unsettled: Container[int] = frozenset(),
        transcripts: Sequence[Transcript] = (),
        judge: Judge | None = None,
        on_rewritten: Callable[[], None] | None = None,
        is_shown: Callable[[], bool] = lambda: False,
        find_missing: FindMissing | None = None,
        under: Audience = END_USER,
    ) -> None:
        """`is_shown` returns True if a screen shows the document. `under` is the audience for which the document was
        opened."""
        self._source = source
        self._unsettled = unsettled
        self._transcripts = transcripts
        self._judge = judge
        self._on_rewritten = on_rewritten
        self._is_shown = is_shown
        self._missing = cache(partial(find_missing, self._again)) if find_missing else None
        self._redactor: Redactor | None = None
        self._under = under

    def check(self, audience: Audience) -> None:
        """Refuse an audience that a sealed document does not admit."""
        if not self._under.admits(audience):
            raise HiddenError

    def _may_read(self, audience: Audience, message: Message) -> bool:
        """True if the audience sees the message, and the document admits this audience."""
        return self._under.admits(audience) and audience.sees(message)

    def redacted(self, redactor: Redactor) -> Vault:
        """Return a vault of the same input that masks secrets in everything it returns."""
        masking = copy.copy(self)
        masking._redactor = redactor
        return masking

    def body_for(self, audience: Audience, message: Message) -> str:
        """Return the text of a message for this audience, without the parts hidden from it."""
        if not self._may_read(audience, message):
            raise HiddenError
        try:
            return self._cleaned(self._text(audience, message))
        except FileRewrittenError:
            self._withhold()
            return ""

    def texts_for(self, audience: Audience, index: MessageIndex, numbers: Iterable[int]) -> Iterator[str]:
        """Yield what `body_for` returns for each of these messages. Neighbors are read in one block, and a body without
        marks is not parsed."""
        self.check(audience)
        sees = VisibilityCache(index, audience.sees)
        cuts = VisibilityCache(index, lambda message: bool(_cut_kinds(audience, message)))
        are_plain = self._redactor is None and not self._is_shown()
        bodies = _Bodies(index, self._source.read)
        for number in numbers:
            kind, text = index.kinds[number], None
            if are_plain and sees.sees_kind(kind) and index.regular_kinds[kind] and number not in self._unsettled:
                text = _unmarked(bodies.read(number), is_cut=cuts.sees_kind(kind))
            yield self.body_for(audience, index[number]) if text is None else text

    def _cleaned(self, text: str) -> str:
        """Return the text, with its secrets masked if there is a redactor."""
        return self._redactor.clean(text) if self._redactor else text

    def _text(self, audience: Audience, message: Message) -> str:
        body = self._body(message)
        grows = message.number in self._unsettled
        if grows:
            hold_back(body, self._unsettled)
        kinds = _cut_kinds(audience, message)
        if kinds:
            shown = shown_so_far if grows else shown_text
            return shown(body, message.header.role, kinds, in_json=self._is_json(message))
        return text_so_far(body) if grows else body.text

    def source_text_for(self, audience: Audience, message: Message, body: str) -> str | None:
        """Return the body of a message with the escapes and literal blocks of its source, or None if its format has
        none or its source cannot be shown.

        Decoding escapes or literal blocks always shortens text. If the body is as long as its source, the source has
        neither, and nothing was cut."""
        if not self._may_read(audience, message):
            raise HiddenError
        is_escaped = len(message.pieces) == 1 and message.pieces[0].coding is Coding.ESCAPED
        if not is_escaped or message.number in self._unsettled:
            return None
        piece = message.pieces[0]
        if _source_length(body) == piece.end - piece.start:
            return body
        from viewer.formats.text.quoted_marks import shown_source  # lazy: few messages need it

        try:
            source = self._body(message, (Piece(piece.start, piece.end, Coding.PLAIN),)).data
            shown = shown_source(source, message.header.role, _cut_kinds(audience, message))
            return shown if shown is None else self._cleaned(shown)
        except FileRewrittenError:
            self._withhold()
            return None

    def blocks_for(self, audience: Audience, message: Message) -> Iterator[str]:
        """Yield the text of `body_for` in blocks of about a megabyte; see `body_blocks`."""
        if not self._may_read(audience, message):
            raise HiddenError
        if (
            self._redactor
            or size_of(message) <= BLOCK
            or message.number in self._unsettled
            or not self._is_proven(message)
        ):
            return iter((self.body_for(audience, message),))
        return self._blocks(audience, message)

    def _blocks(self, audience: Audience, message: Message) -> Iterator[str]:
        cuts = bool(_cut_kinds(audience, message))
        try:
            yield from body_blocks(message, self._source.read, lambda: self._text(audience, message), cuts)
        except FileRewrittenError:
            self._withhold()

    def _is_proven(self, message: Message) -> bool:
        """False if only parsing again can prove that the source still contains this message."""
        start, end = message.span
        try:
            self._source.read(start, start + 1)
            self._source.read(end - 1, end)
        except UnprovenError:
            return False
        except FileRewrittenError:
            pass  # reading the body reports it
        return True

    def _withhold(self) -> None:
        """Report withheld content. Call this only while handling FileRewrittenError."""
        if self._on_rewritten is None:
            raise
        self._on_rewritten()

    def searcher_for(self, audience: Audience, index: MessageIndex, rows: Rows, pattern: BytePattern) -> BlockSearcher:
        """Return a searcher for text in many of these rows at once, limited to what this audience sees."""
        from viewer.document.search.block_search import BlockSearcher, SearchScope

        self.check(audience)
        cuts = VisibilityCache(index, lambda message: bool(_cut_kinds(audience, message)))
        return BlockSearcher(
            SearchScope(index, rows, self._read_proven, VisibilityCache(index, audience.sees), cuts), pattern
        )

    def _read_proven(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets, or none if each message must be parsed again first."""
        try:
            return self._source.read(start, end)
        except FileRewrittenError:
            return b""

    def places_for(self, audience: Audience, message: Message, spans: list[Span]) -> list[Span | None]:
        """Return the position in the body text of each of these input spans, for a developer who sees all of it; None
        where it cannot be determined."""
        if audience.is_safe or not self._may_read(audience, message):
            raise HiddenError
        if self._redactor or _cut_kinds(audience, message):
            return [None] * len(spans)
        try:
            return list(all_characters_of(self._body(message), spans))
        except FileRewrittenError:
            self._withhold()
            return [None] * len(spans)

    def sources_for(self, audience: Audience, message: Message, spans: Sequence[Span]) -> list[Span | None]:
        """Return the input position of each of these spans of the body, for a developer who sees all of it; None where
        it cannot be determined, such as in a body of several pieces."""
        if audience.is_safe or not self._may_read(audience, message):
            raise HiddenError
        if self._redactor or len(message.pieces) != 1 or _cut_kinds(audience, message):
            return [None] * len(spans)
        try:
            body = self._body(message)
        except FileRewrittenError:
            self._withhold()
            return [None] * len(spans)
        text = body.text
        if text.encode("utf-8", "replace") != body.data:
            return [None] * len(spans)
        ends = [tuple(len(text[:end].encode()) for end in span) for span in spans]
        return [body.source_span(first, last) for first, last in ends]

    def raw_for(self, audience: Audience, message: Message) -> bytes:
        """Return the bytes of a message with its header, for a developer who sees it."""
        if audience.is_safe or not self._may_read(audience, message):
            raise HiddenError
        try:
            return self._again(*message.span)
        except UnprovenError:
            return self._judged(message)
        except FileRewrittenError:
            self._withhold()
            return b""

    def stray_for(self, audience: Audience, start: int, end: int) -> str:
        """Return text outside any message, for an audience that revealed it."""
        self.check(audience)
        if not audience.sees_stray:
            raise HiddenError
        try:
            return self._cleaned(self._again(start, end).decode("utf-8", "replace"))
        except FileRewrittenError:
            self._withhold()
            return ""

    def value_for(self, audience: Audience, diagnostic: Diagnostic) -> str | None:
        """Return the offending value of a diagnostic, or None if it has none, secrets are masked, or the audience does
        not see everything."""
        self.check(audience)
        if self._redactor or not audience.reveals(Reveal.ALL):
            return None
        from viewer.checks.offending import offending_value  # lazy: only diagnostics need it

        try:
            return offending_value(diagnostic, self._again, self._missing() if self._missing else None)
        except FileRewrittenError:
            self._withhold()
            return None

    def _body(self, message: Message, pieces: tuple[Piece, ...] | None = None) -> Body:
        """Return the body of a message, or of these pieces."""
        start, end = message.span
        pieces = message.pieces if pieces is None else pieces
        is_one = all(start <= piece.start and piece.end <= end for piece in pieces)
        try:
            if not is_one or end - start > WHOLE_SPAN:
                self._again(start, min(end, start + WHOLE_SPAN))  # also verify that the header is still there
                return read_body(pieces, self._again, body_of_ids)
            frame = self._again(start, end)
        except UnprovenError:
            frame = self._judged(message)
        return read_body(pieces, lambda first, after: frame[first - start : after - start], body_of_ids)

    def _again(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets. A screen reads little, so its reads do not rely on the file stamp."""
        return (self._source.read_again if self._is_shown() else self._source.read)(start, end)

    def _judged(self, message: Message) -> bytes:
        """Return the bytes of a message after parsing them again to verify that they are still this message. Otherwise,
        raise FileRewrittenError."""
        if self._judge is None or not isinstance(self._source, FileSource):
            raise FileRewrittenError(self._source.name)
        frame = self._source.read_unproven(*message.span)
        if not self._judge(message, frame):
            raise self._source.rewritten()
        return frame

    def _is_json(self, message: Message) -> bool:
        """True if control tokens have no meaning in message bodies of the transcript's format."""
        if not 0 < message.transcript <= len(self._transcripts):
            return False
        return FORMATS[self._transcripts[message.transcript - 1].format].json_content


_REVEALED_BY = {
    BlockKind.THOUGHT: Reveal.ANALYSIS,
    BlockKind.CALL: Reveal.COMMENTARY,
    BlockKind.REPLY: Reveal.TOOL,
    BlockKind.TOKENS: Reveal.UNCLEAR,
}


def _cut_kinds(audience: Audience, message: Message) -> frozenset[BlockKind]:
    """Return the kinds of blocks to cut from a body for this audience. Nothing is cut from a hidden message, unless it
    is of the kind `said` and not everything is revealed."""
    if not is_user_safe(message) and (message_kind(message) != Kind.SAID.value or audience.reveals(Reveal.ALL)):
        return frozenset()
    return _kinds_of(audience)


@lru_cache(maxsize=64)
def _kinds_of(audience: Audience) -> frozenset[BlockKind]:
    return frozenset(kind for kind in ALL_KINDS if not audience.reveals(_REVEALED_BY[kind]))


class _Bodies:
    """Reads the bodies of neighboring messages, each of which is one run of bytes, in blocks."""

    def __init__(self, index: MessageIndex, read: Read) -> None:
        self._index, self._read = index, read
        self._first = 1
        self._starts: Sequence[int] = ()
        self._ends: Sequence[int] = ()
        self._base = 0
        self._data = b""

    def read(self, number: int) -> bytes | None:
        """Return a body, or None if it is large or the source cannot prove that its bytes are unchanged."""
        if not self._first <= number < self._first + len(self._starts):
            self._first, last = number, min(len(self._index), number + _NEIGHBORS - 1)
            self._starts, self._ends = self._index.bodies(number, last)
        start, end = self._starts[number - self._first], self._ends[number - self._first]
        if end - start > WHOLE_SPAN:
            return None
        if not self._base <= start <= end <= self._base + len(self._data):
            self._base = start
            try:
                self._data = self._read(start, max(end, min(start + _NEAR, self._ends[-1])))
            except FileRewrittenError:
                self._data = b""
        data = self._data[start - self._base : end - self._base]
        return data if len(data) == end - start else None


def _unmarked(data: bytes | None, *, is_cut: bool) -> str | None:
    """Return the text of a body that contains nothing that could be a mark; None for any other body."""
    if data is None or b"<|" in data or (is_cut and (MAY_BE_MARK.search(data) or _may_begin(data))):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _may_begin(data: bytes) -> bool:
    """True if the beginning of the text is that of text with hidden parts that has no marks."""
    return may_be_stripped(data) or may_have_steps(data)


def size_of(message: Message) -> int:
    """Return the size of the body in the input, in bytes."""
    return sum(piece.end - piece.start for piece in message.pieces)


def _source_length(text: str) -> int:
    """Return the length of this text in UTF-8, or -1 if it contains a replacement for invalid bytes."""
    if text.isascii():
        return len(text)
    return -1 if "\ufffd" in text else len(text.encode("utf-8", "surrogatepass"))


def body_blocks(message: Message, read: Read, whole: Callable[[], str], cuts: bool) -> Iterator[str]:
    """Yield the text of a body in blocks, in order. An empty block only signals progress.

    `whole` returns the whole body; it is used in the rare case that parts may be cut."""
    if cuts:
        before, is_head = "", True
        for text in _texts(message, read):
            before += text
            data = before.encode("utf-8", "replace")
            if MAY_BE_MARK.search(data) or (is_head and _may_begin(data)):
                yield whole()
                return
            is_head = is_head and len(before) < _LONGEST_MARK
            before = before if is_head else before[-_LONGEST_MARK:]
            yield ""
    yield from _texts(message, read)


def _texts(message: Message, read: Read) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    strings: list[Piece] = []
    size = 0
    for piece in message.pieces:
        if piece.coding is Coding.JSON_STRING:
            strings.append(piece)
            size += piece.end - piece.start
            if size < BLOCK or read_body(tuple(strings[-1:]), read).pending:
                continue  # a character may span two strings
        if strings:
            yield decoder.decode(read_body(tuple(strings), read).data)
            strings, size = [], 0
        if piece.coding is not Coding.JSON_STRING:
            for data in _data(piece, read):
                yield decoder.decode(data)
    if strings:
        yield decoder.decode(read_body(tuple(strings), read).data)
    yield decoder.decode(b"", True)


def _data(piece: Piece, read: Read) -> Iterator[bytes]:
    """Yield the decoded bytes of a piece. A piece with escapes or JSON is yielded as one block."""
    plain = piece.coding in VERBATIM
    if piece.end - piece.start > BLOCK and piece.coding is Coding.ESCAPED:
        plain = True
        for data in _stretches(piece, read, overlap=1):
            if b"<|" in data:
                plain = False
                break
            yield b""
    if plain:
        yield from _stretches(piece, read)
    else:
        yield read_body((piece,), read, body_of_ids).data


def _stretches(piece: Piece, read: Read, overlap: int = 0) -> Iterator[bytes]:
    for start in range(piece.start, piece.end, BLOCK):
        yield read(start, min(start + BLOCK + overlap, piece.end))
