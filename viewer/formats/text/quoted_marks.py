"""Handle quoted marks: OpenChatML 2.2 quotes them with escapes or literal blocks, which no other format has."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.errors import RefusedError
from viewer.formats.writing import Writable
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, ByteRun, read_body
from viewer.reading.hidden_spans import ALL_KINDS, BlockKind, left_of, shown_text

_LITERAL, _END_LITERAL = b"<|literal|>", b"<|endliteral|>"


def refuse_quoted_marks(messages: Iterable[Writable], target: str) -> None:
    """Raise `RefusedError` if quoted marks in a shown message would hide text in a format without escapes."""
    for message in messages:
        if message.source_text in (None, message.body) or not message.visible:
            continue
        role = message.role
        if shown_text(read_source_text(message.source_text), role) != shown_text(live_body(message.body), role):
            raise RefusedError(
                f"message {message.number} quotes a mark in its body, which {target} cannot escape; "
                "--to openchatml-2.2 can"
            )


def read_source_text(text: str) -> Body:
    """Decode the text of an OpenChatML 2.2 body."""
    return _read(text.encode("utf-8", "replace"))


def _read(data: bytes) -> Body:
    return read_body((Piece(0, len(data), Coding.ESCAPED),), lambda start, end: data[start:end])


def shown_source(data: bytes, role: str, kinds: frozenset[BlockKind]) -> str | None:
    """Return the source of a body without blocks of these kinds, with its escapes and literal blocks, or None if no
    source would produce the same text again."""
    body = _read(data)
    left = left_of(body, role, kinds)
    if left.data == body.data:
        return data.decode("utf-8", "replace")
    text = shown_text(body, role, kinds)
    for source in (_joined(left, data), _LITERAL + left.data + _END_LITERAL if kinds == ALL_KINDS else b""):
        again = _read(source)
        if again.text == text == shown_text(again, role, kinds):
            return source.decode("utf-8", "replace")
    return None


def _joined(left: Body, source: bytes) -> bytes:
    """Return the source of the runs that are left, with the marks that quote them."""
    parts: list[bytes] = []
    at, was_quoted = 0, False
    for run in left.runs:
        parts += [
            _between(source[at : run.source], was_quoted, not run.live),
            source[run.source : run.source + run.length],
        ]
        at, was_quoted = run.source + run.length, not run.live
    return b"".join([*parts, _between(source[at:], was_quoted, False)])


def _between(gap: bytes, was_quoted: bool, is_quoted: bool) -> bytes:
    """Return the mark that ends a literal block before a gap, and the mark that quotes the run after it."""
    closes = _END_LITERAL if was_quoted and gap.startswith(_END_LITERAL) else b""
    opens = _LITERAL if gap.endswith(_LITERAL) else b"<"
    return closes + (opens if is_quoted else b"")


def live_body(text: str) -> Body:
    """Return the text as a body in which every mark takes effect."""
    data = text.encode("utf-8", "replace")
    return Body(data, [ByteRun(0, len(data), 0, len(data), True)])
