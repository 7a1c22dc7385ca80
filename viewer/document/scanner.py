"""Scanner: sends batches of regular messages to the index and everything else to `Parser`. The result is as if `Parser`
read everything."""

from __future__ import annotations

from viewer.checks.analysis import Analysis
from viewer.model.messages import Span
from viewer.reading.grammar import TextGrammar
from viewer.reading.parser import Parser
from viewer.reading.text_reader import TextReader
from viewer.scan.batches import BatchMaker, BlockFrames, KnownFrames

SHORTEST_RUN = 4
"""The minimum length of a run of messages for the scanner. The parser reads shorter runs faster."""
LONGEST_STEP = 64


class Scanner:
    """Reads input for a parser and its analysis. The result is the same as without the scanner, whatever the chunk
    boundaries."""

    def __init__(self, parser: Parser, analysis: Analysis, *, shortest_run: int = SHORTEST_RUN) -> None:
        self._parser = parser
        self._analysis = analysis
        self._shortest_run = shortest_run
        self._makers: dict[TextGrammar, BatchMaker] = {}
        self.taken = 0
        """The number of messages that were read without the parser."""
        self.parsed: list[Span] = []
        """The spans of the last fed bytes that were left to the parser."""

    def feed(self, data: bytes) -> None:
        """Scan the next bytes of the input."""
        self.parsed = []
        block = BlockFrames(data)
        known: KnownFrames | None = None
        at, step = 0, 1
        while at < len(data):
            reader = self._parser.frames
            if reader is not None and reader.is_resting:
                step = 1
                if known is None or known.grammar is not reader.grammar:
                    known = self._known_frames(reader.grammar, block)
                row, end = known.run_at(at)
                if end - row >= self._shortest_run:
                    at = self._take(reader, known, at, row, end)
                    continue
            to = block.next_start(at, step, reader.grammar if reader else None)
            self.parsed.append((at, to))
            self._analysis.apply(self._parser.feed(data[at:to]))
            at, step = to, min(2 * step, LONGEST_STEP)

    def _known_frames(self, grammar: TextGrammar, block: BlockFrames) -> KnownFrames:
        if grammar not in self._makers:
            self._makers[grammar] = BatchMaker(grammar, self._analysis.index)
        return self._makers[grammar].known_frames(block)

    def _take(self, reader: TextReader, known: KnownFrames, at: int, row: int, end: int) -> int:
        """Add the frames of these rows to the index and return where the last one ends."""
        base = reader.cursor.end - at
        self._analysis.apply_batch(known.batch(row, end, base, reader.recorder.transcript))
        to = known.end_of(end - 1)
        reader.skip(base + to, end - row)
        self.taken += end - row
        return to
