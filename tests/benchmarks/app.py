"""Measures the viewer on 100,000 messages: how soon it shows, and how long a key takes."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from textual.events import Key
from textual.pilot import Pilot

from tests.tui.running import settled, view
from viewer.tui.app import COLLECTOR, ViewerApp
from viewer.tui.widgets.prompt import PromptKind

MESSAGES = 100_000
PAGES = 600
TARGET_MS = 16


def transcript(messages: int = MESSAGES) -> str:
    """Turns of five messages: two are shown, three stand behind them."""
    turns = (
        f"<|start|>user<|message|>Question {number}: what is the {number}th of these?<|end|>\n"
        f"<|start|>assistant<|channel|>analysis<|message|>Let me look {number} up, {'step by step ' * 8}.<|end|>\n"
        f"<|start|>assistant to=functions.find call_id=c{number}<|channel|>commentary<|constrain|>json<|message|>"
        f'{{"number":{number},"exactly":true}}<|call|>\n'
        f"<|start|>tool name=functions.find call_id=c{number} to=assistant<|channel|>commentary<|message|>"
        f'{{"ok":true,"content":{{"found":{number}}}}}<|end|>\n'
        f"<|start|>assistant<|channel|>final<|message|>"
        f"# Number {number}\n\nIt is **{number}**, {'of course ' * 20}.<|return|>\n"
        for number in range(messages // 5)
    )
    return "version: 2.2\n" + "".join(turns)


async def frame(pilot: Pilot[int], key: str) -> float:
    """Milliseconds from a key until everything that it changes has been drawn."""
    app = pilot.app
    assert app._driver is not None
    event = Key(key, None)
    event.set_sender(app)
    start = time.perf_counter()
    app._driver.send_message(event)
    await pilot._wait_for_screen()
    app.screen._on_timer_update()
    return (time.perf_counter() - start) * 1000


def told(name: str, times: list[float]) -> None:
    """One line of figures."""
    worst = quantiles(times, n=100)[98] if len(times) > 1 else times[0]
    late = sum(each > TARGET_MS for each in times)
    figures = f"{median(times):>9.1f} ms{worst:>9.1f} ms p99{max(times):>9.1f} ms most"
    print(f"{name:<34}{figures}{late:>6} late of {len(times)}")


async def measure(path: Path) -> None:
    """Run the app without a terminal."""
    started = time.perf_counter()
    app = ViewerApp([str(path)])
    app.tunes_memory = True
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    async with app.run_test(size=(120, 40)) as pilot:
        while "Question 0" not in "".join(strip.text for strip in app.screen._compositor.render_strips()):
            await asyncio.sleep(0.001)
        told("first paint", [(time.perf_counter() - started) * 1000])
        while_reading = []
        while not view(pilot).document.is_complete:
            while_reading.append(await frame(pilot, "pagedown"))
            await asyncio.sleep(0.02)
        told("PageDown while it is read", while_reading)
        told("all read", [(time.perf_counter() - started) * 1000])
        await settled(pilot)
        await frames(pilot, "PageDown held, safe", ["pagedown"] * PAGES)
        await frames(pilot, "PageUp held, safe", ["pageup"] * PAGES)
        await frames(pilot, "line down held, safe", ["down"] * PAGES)
        await frames(pilot, "end and top", ["end", "home"] * 20)
        await frames(pilot, "debug on and off", ["d"] * 9)
        await frames(pilot, "PageDown held, debug", ["pagedown"] * PAGES)
        await frames(pilot, "next message, debug", ["J"] * PAGES)
        await frames(pilot, "a channel on and off", ["a", "t"] * 6)
        await frames(pilot, "end and top, debug", ["end", "home"] * 20)
        await search(pilot, "number 19999")
        await search(pilot, "of course")


async def frames(pilot: Pilot[int], name: str, keys: list[str]) -> None:
    """Keys, each as soon as the one before has been drawn."""
    told(name, [await frame(pilot, key) for key in keys])
    await settled(pilot)


async def search(pilot: Pilot[int], text: str) -> None:
    """Until the first hit, until all has been searched, and how long keys wait meanwhile."""
    main = view(pilot)
    started = time.perf_counter()
    main.search_for(text, PromptKind.SEARCH)
    first, keys = 0.0, []
    while main.searcher is not None and not main.searcher.is_done:
        keys.append(await frame(pilot, "up"))
        if not first and main.searcher.hits:
            first = (time.perf_counter() - started) * 1000
    told(f"search '{text}': first hit", [first or (time.perf_counter() - started) * 1000])
    told("  all of it", [(time.perf_counter() - started) * 1000])
    told("  keys meanwhile", keys or [0.0])
    await settled(pilot)


def main() -> None:
    """Generate, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.ocml"
        path.write_text(transcript(), "utf-8")
        print(f"viewer, {MESSAGES:,} messages, {path.stat().st_size / 1e6:.0f} MB, 120x40")
        asyncio.run(measure(path))


if __name__ == "__main__":
    main()
