"""The app without a terminal, configured like the real one, and the time to redraw after a key."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

from textual.app import App
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from tests.benchmarks.figures import Bound, Row
from tests.benchmarks.timing import milliseconds, percentile
from tests.support.running import ROOMY, drawn, view
from tests.support.strips import drawn_as_for_users
from viewer.sources.watcher import FolderWatcher, Watch
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.frames import COLLECTOR

HERTZ = 60
LONGEST = 10.0
MOST_DRAWINGS = 5
HOPS = 20
"""The number of event loop rounds that the effects of an action or a redraw may take to reach their widgets."""


@asynccontextmanager
async def viewing(
    path: Path, first: str = "", options: ViewOptions | None = None, *, watch: Watch = FolderWatcher
) -> AsyncIterator[Pilot[int]]:
    """Run the app on this file. The block begins once this word is on the screen."""
    app = ViewerApp([str(path)], options, watch=watch, tunes_memory=True)
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    with drawn_as_for_users():
        async with app.run_test(size=ROOMY) as pilot:
            while first not in drawn(pilot):
                await asyncio.sleep(0.001)
            yield pilot


async def frame(pilot: Pilot[int], key: str) -> float:
    """Return the seconds from a key until everything that it changes has been drawn."""
    app = pilot.app
    assert app._driver is not None
    event = Key(key, None)
    event.set_sender(app)
    acted = _acting(app)
    start = time.perf_counter()
    app._driver.send_message(event)
    await asyncio.wait_for(acted.wait(), LONGEST)
    end = time.perf_counter()
    for _ in range(MOST_DRAWINGS):
        for _ in range(HOPS):
            await asyncio.sleep(0)
        if not _is_to_be_drawn(app.screen):
            break
        app.screen._on_timer_update()
        end = time.perf_counter()  # idle work may follow
    return end - start


def _acting(app: App[int]) -> asyncio.Event:
    """Return an event that is set when the next action is done."""
    done, dispatch = asyncio.Event(), app._dispatch_action

    async def dispatched(*given: Any) -> bool:
        try:
            return await dispatch(*given)
        finally:
            del app.__dict__["_dispatch_action"]
            done.set()

    app.__dict__["_dispatch_action"] = dispatched
    return done


def _is_to_be_drawn(screen: Screen[Any]) -> bool:
    return bool(screen._layout_required or screen._repaint_required or screen._dirty_widgets or screen._callbacks)


async def held(pilot: Pilot[int], key: str, times: int, *, while_reading: bool = False) -> list[float]:
    """Hold down a key: press it 60 times a second, or as often as the app responds."""
    frames: list[float] = []
    start = time.perf_counter()
    while len(frames) < times and not (while_reading and view(pilot).session.document.is_complete):
        await asyncio.sleep(max(0.0, start + len(frames) / HERTZ - time.perf_counter()))
        frames.append(await frame(pilot, key))
    return frames


async def all_read(pilot: Pilot[int]) -> None:
    """Wait until the whole file has been read, checked, and drawn."""
    while not view(pilot).session.document.is_complete:
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)


def rows_of(work: str, times: Sequence[float], most_p99: float | None, is_headline: bool = False) -> list[Row]:
    """Return three rows: the 50th, 95th and 99th percentile."""
    if not times:
        return [Row(work, None, remark="over before a key could be pressed")]
    bound = (Bound(most_p99),) if most_p99 is not None else ()
    return [
        Row(f"{work}: median", milliseconds(median(times))),
        Row(f"{work}: p95", milliseconds(percentile(times, 95))),
        Row(f"{work}: p99", milliseconds(percentile(times, 99)), (), bound, is_headline),
    ]
