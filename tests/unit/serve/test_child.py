"""A session in its own process: what it shows, what it touches, and how it ends."""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
from pathlib import Path
from random import Random

import pytest
from textual.drivers.web_driver import WebDriver
from textual_serve.app_service import AppService

from tests.support.leaks.finder import SHORTEST
from tests.support.leaks.planted import Planted, everything
from tests.support.program import run
from tests.support.running import TOUR
from tests.support.serving import Apart
from viewer.serve.child import Child, environment
from viewer.serve.session import SessionDriver
from viewer.tui.control.commands import COMMANDS
from viewer.tui.keys import ACTIONS, Served
from viewer.tui.terminal.key_names import character

pytestmark = pytest.mark.slow

NAME = "$(touch ran) `touch ran`; touch ran.ocml"
RECORDER = """
import os, sys
to = os.open(os.environ["OCML_TEST_HEARD"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
EVENTS = {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork",
          "socket.connect", "os.rename", "os.remove", "os.mkdir"}
def hear(event, given):
    if event in EVENTS:
        path = given[0] if given and isinstance(given[0], (str, bytes)) else ""
        flags = given[2] if event == "open" and isinstance(given[2], int) else 0
        os.write(to, f"{event}\\t{flags}\\t{os.path.realpath(os.fsdecode(path)) if path else ''}\\n".encode())
sys.addaudithook(hear)
"""
"""Code that records what a session touches, one level below its confinement."""
TYPED = [typed for action in ACTIONS for key in action.keys for typed in [character(key)] if typed]
SENT = [
    "\t",
    "\r",
    "\x04",
    "\x15",
    "\x1b",
    "\x1b[A",
    "\x1b[B",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b[F",
    "\x1b[H",
    "\x10",
    "\x0f",
]
COMMANDED = [*(each.name for each in COMMANDS), *(each.id.replace("_", "-") for each in ACTIONS)]
OUTSIDE = [
    "/etc/passwd",
    "../secret.ocml",
    "~/secret.ocml",
    "/proc/self/environ",
    "leads-away.ocml",
    "leads/secret.ocml",
]
ENDS = {"q", "\x11", "\x03"}
PACKETS = int(os.environ.get("OCML_LAB_PACKETS", "10000"))
AT_ONCE = 60


PARTS = 4


def every_action(part: int = 0, parts: int = 1) -> list[str]:
    """Return the key, command, and palette entry of every action that a page may not use, and of the levels, or a part
    of them."""
    refused = [action for action in ACTIONS if action.served is not Served.SAFE]
    typed = [each for action in refused for key in action.keys for each in [character(key)] if each]
    typed += [f":{action.id.replace('_', '-')}\r" for action in refused]
    typed += [f"\x10{action.label}\r" for action in refused]
    typed += [":level debug\r", ":level brief\r", ":next\r", ":export made.html\r", ":set pane=inspector\r"]
    return [json.dumps(["stdin", each]) for each in typed[part::parts] for each in ("\x1b\x1b", each)]


def packets(chance: Random, number: int, canaries: list[str]) -> list[str]:
    """Return random input: keys, commands, clicks, text, bytes, sizes, and packets that no page sends."""
    made = []
    for _ in range(number):
        way = chance.randrange(10)
        column, row = chance.randrange(1, 100), chance.randrange(1, 40)
        if way < 4:
            typed = "".join(chance.choices([*TYPED, *SENT], k=chance.randrange(1, 4)))
        elif way == 4:
            typed = f":{chance.choice(COMMANDED)} {chance.choice(['debug', 'raw', '3', 'pane=inspector', ''])}\r"
        elif way == 5:
            typed = f":{chance.choice(['open', 'diff'])} {chance.choice(OUTSIDE)}\r"
        elif way == 6:
            typed = f"\x1b[<{chance.choice([0, 2, 32, 64, 65])};{column};{row}M\x1b[<0;{column};{row}m"
        elif way == 7:
            typed = f"{chance.choice('/&')}{chance.choice(canaries)[: SHORTEST - 2]}\r"
        elif way == 8:
            typed = "".join(
                chr(chance.choice([chance.randrange(1, 256), chance.randrange(0x10FFFF)])) for _ in range(8)
            )
        else:
            typed = "\x1b[200~" + chance.choice(COMMANDED) + "\x1b[201~"
        for end in ENDS:
            typed = typed.replace(end, "")
        made.append(json.dumps(["stdin", typed]))
    return made


def files_in(folder: Path) -> list[str]:
    """Return the names of all files and folders, except those of the recorder."""
    found = [(place, [*folders, *files]) for place, folders, files in os.walk(folder) if "site" not in place]
    return sorted(str(Path(place, name)) for place, names in found for name in names if name != "heard")


async def proof(planted: Planted, folder: Path, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Send this input to sessions and search everything that they send and touch."""
    served, site, temporary = folder / "served", folder / "site", folder / "temporary"
    for each in (served, site, temporary):
        each.mkdir()
    (served / NAME).write_bytes(planted.data)
    (served / "other.ocml").write_bytes(planted.data)
    (folder / "secret.ocml").write_text("version: 2.2\n<|start|>user<|message|>OUTSIDE<|end|>\n")
    (served / "leads-away.ocml").symlink_to(folder / "secret.ocml")
    (served / "leads").symlink_to(folder)
    (site / "sitecustomize.py").write_text(RECORDER)
    monkeypatch.chdir(served)
    before = files_in(folder)
    heard = folder / "heard"
    finder = planted.finder
    for word in planted.canaries:
        finder.ignore_typed(word[: SHORTEST - 2])
    sessions = 0
    while left:
        paths = os.pathsep.join([str(site), *filter(None, sys.path)])
        run = Apart(
            *(["--", "."] if sessions % 2 else [f"--file=./{NAME}", "--goto=3", "--", f"./{NAME}", "other.ocml"]),
            PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", OCML_TEST_HEARD=str(heard), TMPDIR=str(temporary),
        )  # fmt: skip
        sessions += 1
        try:
            await run.start()
            while left and not run.is_over and run.data.count(b"\n") < 10**6:
                for message in left[:AT_ONCE]:
                    assert await run.child.hear(message)
                left = left[AT_ONCE:]
                await run.settled()
                # Letters from separate changes of the screen are not one text, so do not search across them.
                assert [leak for leak in finder.leaks(bytes(run.data)) if leak.form != "spread"] == []
                assert b"OUTSIDE" not in run.data and b"root:" not in run.data
                run.data.clear()
                if run.rows > 200:
                    break
        finally:
            await run.child.stop()
        assert run.child.code in (0, 130), left[:3]
    assert files_in(folder) == before
    known = (sys.prefix, sys.base_prefix, *filter(None, sys.path))
    places = (str(site), str(temporary), *known, "/usr", "/etc", "/proc", "/lib")
    program = [Path(each).resolve() for each in places]
    for line in heard.read_text().splitlines():
        event, flags, path = line.split("\t")
        name = Path(path)
        is_program = any(name.is_relative_to(each) for each in program) or path in ("", "/dev/null")
        if event in ("open", "os.listdir", "os.scandir"):
            assert is_program or name.is_relative_to(served) or name.name in ("ocmlview", "config.yaml", "secret.ocml")
            is_writing = int(flags) & (os.O_WRONLY | os.O_RDWR)
            assert not is_writing or path == "/dev/null" or name.is_relative_to(temporary), line
        else:
            assert event in ("os.mkdir", "os.remove") and name.is_relative_to(temporary), line


@pytest.mark.share(test=PARTS)
@pytest.mark.parametrize("part", range(PARTS))
async def test_random_packets_reveal_nothing_and_touch_nothing(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = everything("openchatml-2.2")
    left = [*every_action(part, PARTS), *packets(Random(part), 30, planted.canaries)]
    await proof(planted, tmp_path, left, monkeypatch)


@pytest.mark.lab
@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony", "json"])
async def test_ten_thousand_packets_reveal_nothing(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = everything(format, 3)
    await proof(planted, tmp_path, [*every_action(), *packets(Random(2), PACKETS, planted.canaries)], monkeypatch)


async def test_a_path_outside_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "served").mkdir()
    (tmp_path / "secret.ocml").write_text("OUTSIDE")
    Path("served", "chat.ocml").write_bytes(Path(TOUR).read_bytes())
    Path("served", "away.ocml").symlink_to(tmp_path / "secret.ocml")
    run = Apart("--allow-debug", "--", "served/chat.ocml")
    await run.start()
    for typed in ("open secret.ocml", "open served/away.ocml", "diff secret.ocml", "open nothing.ocml"):
        run.data.clear()
        await run.child.hear(json.dumps(["stdin", f":{typed}\r"]))
        await run.until(lambda: b"available in the served view" in run.data)
        await run.child.hear('["stdin","j"]')
        await run.settled()
    run.data.clear()
    await run.child.hear('["stdin","d"]')
    await run.until(lambda: b"[DEBUG]" in run.data)
    await run.child.stop()
    assert run.child.code == 0


async def test_a_child_that_does_not_quit_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("SECONDS_BEFORE_TERM", 0.05), ("SECONDS_BEFORE_KILL", 0.1)):
        monkeypatch.setattr(f"viewer.serve.child.{name}", seconds)
    run = Apart("--", TOUR)
    await run.start()
    assert run.child._process is not None
    os.kill(run.child._process.pid, signal.SIGSTOP)
    await run.child.stop()
    assert run.child.code == -signal.SIGKILL


def test_the_hidden_command_needs_pipes() -> None:
    result = run("serve-session", TOUR, LANG="C.UTF-8", OCML_TEST="1") if sys.stdin is None else None
    assert result is None or result.code == 2
    assert "serve-session" not in run("--help").out


def test_the_environment_has_no_variable_of_textual() -> None:
    made = environment({"TEXTUAL_DRIVER": "x", "TEXTUAL": "devtools", "HOME": "/x"}, 0, 10**9)
    assert {name for name in made if name.startswith("TEXTUAL")} == set()
    assert (made["HOME"], made["COLUMNS"], made["ROWS"]) == ("/x", "1", "300")


def test_the_private_methods_that_are_replaced_still_exist() -> None:
    for own, base in ((Child, AppService), (SessionDriver, WebDriver)):
        replaced = {name for name, value in vars(own).items() if inspect.isfunction(value) and hasattr(base, name)}
        assert (
            replaced
            >= {
                Child: {"_open_app_process", "_build_environment", "run", "on_meta", "on_packed", "stop"},
                SessionDriver: {"start_application_mode", "run_input_thread", "open_url", "_deliver_file"},
            }[own]
        )
        for name in replaced - {"__init__", "_deliver_file"}:
            assert inspect.signature(getattr(own, name)) == inspect.signature(getattr(base, name)), name
    assert "self._open_app_process(" in inspect.getsource(AppService.start)
    assert "self.run()" in inspect.getsource(AppService.start)
    assert "self._deliver_file(" in inspect.getsource(WebDriver.deliver_binary)
