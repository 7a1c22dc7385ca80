"""Scanner: batches of regular messages go to the index, everything else to `Parser`, with the same result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.checks.analysis import Analysis
from viewer.index.batch import MessageBatch
from viewer.index.messages import MessageIndex, ending_number
from viewer.model.messages import Span
from viewer.reading.grammar import SPACE, TextGrammar
from viewer.reading.parser import Parser
from viewer.reading.text_reader import TextReader
from viewer.scan.blocks import ENDINGS, MESSAGE_LENGTH, Frames, Positions, find_frames
from viewer.scan.headers import HeaderMemo, ReadHeaders
from viewer.values import frozen

SHORTEST_RUN = 4
"""Shorter runs are faster in the parser."""
LONGEST_STEP = 64

_ENDING_NUMBERS = np.array([ending_number(ending) for ending in ENDINGS])


class Scanner:
    """Reader for a parser and its analysis. Chunk boundaries and the use of a scanner do not change the result."""

    def __init__(self, parser: Parser, analysis: Analysis, *, shortest_run: int = SHORTEST_RUN) -> None:
        self._parser = parser
        self._analysis = analysis
        self._shortest_run = shortest_run
        self._memos: dict[TextGrammar, HeaderMemo] = {}
        self._facts: dict[TextGrammar, _Facts] = {}
        self.taken = 0
        """The number of messages read without the parser."""
        self.parsed: list[Span] = []
        """The spans of the last piece that the parser read."""

    def feed(self, data: bytes) -> None:
        """Scan the next bytes of the input."""
        self.parsed = []
        frames = find_frames(data)
        plain: _Plain | None = None
        at, step = 0, 1
        while at < len(data):
            reader = self._parser.frames
            if reader is not None and reader.is_resting:
                step = 1
                if plain is None or plain.grammar is not reader.grammar:
                    plain = self._plain(reader.grammar, data, frames)
                row, end = plain.run_at(at)
                if end - row >= self._shortest_run:
                    at = self._take(reader, plain, at, row, end)
                    continue
            to = _next_start(frames, at, step, len(data))
            self.parsed.append((at, to))
            self._analysis.take(self._parser.feed(data[at:to]))
            at, step = to, min(2 * step, LONGEST_STEP)

    def _plain(self, grammar: TextGrammar, data: bytes, frames: Frames) -> _Plain:
        memo = self._memos.setdefault(grammar, HeaderMemo(grammar))
        headers = memo.read(data, frames)
        facts = self._facts.get(grammar)
        if facts is None or len(facts.numbers) != len(memo.kinds):
            facts = self._facts[grammar] = _facts(memo, self._analysis.index)
        return _Plain(grammar, data, frames, headers, facts)

    def _take(self, reader: TextReader, plain: _Plain, at: int, row: int, end: int) -> int:
        """Add the frames of these rows to the index; return where the last one ends."""
        base = reader.cursor.end - at
        self._analysis.take_run(plain.run(row, end, base, reader.recorder.transcript))
        to = int(plain.frames.ends[end - 1])
        reader.skip(base + to, end - row)
        self.taken += end - row
        return to


def _next_start(frames: Frames, at: int, step: int, size: int) -> int:
    """Where the parser may come to rest: before the next frame, or `step` frames ahead."""
    row = int(frames.starts.searchsorted(at, "right")) + step - 1
    return int(frames.starts[row]) if row < len(frames) else size


@frozen
class _Facts:
    """Facts about header kinds, as columns."""

    numbers: NDArray[np.int64]
    """Their numbers in the index."""
    users: NDArray[np.bool_]
    endings: NDArray[np.int64]
    noted: NDArray[np.bool_]


def _facts(memo: HeaderMemo, index: MessageIndex) -> _Facts:
    kinds = memo.kinds
    return _Facts(
        np.array([index.header_number(kind.header) for kind in kinds], np.int64),
        np.array([kind.header.role == "user" for kind in kinds], bool),
        np.array([kind.endings for kind in kinds], np.int64),
        np.array([kind.is_noted for kind in kinds], bool),
    )


class _Plain:
    """The frames of one block with known headers."""

    def __init__(self, grammar: TextGrammar, data: bytes, frames: Frames, headers: ReadHeaders, facts: _Facts) -> None:
        self.grammar = grammar
        self.frames = frames
        self._data = data
        self._headers = headers
        self._facts = facts
        self._good = headers.kinds >= 0
        rows = np.flatnonzero(self._good)
        kinds = headers.kinds[rows]
        self._noted = np.zeros(len(frames), bool)
        self._noted[rows] = facts.noted[kinds] | (facts.endings[kinds] >> frames.endings[rows] & 1 == 0)
        last_of_run = ~frames.follows | ~self._good
        last_of_run[:-1] |= ~self._good[1:]
        self._lasts = np.flatnonzero(last_of_run)

    def run_at(self, at: int) -> tuple[int, int]:
        """The rows of the next consecutive frames; none if something else comes next."""
        row = int(self.frames.starts.searchsorted(at))
        if row == len(self.frames) or not self._good[row]:
            return row, row
        if self._data[at : self.frames.starts[row]].strip(SPACE):
            return row, row
        return row, int(self._lasts[self._lasts.searchsorted(row)]) + 1

    def run(self, row: int, end: int, base: int, transcript: int) -> MessageBatch:
        """These frames as columns; `base` is the offset of the block."""
        frames, rows = self.frames, slice(row, end)
        kinds = self._headers.kinds[rows]
        return MessageBatch(
            transcript,
            self.grammar,
            frames.starts[rows] + base,
            frames.messages[rows] + (base + MESSAGE_LENGTH),
            frames.stops[rows] + base,
            frames.ends[rows] + base,
            self._facts.numbers[kinds],
            _ENDING_NUMBERS[frames.endings[rows]],
            self._facts.users[kinds],
            *self._ids(row, end),
            np.flatnonzero(self._noted[rows]),
        )

    def _ids(self, row: int, end: int) -> tuple[Positions, Positions, bytes]:
        """The frames with a call id, where each id ends in the joined text, and that text."""
        starts, ends = self._headers.id_starts[row:end], self._headers.id_ends[row:end]
        rows = np.flatnonzero(starts)
        starts, sizes = starts[rows], (ends - starts)[rows]
        last = sizes.cumsum()
        places = np.arange(sizes.sum()) + (starts - last + sizes).repeat(sizes)
        return rows, last, np.frombuffer(self._data, np.uint8)[places].tobytes()
