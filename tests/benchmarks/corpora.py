"""Index and checks of every corpus, excluding start-up. The slope compares the easiest corpus with the hardest."""

from __future__ import annotations

from statistics import median

from msgspec import Struct

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.indexing import read_apart
from tests.benchmarks.inputs import CORPORA, MEGABYTE, generated
from tests.benchmarks.scale import QUICK, Report, Scale, megabytes
from viewer import native

TEXT = ("agent-0", "agent-1000", "agent-100", "agent-20", "agent-5", "harmony-0", "harmony-20", "chat", "multilingual")
AGENTS = TEXT[:5]
AT_A_MINUTE = ("agent-5", "events", "tools")
"""Corpora that once showed a sudden slowdown."""
LEAST_INDEX, LEAST_INDEX_NATIVE = 150, 1500
LEAST_CHECK = {"tools": 20, "events": 10} | dict.fromkeys(("multilingual", "array", "lines", "chatml-json"), 40)
LEAST_CHECK_NATIVE = {"tools": 100, "events": 100} | dict.fromkeys(
    ("multilingual", "array", "lines", "chatml-json"), 200
)
LEAST_CHECK_OF_TEXT, LEAST_CHECK_OF_TEXT_NATIVE = 60, 300
STEEPEST_INDEX, STEEPEST_CHECK = 1.3, 3
SIZE, QUICK_SIZE = 10 * MEGABYTE, 4 * MEGABYTE


class _Rates(Struct, frozen=True):
    """Megabytes per second of CPU time."""

    index: float
    check: float
    """The combined rate of the index and then the checks."""


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group, with the accelerator and without it."""
    for is_native in (True, False) if native.load() is not None else (False,):
        _measure_backend(scale, report, is_native=is_native)


def _measure_backend(scale: Scale, report: Report, *, is_native: bool) -> None:
    is_quick = scale == QUICK  # equal but not identical: it came from another process
    names = AT_A_MINUTE if is_quick else tuple(CORPORA)
    sizes = {name: QUICK_SIZE if is_quick else scale.medium if name in TEXT else SIZE for name in names}
    backend = "native" if is_native else "pure"
    rates = {name: _measure(scale, name, size, report, backend) for name, size in sizes.items()}
    slopes = {"agent-*": AGENTS, "text": (*TEXT, "tools")}
    for title, group in slopes.items():
        if known := [rates[name] for name in group if name in rates and not is_quick]:
            by_index, by_check = _slope([each.index for each in known]), _slope([each.check for each in known])
            bounds = (Bound(STEEPEST_INDEX),) if group is AGENTS else ()
            report(Row(f"slope of the index, {title}, {backend}", by_index, (), bounds, group is AGENTS))
            report(Row(f"slope of the check, {title}, {backend}", by_check, (), (Bound(STEEPEST_CHECK),)))


def _slope(rates: list[float]) -> Figure:
    return Figure(max(rates) / min(rates), Unit.COUNT)


def _measure(scale: Scale, name: str, size: int, report: Report, backend: str) -> _Rates:
    file, small = generated(name, size), generated(name, scale.small)
    is_native = backend == "native"
    readings = read_apart(scale, small, file, is_native=is_native)
    millions = file.size / MEGABYTE
    index = millions / median(each.index_cpu_seconds for each in readings)
    check = millions / median(each.index_cpu_seconds + each.check_cpu_seconds for each in readings)
    wall = millions / median(each.index_seconds for each in readings)
    whole_wall = millions / median(each.index_seconds + each.check_seconds for each in readings)
    title = f"{name} {megabytes(size)}, {backend}"
    if name in TEXT or name == "tools":  # the index of other formats is not complete before their checks
        bounds = (Bound(LEAST_INDEX_NATIVE if is_native else LEAST_INDEX, at_least=True),)
        report(Row(f"index, {title}, CPU", Figure(index, Unit.RATE), (), bounds, remark=f"wall {wall:.3g}"))
    leasts, other = LEAST_CHECK, LEAST_CHECK_OF_TEXT
    if is_native:
        leasts, other = LEAST_CHECK_NATIVE, LEAST_CHECK_OF_TEXT_NATIVE
    bounds = (Bound(leasts.get(name, other), at_least=True),)
    report(Row(f"check, {title}, CPU", Figure(check, Unit.RATE), (), bounds, remark=f"wall {whole_wall:.3g}"))
    return _Rates(index, check)
