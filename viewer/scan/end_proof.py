"""End proof: find where the end of a large text can be read without everything before it.

After a stop token, a reader is between messages, unless the token is quoted in a literal block. The grammar is the one
of the first document header, unless a later header changes it. The proof searches the text for literal blocks and
headers, at memory speed, without reading messages:

- A literal block begins at `<|literal|>` and ends at the first `<|endliteral|>`. So if `<|endliteral|>` is the last of
  these tokens before an offset, or there is none, the offset is in no literal block.
- A line between messages may begin a document header. A line in a message cannot. A line is in a message if there is an
  opening token before it and no stop token between that token and the line."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from viewer import native
from viewer.reading.document_header import LONGEST as LONGEST_HEADER
from viewer.reading.grammar import LONGEST_LINE

BLOCK = 1024 * 1024
"""The number of bytes that are searched at a time."""
BLOCKS, NATIVE_BLOCKS, AT_ONCE = 4, 16, 2
"""How many blocks are searched together, without and with the accelerator, and how many such groups may be searched in
parallel. Larger groups need the interpreter lock less often."""
MOST_TAIL = 8 * BLOCK
"""The maximum length of an end that is read on its own."""
FIRST_REACH = 256 * 1024
"""How much of the tail is searched first for a place to start."""
_BACK = 64 * 1024
"""How far back from a line to search for an opening token."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_END_LITERAL, _ANY_LITERAL = b"<|endliteral|>", b"literal|>"
_LITERAL_SIGN = b"literal|"
"""With the accelerator, this is twice as fast to find: `|>` ends every token."""
_SIGNS = (b"version", b"\n---")
_NATIVE_SIGNS = (b"\nversion", b'\n"version', b"\n---")
"""Signs of a line that may begin a document header, for the accelerator. Without it, the fewer searches for `_SIGNS`
are faster, although they have more results."""
_HEADER_BEGINS = (b"---", b"version", b'"version"', b"'version'")
_OPENING = (b"<|start|>", b"<|channel|>", b"<|message|>")
_STOPS = (b"<|end|>", b"<|return|>", b"<|call|>")
_FIRST_START = re.compile(rb"^<\|start\|>", re.MULTILINE)
_BETWEEN = re.compile(rb"(?<!<)<\|(?:end|return|call)\|>[ \t\r\n]*\n(?=<\|start\|>)")
_BETWEEN_HARMONY = re.compile(rb"(?<!<)<\|(?:end|return|call)\|>[ \t\r\n]*(?=<\|start\|>)")


Found = tuple[bool, bool | None]
"""True if the end cannot be proven, and whether the last literal token begins a block; None if there is no token."""
Each = Callable[[Callable[[tuple[int, int]], Found], Sequence[tuple[int, int]]], Iterable[Found]]


class EndProof:
    """Proves that the end of one file can be read on its own. It keeps only the beginning and the end of the file."""

    def __init__(self, read: Callable[[int, int], bytes], size: int, *, is_harmony: bool) -> None:
        """With `is_harmony`, literal blocks and document headers are not searched for, because Harmony has neither."""
        self._read = read
        self._size = size
        self._is_harmony = is_harmony
        self._tail_at = max(0, size - MOST_TAIL)
        self._tail = b""
        self._at = 0
        self._native = native.load()
        self._last_is_literal = False
        """True if the last literal token so far begins a block."""
        self._has_failed = False
        self.head = b""
        """The first document header, which is read before the end."""

    @property
    def is_complete(self) -> bool:
        """True if the proof has failed, or the tail has been read."""
        return self._has_failed or bool(self._tail)

    def step(self, each: Each = map) -> None:
        """Search the next blocks, or read the tail once everything before it has been searched. `each` calls a function
        for each range of blocks, possibly in parallel."""
        if not self._at and not self._is_harmony:
            self._read_head()
        if self._at < self._tail_at and not self._is_harmony and not self._has_failed:
            first, size = self._at, BLOCK * (BLOCKS if self._native is None else NATIVE_BLOCKS)
            self._at = min(first + AT_ONCE * size, self._tail_at)
            starts = range(first, self._at, size)
            search = self._search if self._native is None else self._search_at_once
            for has_failed, last_is_literal in each(search, [(at, min(at + size, self._at)) for at in starts]):
                self._has_failed |= has_failed
                self._last_is_literal = self._last_is_literal if last_is_literal is None else last_is_literal
        elif not self._has_failed:
            self._tail = self._read(max(0, self._tail_at - LONGEST_LINE), self._size)
            self._has_failed = len(self._tail) != self._size - max(0, self._tail_at - LONGEST_LINE)

    def starts(self, least: int) -> Iterator[int]:
        """Yield the offsets from which the end can be read on its own, the last one first. At least `least` bytes
        follow each offset."""
        if self._has_failed or not self._tail:
            return
        tail, begin = self._tail, self._tail_begin
        pattern = _BETWEEN_HARMONY if self._is_harmony else _BETWEEN
        header = len(tail) if self._is_harmony else self._header_in_tail
        last, reach = min(len(tail) - least, header), FIRST_REACH
        while last > begin:
            first = max(begin, last - reach)
            for match in reversed([*pattern.finditer(tail, first, last + len(b"<|start|>"))]):
                if match.end() <= last and self._is_free(match.start(), match.end()):
                    yield self._size - len(tail) + match.end()
            last, reach = first, 2 * reach

    def text_from(self, start: int) -> bytes:
        """Return the text from an offset that `starts` yields to the end of the file."""
        return self._tail[start - (self._size - len(self._tail)) :]

    def _search(self, span: tuple[int, int]) -> Found:
        last_is_literal = None
        for begin in range(*span, BLOCK):
            low, end = max(0, begin - _BACK), min(begin + BLOCK, span[1])
            data = self._read(low, end)
            if len(data) != end - low or any(True for _ in self._headers(data, begin - low)):
                return True, None
            for at in self._literals(data, begin - low):
                last_is_literal = not data.endswith(b"<|end", 0, at)
        return False, last_is_literal

    def _search_at_once(self, span: tuple[int, int]) -> Found:
        """Search several blocks together with the accelerator, which other threads cannot interrupt."""
        assert self._native is not None
        low = max(0, span[0] - _BACK)
        data = self._read(low, span[1])
        if len(data) != span[1] - low:
            return True, None
        header, literal = self._native.prove(data, span[0] - low, _BACK)
        return header >= 0, None if literal < 0 else not data.endswith(b"<|end", 0, literal)

    def _read_head(self) -> None:
        head = self._read(0, LONGEST_HEADER)
        text = head.removeprefix(_BYTE_ORDER_MARK)
        first = _FIRST_START.search(text)
        lead = text[: first.start()].lstrip(b" \t\r\n") if first else b"{"
        self._has_failed = bool(lead) and not lead.startswith(_HEADER_BEGINS)
        self._at = len(head) - len(text) + first.start() if first else 0
        self.head = head[: self._at]

    @property
    def _tail_begin(self) -> int:
        """The index in the tail of the first byte that has not been searched."""
        return max(self._at, self._tail_at) - (self._size - len(self._tail))

    @cached_property
    def _header_in_tail(self) -> int:
        """The index in the tail of the first line that may begin a document header, or the length of the tail."""
        return min(self._headers(self._tail, self._tail_begin), default=len(self._tail))

    @cached_property
    def _literals_in_tail(self) -> list[int]:
        """The indexes of all literal tokens in the tail."""
        return [*self._literals(self._tail, self._tail_begin)]

    def _is_free(self, stop: int, at: int) -> bool:
        """True if the stop token at an index of the tail ends a message: it is in no literal block or, in Harmony, in
        no event line."""
        if self._is_harmony:
            return not _is_in_event(self._tail, stop)
        before = bisect_left(self._literals_in_tail, at)
        if not before:
            return not self._last_is_literal
        return self._tail.endswith(b"<|end", 0, self._literals_in_tail[before - 1])

    def _literals(self, data: bytes, begin: int) -> Iterator[int]:
        """Yield the indexes of all literal tokens that do not end before `begin`."""
        sign = _LITERAL_SIGN if self._native else _ANY_LITERAL
        found = self._places(data, sign, max(0, begin - len(_END_LITERAL)))
        return (at for at in found if data.startswith(_ANY_LITERAL, at))

    def _headers(self, data: bytes, begin: int) -> Iterator[int]:
        """Yield the starts of the lines, from `begin` on, that may begin a document header."""
        for sign in _NATIVE_SIGNS if self._native else _SIGNS:
            for at in self._places(data, sign, max(0, begin - len(sign) + 1)):
                line = _line_of(data, at)
                if line >= 0 and not _is_in_message(data, line):
                    yield line

    def _places(self, data: bytes, token: bytes, first: int) -> Iterable[int]:
        """Return the indexes at which a token occurs, from `first` on. With the accelerator, `"` also matches `'`."""
        if self._native is None:
            return _places(data, token, first)
        found = self._native.find(memoryview(data)[first:], token, token.replace(b'"', b"'"))
        return (first + at for at in array("q", found))


def _line_of(data: bytes, at: int) -> int:
    """Return the start of the line that the sign at this index begins, or -1 if it begins no line."""
    if data[at] == ord("\n"):
        return at + 1
    if data[at - 1 : at] in (b'"', b"'"):
        at -= 1
    return at if data[at - 1 : at] == b"\n" else -1


def _is_in_message(data: bytes, line: int) -> bool:
    """True if a line certainly belongs to the header or the body of a message."""
    opening = max(data.rfind(token, max(0, line - _BACK), line) for token in _OPENING)
    if opening < 1 or data[opening - 1] == ord("<"):
        return False
    if any(data.find(token, opening, line) >= 0 for token in _STOPS):
        return False
    begin = data.rfind(b"\n", 0, opening)
    return begin >= 0 and not data[begin + 1 : opening].lstrip(b" \t\r").startswith(b"{")


def _is_in_event(data: bytes, at: int) -> bool:
    """True if the line that contains this index may be an event."""
    begin = data.rfind(b"\n", max(0, at - LONGEST_LINE), at)
    if begin < 0:
        return at < LONGEST_LINE
    return data[begin + 1 : at].lstrip(b" \t\r").startswith(b"{")


def _places(data: bytes, token: bytes, first: int) -> Iterator[int]:
    """Yield the indexes at which a token occurs, from `first` on."""
    at = data.find(token, first)
    while at >= 0:
        yield at
        at = data.find(token, at + 1)
