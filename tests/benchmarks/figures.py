"""Benchmark results: one row per measurement, with the results of the peers and the bounds to meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, log
from types import MappingProxyType


class Unit(Enum):
    """A unit. The value is its notation."""

    MILLISECONDS = "ms"
    SECONDS = "s"
    MEGABYTES = "MB"
    RATE = "MB/s"
    BYTES = "bytes"
    TIMES_THE_FILE = "× the file"
    EXPONENT = "(exponent)"
    COUNT = ""


NEVER = inf
"""The time of an event that never happened."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit."""

    value: float
    unit: Unit

    def __str__(self) -> str:
        if self.value == NEVER:
            return "not reached"
        return f"{number(self.value)} {self.unit.value}".rstrip()


def number(value: float) -> str:
    """Format a number with three significant digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound: an absolute value, or a multiple of a peer's result."""

    limit: float
    peer: str = ""
    at_least: bool = False

    def is_met(self, ours: Figure, beside: Mapping[str, Figure | None]) -> bool | None:
        """Return whether the target is met, or None if the peer is not installed."""
        limit = self.limit
        if self.peer:
            figure = beside.get(self.peer)
            if figure is None:
                return None
            limit *= figure.value
        return ours.value >= limit if self.at_least else ours.value <= limit

    def words(self, unit: Unit) -> str:
        """Return the bound as written in the table."""
        words = "at least" if self.at_least else "at most"
        if not self.peer:
            return f"{words} {self.limit:g} {unit.value}".rstrip()
        if self.limit < 1 and self.at_least:
            return f"{words} {self.peer} / {1 / self.limit:g}"
        return f"{words} {self.limit:g} × {self.peer}"


NOTHING: Mapping[str, Figure | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    work: str
    ours: Figure | None
    """The measured value, or None if measuring failed; the remark gives the reason."""
    beside: tuple[tuple[str, Figure | None], ...] = ()
    """The results of the peers; None for a peer that is not installed."""
    bounds: tuple[Bound, ...] = ()
    is_headline: bool = False
    """True if the row is also part of the short table."""
    remark: str = ""

    @property
    def met(self) -> str:
        """The verdict on the bounds, as a word; empty without bounds."""
        if not self.bounds:
            return ""
        if self.ours is None:
            return "not measured"
        beside = dict(self.beside)
        each = [bound.is_met(self.ours, beside) for bound in self.bounds]
        if False in each:
            return "**no**"
        if None not in each:
            return "yes"
        return "not measured" if True not in each else f"yes, {each.count(True)} of {len(each)}"

    def cells(self) -> list[str]:
        """Return the cells of the table row."""
        ours = "–" if self.ours is None else str(self.ours)
        said = f"{ours} ({self.remark})" if self.remark else ours
        beside = " · ".join(self._peer(name, figure) for name, figure in self.beside)
        unit = self.ours.unit if self.ours else Unit.COUNT
        return [self.work, said, beside, "; ".join(bound.words(unit) for bound in self.bounds), self.met]

    def _peer(self, name: str, figure: Figure | None) -> str:
        if figure is None:
            return f"{name}: not installed"
        if self.ours is None or self.ours.unit is not figure.unit or NEVER in (self.ours.value, figure.value):
            return f"{name} {figure}"
        return f"{name} {figure} ({number(self.ours.value / max(figure.value, 1e-9))} ×)"


HEADS = ("work", "ours", "peers (ours / theirs)", "target", "met")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table with aligned columns, readable even in a terminal."""
    lines = [list(HEADS), *(row.cells() for row in rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(HEADS))]
    lines.insert(1, ["-" * width for width in widths])
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |\n"
        for line in lines
    )


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the exponent of the growth of a cost with size: the slope of a line through the logarithms."""
    xs, ys = [log(size) for size in sizes], [log(max(cost, 1e-9)) for cost in costs]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return slope / sum((x - x_mean) ** 2 for x in xs)
