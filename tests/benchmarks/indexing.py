"""Benchmark reading: megabytes per second into the index, with all checks, memory, and how both grow with the file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from statistics import median

from tests.benchmarks.figures import Bound, Figure, Row, Unit, exponent
from tests.benchmarks.inputs import MEGABYTE, Input, generated
from tests.benchmarks.reading import Reading
from tests.benchmarks.scale import Report, Scale, megabytes
from tests.benchmarks.timing import ROOT, environment, seconds
from viewer import native

CHAT = "chat"
LEAST = 150
"""In megabytes per second."""
MOST_GROWTH = 1.05
MOST_BYTES_A_MESSAGE = 64
LEAST_MEMORY = 2.0
"""The smallest meaningful growth in megabytes. Smaller amounts may come from memory that the process already had."""


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    for name in (CHAT, "agent-0"):
        files = [generated(name, size) for size in scale.sizes]
        readings = [read_apart(scale, files[0], file) for file in files]
        _rates(scale, name, files[-1], readings[-1], report)
        _growth(name, files, readings, report)


def read_apart(scale: Scale, small: Input, file: Input, *, is_native: bool = True) -> list[Reading]:
    """Read a file several times, each time in a new process, so its memory use is due only to this file.

    Each process reads the small file first, so imports do not count."""
    command = [sys.executable, "-m", "tests.benchmarks.reading", str(small.path), str(file.path)]
    variables = environment() | ({} if is_native else {native.SWITCH: "0"})
    readings = []
    for _ in range(scale.rounds):
        done = subprocess.run(command, stdout=subprocess.PIPE, env=variables, cwd=ROOT, check=True)
        readings.append(Reading(**json.loads(done.stdout)))
    return readings


def _rates(scale: Scale, corpus: str, file: Input, readings: list[Reading], report: Report) -> None:
    name = f"{corpus} {megabytes(scale.large)}"
    wc, size = _wc(scale, file), file.size / MEGABYTE
    indexed = Figure(size / _median(readings, lambda each: each.index_seconds), Unit.RATE)
    checked = Figure(size / _median(readings, lambda each: each.index_seconds + each.check_seconds), Unit.RATE)
    report(Row(f"index, {name}", indexed, (("wc -l", wc),), (Bound(LEAST, at_least=True),), True))
    report(Row(f"index with all checks, {name}", checked, (("wc -l", wc),)))
    held = _median(readings, lambda each: each.megabytes) * MEGABYTE
    bounds = (Bound(MOST_BYTES_A_MESSAGE),) if corpus == CHAT else ()
    report(Row(f"index and checks, {name}: memory per message", Figure(held / file.messages, Unit.BYTES), (), bounds))


def _wc(scale: Scale, file: Input) -> Figure | None:
    command = shutil.which("wc")
    if not command:
        return None
    times = [seconds([command, "-l", file.path]) for _ in range(scale.rounds)]
    return Figure(file.size / MEGABYTE / median(times), Unit.RATE)


def _growth(name: str, files: list[Input], readings: list[list[Reading]], report: Report) -> None:
    sizes = [file.size for file in files]
    costs: dict[str, Callable[[Reading], float]] = {
        "indexing time": lambda each: each.index_seconds,
        "time for index and checks": lambda each: each.index_seconds + each.check_seconds,
        "memory": lambda each: each.megabytes,
    }
    for what, cost in costs.items():
        known = [(size, _median(each, cost)) for size, each in zip(sizes, readings, strict=True)]
        if what == "memory":
            known = [(size, held) for size, held in known if held >= LEAST_MEMORY]
        if len(known) < 2:
            continue
        power = exponent([size for size, _ in known], [each for _, each in known])
        span = f"{megabytes(known[0][0])} to {megabytes(known[-1][0])}"
        report(Row(f"growth of {what}, {name} {span}", Figure(power, Unit.EXPONENT), (), (Bound(MOST_GROWTH),)))


def _median(readings: list[Reading], figure: Callable[[Reading], float]) -> float:
    return median(map(figure, readings))
