"""Benchmark start-up: commands on small files, and the help."""

from __future__ import annotations

import sys

from tests.benchmarks.figures import Bound, Row
from tests.benchmarks.scale import Report, Scale
from tests.benchmarks.timing import OURS, ROOT, in_turns, milliseconds, timed

BARE, CLICK = "python -c pass", "python with click"
MOST = 2.5


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    tour = str(ROOT / "samples" / "tour.ocml")
    commands = {
        BARE: [sys.executable, "-c", "pass"],
        CLICK: [sys.executable, "-c", "import click"],
        "--help": [*OURS, "--help"],
        "show of a small file": [*OURS, "show", tour],
        "check of a small file": [*OURS, "check", tour],
    }
    rounds = max(3, scale.rounds * 4)
    measures = {name: timed(command) for name, command in commands.items()}
    in_turns(1, measures)
    medians = in_turns(rounds, measures)
    beside = tuple((name, milliseconds(medians[name])) for name in (BARE, CLICK))
    for name in list(commands)[2:]:
        report(Row(name, milliseconds(medians[name]), beside, (Bound(MOST, CLICK),), name == "--help"))
