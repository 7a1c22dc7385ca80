"""The real program on a pseudo-terminal: no byte of the output, and no file left behind, shows hidden content."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
from pathlib import Path
from random import Random

import pytest

from tests.support.leaks.acting import KEYS, SIZES
from tests.support.leaks.finder import Leak
from tests.support.leaks.planted import KINDS, Planted, everything
from tests.support.terminal import ESCAPE, Terminal, foreign, left_behind
from viewer.tui.terminal.key_names import character

SESSIONS = int(os.environ.get("OCML_LAB_TERMINALS", "40"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
ENDINGS = ["q", "TERM", "HUP", "INT", "crash"]
TYPED = [character(key) or "" for key in KEYS if len(character(key) or "") == 1 and key != "F"]
"""All keys, except the one that crashes the program in these tests."""
SENT = ["\t", "\r", "\x04", "\x15", "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[F", "\x1b[H"]
RUN = """
import sys
from viewer.tui import app
from viewer.tui.main.follow_worker import FollowWorker
leak, way = {leak!r}, {way!r}
def breaks(self):
    local = leak
    raise ValueError(leak)
FollowWorker.toggle_follow = breaks if way in ("crash", "crash report") else FollowWorker.toggle_follow
def also(self):
    if way == "terminal":
        sys.__stderr__.write(leak)
    if way == "title":
        sys.__stderr__.write("\\x1b]0;" + leak + "\\x07")
    if way == "files":
        open("state", "w").write(leak)
    sys.__stderr__.flush()
FollowWorker.toggle_freeze = also
if way == "crash report":
    app.report_crash = lambda kind, trace: print(leak) or 1
code = app.run_app([sys.argv[1]], app.ViewOptions(format=sys.argv[2]))
if way == "normal screen":
    print(leak)
if way == "standard error":
    print(leak, file=sys.stderr)
sys.exit(code)
"""
WAYS = ["terminal", "title", "files", "normal screen", "standard error", "crash report"]


def found_in(planted: Planted, terminal: Terminal, folder: Path) -> list[Leak]:
    """Search the bytes, the screen, and the files in the folder."""
    finder = planted.finder
    files = b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "chat")
    return [*finder.leaks(bytes(terminal.written)), *finder.leaks(terminal.text()), *finder.leaks(files)]


def started(planted: Planted, folder: Path, way: str = "", leak: str = "") -> Terminal:
    """Start the program on this transcript, in this folder."""
    (folder / "chat").write_bytes(planted.data)
    terminal = Terminal(["chat", planted.format], script=RUN.format(leak=leak, way=way), folder=folder)
    terminal.wait_for("[SAFE]")
    return terminal


def some_keys(chance: Random, number: int) -> str:
    """Return keys, clicks, drags, and the wheel, as a terminal sends them."""
    return "".join(_some_key(chance) for _ in range(number))


def _some_key(chance: Random) -> str:
    column, row = chance.randrange(1, 120), chance.randrange(1, 40)
    way = chance.randrange(8)
    if way == 0:
        return f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m" * chance.randrange(1, 5)
    if way == 1:
        return f"\x1b[<0;{column};{row}M\x1b[<32;{column + 9};{row + 3}M\x1b[<0;{column + 9};{row + 3}m"
    if way == 2:
        return f"\x1b[<{chance.choice((64, 65))};{column};{row}M"
    if way == 3:
        return chance.choice(["/warm\r", "&e\r", ":3\r", "yy", "x", "?", "/jqv\r", "//[jqv]+\r"])
    return chance.choice(TYPED if way < 6 else SENT)


def resize(terminal: Terminal, size: tuple[int, int]) -> None:
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    terminal.screen.resize(size[1], size[0])
    terminal.rest()


def run_session(planted: Planted, folder: Path, ending: str, chance: Random, rounds: int) -> None:
    terminal = started(planted, folder, "crash" if ending == "crash" else "", planted.canaries[0])
    for number in range(rounds):
        terminal.press(some_keys(chance, 10))
        if number % 3 == 2:
            resize(terminal, chance.choice(SIZES))
    code = end(terminal, ending)
    assert found_in(planted, terminal, folder) == []
    assert left_behind(bytes(terminal.written)) == []
    assert foreign(bytes(terminal.written)) == []
    assert code == {"q": 0, "TERM": 143, "HUP": 129, "INT": 130, "crash": 70}[ending]


def end(terminal: Terminal, ending: str) -> int:
    if ending in ("q", "crash"):
        terminal.press(*[ESCAPE] * 4)
        terminal.press(*["q"] * 4 if ending == "q" else "jF")
        return terminal.end()
    return terminal.end(signal.Signals[f"SIG{ending}"])


@pytest.mark.share(test=16)
@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_hidden_reaches_the_terminal(ending: str, tmp_path: Path) -> None:
    format = list(KINDS)[ENDINGS.index(ending)]
    run_session(everything(format), tmp_path, ending, Random(len(ending)), 4)


@pytest.mark.lab
@pytest.mark.parametrize("number", range(SESSIONS))
def test_nothing_hidden_reaches_the_terminal_in_long_sessions(number: int, tmp_path: Path) -> None:
    chance = Random(SEED * 1000 + number)
    planted = everything(chance.choice(list(KINDS)), chance.randrange(2**32))
    run_session(planted, tmp_path, chance.choice(ENDINGS), chance, 20)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("way", WAYS)
def test_a_planted_leak_is_found(way: str, tmp_path: Path) -> None:
    planted = everything("openchatml-1.x")
    terminal = started(planted, tmp_path, way, planted.canaries[0])
    terminal.press("=", "F" if way == "crash report" else "q")
    terminal.end()
    assert found_in(planted, terminal, tmp_path)
