"""Bursts of random input, posted to the app without waiting for what comes before, and an app that gets them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from traceback import format_exception

from textual import messages
from textual.app import App
from textual.events import (
    Event,
    Key,
    MouseDown,
    MouseEvent,
    MouseMove,
    MouseScrollDown,
    MouseScrollUp,
    MouseUp,
    Paste,
    Resize,
)
from textual.geometry import Size
from textual.keys import _character_to_key

from tests.support.running import until
from tests.support.watching import FakeWatcher
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.control.commands import COMMANDS
from viewer.tui.keys import ACTIONS, Scope
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.key_names import character

SIZE = (120, 40)
ALONE = {"suspend", "edit"}
"""Actions that need a real terminal."""
KEYS = sorted({key for action in ACTIONS if action.id not in ALONE for key in action.keys} - {"ctrl+c", "ctrl+q"})
OFTEN = [
    *("q", "q", "q", "enter", "enter", "escape", "escape", "tab", "N", "n", "j", "question_mark", "ctrl+p"),
    *("right_square_bracket", "left_square_bracket", "slash", "ampersand", "colon", "d", "X", "F", "apostrophe", "L"),
]
"""Keys that open and close screens."""
COMMANDED = [
    *("open other.ocml", "open many.ocml", "open missing.ocml", "diff other.ocml", "format harmony", "theme", "3"),
    *("format openchatml-2.2", "theme ember", "filter role:user", "set pane=calls", "export x.html", "level debug"),
    *(each.name for each in COMMANDS),
]
SIZES = [(20, 3), (40, 8), (80, 24), (99, 30), (100, 30), (120, 40), (160, 48)]
MOST_AT_ONCE = 15
LONGEST_ENDING = 20.0
MANY = "".join(
    f"version: 2.2\n<|start|>user<|message|>Question {number}<|end|>\n"
    f"<|start|>assistant<|channel|>final<|message|>Answer {number}<|return|>\n"
    for number in range(20)
)


def press_of(name: str) -> Key:
    """Return the event of a key with this name."""
    return Key(name, character(name) if len(name) > 1 or not name.isalnum() else name)


def typed(text: str) -> list[Event]:
    """Return the events of text that is typed."""
    return [Key(_character_to_key(each) if not each.isalnum() else each, each) for each in text]


def burst(chance: Random) -> Iterator[Event]:
    """Yield up to about ten events: keys, commands, searches, entries of the palette, clicks, sizes, pasted text."""
    for _ in range(chance.choice([1, 2, 3, 6, MOST_AT_ONCE])):
        way = chance.random()
        if way < 0.45:
            yield press_of(chance.choice(OFTEN))
        elif way < 0.65:
            yield press_of(chance.choice(KEYS))
        elif way < 0.75:
            yield from (press_of("colon"), *typed(chance.choice(COMMANDED)), press_of("enter"))
        elif way < 0.83:
            opener = chance.choice(["slash", "ampersand", "ctrl+p"])
            yield from (press_of(opener), *typed(chance.choice(["a", "role:user", "//[", "the", "zz"])))
            yield press_of(chance.choice(["enter", "escape"]))
        elif way < 0.95:
            yield from _mouse(chance)
        elif way < 0.98:
            size = Size(*chance.choice(SIZES))
            yield Resize(size, size)
        else:
            yield Paste(chance.choice(["hello", "\x1b[31m", ":open x\n"]))


def _mouse(chance: Random) -> list[Event]:
    x, y = chance.randrange(130), chance.randrange(45)

    def made(kind: type[MouseEvent]) -> Event:
        button = chance.choice([1, 1, 1, 2, 3])
        return kind(None, x, y, 0, 0, button, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)

    way = chance.random()
    if way < 0.6:
        return [made(kind) for _ in range(chance.choice([1, 2])) for kind in (MouseDown, MouseUp)]
    return [made(chance.choice([MouseDown, MouseMove, MouseScrollDown, MouseScrollUp]))]


async def some_rounds(chance: Random) -> None:
    """Let the app run for a random time, often too short to finish anything."""
    way = chance.random()
    if way < 0.3:
        return
    if way < 0.8:
        for _ in range(chance.randrange(1, 60)):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(chance.random() * (0.03 if way < 0.95 else 0.3))


def send(app: App[int], *events: Event) -> None:
    """Post events without waiting."""
    for event in events:
        event.set_sender(app)
        app.post_message(event)


async def end(app: ViewerApp, *, orderly: bool = True) -> None:
    """End the app as a key does, or as a served page does, and wait for its last message."""
    if orderly:
        app.exit()
    else:
        app.post_message(messages.ExitApp())
    deadline = time.monotonic() + LONGEST_ENDING
    while not app._closed and time.monotonic() < deadline:
        await asyncio.sleep(0.001)
    assert app._closed, "the app does not end"


def change_a_file(chance: Random) -> None:
    """Append to a file of the folder, remove it, or write it again."""
    path = Path(chance.choice(["one.ocml", "other.ocml", "many.ocml", f"new{chance.randrange(5)}.ocml"]))
    way = chance.random()
    if way < 0.6:
        with path.open("a") as file:
            file.write("<|start|>user<|message|>More<|end|>\n")
    elif way < 0.8:
        path.unlink(missing_ok=True)
    elif way < 0.9:
        path.write_text("version: 2.2\n<|start|>user<|message|>New<|end|>\n")
    else:
        path.write_bytes(b"\0" * 100)


def write_files(data: bytes) -> None:
    """Write the files of a session into the current folder."""
    for name in ("one.ocml", "other.ocml"):
        Path(name).write_bytes(data)
    Path("many.ocml").write_text(MANY)


STARTS: dict[str, tuple[list[str], bool]] = {
    "a folder": (["."], False),
    "a followed folder": (["."], True),
    "two files": (["./one.ocml", "other.ocml"], False),
    "one file": (["one.ocml"], False),
    "many transcripts": (["many.ocml", "one.ocml"], False),
    "followed files": (["one.ocml", "many.ocml"], True),
}
"""The paths to open, and whether they are followed."""


async def session(chance: Random, start: str, *, is_sealed: bool, bursts: int) -> str:
    """Run the app in the current folder under bursts of input. Return the report of its crash, or an empty string."""
    paths, follows = STARTS[start]
    settings = Settings(scope=Scope.SERVED_SAFE if is_sealed else Scope.ALL)
    options = ViewOptions(sealed=is_sealed, follow=follows, settings=settings)
    app = ViewerApp(paths, options, watch=FakeWatcher().watch)
    changes_files = follows or chance.random() < 0.3
    try:
        async with app.run_test(size=SIZE):
            for _ in range(bursts):
                if app._exit or app._exception is not None:
                    break
                send(app, *burst(chance))
                if changes_files and chance.random() < 0.1:
                    change_a_file(chance)
                await some_rounds(chance)
                stack = app.screen_stack
                assert len({*stack}) == len(stack), stack
            if app._exception is None and not app._exit:
                await until(lambda: not app.input_queue.is_busy or app._exception or app._exit)
                if chance.random() < 0.5:
                    send(app, *burst(chance))
                await end(app, orderly=chance.random() < 0.3)
    except Exception as error:  # noqa: BLE001 (any crash is what is looked for)
        if app.crash.error is None:
            return "".join(format_exception(error))
    crash = app.crash
    return "" if crash.kind is None else "".join(format_exception(crash.kind, crash.error, crash.trace))


@contextmanager
def stress(chance: Random) -> Iterator[None]:
    """Make threads take turns more or less often than usual, next to a busy process."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(chance.choice([1e-6, 0.005, 0.05]))
    busy = os.fork() if chance.random() < 0.3 else 0
    if not busy and os.getpid() != _OWN:
        os.nice(5)
        limit = time.monotonic() + 60
        while time.monotonic() < limit and os.getppid() == _OWN:
            pass
        os._exit(0)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        if busy:
            os.kill(busy, 9)
            os.waitpid(busy, 0)


_OWN = os.getpid()
