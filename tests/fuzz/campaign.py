"""Try inputs on targets. An exception, or a run of more than a second, is a failure, and its input is kept."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tests.fuzz.inputs import CORPUS, ON_TRIAL, next_input, seeds
from tests.fuzz.targets import LARGE, TRIED

SLOWEST = 1.0
"""In seconds of CPU time."""


class HangError(AssertionError):
    """A target did not finish in time."""


@dataclass(frozen=True)
class Campaign:
    """The result of a campaign."""

    inputs: int
    runs: int
    slowest: float
    """Seconds of the slowest run."""
    slowest_target: str


def most(name: str) -> float:
    """Return the seconds that a target may take: one for each time that it reads the input.

    A thousand findings are a thousand excerpts to print, and a few targets read in several formats."""
    return SLOWEST * (4 if name == "scan" else 3 if name in LARGE else 2 if name.startswith("read as") else 1)


def try_one(name: str, data: bytes, seed: int) -> float:
    """Run a target and return the time it took."""
    begun = time.process_time()
    with _no_longer_than(most(name), name):
        TRIED[name](data, random.Random(seed))
    return time.process_time() - begun


@contextmanager
def _no_longer_than(seconds: float, name: str) -> Iterator[None]:
    """End runs that take too long. CPU time is measured, so a busy machine does not look like a hang."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError(f"{name} took more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def try_everything(data: bytes, seed: int, names: Sequence[str]) -> tuple[float, str]:
    """Run all of these targets and return the time and name of the slowest one."""
    return max((try_one(name, data, seed), name) for name in names)


def run_campaign(seconds: float, first: int, kept: Path = CORPUS, only: Sequence[str] = ()) -> Campaign:
    """Run a campaign of this length with these targets, or with all. Failing inputs are saved for inspection and
    replay."""
    others, end, number, runs, slowest = seeds(), time.monotonic() + seconds, first, 0, (0.0, "")
    while time.monotonic() < end:
        data = next_input(others, random.Random(number))
        names = only or [name for name in TRIED if number % 4 == 0 or name not in LARGE]
        failing = kept / f"{ON_TRIAL}{number}"
        failing.write_bytes(data)
        slowest = max(slowest, try_everything(data, number, names))
        failing.unlink()
        number, runs = number + 1, runs + len(names)
    return Campaign(number - first, runs, *slowest)
