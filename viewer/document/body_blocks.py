"""Bodies in blocks, so that a search does not wait for a huge body."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

from viewer.formats import body_of_ids
from viewer.model.messages import VERBATIM, Coding, Message, Piece
from viewer.reading.bodies import read_body
from viewer.reading.embedded_turn import may_be_stripped
from viewer.reading.template_marks import MAY_BE_MARK

BLOCK = 1024 * 1024

Read = Callable[[int, int], bytes]

_LONGEST_MARK = 32


def size_of(message: Message) -> int:
    """The number of bytes of the body in the input."""
    return sum(piece.end - piece.start for piece in message.pieces)


def body_blocks(message: Message, read: Read, whole: Callable[[], str], cuts: bool) -> Iterator[str]:
    """The text of a body in order; an empty block only signals progress.

    `whole` returns the whole body, for the rare one with parts that may be cut."""
    if cuts:
        before, is_head = "", True
        for text in _texts(message, read):
            before += text
            data = before.encode("utf-8", "replace")
            if MAY_BE_MARK.search(data) or (is_head and may_be_stripped(data)):
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
                continue  # a character may begin in one string and end in the next
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
    """The decoded bytes of a piece; one with escapes or JSON comes as one block."""
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
