"""Endings other than a key or a crash: suspend and resume, a closed terminal, a full disk, no reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from textual.css.query import NoMatches

from tests.screens.test_terminal_bytes import assert_nothing_is_left
from tests.support.running import running
from tests.support.terminal import LONGEST, Terminal, foreign, left_behind
from viewer.tui.app import ViewerApp

ROOT = Path(__file__).parents[2]
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-m", "viewer", sys.argv[1]])
_, status = os.waitpid(child, os.WUNTRACED)
os.tcsetpgrp(0, os.getpid())
print("STOPPED" if os.WIFSTOPPED(status) else "ENDED", flush=True)
os.read(0, 1)
os.tcsetpgrp(0, child)
os.kill(child, signal.SIGCONT)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""
ALONE = """
import os, sys
child = os.fork()
if child == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-m", "viewer", sys.argv[1]])
os.waitpid(child, 0)
"""
"""Code that runs the program in a separate session, where no signal reports that the terminal closed."""
FULL = """
import resource, signal, sys
from viewer.tui.app import ViewOptions, run_app
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.exit(run_app(sys.argv[1:], ViewOptions()))
"""
LOCKED = """
import os, queue, signal, sys
from viewer.tui.app import ViewOptions, run_app
put, left = queue.Queue._put, [1]
def put_and_continue(self, item):
    put(self, item)
    if left and "of 33" in str(item):
        left.clear()
        os.kill(os.getpid(), signal.SIGCONT)
queue.Queue._put = put_and_continue
sys.exit(run_app(sys.argv[1:], ViewOptions()))
"""
"""Code that continues the program while it holds the lock of its output."""
TAKEN = b"\x1b[?2004h"
"""The output that shows that the program has taken the terminal and reads keys."""

pytestmark = pytest.mark.slow


def wait_until_taken(terminal: Terminal, times: int) -> None:
    """Wait until the program has taken the terminal for the given time.

    It looks idle for up to 0.2 s before it takes the terminal again, and then drops the keys that have come."""
    terminal.wait_until(lambda: bytes(terminal.written).count(TAKEN) == times)


@pytest.mark.parametrize("stops", ["key", "signal"])
def test_suspending_restores_the_terminal_and_resuming_takes_it_again(stops: str) -> None:
    terminal = Terminal(["samples/tour.ocml"], script=SHELL)
    terminal.wait_for("[SAFE]")
    if stops == "key":
        terminal.press("\x1a")
    else:
        terminal.wait_for(" of 33")  # the position appears in the app, not on its first page
        os.kill(child_of(terminal.pid), signal.SIGTSTP)
    terminal.wait_for("STOPPED")
    stopped = bytes(terminal.written).partition(b"STOPPED")[0]
    assert left_behind(stopped) == []
    assert_nothing_is_left(stopped)
    os.write(terminal.master, b"\r")
    terminal.wait_until(lambda: b"[SAFE]" in bytes(terminal.written).partition(b"STOPPED")[2])
    terminal.rest()
    terminal.press("q")
    assert terminal.end() == 0
    assert left_behind(bytes(terminal.written)) == []
    assert foreign(bytes(terminal.written).replace(b"STOPPED", b"")) == []


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()[0])


@pytest.mark.share(test=3)
@pytest.mark.parametrize("after", [-1, 0, 0.2, 0.4, 0.6, 0.8, 1.2])
def test_closing_the_terminal_ends_the_program(after: float) -> None:
    """Close it when the program is idle, and some seconds after the first byte, while the program starts and draws."""
    terminal = Terminal(["samples/tour.ocml"])
    if after < 0:
        terminal.wait_for("[SAFE]")
    else:
        os.read(terminal.master, 1)
        close = time.monotonic() + after
        while (left := close - time.monotonic()) > 0:
            terminal._read(left)
    os.close(terminal.master)
    end = time.monotonic() + LONGEST
    done, status = 0, 0
    while not done and time.monotonic() < end:
        time.sleep(0.05)
        done, status = os.waitpid(terminal.pid, os.WNOHANG)
    if not done:
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
    assert done, "it did not end"
    assert os.waitstatus_to_exitcode(status) in (129, -signal.SIGHUP)


def test_a_terminal_that_closes_without_a_signal_ends_the_program_too() -> None:
    terminal = Terminal(["samples/tour.ocml"], script=ALONE)
    terminal.wait_for(" of 33")
    child = child_of(terminal.pid)
    os.close(terminal.master)
    os.waitpid(terminal.pid, 0)
    end = time.monotonic() + LONGEST
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(child)


async def test_leaving_before_a_widget_is_mounted_is_not_an_error() -> None:
    async with running() as pilot:
        app = pilot.app
        assert isinstance(app, ViewerApp)
        app.exit(143, 143)
        app._handle_exception(NoMatches("#transcript"))
        assert (app.return_code, app.crash.kind, app._exception) == (143, None, None)


def test_resuming_without_a_stop_takes_the_terminal_again() -> None:
    terminal = Terminal(["samples/tour.ocml"])
    terminal.wait_for(" of 33")
    threads = threads_of(terminal.pid)
    for count in range(2, 5):
        os.kill(terminal.pid, signal.SIGCONT)
        wait_until_taken(terminal, count)
        terminal.rest()
    assert threads_of(terminal.pid) == threads
    assert "[SAFE]" in terminal.text()
    terminal.press("d")
    assert "[DEBUG" in terminal.text()
    terminal.press("q")
    assert terminal.end() == 0
    assert left_behind(bytes(terminal.written)) == []


def test_resuming_does_not_wait_for_a_lock_that_the_program_holds() -> None:
    terminal = Terminal(["samples/tour.ocml"], script=LOCKED)
    wait_until_taken(terminal, 2)
    terminal.wait_for(" of 33")
    terminal.press("d")
    terminal.wait_for("[DEBUG")
    terminal.press("q")
    assert terminal.end() == 0


def test_a_full_disk_is_reported_and_leaves_no_partial_export(tmp_path: Path) -> None:
    chat = tmp_path / "chat.ocml"
    chat.write_bytes((ROOT / "samples" / "tour.ocml").read_bytes())
    terminal = Terminal([chat], script=FULL, folder=tmp_path)
    terminal.wait_for("[SAFE]")
    terminal.press("x", "enter")
    terminal.press("escape", "escape", "j", "q", "q")
    assert terminal.end() == 0
    assert left_behind(bytes(terminal.written)) == []
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size and path != chat] == []


@pytest.mark.share(test=2)
@pytest.mark.parametrize(
    "command", [["show"], ["check", "--json"], ["convert", "--to", "json"], ["stats"], ["formats"]]
)
def test_a_full_disk_makes_a_command_exit_with_2(command: list[str]) -> None:
    file = [] if command == ["formats"] else ["samples/tour.ocml"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "viewer", *command, *file],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert done.returncode == 2
    assert len(done.stderr.decode().splitlines()) == 1
    assert_nothing_is_left(done.stderr)


@pytest.mark.parametrize("command", [["show"], ["check", "--json"], ["convert", "--to", "json"], ["stats"]])
def test_a_closed_pipe_makes_a_command_exit_with_141_silently(command: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "viewer", *command, "samples/tour.ocml"],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
