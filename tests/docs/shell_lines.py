"""The commands that the pages show, and how each one is run: in this process, in a shell, or until it has printed
something."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.idle import wait_until_idle
from tests.support.live_program import LONGEST_WAIT
from tests.support.program import BROKEN, CHAT, ROOT, Result, run

FOLLOWED = "CONTRIBUTING"
"""The page with steps that another test follows in order."""
PAGES = [path for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))) if path.stem != FOLLOWED]
HARMONY = "<|start|>user<|message|>Hello<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"

FILES = {
    "chat.ocml": CHAT,
    "broken.ocml": BROKEN,
    "chat.harmony": HARMONY,
    "run.ocml": CHAT,
    "logs/a.ocml": CHAT,
    "runs/a.ocml": CHAT,
}
"""The files in the folder where the commands run."""
TABLES, REVEALED_TABLES = "runs.tables", "runs.DEBUG"
"""The folders with the tables of `runs/`, created for the commands that read them."""

PROGRAMS = {
    "ocmlview": f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m viewer "$@"',
    "producer": "exec cat chat.ocml",
    "uv": '[ "$*" = "tool install ." ] && exec installer',
    "pipx": '[ "$*" = "install ." ] && exec installer',
    "installer": f'''
"{sys.executable}" -m hatchling build -t wheel -d "$HOME/wheels" >/dev/null 2>&1 || exit
"{sys.executable}" -m zipfile -e "$HOME"/wheels/*.whl "$HOME/tools" || exit
grep -h "^ocmlview = viewer.entry:main" "$HOME"/tools/*.dist-info/entry_points.txt || exit
cd "$HOME/tools" && exec "{sys.executable}" -m viewer --version''',
}
"""Programs that the lines call. The installers build and unpack the wheel like the real ones, but need no network."""
CODES = {"check": 1}
"""The exit codes of commands on `broken.ocml`; all others end with 0."""


class ShellLine(NamedTuple):
    """One line of a block of commands."""

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)

    @property
    def needs_shell(self) -> bool:
        """True if the line is more than the program and its arguments."""
        return bool(re.search(r"[|>;&$]", self.text)) or self.words[0] != "ocmlview"

    @property
    def is_for_the_checkout(self) -> bool:
        """True if the line runs in the project folder instead of the folder of the transcripts."""
        return self.words[0] in ("uv", "pipx")

    @property
    def is_live(self) -> bool:
        """True if the command runs until it is interrupted."""
        return bool({"-f", "--live"} & set(self.words))

    @property
    def reads_tables(self) -> bool:
        """True if the command reads tables that another command wrote."""
        return self.words[1] == "sql" and bool({TABLES, REVEALED_TABLES} & set(self.words))

    @property
    def code(self) -> int:
        return CODES.get(self.words[1], 0) if "broken.ocml" in self.words else 0


def shell_lines() -> list[ShellLine]:
    """Return all command lines, each once, with the first page that shows it."""
    found = [
        ShellLine(page.name, line.partition(" #")[0].strip())
        for page in PAGES
        for block in re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
    ]
    return [line for line in {line.text: line for line in reversed(found)}.values() if line.text]


def prepare(folder: Path) -> dict[str, str]:
    """Write the files and programs, and return the environment in which a shell finds them."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    home, programs = folder / "home", folder / "programs"
    (home / ".config/fish/completions").mkdir(parents=True)
    programs.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    environment = folder / ".venv" / "bin"
    environment.mkdir(parents=True)
    (environment / "ocmlview").symlink_to(programs / "ocmlview")
    config = str(folder / "config")
    return {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": config, "PATH": f"{programs}:{os.environ['PATH']}"}


def prepare_tables(folder: Path, line: ShellLine) -> None:
    """Write the tables of the runs that a command reads."""
    name, options = (TABLES, []) if TABLES in line.words else (REVEALED_TABLES, ["--reveal", "tool,commentary"])
    result = run("scan", folder / "runs", "--to", folder / name, "--quiet", *options)
    assert result.code == 0, result.err


def run_in_shell(line: str, folder: Path, environment: dict[str, str], *, live: bool, prints: bool) -> Result:
    """Run a command in a shell.

    A live command is interrupted when it waits for input and, if it prints anything, has printed something: a process
    that is only starting may also look idle."""
    with subprocess.Popen(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout and process.stderr
        if live:
            if prints:
                select.select([process.stdout], [], [], LONGEST_WAIT)
            wait_until_idle(process.pid)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=LONGEST_WAIT)
    return Result(process.returncode, out.decode(), err.decode())
