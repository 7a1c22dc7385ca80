"""Spans of messages and their bodies as columns: 21 bytes per message."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from viewer.model.messages import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from viewer.index.batch import MessageBatch

_FAR_LEAD, _FAR_TAIL = 0xFFFF_FFFF, 0xFF


class SpanColumns:
    """Starts and ends by row. A body start or end is a distance, or a separate offset if it is too far."""

    def __init__(self) -> None:
        self._start = array("Q")
        self._end = array("Q")
        self._lead = array("I")
        """From the start of a message to its body."""
        self._tail = array("B")
        """From the end of the body, or the start of the stop, to the end of the message."""
        self._far_starts: dict[int, int] = {}
        self._far_ends: dict[int, int] = {}
        self._run_firsts, self._run_ends = array("Q"), array("Q")
        """The rows that came as batches: the first row and the end of each run."""

    def __len__(self) -> int:
        return len(self._start)

    def append(self) -> None:
        """Append an empty row."""
        for column in (self._start, self._end, self._lead, self._tail):
            column.append(0)

    def extend(self, run: MessageBatch) -> None:
        """Append the rows of a batch; there is no mark inside their bodies."""
        if self._run_ends and self._run_ends[-1] == len(self):
            self._run_ends[-1] += len(run)
        else:
            self._run_firsts.append(len(self))
            self._run_ends.append(len(self) + len(run))
        self._start.frombytes(run.starts.astype("=u8").tobytes())
        self._end.frombytes(run.ends.astype("=u8").tobytes())
        self._lead.frombytes((run.body_starts - run.starts).astype("=u4").tobytes())
        self._tail.frombytes((run.ends - run.stops).astype("=u1").tobytes())

    def span(self, row: int) -> Span:
        """Where a message begins and ends."""
        return self._start[row], self._end[row]

    def spans(self, first: int, last: int) -> tuple[array[int], array[int]]:
        """The starts and ends of the rows from `first` up to, but not including, `last`."""
        return self._start[first:last], self._end[first:last]

    def bodies(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The starts and ends of the bodies of the rows from `first` up to, but not including, `last`."""
        import numpy as np

        leads = np.frombuffer(self._lead[first:last], self._lead.typecode)
        tails = np.frombuffer(self._tail[first:last], self._tail.typecode)
        starts = np.array(self._start[first:last], np.int64)
        ends = np.array(self._end[first:last], np.int64)
        starts += leads
        ends -= tails
        for row in np.flatnonzero(leads == _FAR_LEAD).tolist():
            starts[row] = self._far_starts.get(first + row, 0)
        for row in np.flatnonzero(tails == _FAR_TAIL).tolist():
            ends[row] = self._far_ends.get(first + row, 0)
        return starts, ends

    def came_in_run(self, first: int, last: int) -> NDArray[np.bool_]:
        """Which rows from `first` up to, but not including, `last` came as batches."""
        import numpy as np

        came = np.zeros(last - first, bool)
        at = bisect_right(self._run_ends, first)
        while at < len(self._run_firsts) and self._run_firsts[at] < last:
            came[max(0, self._run_firsts[at] - first) : self._run_ends[at] - first] = True
            at += 1
        return came

    def set_span(self, row: int, span: Span) -> None:
        """Set the span of a message; the caller must set the body again."""
        self._start[row], self._end[row] = span

    def reach(self, row: int, end: int) -> None:
        """Extend a message at least to this offset; the caller must set the body again."""
        self._end[row] = max(self._end[row], end)

    def body_start(self, row: int) -> int:
        """Where the body begins."""
        lead = self._lead[row]
        return self._start[row] + lead if lead != _FAR_LEAD else self._far_starts[row]

    def body_end(self, row: int) -> int:
        """Where the body ends and the stop begins."""
        tail = self._tail[row]
        return self._end[row] - tail if tail != _FAR_TAIL else self._far_ends[row]

    def set_body_start(self, row: int, start: int) -> None:
        """Set where the body begins."""
        lead = start - self._start[row]
        self._lead[row] = lead if 0 <= lead < _FAR_LEAD else _FAR_LEAD
        if self._lead[row] == _FAR_LEAD:
            self._far_starts[row] = start

    def set_body_end(self, row: int, end: int) -> None:
        """Set where the body ends."""
        tail = self._end[row] - end
        self._tail[row] = tail if 0 <= tail < _FAR_TAIL else _FAR_TAIL
        if self._tail[row] == _FAR_TAIL:
            self._far_ends[row] = end
