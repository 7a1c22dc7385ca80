"""The scale of a run: full, or limited to one minute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.benchmarks.figures import Row
from tests.benchmarks.inputs import MEGABYTE
from viewer.document.backend import BIG


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes and repetitions."""

    sizes: tuple[int, int, int]
    """The sizes of the files in bytes. Growth is measured from the first size to the last."""
    rounds: int
    held_keys: int
    reading_keys: int
    appends: int
    rate_seconds: float
    long_seconds: float
    box_seconds: float
    """The time limit of a group in seconds."""

    @property
    def small(self) -> int:
        return self.sizes[0]

    @property
    def medium(self) -> int:
        return self.sizes[1]

    @property
    def large(self) -> int:
        return self.sizes[2]


SMALL = BIG + MEGABYTE // 10
"""A size in bytes just above `BIG`. The benchmarks measure the growth of the method that reads files from `BIG` on."""
WHOLE = Scale((SMALL, 100 * MEGABYTE, 1000 * MEGABYTE), 5, 600, 600, 200, 60, 600, 1200)
QUICK = Scale((SMALL, 4 * MEGABYTE, 16 * MEGABYTE), 1, 90, 30, 15, 2, 3, 30)

Report = Callable[[Row], None]
"""A function that takes a row as soon as it is measured."""


def megabytes(size: int) -> str:
    """Format a size as in the rows."""
    return f"{size // MEGABYTE:,} MB" if size < 1000 * MEGABYTE else f"{size // (1000 * MEGABYTE)} GB"
