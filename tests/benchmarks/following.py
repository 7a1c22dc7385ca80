"""Measures following: from an append to the screen, how long keys wait at 10 MB/s, and a long run with rotations."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

from textual.pilot import Pilot

from tests.benchmarks.app import transcript
from tests.tui.running import drawn, view
from viewer.sources import wake
from viewer.sources.live import LiveDocument
from viewer.tui import opening
from viewer.tui.app import COLLECTOR, ViewerApp, ViewOptions

APPENDS = 200
RATE = 10_000_000
RATE_SECONDS = float(os.environ.get("OCML_BENCH_SECONDS", "20"))
LONG_SECONDS = float(os.environ.get("OCML_BENCH_LONG_SECONDS", "60"))
LONG_RATE = 1_000_000
ROTATIONS = 20
TARGET_MS, LAG_MS = 100, 50


def main() -> None:
    """Measure, print."""
    print(f"following, 120x40, {os.cpu_count()} cores")
    for name, waker in (("events of the file system", wake.FolderWake), ("polling alone", lambda path: wake.Polling())):
        vars(opening)["FolderWake"] = waker
        _in_app(latency, f"append to screen, {name}")
    vars(opening)["FolderWake"] = wake.FolderWake
    _in_app(throughput, f"{RATE / 1e6:.0f} MB/s for {RATE_SECONDS:.0f} s")
    _in_app(long_run, f"{LONG_RATE / 1e6:.0f} MB/s for {LONG_SECONDS:.0f} s, {ROTATIONS} rotations")


def _in_app(measure: Callable[[Pilot[int], Path, str], object], name: str) -> None:
    async def run(path: Path) -> None:
        app = ViewerApp([str(path)], ViewOptions(follow=True))
        app.tunes_memory = True
        gc.freeze()
        gc.set_threshold(*COLLECTOR)
        async with app.run_test(size=(120, 40)) as pilot:
            await asyncio.sleep(0.5)
            await measure(pilot, path, name)  # type: ignore[misc]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ocml"
        path.write_text(transcript(200), "utf-8")
        asyncio.run(run(path))


async def latency(pilot: Pilot[int], path: Path, name: str) -> None:
    """Appends after quiet, each timed until its word is among the lines that are drawn."""
    times = []
    for number in range(APPENDS):
        await asyncio.sleep(0.15 + 0.01 * (number % 7))
        word = f"word{number}x"
        start = time.perf_counter()
        _append(path, f"<|start|>user<|message|>{word}<|end|>\n".encode())
        while word not in drawn(pilot):
            await asyncio.sleep(0.001)
        times.append((time.perf_counter() - start) * 1000)
    _told(name, times, TARGET_MS)


async def throughput(pilot: Pilot[int], path: Path, name: str) -> None:
    """A writer at a steady rate, and a clock in the loop that says how late it is."""
    block = transcript(2000).removeprefix("version: 2.2\n").encode()
    written = path.stat().st_size
    stop = threading.Event()

    def write() -> None:
        nonlocal written
        start, sent = time.monotonic(), 0
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(block)
                sent += len(block)
                written += len(block)
                time.sleep(max(0.0, start + sent / RATE - time.monotonic()))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    document = view(pilot).document
    assert isinstance(document, LiveDocument)
    end, lags, behind = time.monotonic() + RATE_SECONDS, [], []
    while time.monotonic() < end:
        start = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append((time.perf_counter() - start - 0.005) * 1000)
        behind.append((written - document._read_to) / 1e6)
    stop.set()
    writer.join()
    read = document._read_to / (RATE_SECONDS * 1e6)
    _told(f"{name}: lag of the loop", lags, LAG_MS)
    print(f"  read {read:.1f} MB/s, behind at the end {behind[-1]:.1f} MB, most {max(behind):.1f} MB")


async def long_run(pilot: Pilot[int], path: Path, name: str) -> None:
    """Rotations while it is followed: memory, descriptors and threads at a third of the way and at the end."""
    block = transcript(100).removeprefix("version: 2.2\n").encode()
    start, sent, rotated, early = time.monotonic(), 0, 0, (0, 0, 0)
    while (passed := time.monotonic() - start) < LONG_SECONDS:
        if passed * ROTATIONS / LONG_SECONDS > rotated + 1:
            rotated += 1
            path.rename(path.with_suffix(f".{rotated % 2}"))
            _append(path, b"version: 2.2\n")
            if rotated == ROTATIONS // 3:
                early = _held()
        _append(path, block)
        sent += len(block)
        await asyncio.sleep(max(0.001, start + sent / LONG_RATE - time.monotonic()))
    late = _held()
    print(name)
    for what, before, after in zip(("memory, MB", "descriptors", "threads"), early, late, strict=True):
        print(f"  {what:<14}{before:>8} after a third{after:>8} at the end")


def _held() -> tuple[int, int, int]:
    """Megabytes of memory of our own, open descriptors, threads."""
    status = Path("/proc/self/status").read_text("utf-8")
    anonymous = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
    return anonymous // 1024, len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208


def _append(path: Path, data: bytes) -> None:
    with path.open("ab", buffering=0) as file, suppress(BlockingIOError):
        file.write(data)


def _told(name: str, times: list[float], target: float) -> None:
    late = sum(each > target for each in times)
    figures = f"{median(times):>7.1f} ms{quantiles(times, n=100)[98]:>7.1f} ms p99{max(times):>7.1f} ms most"
    print(f"{name:<44}{figures}{late:>5} over {target:.0f} ms of {len(times)}")


if __name__ == "__main__":
    main()
