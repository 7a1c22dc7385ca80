"""Benchmark `check` against the reference library of Harmony, which encodes and parses the same text."""

from __future__ import annotations

from statistics import median

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.inputs import MEGABYTE, generated
from tests.benchmarks.peers import harmony_seconds
from tests.benchmarks.scale import Report, Scale, megabytes
from tests.benchmarks.timing import OURS, seconds

LIBRARY = "openai-harmony"
HARMONY = "harmony-0"
LEAST = 40


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    small = generated(HARMONY, scale.small)
    theirs = harmony_seconds(small.path)
    library = Figure(small.size / MEGABYTE / theirs, Unit.RATE) if theirs else None
    seconds([*OURS, "check", str(small.path)])
    for kind in (HARMONY, "chat", "agent-0"):
        file = generated(kind, scale.medium)
        took = median(seconds([*OURS, "check", str(file.path)]) for _ in range(scale.rounds))
        rate = Figure(file.size / MEGABYTE / took, Unit.RATE)
        is_same = kind == HARMONY
        name = f"check, {kind} {megabytes(scale.medium)}, including startup"
        beside = ((LIBRARY, library),) if is_same else ()
        report(Row(name, rate, beside, (Bound(LEAST, LIBRARY, True),) if is_same else (), is_same))
