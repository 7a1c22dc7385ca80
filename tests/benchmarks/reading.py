"""Read a file as the viewer does and report how long it took and how much memory it holds.

The program first loads the backend for big files and reads a small file, which does not need it. That absorbs all
one-time costs. The small file stays open so that its memory is not reused. Then it reads the file to measure."""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import asdict, dataclass

from tests.benchmarks.terminal import anonymous_megabytes
from viewer.document.backend import load_backend
from viewer.document.document import LARGEST_STEP, Document
from viewer.sources.files import open_source


@dataclass(frozen=True, slots=True)
class Reading:
    """The cost of the run."""

    index_seconds: float
    check_seconds: float
    index_cpu_seconds: float
    check_cpu_seconds: float
    megabytes: float
    messages: int


def read(path: str) -> tuple[Reading, Document]:
    """Read the whole file once. Return the cost, and the document, which keeps its memory alive."""
    gc.collect()
    before = anonymous_megabytes() or 0.0
    document = Document(open_source(path))
    start = _clocks()
    while not document.is_read:
        document.read_some(LARGEST_STEP)
    read_at = _clocks()
    while not document.is_complete:
        document.read_some(LARGEST_STEP)
    checked_at = _clocks()
    gc.collect()
    held = (anonymous_megabytes() or 0.0) - before
    (index, index_cpu), (check, check_cpu) = _between(start, read_at), _between(read_at, checked_at)
    return Reading(index, check, index_cpu, check_cpu, held, document.message_count), document


def _clocks() -> tuple[float, float]:
    """Return the wall time, and the CPU time of all threads, in seconds."""
    return time.perf_counter(), time.process_time()


def _between(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    return end[0] - start[0], end[1] - start[1]


if __name__ == "__main__":
    load_backend()
    _, kept = read(sys.argv[1])
    print(json.dumps(asdict(read(sys.argv[2])[0])))
