"""`MessageIndex`: positions and headers of all messages as columns, without bodies."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from contextlib import suppress

from viewer.columns.api import Column, Columns
from viewer.columns.plain import PlainColumns
from viewer.index.agents import AgentTable
from viewer.index.batch import MessageBatch
from viewer.index.call_ids import CallIds
from viewer.index.turns import TurnCounter, is_aside
from viewer.index.usage import UsageTable
from viewer.model.events import CODINGS, ClosedBatch
from viewer.model.messages import Coding, Ending, Header, Message, Piece, Span

_ENDINGS = list(Ending)
_ENDING_OF = {ending: number for number, ending in enumerate(_ENDINGS)}
_ESCAPED, _IRREGULAR, _HAS_STOP, _BROKE_OUT, _CANCELLED, _STRING, _VALUE = 8, 16, 32, 64, 128, 256, 512
"""Flags of a message. The body of an irregular message is not simply a run of bytes, a JSON string, or a JSON value."""
_ALL_FLAGS = 10
"""The number of bits that the flags occupy."""
_FLAGS_OF = {Coding.PLAIN: 0, Coding.ESCAPED: _ESCAPED, Coding.JSON_STRING: _STRING, Coding.JSON_VALUE: _VALUE}
_CODING_OF = {flags: coding for coding, flags in _FLAGS_OF.items()}
_CODING_FLAGS = _ESCAPED | _STRING | _VALUE
_CLOSED_FLAGS = tuple(_FLAGS_OF[coding] for coding in CODINGS)
WORTH_A_BACKEND = 32
"""The backend is slower for batches smaller than this."""
_PLAIN = PlainColumns()
_FAR_LEAD, _FAR_TAIL = 0xFFFF_FFFF, 0xFF


class MessageIndex:
    """Messages by number, at most 64 bytes each, plus the kinds that many of them share.

    Messages with the same header (except for the call ID) and ending have the same *kind*. Anything that depends only
    on these, such as visibility, is computed once per kind."""

    def __init__(self) -> None:
        self.spans = SpanColumns()
        """The positions of the messages. The row of a message is its number minus one."""
        self.columns: Columns = PlainColumns()
        """The backend for operations on the columns of this document."""
        self.kinds = array("I", [0])
        """The kind of each message, by its number; kind 0 belongs to number 0, which is not a message."""
        self._kind_headers = array("I", [0])
        self._kind_flags = array("H", [0])
        self._kind_of: dict[int, int] = {}
        self.regular_kinds = bytearray(1)
        """A flag for each kind: 1 if the bodies of its messages are single plain runs of bytes."""
        self._transcripts: list[tuple[int, int]] = []
        """The first row and the number of each transcript."""
        self._turn = array("I")
        self._headers: list[Header] = []
        self._header_ids: dict[Header, int] = {}
        self._last_header: tuple[Header | None, int] = (None, 0)
        self._places: dict[int, tuple[int, ...]] = {}
        """For some headers, the indices of the extra attributes whose values are stored for each message."""
        self._header_ids_with_places: dict[tuple[Header, tuple[int, ...]], int] = {}
        self._values = CallIds()
        """For each message, the values of the attributes in `_places`, on separate lines."""
        self._call_ids = CallIds()
        self._pieces: dict[int, Sequence[Piece]] = {}
        """The pieces of irregular bodies; a list if the message is still growing."""
        self._times: dict[int, int] = {}
        self._turns = TurnCounter()
        self._superseded: list[tuple[int, int]] = []
        """The first and last message of each superseded branch, in order and without overlaps."""
        self.usages = UsageTable()
        self.agents = AgentTable()

    def supersede(self, first: int, last: int) -> None:
        """Mark these messages as a superseded branch."""
        touched = [branch for branch in self._superseded if branch[0] <= last and first <= branch[1]]
        for branch in touched:
            self._superseded.remove(branch)
        insort(
            self._superseded, (min([first, *(one for one, _ in touched)]), max([last, *(one for _, one in touched)]))
        )

    def is_superseded(self, number: int) -> bool:
        """True if a message is on a superseded branch."""
        return self.branch_of(number) is not None

    def branch_of(self, number: int) -> tuple[int, int] | None:
        """Return the first and last message of the superseded branch that contains this message, or None if none
        does."""
        place = bisect_left(self._superseded, (number + 1, 0)) - 1
        return self._superseded[place] if place >= 0 and number <= self._superseded[place][1] else None

    @property
    def branches(self) -> Sequence[tuple[int, int]]:
        """The first and last message of each superseded branch, in order."""
        return self._superseded

    def use_columns(self, columns: Columns) -> None:
        """Switch to another backend; the columns are kept."""
        self.columns = columns

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, number: int) -> Message:
        """Return the message with this number, counted from 1."""
        row = number - 1
        kind = self.kinds[number]
        flags = self._kind_flags[kind]
        header = self._headers[self._kind_headers[kind]]
        if self.has_values(kind):
            header = header.with_values(self._places[self._kind_headers[kind]], self._values.get(row) or "")
        call_id = self._call_ids.get(row)
        if call_id is not None:
            header = header.with_call_id(call_id)
        span = self.spans.span(row)
        return Message(
            number,
            self.transcript(number),
            header,
            _ENDINGS[flags & 7],
            span,
            self._pieces_at(row, flags),
            stop=(self.spans.body_end(row), span[1]) if flags & _HAS_STOP else None,
            broke_out=bool(flags & _BROKE_OUT),
            time_ms=self._times.get(row),
            cancelled=bool(flags & _CANCELLED),
        )

    def _pieces_at(self, row: int, flags: int) -> tuple[Piece, ...]:
        if flags & _IRREGULAR:
            return tuple(self._pieces[row])
        return (Piece(self.spans.body_start(row), self.spans.body_end(row), _CODING_OF[flags & _CODING_FLAGS]),)

    def header_key(self, number: int) -> int:
        """Return the kind of a message: a key for everything that depends only on its header and ending."""
        return self.kinds[number]

    def irregular(self, first: int, last: int) -> Iterator[int]:
        """Yield the messages from `first` to `last` whose bodies are not one run of bytes."""
        if self._pieces:
            kind_flags = self._kind_flags
            for number, kind in enumerate(self.kinds[first : last + 1], first):
                if kind_flags[kind] & _IRREGULAR:
                    yield number

    def irregular_pieces(self, number: int) -> Sequence[Piece]:
        """Return the pieces of a body that is not one run of bytes."""
        return self._pieces[number - 1]

    def has_string(self, kind: int) -> bool:
        """True if the bodies of this kind are JSON strings with their quotes."""
        return bool(self._kind_flags[kind] & _STRING)

    def has_escapes(self, kind: int) -> bool:
        """True if control tokens in the bodies of this kind are escaped."""
        return bool(self._kind_flags[kind] & _ESCAPED)

    def has_values(self, kind: int) -> bool:
        """True if extra attributes differ between the messages of this kind. The example of the kind lacks these
        values."""
        return bool(self._places) and self._kind_headers[kind] in self._places

    @property
    def has_times(self) -> bool:
        """True if any message has a time."""
        return bool(self._times)

    @property
    def kind_count(self) -> int:
        """The number of kinds so far, including kind 0."""
        return len(self._kind_flags)

    def example(self, kind: int) -> Message:
        """Return a message of this kind without a call ID, a position, a body, or values that differ."""
        flags = self._kind_flags[kind]
        return Message(
            0,
            0,
            self._headers[self._kind_headers[kind]],
            _ENDINGS[flags & 7],
            (0, 0),
            (),
            broke_out=bool(flags & _BROKE_OUT),
            cancelled=bool(flags & _CANCELLED),
        )

    def kind_for(self, header: Header, ending: Ending, *, escaped: bool) -> int:
        """Return the kind for a batch of complete messages whose body is one run of bytes."""
        return self._kind(self._header_number(header), _ENDING_OF[ending] | _HAS_STOP | (_ESCAPED if escaped else 0))

    def _kind(self, header: int, flags: int) -> int:
        key = header << _ALL_FLAGS | flags
        kind = self._kind_of.get(key)
        if kind is None:
            kind = self._kind_of[key] = len(self._kind_flags)
            self._kind_headers.append(header)
            self._kind_flags.append(flags)
            self.regular_kinds.append(not flags & (_IRREGULAR | _STRING | _VALUE))
        return kind

    def role(self, number: int) -> str:
        return self._headers[self._kind_headers[self.kinds[number]]].role

    def turns(self, first: int, last: int) -> Column:
        """Return the turns of these messages."""
        return self._turn[first - 1 : last]

    def transcripts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the transcripts of these messages, each with its first message among them."""
        place = self._transcript_place(first)
        after = bisect_left(self._transcripts, (last,), place)
        rest = [(row + 1, number) for row, number in self._transcripts[place + 1 : after]]
        return [(first, self._transcripts[place][1]), *rest]

    def numbers_of_transcript(self, transcript: int) -> tuple[int, int] | None:
        """Return the first and last message of a transcript, or None if it has none."""
        place = bisect_left(self._transcripts, transcript, key=lambda entry: entry[1])
        if place == len(self._transcripts) or self._transcripts[place][1] != transcript:
            return None
        after = self._transcripts[place + 1][0] if place + 1 < len(self._transcripts) else len(self)
        return self._transcripts[place][0] + 1, after

    def _transcript_place(self, number: int) -> int:
        return bisect_left(self._transcripts, (number,)) - 1

    def turn(self, number: int) -> int:
        """Return the turn of a message, counted from 1 in each transcript."""
        return self._turn[number - 1]

    def turn_span(self, number: int) -> tuple[int, int]:
        """Return the first and last message of the turn of a message."""
        first, last = self.numbers_of_transcript(self.transcript(number)) or (number, number)
        turn = self._turn[number - 1]
        return bisect_left(self._turn, turn, first - 1, last) + 1, bisect_right(self._turn, turn, first - 1, last)

    def numbers_of_turn(self, transcript: int, turn: int) -> Iterator[int]:
        """Yield the messages of a turn of a transcript."""
        first, last = self.numbers_of_transcript(transcript) or (1, 0)
        row = first - 2
        with suppress(ValueError):
            while True:
                row = self._turn.index(turn, row + 1, last)
                yield row + 1

    def transcript(self, number: int) -> int:
        """Return the transcript of a message."""
        return self._transcripts[self._transcript_place(number)][1]

    def __iter__(self) -> Iterator[Message]:
        return (self[number] for number in range(1, len(self) + 1))

    def put(self, message: Message) -> None:
        """Add a message, or update a known one."""
        row = message.number - 1
        header = self._header_number(message.header)
        if row == len(self.spans):
            self._append(message)
            if _is_one_run(message.pieces):
                flags = self.spans.append_body(message.span, message.pieces[0]) | (_HAS_STOP if message.stop else 0)
            else:
                self.spans.append()
                self.spans.set_span(row, message.span)
                flags = self._place_body(row, message)
        else:
            self.spans.set_span(row, message.span)
            flags = self._place_body(row, message)
        self.kinds[message.number] = self._kind(header, flags | _marks(message))
        if message.header.call_id is not None:
            self._call_ids.put(row, message.header.call_id)
        if message.time_ms is not None:
            self._times[row] = message.time_ms

    def grow(self, number: int, pieces: tuple[Piece, ...], first: int) -> None:
        """Extend an open message: these pieces replace the known ones from index `first` on."""
        row, kind = number - 1, self.kinds[number]
        flags = self._kind_flags[kind]
        known = self._pieces.get(row)
        if not isinstance(known, list):
            known = list(self._pieces_at(row, flags))
        del known[first:]
        known.extend(pieces)
        if known:
            self.spans.reach(row, known[-1].end)
        flags = flags & ~(_IRREGULAR | _CODING_FLAGS) | self._place_pieces(row, known)
        self.kinds[number] = self._kind(self._kind_headers[kind], flags)

    def extend(self, batch: MessageBatch) -> None:
        row = len(self)
        columns = self.columns if len(batch) >= WORTH_A_BACKEND else _PLAIN
        self.spans.extend(batch)
        self.kinds.extend(batch.kinds)
        self._turn.extend(self._turns.after_all(columns, [(0, batch.transcript)], batch.users))
        self._enter_transcript(row, batch.transcript)
        self._call_ids.extend(columns, columns.add(batch.id_rows, row), batch.id_ends, batch.id_text)

    def extend_closed(self, batch: ClosedBatch) -> None:
        """Append a batch of complete messages from a reader."""
        row, count = len(self), len(batch)
        has_stop = _HAS_STOP if batch.stops else 0
        numbers: list[int] = []
        for code, (header, _) in enumerate(batch.headers):
            places = batch.places.get(code)
            numbers.append(self._header_number(header) if places is None else self._number_with_places(header, places))
        forms = [*zip(batch.codes, batch.escaped, strict=True)]
        kinds = {
            (code, coding): self._kind(
                numbers[code],
                _ENDING_OF[batch.headers[code][1]]
                | (0 if code in batch.stopless else has_stop)
                | _CLOSED_FLAGS[coding],
            )
            for code, coding in dict.fromkeys(forms)
        }
        self.spans.extend_closed(batch)
        own = [kinds[form] for form in forms]
        for place, pieces in batch.pieces.items():
            self._pieces[row + place] = pieces
            kind = own[place]
            own[place] = self._kind(self._kind_headers[kind], self._kind_flags[kind] | _IRREGULAR)
        self.kinds.extend(own)
        borders = {place: transcript.number for place, transcript in batch.started if place < count}
        transcripts = [*borders.items()] if 0 in borders else [(0, batch.transcript), *borders.items()]
        self._turn.extend(self._turns_of(batch, transcripts))
        for place, number in transcripts:
            self._enter_transcript(row + place, number)
        self._call_ids.extend_texts([row + place for place in batch.id_rows], batch.ids)
        self._values.extend_texts([row + place for place in batch.value_rows], batch.values)
        self._times.update(zip([row + place for place in batch.time_rows], batch.times, strict=True))

    def _turns_of(self, batch: ClosedBatch, transcripts: list[tuple[int, int]]) -> Column:
        """Return the turns of a batch. `transcripts` contains the first row and the number of each transcript."""
        users = bytes(header.role == "user" for header, _ in batch.headers)
        asides = [is_aside(header) for header, _ in batch.headers]
        if not any(asides):
            mask = bytearray([users[code] for code in batch.codes])
            columns = self.columns if len(batch) >= WORTH_A_BACKEND else _PLAIN
            return self._turns.after_all(columns, transcripts, mask)
        turns = array("I")
        borders = [*(row for row, _ in transcripts[1:]), len(batch)]
        for (first, transcript), end in zip(transcripts, borders, strict=True):
            for code in batch.codes[first:end]:
                is_own = not asides[code]
                turns.append(
                    self._turns.after(transcript, batch.headers[code][0].role)
                    if is_own
                    else self._turns.here(transcript)
                )
        return turns

    def call_id(self, number: int) -> str | None:
        """Return the call ID of a message, or None if it has none."""
        return self._call_ids.get(number - 1)

    def call_ids(self, first: int, last: int) -> list[str | None]:
        """Return the call IDs of the messages with these numbers."""
        return self._call_ids.between(first - 1, last)

    def time_ms(self, number: int) -> int | None:
        """Return the time of a message, or None if the input contains none."""
        return self._times.get(number - 1)

    def span(self, number: int) -> Span:
        return self.spans.span(number - 1)

    def bounds(self, first: int, last: int) -> tuple[Column, Column]:
        """Return where the messages with these numbers begin and end."""
        return self.spans.spans(first - 1, last)

    def bodies(self, first: int, last: int) -> tuple[Column, Column]:
        """Return where the bodies of the messages with these numbers begin and end."""
        return self.spans.bodies(self.columns, first - 1, last)

    def verbatim(self, first: int, last: int) -> bytearray:
        """Return a mask of the messages that arrived in a batch and whose text equals the bytes of the body."""
        return self.spans.verbatim(first - 1, last)

    def _append(self, message: Message) -> None:
        self._enter_transcript(len(self), message.transcript)
        self.kinds.append(0)
        self._turn.append(self._turns.next(message))

    def _enter_transcript(self, row: int, number: int) -> None:
        if not self._transcripts or self._transcripts[-1][1] != number:
            self._transcripts.append((row, number))

    def _header_number(self, header: Header) -> int:
        """Return the number of a header in this index. The call ID is ignored."""
        if header is self._last_header[0]:
            return self._last_header[1]
        shared = header.with_call_id(None) if header.call_id is not None else header
        known = self._header_ids.get(shared)
        if known is None:
            known = self._header_ids[shared] = len(self._headers)
            self._headers.append(shared)
        self._last_header = header, known
        return known

    def _number_with_places(self, header: Header, places: tuple[int, ...]) -> int:
        """Return the number of a header that lacks the values at these indices."""
        known = self._header_ids_with_places.get((header, places))
        if known is None:
            known = self._header_ids_with_places[header, places] = len(self._headers)
            self._headers.append(header)
            self._places[known] = places
        return known

    def _place_body(self, row: int, message: Message) -> int:
        """Store the body in the columns, or as pieces if it is not one plain run; return the matching flags."""
        flags = self._place_pieces(row, message.pieces)
        if flags & _IRREGULAR:
            self.spans.set_body_end(row, message.stop[0] if message.stop else message.span[1])
        return flags | (_HAS_STOP if message.stop else 0)

    def _place_pieces(self, row: int, pieces: Sequence[Piece]) -> int:
        if not _is_one_run(pieces):
            self._pieces[row] = pieces
            return _IRREGULAR
        if row in self._pieces:
            del self._pieces[row]
        self.spans.set_body_start(row, pieces[0].start)
        self.spans.set_body_end(row, pieces[0].end)
        return _FLAGS_OF[pieces[0].coding]


def _is_one_run(pieces: Sequence[Piece]) -> bool:
    """True if a body is one run of bytes, one JSON string, or one JSON value."""
    return len(pieces) == 1 and pieces[0].coding in _FLAGS_OF


def _marks(message: Message) -> int:
    flags = _ENDING_OF[message.ending]
    if message.broke_out:
        flags |= _BROKE_OUT
    return flags | (_CANCELLED if message.cancelled else 0)


class SpanColumns:
    """Spans of messages and their bodies by row, 21 bytes each. The start or end of a body is stored as its distance
    from the start or end of the message, or separately if that distance is too large."""

    def __init__(self) -> None:
        self._start = array("Q")
        self._end = array("Q")
        self._lead = array("I")
        """The distance from the start of a message to its body."""
        self._tail = array("B")
        """The distance from the end of the body, where the stop token starts, to the end of the message."""
        self._far_starts: dict[int, int] = {}
        self._far_ends: dict[int, int] = {}
        self._verbatim_firsts, self._verbatim_ends = array("Q"), array("Q")
        """For each run of rows from batches whose text equals the bytes of the body: the first row, and the row after
        the run."""

    def __len__(self) -> int:
        return len(self._start)

    def append(self) -> None:
        """Append an empty row."""
        for column in (self._start, self._end, self._lead, self._tail):
            column.append(0)

    def append_body(self, span: Span, piece: Piece) -> int:
        """Append a message whose body is one piece and return the flags of its coding."""
        lead, tail = piece.start - span[0], span[1] - piece.end
        if not 0 <= lead < _FAR_LEAD:
            self._far_starts[len(self._start)], lead = piece.start, _FAR_LEAD
        if not 0 <= tail < _FAR_TAIL:
            self._far_ends[len(self._start)], tail = piece.end, _FAR_TAIL
        self._start.append(span[0])
        self._end.append(span[1])
        self._lead.append(lead)
        self._tail.append(tail)
        return _FLAGS_OF[piece.coding]

    def extend(self, batch: MessageBatch) -> None:
        row = len(self)
        first = row
        for end in (*(row + place for place in batch.escaped), row + len(batch)):
            self._add_verbatim(first, end)
            first = end + 1
        self._start.extend(batch.starts)
        self._end.extend(batch.ends)
        self._lead.extend(batch.leads)
        self._tail.extend(batch.tails)

    def extend_closed(self, batch: ClosedBatch) -> None:
        """Append the rows of a batch from a reader."""
        row = len(self)
        if batch.is_verbatim:
            self._add_verbatim(row, row + len(batch))
        self._start.extend(batch.starts)
        self._end.extend(batch.ends)
        leads = [body - start for start, body in zip(batch.starts, batch.body_starts, strict=True)]
        tails = [end - body for end, body in zip(batch.ends, batch.body_ends, strict=True)]
        if max(leads) < _FAR_LEAD and max(tails) < _FAR_TAIL:
            self._lead.extend(leads)
            self._tail.extend(tails)
            return
        self._lead.extend([min(lead, _FAR_LEAD) for lead in leads])
        self._tail.extend([min(tail, _FAR_TAIL) for tail in tails])
        self._far_starts.update((row + at, batch.body_starts[at]) for at, lead in enumerate(leads) if lead >= _FAR_LEAD)
        self._far_ends.update((row + at, batch.body_ends[at]) for at, tail in enumerate(tails) if tail >= _FAR_TAIL)

    def _add_verbatim(self, first: int, end: int) -> None:
        if self._verbatim_ends and self._verbatim_ends[-1] == first:
            self._verbatim_ends[-1] = end
        elif first < end:
            self._verbatim_firsts.append(first)
            self._verbatim_ends.append(end)

    def span(self, row: int) -> Span:
        return self._start[row], self._end[row]

    def spans(self, first: int, last: int) -> tuple[Column, Column]:
        """Return the starts and ends of the rows from `first` up to, but not including, `last`."""
        return self._start[first:last], self._end[first:last]

    def bodies(self, columns: Columns, first: int, last: int) -> tuple[Column, Column]:
        """Return the starts and ends of the bodies of the rows from `first` up to, but not including, `last`."""
        starts = columns.add(self._start[first:last], self._lead[first:last])
        ends = columns.subtract(self._end[first:last], self._tail[first:last])
        for row in columns.where(self._lead, {_FAR_LEAD}, first, last):
            starts[row - first] = self._far_starts.get(row, 0)
        for row in columns.where(self._tail, {_FAR_TAIL}, first, last):
            ends[row - first] = self._far_ends.get(row, 0)
        return starts, ends

    def verbatim(self, first: int, last: int) -> bytearray:
        """Return a mask of the rows from `first` up to, but not including, `last` whose text equals the bytes of the
        body."""
        mask = bytearray(last - first)
        at = bisect_right(self._verbatim_ends, first)
        while at < len(self._verbatim_firsts) and self._verbatim_firsts[at] < last:
            start, end = max(first, self._verbatim_firsts[at]), min(last, self._verbatim_ends[at])
            mask[start - first : end - first] = b"\1" * (end - start)
            at += 1
        return mask

    def set_span(self, row: int, span: Span) -> None:
        """Set the span of a message. The caller must set the body again."""
        self._start[row], self._end[row] = span

    def reach(self, row: int, end: int) -> None:
        """Extend a message at least to this offset. The caller must set the body again."""
        self._end[row] = max(self._end[row], end)

    def body_start(self, row: int) -> int:
        """Return where the body begins."""
        lead = self._lead[row]
        return self._start[row] + lead if lead != _FAR_LEAD else self._far_starts[row]

    def body_end(self, row: int) -> int:
        """Return where the body ends and the stop token begins."""
        tail = self._tail[row]
        return self._end[row] - tail if tail != _FAR_TAIL else self._far_ends[row]

    def set_body_start(self, row: int, start: int) -> None:
        lead = start - self._start[row]
        self._lead[row] = lead if 0 <= lead < _FAR_LEAD else _FAR_LEAD
        if self._lead[row] == _FAR_LEAD:
            self._far_starts[row] = start

    def set_body_end(self, row: int, end: int) -> None:
        tail = self._end[row] - end
        self._tail[row] = tail if 0 <= tail < _FAR_TAIL else _FAR_TAIL
        if self._tail[row] == _FAR_TAIL:
            self._far_ends[row] = end
