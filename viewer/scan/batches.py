"""Turn plain frames into batches: the columns that the message index appends."""

from __future__ import annotations

from bisect import bisect_left

from viewer.columns.api import Column
from viewer.columns.numpy_backend import column_of, values_of
from viewer.index.batch import MessageBatch
from viewer.index.messages import MessageIndex
from viewer.numeric import NDArray, np
from viewer.reading.grammar import SPACE, TextGrammar
from viewer.scan.blocks import ENDINGS, MESSAGE_LENGTH, Frames
from viewer.scan.frames import scan_frames
from viewer.scan.headers import HeaderKind, HeaderMemo, ReadHeaders

_ENDING_COUNT = len(ENDINGS)


class _KindFacts:
    """Properties of header kinds as columns, which grow with the header cache."""

    def __init__(self, index: MessageIndex, *, escaped: bool) -> None:
        self._index = index
        self._escaped = escaped
        self._kinds: list[HeaderKind] = []
        self._numbers = np.zeros(0, np.uint32)
        """The kind in the message index, by header kind and ending; 0 if it has not been needed yet."""
        self.users = np.zeros(0, bool)
        self.endings = np.zeros(0, np.int64)
        self.noted = np.zeros(0, bool)

    def add(self, kinds: list[HeaderKind]) -> None:
        """Append the new kinds."""
        self._kinds += kinds
        self._numbers = np.concatenate((self._numbers, np.zeros(len(kinds) * _ENDING_COUNT, np.uint32)))
        self.users = np.concatenate((self.users, np.array([kind.header.role == "user" for kind in kinds], bool)))
        self.endings = np.concatenate((self.endings, np.array([kind.endings for kind in kinds], np.int64)))
        self.noted = np.concatenate((self.noted, np.array([kind.is_noted for kind in kinds], bool)))

    def numbers(self, kinds: NDArray[np.int64], endings: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the kinds in the message index of frames with these header kinds and endings."""
        places = kinds * _ENDING_COUNT + endings
        found: NDArray[np.uint32] = self._numbers[places]
        unknown = found == 0
        if unknown.any():
            for place in np.unique(places[unknown]).tolist():
                kind, ending = divmod(place, _ENDING_COUNT)
                header = self._kinds[kind].header
                self._numbers[place] = self._index.kind_for(header, ENDINGS[ending], escaped=self._escaped)
            found = self._numbers[places]
        return found


class BlockFrames:
    """The plain frames of one block, under any grammar."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._frames: dict[bool, Frames] = {}
        """The frames under grammars without and with escapes."""

    def frames_for(self, grammar: TextGrammar | None) -> Frames:
        """Return the plain frames under this grammar. If the grammar is not known yet, assume that it has no
        escapes."""
        escapes = grammar is not None and grammar.literals
        if escapes not in self._frames:
            self._frames[escapes] = scan_frames(self.data, escapes=escapes)
        return self._frames[escapes]

    def next_start(self, at: int, step: int, grammar: TextGrammar | None) -> int:
        """Return the start of the frame `step` frames ahead, or the end of the block if there is none."""
        starts = self.frames_for(grammar).starts
        row = int(starts.searchsorted(at, "right")) + step - 1
        return int(starts[row]) if row < len(starts) else len(self.data)


class BatchMaker:
    """Makes batches from the frames of one grammar. Each distinct header is parsed once."""

    def __init__(self, grammar: TextGrammar, index: MessageIndex) -> None:
        self._grammar = grammar
        self._memo = HeaderMemo(grammar)
        self._facts = _KindFacts(index, escaped=bool(grammar.literals))

    def known_frames(self, block: BlockFrames) -> KnownFrames:
        """Return the frames of a block with their headers."""
        frames = block.frames_for(self._grammar)
        headers = self._memo.read(block.data, frames)
        new = self._memo.kinds[len(self._facts.users) :]
        if new:
            self._facts.add(new)
        return KnownFrames(self._grammar, block.data, frames, headers, self._facts)


class KnownFrames:
    """The frames of one block, with their headers."""

    def __init__(
        self, grammar: TextGrammar, data: bytes, frames: Frames, headers: ReadHeaders, facts: _KindFacts
    ) -> None:
        self.grammar = grammar
        self._frames = frames
        self._data = data
        self._headers = headers
        self._facts = facts
        self._columns: MessageBatch | None = None
        """All frames as columns, made when some of them are first requested."""
        self._good = headers.kinds >= 0
        rows = np.flatnonzero(self._good)
        kinds = headers.kinds[rows]
        self._noted = np.zeros(len(frames), bool)
        self._noted[rows] = facts.noted[kinds] | (facts.endings[kinds] >> frames.endings[rows] & 1 == 0)
        last_of_run = ~frames.follows | ~self._good
        last_of_run[:-1] |= ~self._good[1:]
        self._lasts = np.flatnonzero(last_of_run)

    def run_at(self, at: int) -> tuple[int, int]:
        """Return the rows of the consecutive frames that begin here, or an empty range if something else comes
        first."""
        starts = self._frames.starts
        row = int(starts.searchsorted(at))
        if row == len(starts) or not self._good[row]:
            return row, row
        if self._data[at : starts[row]].strip(SPACE):
            return row, row
        return row, int(self._lasts[self._lasts.searchsorted(row)]) + 1

    def end_of(self, row: int) -> int:
        """Return where a frame ends in the block."""
        return int(self._frames.ends[row])

    def batch(self, row: int, end: int, base: int, transcript: int) -> MessageBatch:
        """Return these frames as columns; `base` is the offset of the block."""
        if self._columns is None:
            self._columns = self._make_columns(base)
        columns, rows = self._columns, slice(row, end)
        first, last = bisect_left(columns.id_rows, row), bisect_left(columns.id_rows, end)
        text_start = columns.id_ends[first - 1] if first else 0
        text_end = columns.id_ends[last - 1] if last else 0
        return MessageBatch(
            transcript,
            self.grammar,
            columns.starts[rows],
            columns.ends[rows],
            columns.leads[rows],
            columns.tails[rows],
            columns.kinds[rows],
            columns.users[rows],
            _less(columns.id_rows[first:last], row),
            _less(columns.id_ends[first:last], text_start),
            columns.id_text[text_start:text_end],
            _less(_between(columns.noted, row, end), row),
            _less(_between(columns.escaped, row, end), row),
        )

    def _make_columns(self, base: int) -> MessageBatch:
        """Return all frames of the block as if they were one batch. Rows with an unknown header have no meaning."""
        frames = self._frames
        kinds, endings = np.maximum(self._headers.kinds, 0), frames.endings
        id_rows = np.flatnonzero(self._headers.id_starts)
        id_starts = self._headers.id_starts[id_rows]
        sizes = self._headers.id_ends[id_rows] - id_starts
        return MessageBatch(
            0,
            self.grammar,
            column_of("Q", frames.starts + base),
            column_of("Q", frames.ends + base),
            column_of("I", frames.messages + MESSAGE_LENGTH - frames.starts),
            column_of("B", frames.ends - frames.stops),
            column_of("I", self._facts.numbers(kinds, endings)),
            bytearray(self._facts.users[kinds]),
            column_of("I", id_rows),
            column_of("Q", sizes.cumsum()),
            self._id_text(id_starts, sizes),
            column_of("I", np.flatnonzero(self._noted)),
            column_of("I", np.flatnonzero(frames.escaped)),
        )

    def _id_text(self, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> bytes:
        """Return all call IDs, concatenated."""
        places = np.arange(sizes.sum()) + (starts - sizes.cumsum() + sizes).repeat(sizes)
        return bytes(np.frombuffer(self._data, np.uint8)[places])


def _between(rows: Column, first: int, last: int) -> Column:
    return rows[bisect_left(rows, first) : bisect_left(rows, last)]


def _less(values: Column, amount: int) -> Column:
    """Return the values, each reduced by this amount."""
    return column_of(values.typecode, values_of(values) - amount) if values else values
