"""Benchmark `check` against the reference library of Harmony, which encodes and parses the same text."""

from __future__ import annotations

from statistics import median

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.inputs import MEGABYTE, Kind, generated
from tests.benchmarks.peers import harmony_seconds
from tests.benchmarks.scale import Report, Scale, megabytes
from tests.benchmarks.timing import OURS, seconds

LIBRARY = "openai-harmony"
LEAST = 40


def measure(scale: Scale, report: Report) -> None:
    """The rows of this group."""
    small = generated(Kind.HARMONY, scale.small)
    theirs = harmony_seconds(small.path)
    library = Figure(small.size / MEGABYTE / theirs, Unit.RATE) if theirs else None
    seconds([*OURS, "check", str(small.path)])
    for kind in (Kind.HARMONY, Kind.CHAT, Kind.AGENT):
        file = generated(kind, scale.medium)
        took = median(seconds([*OURS, "check", str(file.path)]) for _ in range(scale.rounds))
        rate = Figure(file.size / MEGABYTE / took, Unit.RATE)
        is_same = kind is Kind.HARMONY
        name = f"check, {'Harmony' if is_same else kind.name.lower()} {megabytes(scale.medium)}, start included"
        beside = ((LIBRARY, library),) if is_same else ()
        report(Row(name, rate, beside, (Bound(LEAST, LIBRARY, True),) if is_same else (), is_same))
