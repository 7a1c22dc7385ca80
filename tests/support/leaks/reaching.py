"""A separate process: the app on a file, then a search for canaries in everything that the garbage collector can reach.

    python -m tests.support.leaks.reaching FILE FORMAT CANARIES WHEN

The canaries are read from their file only after everything has been collected. Each reachable canary is one line of
output: its place, and the canary.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import types
from array import array
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from tests.support.leaks.acting import EVERYWHERE, perform
from tests.support.leaks.finder import Finder
from tests.support.running import press, settled, view
from viewer.index.calls import CallLedger
from viewer.index.messages import MessageIndex
from viewer.model.messages import Transcript
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.insight.lens import LensScreen

INDEX = (MessageIndex, CallLedger, Transcript)
"""Objects that may contain header words of hidden messages. Objects that are reachable only through them are
skipped."""
DEBUG_KEYS = [
    "d",
    "s",
    "g",
    "J",
    "i",
    "C",
    "r",
    "r",
    "vertical_line",
    "y",
    "r",
    "G",
    "g",
    "e",
    "enter",
    "z",
    "z",
    "M",
    "G",
    "asterisk",
    "g",
]
TEXT = (str, bytes, bytearray, memoryview, array)
Chain = tuple["Chain | None", str]


def reached(root: object, *, beyond_index: bool = True) -> Iterator[tuple[str, str]]:
    """Yield each text that can be reached, with the kinds of the objects on the way to it."""
    seen: set[int] = set()
    waiting: deque[tuple[object, Chain]] = deque([(root, (None, "app"))])
    keep: list[object] = []
    while waiting:
        thing, chain = waiting.popleft()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        keep.append(thing)
        if isinstance(thing, TEXT):
            yield _path(chain), _text(thing)
        elif beyond_index or not isinstance(thing, INDEX):
            step = (chain, _name(thing))
            waiting.extend((part, step) for part in _parts(thing))


def _parts(thing: object) -> list[object]:
    """Return the objects to which an object refers. The garbage collector does not track values with `gc=False`."""
    return [*gc.get_referents(thing), *(astuple(thing) if isinstance(thing, Struct) else ())]


def _name(thing: object) -> str:
    """Return the type of an object or, for a cached function, its name."""
    if hasattr(type(thing), "cache_info"):  # not on the object: lazy modules import something for any unknown name
        return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
    return type(thing).__qualname__


def _text(thing: object) -> str:
    if isinstance(thing, str):
        return thing
    return bytes(thing).decode("utf-8", "replace")  # type: ignore[call-overload, no-any-return]


def _path(chain: Chain | None) -> str:
    names: list[str] = []
    while chain is not None:
        chain, name = chain
        names.append(name)
    return " > ".join(reversed(names))


def everything_alive(app: object) -> list[object]:
    """Return the roots: the app, all modules, and all running tasks."""
    running = [task.get_coro() for task in asyncio.all_tasks()]
    modules = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
    return [app, running, [vars(module) for module in modules]]


async def main(file: str, format: str, canaries: str, when: str) -> None:
    """Run the app, collect all reachable strings, and print the canaries in them."""
    app = ViewerApp([file], ViewOptions(format=format))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for act in EVERYWHERE if when == "after use" else ():
            async for _ in perform(pilot, act):
                pass
        if when in ("in debug", "after debug"):
            await press(pilot, "d", "S", "right_square_bracket", "equals_sign", "escape")
            await settled(pilot)
            await press(pilot, "V")
            if isinstance(pilot.app.screen, LensScreen):  # only for text formats
                await press(pilot, "j", "escape")
            await settled(pilot)
            await press(pilot, *DEBUG_KEYS[1:])
        if when == "after debug":
            await press(pilot, "d")
            await settled(pilot)
        assert view(pilot).session.display.debug == (when == "in debug")
        gc.collect()
        texts = list(reached(everything_alive(app), beyond_index=False))
    finder = Finder(Path(canaries).read_text("utf-8").split())
    for path, text in texts:
        for leak in finder.plain(text):
            sys.stdout.write(f"{path}\t{leak.canary}\n")
    sys.stdout.write(f"texts\t{len(texts)}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
