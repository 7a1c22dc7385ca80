"""Decode message bodies: join pieces, undo escapes, and map the result back to the bytes of the input."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Mapping, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from operator import attrgetter

from msgspec import Struct, field

from viewer.cache import lazy_regex
from viewer.model.messages import VERBATIM, Coding, Piece, Span
from viewer.reading.template_marks import ESCAPABLE_MARKS
from viewer.syntax.json_string import opening_length, string_body, string_units, without_halves
from viewer.syntax.string_map import NestedMap, StringMap, python_runs, python_text
from viewer.syntax.utf8 import is_utf8

THOUGHT_KINDS = ("reflect", "introspect", "reason")

_TOKENS = (
    *("start", "channel", "message", "call", "constrain", "return", "end", "literal", "endliteral"),
    *(f"start_{kind}" for kind in THOUGHT_KINDS),
    *(f"end_{kind}" for kind in THOUGHT_KINDS),
)
_TOKEN = rb"<\|(" + "|".join(_TOKENS).encode() + rb")\|>"
_TOKEN_MARK = lazy_regex(rb"(<?)" + _TOKEN)
_OTHER_MARK = lazy_regex(lambda: b"|".join(map(re.escape, ESCAPABLE_MARKS)), signs=ESCAPABLE_MARKS)
_MARK = lazy_regex(lambda: rb"(<?)(?:" + _TOKEN + b"|" + b"|".join(map(re.escape, ESCAPABLE_MARKS)) + rb")")
_EVENT_BREAK = lazy_regex(
    rb"(?:\r\n|\r|\n)(?:[ \t]*(?::|(?:id|event|retry)(?=[:\r\n]))[^\r\n]*(?:\r\n|\r|\n))*[ \t]*data(?:: ?)?"
)
"""The bytes between the contents of two `data:` lines of a server-sent event."""
_REFERENCE = lazy_regex(rb"&(?:lt|gt|amp|quot|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});", signs=(b"&",))
_END_LITERAL = b"<|endliteral|>"

_HALF = "�".encode()
HALF_LENGTH = len(r"\ud83d")

LONGEST_TAIL = 32
"""The maximum length in bytes of `_TAIL`. The longest control token or mark of any format has 30 bytes."""

_TAIL = lazy_regex(rb"(?:<<?(?:\||/)?(?:[A-Za-z_][A-Za-z0-9_:=-]{0,27})?\|?|\[/?[A-Z_]{0,14})\Z")
"""Bytes at the end that may begin a control token or a mark of any format."""

Decoder = Callable[[bytes], str]


class ByteRun(Struct, frozen=True, gc=False):
    """A run of decoded bytes that came from one run of input bytes."""

    at: int
    length: int
    source: int
    source_length: int
    live: bool
    """True if marks in the run take effect: it is not escaped and not part of a literal block."""
    raw: bytes | None = None
    """The JSON string in the input, if its bytes differ from the decoded ones."""
    nested: bool = False
    """True if `raw` is part of a JSON string inside a JSON string."""
    whole: Coding | None = None
    """The coding of a piece whose text differs from its bytes, such as a label. A run from such a piece cannot be
    split."""


class Body(Struct):
    """The decoded bytes of a body, and the input bytes that they came from."""

    data: bytes = b""
    runs: list[ByteRun] = field(default_factory=list)
    pending: int = 0
    """The length of a U+FFFD at the end that represents half of a surrogate pair, whose other half may still arrive."""
    _maps: dict[int, StringMap | NestedMap] = field(default_factory=dict)
    """Offset maps of JSON strings, built on demand."""

    @property
    def text(self) -> str:
        """The body as text, with U+FFFD for ill-formed UTF-8."""
        return self.data.decode("utf-8", "replace")

    def source_span(self, start: int, end: int) -> Span:
        """Return the span of the input that these decoded bytes came from."""
        first = self._source_of(start)
        return first, max(first, self._source_of(end - 1, last=True) if end > start else first)

    def pieces(self, start: int, end: int) -> list[Piece]:
        """Return the pieces of the input that these decoded bytes came from; one empty piece if there are none."""
        pieces: list[Piece] = []
        for index in range(max(0, bisect_right(self.runs, start, key=attrgetter("at")) - 1), len(self.runs)):
            run = self.runs[index]
            if run.at >= end:
                break
            low, high = max(start, run.at), min(end, run.at + run.length)
            if low < high:
                pieces += self._pieces_of(run, low, high)
        if not pieces:
            at = self.source_span(start, start)[0]
            pieces.append(Piece(at, at, Coding.PLAIN))
        return pieces

    def _pieces_of(self, run: ByteRun, low: int, high: int) -> list[Piece]:
        end = run.source + run.source_length
        if run.whole is not None:
            return [Piece(run.source, end, run.whole)]
        if run.raw is not None:
            coding = Coding.NESTED_TEXT if run.nested else Coding.JSON_TEXT
            return [Piece(*self._span_in(run, low, high), coding)]
        if run.length == run.source_length:
            return [Piece(*self._span_in(run, low, high), Coding.PLAIN)]
        halves = {(run.source, run.source + HALF_LENGTH), (end - HALF_LENGTH, end)}
        return [Piece(*half, Coding.JSON_TEXT) for half in sorted(halves)]  # the bytes between them are not text

    def is_live(self, start: int, end: int) -> bool:
        """True if a mark at these bytes takes effect, that is, if all its runs are live."""
        index = bisect_right(self.runs, start, key=lambda run: run.at) - 1
        while 0 <= index < len(self.runs) and self.runs[index].at < end:
            if not self.runs[index].live:
                return False
            index += 1
        return True

    def _run_at(self, at: int) -> ByteRun | None:
        index = bisect_right(self.runs, at, key=lambda run: run.at) - 1
        return self.runs[index] if index >= 0 else None

    def _source_of(self, at: int, *, last: bool = False) -> int:
        run = self._run_at(at)
        return 0 if run is None else self._source_in(run, at, last=last)

    def _span_in(self, run: ByteRun, low: int, high: int) -> Span:
        """Return the span of the input that these bytes of a run, of which there is at least one, came from."""
        first = self._source_in(run, low)
        return first, max(first, self._source_in(run, high - 1, last=True))

    def _source_in(self, run: ByteRun, at: int, *, last: bool = False) -> int:
        if run.raw is not None:
            if run.at not in self._maps:
                self._maps[run.at] = NestedMap(run.raw) if run.nested else StringMap(run.raw)
            return run.source + self._maps[run.at].source_of(min(at - run.at, run.length), last)
        if run.length == run.source_length:
            return run.source + min(at - run.at, run.length) + last
        return run.source + run.source_length if last else run.source


def verbatim_body(data: bytes, start: int) -> Body:
    """Return a body that consists of these input bytes unchanged."""
    return Body(data, [ByteRun(0, len(data), start, len(data), True)])


def string_data(raw: bytes) -> bytes | None:
    """Return the text of a JSON string, given with its quotes, or None if only `read_body` can decode it."""
    if b"\\" not in raw:
        is_string = len(raw) > 1 and raw.startswith(b'"') and raw.find(b'"', 1) == len(raw) - 1
        return raw[1:-1] if is_string and (raw.isascii() or is_utf8(raw)) else None
    try:
        source = raw.decode()
        text, end = scanstring(source, 1, False)
        return text.encode() if end == len(source) and raw.startswith(b'"') else None
    except ValueError:  # also raised for half of a surrogate pair
        return None


def string_read(data: bytes, raw: bytes, start: int) -> Body:
    """Return the body of a JSON string, given the text from `string_data`."""
    return Body(data, [ByteRun(0, len(data), start, len(raw), True, raw)])


def read_body(pieces: tuple[Piece, ...], read: Callable[[int, int], bytes], ids: Decoder | None = None) -> Body:
    """Join and decode the pieces. `read` returns bytes of the input, and `ids` decodes token IDs."""
    joined = _Joined()
    for piece in pieces:
        _ADD[piece.coding](joined, piece, read, ids)
    pending = joined.flush()
    return Body(b"".join(joined.parts), joined.runs, pending)


def joined_text(pieces: Sequence[Piece], read: Callable[[int, int], bytes]) -> bytes | None:
    """Return the text of the pieces, or None if only `read_body` can join them."""
    parts: list[bytes] = []
    for piece in pieces:
        text = _BETWEEN.get(piece.coding)
        if text is None:
            raw = read(piece.start, piece.end)
            if piece.coding in VERBATIM:
                text = raw
            elif piece.coding is Coding.JSON_STRING:
                text = string_data(raw)
            elif piece.coding is Coding.JSON_TEXT:
                text = string_data(b'"' + raw + b'"')
            elif piece.coding is Coding.LABEL:
                text = _label_of(raw)
            if text is None:
                return None
        parts.append(text)
    return b"".join(parts)


_BETWEEN = {Coding.LINE: b"\n", Coding.BREAK: b"\n\n"}


class _Joined:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.runs: list[ByteRun] = []
        self.length = 0
        self.half: tuple[str, int] | None = None
        """The first half of a surrogate pair at the end of a string, and its offset in the input."""

    def add_string(self, raw: bytes, source: int) -> None:
        """Add a JSON string. A surrogate pair may begin in one string and end in the next."""
        text = string_units(raw)
        if self.half and not text:
            return
        if self.half and "\udc00" <= text[:1] <= "\udfff":
            (high, start), self.half = self.half, None
            low_end = opening_length(raw) + HALF_LENGTH
            char = (high + text[0]).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
            self.add(char.encode(), start, source + low_end - start)
            raw, source, text = b'"' + raw[low_end:], source + low_end - 1, text[1:]
            if not text:
                return
        self.flush()
        half = None
        if "\ud800" <= text[-1:] <= "\udbff":
            end = len(raw) - raw.endswith(b'"') - HALF_LENGTH
            half = text[-1], source + end
            raw, text = raw[:end], text[:-1]
        if text or half is None:
            self.add(without_halves(text).encode("utf-8", "replace"), source, len(raw), raw=raw)
        self.half = half

    def flush(self) -> int:
        """Add U+FFFD for an unpaired surrogate at the end and return its length in bytes; 0 if there is none."""
        if self.half is None:
            return 0
        (_, start), self.half = self.half, None
        self.add(_HALF, start, HALF_LENGTH)
        return len(_HALF)

    def add(
        self,
        data: bytes,
        source: int,
        source_length: int,
        live: bool = True,
        raw: bytes | None = None,
        whole: Coding | None = None,
        nested: bool = False,
    ) -> None:
        if self.half and data:
            self.flush()
        if data or not self.runs:
            self.runs.append(ByteRun(self.length, len(data), source, source_length, live, raw, nested, whole))
            self.parts.append(data)
            self.length += len(data)


def _add_plain(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    data = read(piece.start, piece.end)
    joined.add(data, piece.start, len(data))


def _add_json_string(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    raw = read(piece.start, piece.end)
    if b"\\u" in raw:
        joined.add_string(raw, piece.start)
    else:
        joined.add(string_body(raw).encode("utf-8", "replace"), piece.start, len(raw), raw=raw)


def _add_split_string(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    """Add a JSON string that spans several `data:` lines, joined with line feeds."""
    raw = read(piece.start, piece.end)
    at = 0
    while found := _EVENT_BREAK.search(raw, at):
        joined.add_string((b'"' if at else b"") + raw[at : found.start()], piece.start + at - bool(at))
        joined.add(b"\n", piece.start + found.start(), found.end() - found.start(), whole=Coding.LINE)
        at = found.end()
    joined.add_string((b'"' if at else b"") + raw[at:], piece.start + at - bool(at))


def _add_json_text(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    raw = read(piece.start, piece.end)
    joined.add_string(b'"' + raw, piece.start - 1)


def _add_nested_text(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    raw = b'"' + read(piece.start, piece.end)
    text = string_body(b'"' + string_body(raw).encode("utf-8", "replace"))
    joined.add(text.encode("utf-8", "replace"), piece.start - 1, len(raw), raw=raw, nested=True)


def _add_python(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    raw = read(piece.start, piece.end)
    for start, end, text in python_runs(raw):
        whole = None if text is None else piece.coding
        joined.add(raw[start:end] if text is None else text, piece.start + start, end - start, whole=whole)


def _add_nested_python(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    raw = read(piece.start, piece.end)
    text = python_text(string_body(b'"' + raw).encode("utf-8", "replace"))
    joined.add(text, piece.start, piece.end - piece.start, whole=piece.coding)


def _add_html(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    """Add part of a JSON string, and decode the character references in it."""
    from html import unescape  # lazy: it loads all entities, and few inputs have references

    raw = read(piece.start, piece.end)
    at = 0
    for found in _REFERENCE.finditer(raw):
        if at < found.start():
            joined.add_string(b'"' + raw[at : found.start()], piece.start + at - 1)
        text = unescape(found[0].decode()).encode("utf-8", "replace")
        joined.add(text, piece.start + found.start(), found.end() - found.start(), whole=piece.coding)
        at = found.end()
    if at < len(raw) or not raw:
        joined.add_string(b'"' + raw[at:], piece.start + at - 1)


def _add_ids(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    data = read(piece.start, piece.end)
    text = ids(data) if ids else data.decode("utf-8", "replace")
    joined.add(text.encode("utf-8", "replace"), piece.start, piece.end - piece.start, whole=piece.coding)


def _add_break(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    joined.add(b"\n\n", piece.start, piece.end - piece.start, whole=piece.coding)


def _add_label(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    label = _label_of(read(piece.start, piece.end))
    joined.add(label, piece.start, piece.end - piece.start, live=False, whole=piece.coding)


def _label_of(raw: bytes) -> bytes:
    from viewer.syntax.attachments import attachment_label  # lazy: few inputs have attachments

    return attachment_label(raw).encode("utf-8", "replace")


def _add_opaque(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    from viewer.syntax.attachments import opaque_label  # lazy: few inputs have encrypted data

    label = opaque_label(piece.end - piece.start - 2)
    joined.add(label.encode(), piece.start, piece.end - piece.start, live=False, whole=piece.coding)


def _add_line(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    joined.add(b"\n", piece.start, 0, whole=piece.coding)


def _add_escaped(joined: _Joined, piece: Piece, read: Callable[[int, int], bytes], ids: Decoder | None) -> None:
    data = read(piece.start, piece.end)
    if b"<|" not in data:
        joined.add(data, piece.start, len(data))
        return
    at, mark = 0, _MARK if _OTHER_MARK.search(data) else _TOKEN_MARK  # the first takes 3 ms to compile
    while match := mark.search(data, at):
        if match[1]:
            joined.add(data[at : match.start()], piece.start + at, match.start() - at)
            start = match.start() + 1
            joined.add(data[start : match.end()], piece.start + start, match.end() - start, live=False)
            at = match.end()
        elif match[2] == b"literal":
            joined.add(data[at : match.start()], piece.start + at, match.start() - at)
            at = _add_literal(joined, data, match.end(), piece.start)
        else:
            joined.add(data[at : match.end()], piece.start + at, match.end() - at)
            at = match.end()
    joined.add(data[at:], piece.start + at, len(data) - at)


def _add_literal(joined: _Joined, data: bytes, start: int, base: int) -> int:
    """Add the content of a literal block and return where it ends. Without an end mark, everything up to the end is
    literal."""
    found = data.find(_END_LITERAL, start)
    end = found if found >= 0 else len(data)
    joined.add(data[start:end], base + start, end - start, live=False)
    return end + len(_END_LITERAL) if found >= 0 else end


_ADD: Mapping[Coding, Callable[[_Joined, Piece, Callable[[int, int], bytes], Decoder | None], None]] = {
    Coding.PLAIN: _add_plain,
    Coding.ESCAPED: _add_escaped,
    Coding.JSON_STRING: _add_json_string,
    Coding.JSON_TEXT: _add_json_text,
    Coding.NESTED_TEXT: _add_nested_text,
    Coding.SPLIT_STRING: _add_split_string,
    Coding.PYTHON_STRING: _add_python,
    Coding.NESTED_PYTHON: _add_nested_python,
    Coding.HTML_TEXT: _add_html,
    Coding.TOKEN_IDS: _add_ids,
    Coding.BREAK: _add_break,
    Coding.JSON_VALUE: _add_plain,
    Coding.LABEL: _add_label,
    Coding.OPAQUE: _add_opaque,
    Coding.LINE: _add_line,
}


class OpenMessages(set[int]):
    """The numbers of the open messages."""

    is_tentative = False
    """True if a later token may still change the detected format."""


def hold_back(body: Body, numbers: Container[int]) -> None:
    """Remove bytes from the end of an open body if their meaning depends on what comes next."""
    if body.pending:
        body.data = body.data[: -body.pending]
    if isinstance(numbers, OpenMessages) and numbers.is_tentative:
        found = _TAIL.search(body.data[-LONGEST_TAIL:])
        if found:
            body.data = body.data[: found.start() - min(LONGEST_TAIL, len(body.data))]
