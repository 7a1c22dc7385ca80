"""Message index: positions and headers of all messages as columns; no bodies."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress

from viewer.index.batch import MessageBatch
from viewer.index.call_ids import CallIds
from viewer.index.span_columns import SpanColumns
from viewer.index.turns import TurnCounter
from viewer.model.messages import Coding, Ending, Header, Message, Piece, Span

_ENDINGS = list(Ending)
_ENDING_OF = {ending: number for number, ending in enumerate(_ENDINGS)}
_ESCAPED, _HAS_STOP, _BROKE_OUT, _CANCELLED = 8, 32, 64, 128
IRREGULAR = 16
"""The flag of a message whose body is not one plain run of bytes."""


def ending_number(ending: Ending) -> int:
    """The number of an ending in the columns."""
    return _ENDING_OF[ending]


class MessageIndex:
    """Messages by number, at most 64 bytes each, plus the headers that many of them share."""

    def __init__(self) -> None:
        self.places = SpanColumns()
        """Their positions by row: the number minus one."""
        self._header = array("I")
        self._transcripts: list[tuple[int, int]] = []
        """The first row of each transcript, and its number."""
        self._turn = array("I")
        self._flags = array("B")
        self._headers: list[Header] = []
        self._header_ids: dict[Header, int] = {}
        self._last_header: tuple[Header | None, int] = (None, 0)
        self._call_ids = CallIds()
        self._pieces: dict[int, Sequence[Piece]] = {}
        """Lists for messages that still grow."""
        self._times: dict[int, int] = {}
        self._turns = TurnCounter()

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int) -> Message:
        """The message with this number, counted from 1."""
        row = number - 1
        flags = self._flags[row]
        header = self._headers[self._header[row]]
        call_id = self._call_ids.get(row)
        if call_id is not None:
            header = header.with_call_id(call_id)
        span = self.places.span(row)
        return Message(
            number,
            self.transcript(number),
            header,
            _ENDINGS[flags & 7],
            span,
            self._pieces_at(row, flags),
            stop=(self.places.body_end(row), span[1]) if flags & _HAS_STOP else None,
            broke_out=bool(flags & _BROKE_OUT),
            time_ms=self._times.get(row),
            cancelled=bool(flags & _CANCELLED),
        )

    def _pieces_at(self, row: int, flags: int) -> tuple[Piece, ...]:
        if flags & IRREGULAR:
            return tuple(self._pieces[row])
        coding = Coding.ESCAPED if flags & _ESCAPED else Coding.PLAIN
        return (Piece(self.places.body_start(row), self.places.body_end(row), coding),)

    def look_key(self, number: int) -> int:
        """A key that is equal for messages with the same ending and header (except call ids): they have the same
        visibility."""
        return self._header[number - 1] << 8 | self._flags[number - 1]

    def look_keys(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The numbers of these messages, each with its key."""
        headers, flags = self._header[first - 1 : last], self._flags[first - 1 : last]
        return enumerate((header << 8 | flag for header, flag in zip(headers, flags, strict=True)), first)

    def role(self, number: int) -> str:
        """The role of a message."""
        return self._headers[self._header[number - 1]].role

    def turns(self, first: int, last: int) -> array[int]:
        """The turns of these messages."""
        return self._turn[first - 1 : last]

    def transcripts(self, first: int, last: int) -> list[tuple[int, int]]:
        """The transcripts of these messages, each with its first message here."""
        place = self._transcript_place(first)
        after = bisect_left(self._transcripts, (last,), place)
        rest = [(row + 1, number) for row, number in self._transcripts[place + 1 : after]]
        return [(first, self._transcripts[place][1]), *rest]

    def numbers_of_transcript(self, transcript: int) -> tuple[int, int] | None:
        """The first and the last message of a transcript; None if it has none."""
        place = bisect_left(self._transcripts, transcript, key=lambda entry: entry[1])
        if place == len(self._transcripts) or self._transcripts[place][1] != transcript:
            return None
        after = self._transcripts[place + 1][0] if place + 1 < len(self._transcripts) else len(self)
        return self._transcripts[place][0] + 1, after

    def _transcript_place(self, number: int) -> int:
        return bisect_left(self._transcripts, (number,)) - 1

    def turn(self, number: int) -> int:
        """The turn of a message, counted from 1 in each transcript."""
        return self._turn[number - 1]

    def numbers_of_turn(self, transcript: int, turn: int) -> Iterator[int]:
        """The messages of a turn of a transcript."""
        first, last = self.numbers_of_transcript(transcript) or (1, 0)
        row = first - 2
        with suppress(ValueError):
            while True:
                row = self._turn.index(turn, row + 1, last)
                yield row + 1

    def transcript(self, number: int) -> int:
        """The transcript of a message."""
        return self._transcripts[self._transcript_place(number)][1]

    def __iter__(self) -> Iterator[Message]:
        return (self[number] for number in range(1, len(self) + 1))

    def put(self, message: Message) -> None:
        """Add a message, or update a known one."""
        row = message.number - 1
        if row == len(self):
            self._append(message)
        self.places.set_span(row, message.span)
        self._header[row] = self.header_number(message.header)
        self._flags[row] = self._place_body(row, message) | _marks(message)
        if message.header.call_id is not None:
            self._call_ids.put(row, message.header.call_id)
        if message.time_ms is not None:
            self._times[row] = message.time_ms

    def grow(self, number: int, pieces: tuple[Piece, ...], first: int) -> None:
        """Grow an open message: these pieces replace the known ones from index `first` on."""
        row = number - 1
        known = self._pieces.get(row)
        if not isinstance(known, list):
            known = list(self._pieces_at(row, self._flags[row]))
        del known[first:]
        known.extend(pieces)
        if known:
            self.places.reach(row, known[-1].end)
        self._flags[row] = self._flags[row] & ~(IRREGULAR | _ESCAPED) | self._place_pieces(row, known)

    def extend(self, run: MessageBatch) -> None:
        """Append a batch of messages."""
        row = len(self)
        self.places.extend(run)
        flags = run.endings | (_HAS_STOP | (_ESCAPED if run.grammar.literals else 0))
        self._header.frombytes(run.headers.astype("=u4").tobytes())
        self._flags.frombytes(flags.astype("=u1").tobytes())
        self._turn.frombytes(self._turns.after_all(run.transcript, run.users).astype("=u4").tobytes())
        self._enter_transcript(row, run.transcript)
        self._call_ids.extend(run.id_rows + row, run.id_ends, run.id_text)

    def call_id(self, number: int) -> str | None:
        """The call id of a message."""
        return self._call_ids.get(number - 1)

    def time_ms(self, number: int) -> int | None:
        """The time of a message, if the input gives one."""
        return self._times.get(number - 1)

    def span(self, number: int) -> Span:
        """Where a message begins and ends."""
        return self.places.span(number - 1)

    def bounds(self, first: int, last: int) -> tuple[array[int], array[int]]:
        """Where the messages of these numbers begin and end."""
        return self.places.spans(first - 1, last)

    def kinds(self, first: int, last: int) -> tuple[array[int], array[int]]:
        """The two parts of the header keys of these messages: header numbers, and flags."""
        return self._header[first - 1 : last], self._flags[first - 1 : last]

    def kinds_at(self, numbers: array[int]) -> tuple[array[int], array[int]]:
        """The same for many messages that are not adjacent."""
        import numpy as np

        rows = np.frombuffer(numbers, np.uint32) - np.uint32(1)
        headers, flags = array("I"), array("B")
        headers.frombytes(np.frombuffer(self._header, np.uint32)[rows].tobytes())
        flags.frombytes(np.frombuffer(self._flags, np.uint8)[rows].tobytes())
        return headers, flags

    def _append(self, message: Message) -> None:
        self._enter_transcript(len(self), message.transcript)
        self.places.append()
        self._header.append(0)
        self._flags.append(0)
        self._turn.append(self._turns.next(message))

    def _enter_transcript(self, row: int, number: int) -> None:
        if not self._transcripts or self._transcripts[-1][1] != number:
            self._transcripts.append((row, number))

    def header_number(self, header: Header) -> int:
        """The number of a header in this index, without its call id."""
        if header is self._last_header[0]:
            return self._last_header[1]
        shared = header.with_call_id(None) if header.call_id is not None else header
        known = self._header_ids.get(shared)
        if known is None:
            known = self._header_ids[shared] = len(self._headers)
            self._headers.append(shared)
        self._last_header = header, known
        return known

    def _place_body(self, row: int, message: Message) -> int:
        """Store the body in the columns, or as pieces if it is not one plain run; return the flags for that."""
        flags = self._place_pieces(row, message.pieces)
        if flags & IRREGULAR:
            self.places.set_body_end(row, message.stop[0] if message.stop else message.span[1])
        return flags | (_HAS_STOP if message.stop else 0)

    def _place_pieces(self, row: int, pieces: Sequence[Piece]) -> int:
        if len(pieces) != 1 or pieces[0].coding not in (Coding.PLAIN, Coding.ESCAPED):
            self._pieces[row] = pieces
            return IRREGULAR
        self._pieces.pop(row, None)
        self.places.set_body_start(row, pieces[0].start)
        self.places.set_body_end(row, pieces[0].end)
        return _ESCAPED if pieces[0].coding is Coding.ESCAPED else 0


def _marks(message: Message) -> int:
    flags = _ENDING_OF[message.ending]
    if message.broke_out:
        flags |= _BROKE_OUT
    return flags | (_CANCELLED if message.cancelled else 0)
