"""The index: where every message is and what its header says, as columns; no bodies."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace

from viewer.core.messages import Coding, Ending, Header, Message, Piece
from viewer.core.turns import TurnCounter

_ENDINGS = list(Ending)
_ENDING_OF = {ending: number for number, ending in enumerate(_ENDINGS)}
_ESCAPED, _IRREGULAR, _HAS_STOP, _BROKE_OUT, _CANCELLED = 8, 16, 32, 64, 128


class MessageIndex:
    """Messages by number, at most 64 bytes each beside the headers that many of them share."""

    def __init__(self) -> None:
        self._start = array("Q")
        self._end = array("Q")
        self._body_start = array("Q")
        self._body_end = array("Q")
        self._header = array("I")
        self._transcript = array("I")
        self._turn = array("I")
        self._flags = array("B")
        self._headers: list[Header] = []
        self._header_ids: dict[Header, int] = {}
        self._last_header: tuple[Header | None, int] = (None, 0)
        self._call_ids: dict[int, str] = {}
        self._pieces: dict[int, Sequence[Piece]] = {}
        """Lists for messages that still grow."""
        self._times: dict[int, int] = {}
        self._turns = TurnCounter()

    def __len__(self) -> int:
        return len(self._start)

    def __getitem__(self, number: int) -> Message:
        """The message of this number, from 1 on."""
        row = number - 1
        flags = self._flags[row]
        header = self._headers[self._header[row]]
        if row in self._call_ids:
            header = replace(header, call_id=self._call_ids[row])
        span = self._start[row], self._end[row]
        return Message(
            number,
            self._transcript[row],
            header,
            _ENDINGS[flags & 7],
            span,
            self._pieces_at(row, flags),
            stop=(self._body_end[row], span[1]) if flags & _HAS_STOP else None,
            broke_out=bool(flags & _BROKE_OUT),
            time_ms=self._times.get(row),
            cancelled=bool(flags & _CANCELLED),
        )

    def _pieces_at(self, row: int, flags: int) -> tuple[Piece, ...]:
        if flags & _IRREGULAR:
            return tuple(self._pieces[row])
        coding = Coding.ESCAPED if flags & _ESCAPED else Coding.PLAIN
        return (Piece(self._body_start[row], self._body_end[row], coding),)

    def look_key(self, number: int) -> int:
        """Equal for messages of equal headers (but for call ids) and endings: who may see one may see the other."""
        return self._header[number - 1] << 8 | self._flags[number - 1]

    def look_keys(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The numbers of these messages, each with its key."""
        headers, flags = self._header[first - 1 : last], self._flags[first - 1 : last]
        return enumerate((header << 8 | flag for header, flag in zip(headers, flags, strict=True)), first)

    def role(self, number: int) -> str:
        """The role of a message."""
        return self._headers[self._header[number - 1]].role

    def turn(self, number: int) -> int:
        """The turn of a message, from 1 on in each transcript."""
        return self._turn[number - 1]

    def transcript(self, number: int) -> int:
        """The transcript of a message."""
        return self._transcript[number - 1]

    def turn_starts(self, first: int) -> Iterator[tuple[int, int, int]]:
        """The messages from `first` on with which a turn begins: number, turn, transcript."""
        last = (0, 0) if first < 2 else (self._turn[first - 2], self._transcript[first - 2])
        places = zip(self._turn[first - 1 :], self._transcript[first - 1 :], strict=True)
        for number, place in enumerate(places, first):
            if place != last:
                last = place
                yield number, *place

    def __iter__(self) -> Iterator[Message]:
        return (self[number] for number in range(1, len(self) + 1))

    def put(self, message: Message) -> None:
        """A new message, or a known one that has changed."""
        row = message.number - 1
        if row == len(self):
            self._append(message)
        self._start[row], self._end[row] = message.span
        self._header[row] = self._header_id(message.header)
        self._flags[row] = self._place_body(row, message) | _marks(message)
        if message.header.call_id is not None:
            self._call_ids[row] = message.header.call_id
        if message.time_ms is not None:
            self._times[row] = message.time_ms

    def grow(self, number: int, pieces: tuple[Piece, ...], first: int) -> None:
        """An open message has more body: these pieces replace the known ones from the index `first` on."""
        row = number - 1
        known = self._pieces.get(row)
        if not isinstance(known, list):
            known = list(self._pieces_at(row, self._flags[row]))
        del known[first:]
        known.extend(pieces)
        self._flags[row] = self._flags[row] & ~(_IRREGULAR | _ESCAPED) | self._place_pieces(row, known)
        if known:
            self._end[row] = max(self._end[row], known[-1].end)

    def _append(self, message: Message) -> None:
        for column in (self._start, self._end, self._body_start, self._body_end, self._header, self._flags):
            column.append(0)
        self._transcript.append(message.transcript)
        self._turn.append(self._turns.next(message))

    def _header_id(self, header: Header) -> int:
        if header is self._last_header[0]:
            return self._last_header[1]
        shared = replace(header, call_id=None) if header.call_id is not None else header
        known = self._header_ids.get(shared)
        if known is None:
            known = self._header_ids[shared] = len(self._headers)
            self._headers.append(shared)
        self._last_header = header, known
        return known

    def _place_body(self, row: int, message: Message) -> int:
        """Put the body into its columns, or beside them where it is not one plain run; returns the flags for that."""
        flags = self._place_pieces(row, message.pieces)
        if flags & _IRREGULAR:
            self._body_end[row] = message.stop[0] if message.stop else 0
        return flags | (_HAS_STOP if message.stop else 0)

    def _place_pieces(self, row: int, pieces: Sequence[Piece]) -> int:
        if len(pieces) != 1 or pieces[0].coding not in (Coding.PLAIN, Coding.ESCAPED):
            self._pieces[row] = pieces
            return _IRREGULAR
        self._pieces.pop(row, None)
        self._body_start[row], self._body_end[row] = pieces[0].start, pieces[0].end
        return _ESCAPED if pieces[0].coding is Coding.ESCAPED else 0


def _marks(message: Message) -> int:
    flags = _ENDING_OF[message.ending]
    if message.broke_out:
        flags |= _BROKE_OUT
    return flags | (_CANCELLED if message.cancelled else 0)
