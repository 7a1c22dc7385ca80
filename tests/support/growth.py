"""Measure how CPU time grows with input size, as the best of several runs."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

T = TypeVar("T")

TRIES = 6
NOTHING = 0.02
"""The CPU time in seconds below which a run shows nothing about growth."""


def assert_growth(work: Callable[[T], object], small: T, large: T, most: float, nothing: float = NOTHING) -> None:
    """Check that the large work costs at most `most` times as much as the small work. Repeat if other programs
    interfere."""
    little = much = inf
    for _ in range(TRIES):
        little = min(little, _seconds(work, small))
        much = min(much, _seconds(work, large))
        if much <= max(nothing, most * little):
            return
    raise AssertionError(f"{much:.3f} s after {little:.3f} s")


def _seconds(work: Callable[[T], object], given: T) -> float:
    """Return the CPU time in seconds, without garbage collection, which depends on what other tests left behind."""
    gc.disable()
    try:
        start = time.process_time()
        work(given)
        return time.process_time() - start
    finally:
        gc.enable()
