"""Random actions of an operator, as data, and a function that performs them without pauses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from random import Random

from textual.events import Key, MouseDown, MouseEvent, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.support.running import _handled, settled
from viewer.tui.bars.prompt import Prompt
from viewer.tui.keys import ACTIONS, after_yank
from viewer.tui.main.screen import MainScreen
from viewer.tui.merged.screen import MergedScreen
from viewer.tui.terminal.key_names import character

REVEALED = ".DEBUG."
"""Part of the name of each file that was exported from the debug view."""
LISTED = ".brief."
"""Part of the name of each file that was exported from the brief view."""
BACK = ("debug and back", "brief and back")
"""Acts that go to another level and back. The views in between depend on hidden text."""
LEAVES_SAFE = {"debug", "brief"}
"""Actions that reveal content on purpose. A session uses them only to enter a revealing view and to leave it again."""
ENDS = {"leave", "copy_or_quit", "suspend"}
"""Actions that may end the app, or need a real terminal."""
PLAYS = {"replay"}
"""Actions whose screens depend on the clock. tests/screens/test_replay_screen.py compares them for different hidden
words."""
MOST_SCREENS = 3
"""How many screens a walk opens, one on top of the other."""
KEYS = [key for action in ACTIONS if action.id not in LEAVES_SAFE | ENDS | PLAYS for key in action.keys]
SIZES = [(120, 40), (80, 24), (100, 30), (60, 16), (40, 12), (200, 50)]
PLACES = ["1", "9999", "t1", "t2", "x2", "50%", "L3", "B40", "x"]
TYPED = [
    *("transcripts", "marks", "x2", "t2", "2>1", "level brief", "level safe"),
    *("set times=clock", "set times=relative", "set nowrap", "set wrap", "set source", "set markdown", "set usage"),
    *("set pane=timeline", "set pane=outline", "set pane=problems", "set pane=inspector"),
    *("filter role:user", "filter -role:user", "filter turn:1", "filter tool:Bash"),
]
"""Commands that reveal no hidden message. The brief level names tools."""
IN_LIST = "X/"
"""Keys that begin a search in the list of the transcripts of a file."""
WALKS = {
    "replay and back": [["@"], [*"..."], ["space", "5", "right", "space"], [*">,["], ["enter"]],
    "sessions and back": [[*":sessions"], ["enter"], [*"jsk"], ["enter"], [*"JlTH"]],
    "transcripts and back": [["X"], [*"jj"], [*"/warm"], ["enter"], ["escape", "G"], ["enter"]],
    "timing and back": [[*":timing"], ["enter"], [*"jG"]],
    "comparison and back": [[*":diff input/chat.ocml"], ["enter"], [*"jnG"]],
}
"""Ways into other screens. They end on the screen where they began."""
PALETTE = ["copy", "export", "next", "raw", "side", "tools", "help", "out"]


@dataclass(frozen=True)
class Act:
    """One action with its arguments."""

    kind: str
    given: tuple[str | int, ...] = ()


def act_of(number: int, prefixes: Sequence[str] = (), *, anywhere: bool = False, agents: Sequence[str] = ()) -> Act:
    """Return the act with this number. `prefixes` are prefixes of canaries to search for. `anywhere` adds commands and
    other screens, some of which depend on the clock. `agents` are positions in the transcripts of sub-agents."""
    chance = Random(number)
    column, row = chance.randrange(120), chance.randrange(40)
    makers: list[Callable[[], Act]] = [
        *[lambda: Act("key", (chance.choice(KEYS),))] * 6,
        lambda: Act("yank", (chance.choice([*after_yank(), "x"]),)),
        lambda: Act("click", (column, row, chance.randrange(1, 5))),
        lambda: Act("drag", (column, row, chance.randrange(120), chance.randrange(40))),
        lambda: Act("wheel", (column, row, chance.choice(["up", "down"]))),
        lambda: Act("hover", (column, row)),
        lambda: Act("resize", chance.choice(SIZES)),
        lambda: Act("go to", (chance.choice(PLACES),)),
        lambda: Act("palette", (chance.choice(PALETTE),)),
        lambda: Act(chance.choice(["select all", "copy", "screenshot", "help", "export", *BACK])),
    ]
    if prefixes:
        makers.append(lambda: Act("search", (chance.choice(["/", "&", "//"]), chance.choice(prefixes))))
    if anywhere:
        makers += [
            lambda: Act("command", (chance.choice(TYPED),)),
            lambda: Act(chance.choice([*WALKS])),
        ]
    if anywhere and prefixes:
        makers.append(lambda: Act("search", (IN_LIST, chance.choice(prefixes))))
    if agents:
        makers.append(lambda: Act("agent", (chance.choice(agents), chance.choice(["backspace", "J"]))))
    return chance.choice(makers)()


EVERYWHERE = [
    *(Act("key", (key,)) for key in ("T", "p", "G", "g", "J", "J", "m", "u", "e", "enter", "w", "enter", "z", "l")),
    Act("search", ("/", "warm")),
    Act("key", ("n",)),
    Act("key", ("escape",)),
    Act("yank", ("y",)),
    Act("select all"),
    Act("copy"),
    *(
        Act("key", (key,))
        for key in ("i", "C", "H", "greater_than_sign", "r", "vertical_line", "tab", "j", "v", "escape")
    ),
    Act("click", (20, 6, 3)),
    Act("drag", (10, 5, 60, 12)),
    Act("copy"),
    Act("hover", (20, 6)),
    Act("help"),
    Act("key", ("apostrophe",)),
    Act("key", ("enter",)),
    Act("palette", ("copy",)),
    Act("screenshot"),
    Act("export"),
    Act("resize", (80, 24)),
    Act("key", ("p",)),
    Act("resize", (120, 40)),
    Act("debug and back"),
    Act("brief and back"),
    Act("key", ("g",)),
]
"""Every feature of the app, once."""


IN_A_LIST = [
    *(Act("key", (key,)) for key in ("j", "s", "s", "s", "y", "D", "D", "G")),
    Act("search", ("/", "warm")),
    Act("key", ("escape",)),
    Act("search", ("&", "warm")),
    Act("key", ("escape",)),
    Act("help"),
    Act("palette", ("sort",)),
    Act("hover", (10, 3)),
    Act("screenshot"),
    Act("resize", (80, 24)),
    Act("resize", (120, 40)),
]
"""Every feature of the list of files, once."""


MERGED = [
    *(Act("key", (key,)) for key in ("J", "J", "K", "l", "h", "space", "b", "G", "g", "y", "F")),
    Act("search", ("/", "warm")),
    *(Act("key", (key,)) for key in ("n", "N", "escape")),
    Act("drag", (10, 5, 60, 12)),
    Act("copy"),
    Act("help"),
    Act("palette", ("copy",)),
    Act("debug and back"),
    Act("brief and back"),
    Act("screenshot"),
    Act("resize", (80, 24)),
    Act("resize", (120, 40)),
]
"""Every feature of the merged view, once."""


async def perform(pilot: Pilot[int], act: Act) -> AsyncIterator[None]:
    """Perform the action in steps. Positions depend on the size of the screen."""
    given = [str(each) for each in act.given]
    if act.kind in ("click", "drag", "wheel", "hover"):
        await _point(pilot, act)
    elif act.kind == "resize":
        await pilot.resize_terminal(int(given[0]), int(given[1]))
        await settled(pilot)
    elif act.kind == "select all":
        pilot.app.screen.text_select_all()
    elif act.kind == "screenshot":
        level = REVEALED if is_debug(pilot) else LISTED if is_brief(pilot) else "."
        pilot.app.save_screenshot(f"picture{level}svg", ".")
    elif act.kind != "copy" or pilot.app.screen.get_selected_text():
        first = pilot.app.screen
        leaves = act.kind in WALKS or IN_LIST in given
        if leaves and not isinstance(first, MainScreen):
            return
        for keys in _typed(act.kind, given):
            yield
            await type_ahead(pilot, keys)
        yield
        if act.kind == "search" and any(prompt.is_asking for prompt in pilot.app.screen.query(Prompt)):
            await type_ahead(pilot, ["escape"])  # a fault keeps the prompt open
            yield
        for keys in [["escape"], *[["q"]] * MOST_SCREENS] if leaves else []:
            if pilot.app.screen is not first and first in pilot.app.screen_stack:
                await type_ahead(pilot, keys)
                yield
        return
    await _handled(pilot)
    yield


def is_debug(pilot: Pilot[int]) -> bool:
    """True if hidden content may be on the screen."""
    return "debug" in _levels(pilot)


def is_brief(pilot: Pilot[int]) -> bool:
    """True if the names of tools may be on the screen."""
    return "brief" in _levels(pilot)


def _levels(pilot: Pilot[int]) -> set[str]:
    """Return the levels of all open screens, including those below others."""
    screens = pilot.app.screen_stack
    levels = {screen.session.display.level for screen in screens if isinstance(screen, MainScreen)}
    return levels | {screen.state.level for screen in screens if isinstance(screen, MergedScreen)}


async def type_ahead(pilot: Pilot[int], keys: Sequence[str]) -> None:
    """Press keys without a pause between them and wait for their effect."""
    send_keys(pilot, keys)
    await asyncio.sleep(0)
    await settled(pilot)


def send_keys(pilot: Pilot[int], keys: Sequence[str]) -> None:
    """Press keys without waiting."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        event = Key(name, character(name))
        event.set_sender(pilot.app)
        driver.send_message(event)


def _typed(kind: str, given: list[str]) -> list[list[str]]:
    """Return groups of keys, with a search of the output between them."""
    if kind in ("go to", "command", "search"):
        prefix, text = (given[0], given[1]) if kind == "search" else (":", given[0])
        return [[*prefix, *text], ["enter"]]
    if kind == "agent":  # into its nested transcript, in the debug view, and perhaps back to the main one
        return [["escape", "escape", "d"], [*f":{given[0]}"], ["enter"], [*"Jlyr"], [given[1]], ["d"]]
    if kind == "palette":
        return [["ctrl+p"], [*given[0]], ["down", "enter"], ["escape"]]
    return [["y"], given] if kind == "yank" else _FIXED.get(kind, [given])


_FIXED = {
    "help": [["question_mark"], ["down"], ["slash", "e", "r"], ["escape", "escape"]],
    "copy": [["ctrl+c"]],
    "export": [["x"], ["enter"], ["x", "up"], ["enter"], ["escape"]],
    "brief and back": [["escape", "escape", "D"], ["e", "J", "l", "y", "x"], ["enter"], ["escape", "T", "p"], ["D"]],
    "debug and back": [["escape", "escape", "d", "s", "J", "l", "asterisk", "y", "r", "d"]],
    **WALKS,
}


async def _point(pilot: Pilot[int], act: Act) -> None:
    """Send mouse events. Positions outside the screen move to its edge."""
    width, height = pilot.app.size
    numbers = [int(each) for each in act.given if isinstance(each, int)]
    at = min(numbers[0], width - 1), min(numbers[1], height - 1)
    if act.kind == "click":
        for _ in range(numbers[2]):
            _send(pilot, MouseDown, at, 1)
            _send(pilot, MouseUp, at, 1)
    elif act.kind == "drag":
        to = min(numbers[2], width - 1), min(numbers[3], height - 1)
        _send(pilot, MouseDown, at, 1)
        for step in range(1, 4):
            between = (at[0] + (to[0] - at[0]) * step // 3, at[1] + (to[1] - at[1]) * step // 3)
            _send(pilot, MouseMove, between, 1)
        _send(pilot, MouseUp, to, 1)
    elif act.kind == "wheel":
        _send(pilot, MouseScrollUp if act.given[2] == "up" else MouseScrollDown, at, 0)
    else:
        _send(pilot, MouseMove, at, 0)
    await asyncio.sleep(0)
    await settled(pilot)


def _send(pilot: Pilot[int], kind: type[MouseEvent], at: tuple[int, int], button: int) -> None:
    driver = pilot.app._driver
    assert driver is not None
    driver.process_message(kind(None, *at, 0, 0, button, False, False, False, *at))
