"""Every fatal signal, at any moment, restores the terminal and gives the right exit code."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.screens.test_terminal_bytes import assert_nothing_is_left
from tests.support.program import ROOT
from tests.support.terminal import Terminal, left_behind
from viewer.held_screen import FATAL
from viewer.signals import RESTORE

STARTS = [["samples/tour.ocml"], ["-d", "samples/tour.ocml"], ["-f", "samples/tour.ocml"]]
"""Arguments with which a first page appears before the app is loaded, and others without one."""
READY = b"Quit"
LONGEST_START, LONGEST_END = 1.8, 0.5
"""The lengths in seconds of the start and the end of a run. Signals arrive at random moments in them."""
MOMENTS = 50

pytestmark = pytest.mark.slow


def name_of(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"RT{number}"


def at_a_random_moment(number: int, chance: random.Random) -> str:
    """Send the signal while the program starts, runs, or ends, and check the terminal. Return how it ended."""
    terminal = Terminal(chance.choice(STARTS), (100, 24))
    keyboard = os.dup(terminal.master)
    before = termios.tcgetattr(keyboard)
    moment = chance.uniform(0, LONGEST_START + LONGEST_END)
    begun = time.monotonic()
    while READY not in terminal.written and time.monotonic() < begun + min(moment, LONGEST_START):
        terminal._read(0.01)
    quits = READY in terminal.written and moment > LONGEST_START
    if quits:
        os.write(terminal.master, b"q")
        begun = time.monotonic()
        while (left := begun + moment - LONGEST_START - time.monotonic()) > 0:
            if not terminal._read(left):
                break
    stage = "ending" if quits else "running" if READY in terminal.written else "starting"
    code = terminal.end(number)
    after = termios.tcgetattr(keyboard)
    os.close(keyboard)
    written = bytes(terminal.written)
    where = f"{name_of(number)} {stage} {moment:.3f} {code} {written[-400:]!r}"
    assert left_behind(written) == [], where
    assert after[:4] == before[:4], where
    if b"KeyboardInterrupt" in written and b"/viewer/" not in written:
        return "starting in Python"  # the interpreter itself was interrupted, before it ran any of our code
    assert code in ({128 + number, -number, 0} if quits else {128 + number, -number}), where
    if code == -number:  # before the handler was installed, or after it was removed
        assert quits or b"\x1b[?1049h" not in written, where
    assert code == -signal.SIGINT or b"Traceback" not in written, where  # Python's own handler, during an import
    assert_nothing_is_left(written)
    return f"{stage} {'default' if code < 0 else 'in order' if code else 'over'}"


@pytest.mark.share(test=12)
@pytest.mark.parametrize("number", FATAL, ids=name_of)
def test_a_fatal_signal_restores_the_terminal(number: int) -> None:
    at_a_random_moment(number, random.Random(f"once {number}"))


@pytest.mark.lab
@pytest.mark.parametrize("number", FATAL, ids=name_of)
def test_a_fatal_signal_restores_the_terminal_at_many_moments(number: int) -> None:
    chance = random.Random(os.environ.get("OCML_SEED", "many") + str(number))
    for _ in range(int(os.environ.get("OCML_MOMENTS", MOMENTS))):
        print(name_of(number), at_a_random_moment(number, chance), flush=True)


def test_the_fatal_signals_are_all_that_can_be_caught_and_end_a_process() -> None:
    named = {name_of(number) for number in FATAL}
    assert named >= {
        "SIGHUP", "SIGINT", "SIGQUIT", "SIGTRAP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGVTALRM",
        "SIGPROF", "SIGIO", "SIGSYS",
    }  # fmt: skip
    assert not named & {
        "SIGKILL",
        "SIGSTOP",
        "SIGTSTP",
        "SIGCONT",
        "SIGCHLD",
        "SIGWINCH",
        "SIGPIPE",
        "SIGSEGV",
        "SIGABRT",
    }
    if sys.platform == "linux":
        assert named >= {"SIGSTKFLT", "SIGPWR"}
        assert len([number for number in FATAL if number >= signal.SIGRTMIN]) == signal.SIGRTMAX - signal.SIGRTMIN + 1


IGNORED = """
import os, signal, sys
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "viewer", *sys.argv[1:]])
"""


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    terminal = Terminal(["samples/tour.ocml"], script=IGNORED)
    terminal.wait_for(" of 33")  # the position appears in the app, not on its first page
    for number in (signal.SIGUSR1, signal.SIGHUP):
        os.kill(terminal.pid, number)
    os.write(terminal.master, b"d")
    terminal.wait_for("[DEBUG")
    terminal.press("q")
    assert terminal.end() == 0


STUCK = """
import sys, time
import viewer.tui.app as app
async def wait(self, left):
    sys.__stderr__.write("STUCK")
    sys.__stderr__.flush()
    while True:
        time.sleep(0.01)
app.ViewerApp._leave = wait
from viewer.cli import main
main()
"""


def test_a_second_signal_ends_an_app_that_does_not_react() -> None:
    terminal = Terminal(["samples/tour.ocml"], script=STUCK)
    terminal.wait_for(" of 33")  # the position appears in the app, not on its first page
    keyboard = os.dup(terminal.master)
    os.write(terminal.master, b"q")
    terminal.wait_for("STUCK")
    os.kill(terminal.pid, signal.SIGTERM)
    terminal.rest()
    assert terminal.end(signal.SIGQUIT) == 131
    assert termios.tcgetattr(keyboard)[3] & termios.ECHO
    os.close(keyboard)
    written = bytes(terminal.written)
    assert written.endswith(RESTORE.encode())
    assert left_behind(written) == []


@pytest.mark.share(test=12)
@pytest.mark.parametrize("number", FATAL, ids=name_of)
def test_the_temporary_file_of_a_live_demo_is_removed(number: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "viewer", "demo", "--live"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout
        process.stdout.read(1)
        process.send_signal(number)
        assert process.wait(30) in (128 + number, 0 if number == signal.SIGINT else 128 + number)
    assert list(tmp_path.iterdir()) == []
