"""Reads a file as the viewer does and says how long it took and what it holds; run as a program on a small file, which
pays for what is paid once and stays, so that its memory is not used again, and the file that is measured."""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import asdict, dataclass

from tests.benchmarks.terminal import anonymous_megabytes
from viewer.document.document import LARGEST_STEP, Document
from viewer.sources.files import open_source


@dataclass(frozen=True, slots=True)
class Reading:
    """The cost of the run."""

    index_seconds: float
    check_seconds: float
    megabytes: float
    messages: int


def read(path: str) -> tuple[Reading, Document]:
    """The whole file, once; the document, which holds what it holds."""
    gc.collect()
    before = anonymous_megabytes() or 0.0
    document = Document(open_source(path))
    start = time.perf_counter()
    while not document.is_read:
        document.read_some(LARGEST_STEP)
    read_at = time.perf_counter()
    while not document.is_complete:
        document.read_some(LARGEST_STEP)
    checked_at = time.perf_counter()
    gc.collect()
    held = (anonymous_megabytes() or 0.0) - before
    return Reading(read_at - start, checked_at - read_at, held, document.message_count), document


if __name__ == "__main__":
    _, kept = read(sys.argv[1])
    print(json.dumps(asdict(read(sys.argv[2])[0])))
