"""Benchmark following: the delay from an append to the screen, key latency at 10 MB/s, and a long run with
rotations."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from textual.pilot import Pilot

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.inputs import HEAD, MEGABYTE, parts
from tests.benchmarks.scale import Report, Scale
from tests.benchmarks.terminal import anonymous_megabytes
from tests.benchmarks.timing import milliseconds, percentile
from tests.benchmarks.viewing import rows_of, viewing
from tests.support.live_program import Live
from tests.support.running import drawn, view
from viewer.document.live import LiveDocument
from viewer.sources.watcher import FolderWatcher, Polling, Watch
from viewer.tui.app import ViewOptions

RATE, LONG_RATE = 10 * MEGABYTE, MEGABYTE
ROTATIONS = 20
MEDIAN_MS, P99_MS, LAG_MS, PRINTED_MS = 25, 60, 50, 100
KEPT_UP = 0.95
MORE_MEGABYTES = 10

Measure = Callable[[Pilot[int], Path, Scale, Report], Awaitable[None]]


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    _in_app(_latency, scale, report)
    _in_app(_polled_latency, scale, report, watch=lambda path: Polling())
    _printed_latency(scale, report)
    _in_app(_throughput, scale, report)
    _in_app(_long_run, scale, report)


def _in_app(measure: Measure, scale: Scale, report: Report, watch: Watch = FolderWatcher) -> None:
    async def run(path: Path) -> None:
        async with viewing(path, "", ViewOptions(follow=True), watch=watch) as pilot:
            await asyncio.sleep(0.5)
            await measure(pilot, path, scale, report)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ocml"
        path.write_bytes(HEAD.encode() + _turns(60_000))
        asyncio.run(run(path))


def _turns(size: int) -> bytes:
    return "".join(parts("chat", size)).removeprefix(HEAD).encode() + b"\n"


async def _latency(pilot: Pilot[int], path: Path, scale: Scale, report: Report) -> None:
    times = await _appends(pilot, path, scale.appends)
    work = "append to screen"
    report(Row(f"{work}: median", milliseconds(median(times)), (), (Bound(MEDIAN_MS),), True))
    report(Row(f"{work}: p99", milliseconds(percentile(times, 99)), (), (Bound(P99_MS),)))


async def _polled_latency(pilot: Pilot[int], path: Path, scale: Scale, report: Report) -> None:
    times = await _appends(pilot, path, scale.appends)
    for row in rows_of("append to screen, polling only", times, None):
        report(row)


async def _appends(pilot: Pilot[int], path: Path, appends: int) -> list[float]:
    """Append after quiet periods, and return the seconds from each append until its word is drawn."""
    times = []
    for number in range(appends):
        await asyncio.sleep(0.15 + 0.01 * (number % 7))
        word = f"word{number}x"
        start = time.perf_counter()
        _append(path, f"<|start|>user<|message|>{word}<|end|>\n".encode())
        while word not in drawn(pilot):
            await asyncio.sleep(0.001)
        times.append(time.perf_counter() - start)
    return times


def _printed_latency(scale: Scale, report: Report) -> None:
    """Measure the time from an append until its line appears in the output of `show -f --json`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ocml"
        path.write_text(HEAD, "utf-8")
        times = []
        with Live("show", "-f", "--json", path) as program:
            for number in range(scale.appends):
                word = f"word{number}x"
                time.sleep(0.05)
                start = time.perf_counter()
                _append(path, f"<|start|>user<|message|>{word}<|end|>\n".encode())
                while word not in program.out:
                    time.sleep(0.001)
                times.append(time.perf_counter() - start)
    report(Row("append to print: p99", milliseconds(percentile(times, 99)), (), (Bound(PRINTED_MS),)))


class _Writer(threading.Thread):
    """Appends at a steady rate until stopped."""

    def __init__(self, path: Path, block: bytes) -> None:
        super().__init__(daemon=True)
        self.written = path.stat().st_size
        self._path, self._block = path, block
        self._is_over = threading.Event()

    def run(self) -> None:
        start, sent = time.monotonic(), 0
        with self._path.open("ab", buffering=0) as file:
            while not self._is_over.is_set():
                file.write(self._block)
                sent += len(self._block)
                self.written += len(self._block)
                time.sleep(max(0.0, start + sent / RATE - time.monotonic()))

    def end(self) -> None:
        """Stop writing."""
        self._is_over.set()
        self.join()


async def _throughput(pilot: Pilot[int], path: Path, scale: Scale, report: Report) -> None:
    """Measure the delay of the event loop while a writer appends."""
    document = view(pilot).session.document
    assert isinstance(document, LiveDocument)
    writer = _Writer(path, _turns(500_000))
    writer.start()
    start = time.monotonic()
    end, lags, begun_at = start + scale.rate_seconds, [], document.size
    while time.monotonic() < end:
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append(max(0.0, time.perf_counter() - before - 0.005))
    read, behind = document.size - begun_at, writer.written - document.size
    took = time.monotonic() - start
    writer.end()
    work = f"following {RATE // MEGABYTE} MB/s for {scale.rate_seconds:g} s"
    report(Row(f"{work}: event loop lag, p99", milliseconds(percentile(lags, 99)), (), (Bound(LAG_MS),)))
    rate = Figure(read / MEGABYTE / took, Unit.RATE)
    bound = Bound(RATE * KEPT_UP / MEGABYTE, at_least=True)
    report(Row(f"{work}: read", rate, (), (bound,), True, f"{behind / MEGABYTE:.1f} MB behind at the end"))


@dataclass(frozen=True, slots=True)
class _Held:
    """Measures the memory of the process."""

    megabytes: float
    descriptors: int
    threads: int


async def _long_run(pilot: Pilot[int], path: Path, scale: Scale, report: Report) -> None:
    """Measure how memory grows during rotations of a followed file, from the first third of the run to its end."""
    block = _turns(20_000)
    start, sent, rotated, early = time.monotonic(), 0, 0, _held()
    while (passed := time.monotonic() - start) < scale.long_seconds:
        if passed * ROTATIONS / scale.long_seconds > rotated + 1:
            rotated += 1
            path.rename(path.with_suffix(f".{rotated % 2}"))
            _append(path, HEAD.encode())
            if rotated == ROTATIONS // 3:
                early = _held()
        _append(path, block)
        sent += len(block)
        await asyncio.sleep(max(0.001, start + sent / LONG_RATE - time.monotonic()))
    late = _held()
    work = f"{LONG_RATE // MEGABYTE} MB/s for {scale.long_seconds:g} s, {rotated} rotations:"
    grown = Figure(late.megabytes - early.megabytes, Unit.MEGABYTES)
    report(Row(f"{work} memory growth, last two thirds", grown, (), (Bound(MORE_MEGABYTES),)))
    for what, more in (
        ("descriptors", late.descriptors - early.descriptors),
        ("threads", late.threads - early.threads),
    ):
        report(Row(f"{work} additional {what}", Figure(more, Unit.COUNT), (), (Bound(0),)))


def _held() -> _Held:
    folder = Path("/proc/self/fd")
    descriptors = len(list(folder.iterdir())) if folder.is_dir() else 0
    return _Held(anonymous_megabytes() or 0.0, descriptors, threading.active_count())


def _append(path: Path, data: bytes) -> None:
    with path.open("ab", buffering=0) as file, suppress(BlockingIOError):
        file.write(data)
