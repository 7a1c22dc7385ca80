"""The complete app for tests: run on files, driven by keys, and read as text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual._context import visible_screen_stack
from textual.events import Key
from textual.keys import _character_to_key
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.strip import Strip

from tests.support.dispatching import find_handlers_once
from tests.support.strips import compose_no_frames, make_lines_without_caches
from tests.support.stylesheets import share_parsed_rules
from tests.support.watching import FakeWatcher
from viewer.sources.watcher import Watch
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.main.screen import MainScreen
from viewer.tui.merged.screen import MergedScreen
from viewer.tui.settings.state_file import StateFile
from viewer.tui.terminal.key_names import character

TOUR = str(Path(__file__).parents[2] / "samples" / "tour.ocml")
ROOMY, SMALL = (120, 40), (80, 24)
LONGEST = 30.0
"""The longest wait for the app to settle, in seconds."""
LONGEST_WAIT = 60.0
"""The longest wait for a condition, in seconds."""

share_parsed_rules()
make_lines_without_caches()
compose_no_frames()
find_handlers_once()


@asynccontextmanager
async def running(
    *paths: str | Path,
    size: tuple[int, int] = ROOMY,
    keys: Sequence[str] = (),
    options: ViewOptions | None = None,
    watch: Watch | None = None,
    state: StateFile | None = None,
    tour: bool = True,
) -> AsyncIterator[Pilot[int]]:
    """Run the app on these files, or on the tour or without files. Read everything, then press keys."""
    app = ViewerApp(
        [str(path) for path in paths] or ([TOUR] if tour else []),
        options,
        watch=watch or FakeWatcher().watch,
        state=state,
    )
    async with app.run_test(size=size) as pilot:
        without_rests(pilot)
        await settled(pilot)
        if keys:
            await press(pilot, *keys)
        yield pilot


def without_rests(pilot: Pilot[int]) -> None:
    """Make clicks and pauses wait for widgets, not for an idle processor."""
    rest, resize = pilot.pause, pilot.resize_terminal

    async def pause(delay: float | None = None) -> None:
        if delay:
            await asyncio.sleep(delay)
        await _handled(pilot)
        pilot.app.screen._on_timer_update()

    async def resize_terminal(width: int, height: int) -> None:
        """Resize the terminal, and wait for an idle processor, because Textual draws the new size a little later."""
        pilot.pause = rest  # type: ignore[method-assign]
        await resize(width, height)
        pilot.pause = pause  # type: ignore[method-assign]

    pilot.pause = pause  # type: ignore[method-assign]
    pilot.resize_terminal = resize_terminal  # type: ignore[method-assign]


async def settled(pilot: Pilot[int]) -> None:
    """Wait until everything is read, searched, and drawn."""
    await _handled(pilot)
    end = time.monotonic() + LONGEST
    while _is_busy(pilot) and time.monotonic() < end:
        await asyncio.sleep(0.005)
        if not _is_busy(pilot):
            await _handled(pilot)


def _is_busy(pilot: Pilot[int]) -> bool:
    if pilot.app._exit:
        return False
    shown = pilot.app.screen
    reading = (
        shown.follow.is_busy if isinstance(shown, MainScreen) else isinstance(shown, MergedScreen) and shown.is_busy
    )
    drawing = shown._layout_required or shown._dirty_widgets or shown._callbacks
    return bool(reading or drawing or any(each.is_running for each in pilot.app.workers if each.group != "tail"))


async def _handled(pilot: Pilot[int]) -> None:
    """Wait until all widgets have handled their messages and the resulting messages."""
    end, quiet, looks = time.monotonic() + LONGEST, 0, 0
    while quiet < 2 and pilot.app._exception is None and time.monotonic() < end:
        looks += 1
        await asyncio.sleep(0 if looks < 200 else 0.001)
        idle = not holds_key(pilot) and all(_waits(each) for each in _pumps(pilot))
        quiet = quiet + 1 if idle else 0


def holds_key(pilot: Pilot[int]) -> bool:
    """True while a key is on its way, perhaps through a screen that it has just closed."""
    app = pilot.app
    return isinstance(app, ViewerApp) and app.input_queue.is_busy and not app._exit


def _pumps(pilot: Pilot[int]) -> list[MessagePump]:
    app = pilot.app
    return [app, *app.screen.walk_children(with_self=True)] if app._screen_stack else [app]


def _waits(pump: MessagePump) -> bool:
    """True if the pump has handled all messages, or is closed."""
    if pump._closed or not pump._running:
        return True
    ready: asyncio.Event = pump._message_queue.ready_event
    return bool(ready._waiters) and not ready.is_set()


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, without pauses."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        event = Key(name, character(name))
        event.set_sender(pilot.app)
        driver.send_message(event)
        await _handled(pilot)
    await settled(pilot)


async def until(holds: Callable[[], object], pause: float = 0.001) -> None:
    """Wait for a condition, with this many seconds between tests. With no pause, no state is missed."""
    end = time.monotonic() + LONGEST_WAIT
    while not holds():
        assert time.monotonic() < end, "the condition was never met"
        await asyncio.sleep(pause)


async def type_in(pilot: Pilot[int], prefix: str, text: str) -> None:
    """Press a prefix key, type some text, and press enter."""
    names = {" ": "space", "/": "slash", ":": "colon", "-": "minus"}
    await press(pilot, prefix, *(names.get(character, character) for character in text), "enter")


def view(pilot: Pilot[int]) -> MainScreen:
    """Return the main screen."""
    main = next(each for each in reversed(pilot.app.screen_stack) if isinstance(each, MainScreen))
    assert isinstance(main, MainScreen)
    return main


def strips(pilot: Pilot[int]) -> list[Strip]:
    """Return the lines of the screen."""
    app = pilot.app
    visible_screen_stack.set(app._background_screens)  # what a dialog draws behind itself
    return app.screen._compositor.render_strips()[: app.size.height]


def drawn(pilot: Pilot[int]) -> str:
    """Return the screen as text, without trailing spaces."""
    return "\n".join(strip.text.rstrip() for strip in strips(pilot)) + "\n"


def said(pilot: Pilot[int]) -> str:
    """Return the last notice."""
    return str(view(pilot).widgets.status.notice)


async def finished(pilot: Pilot[int]) -> None:
    """Wait for the background task of a screen that has one."""
    screen = pilot.app.screen
    if isinstance(screen, WorkScreen):
        await until(lambda: not screen.is_working)
        await press(pilot)
