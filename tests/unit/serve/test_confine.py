"""Confinement: forbidden and allowed operations. Each attempt runs in a separate process, because confinement cannot be
undone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, socket, sqlite3, subprocess, sys, tempfile
from viewer.serve.confine import Served, confine
served = Served(sys.argv[1:2])
confine(served)

def tried(act):
    try:
        act()
    except PermissionError:
        return "refused"
    except OSError:
        return "failed"
    return "done"

def spool():
    with tempfile.TemporaryFile() as file:
        file.write(b"x")

def copy():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "copy"), "w") as file:
            file.write("x")
        open(os.path.join(folder, "copy")).close()

acts = {
    "read a served file": lambda: open("served/chat.ocml").close(),
    "list the served folder": lambda: os.listdir("served"),
    "read the program": lambda: open(os.__file__).close(),
    "spool": spool,
    "copy": copy,
    "read another file": lambda: open("secret.ocml").close(),
    "read through a link": lambda: open("served/away.ocml").close(),
    "read the system through a link": lambda: open("served/passwd.ocml").close(),
    "list another folder": lambda: os.scandir("."),
    "list through a link": lambda: os.listdir("served/leads"),
    "open a database": lambda: sqlite3.connect("file:secret.ocml?mode=ro", uri=True),
    "write a served file": lambda: open("served/chat.ocml", "a"),
    "write another file": lambda: open("made", "w"),
    "make a folder": lambda: os.mkdir("made"),
    "rename": lambda: os.rename("served/chat.ocml", "served/other.ocml"),
    "remove": lambda: os.remove("served/chat.ocml"),
    "start a process": lambda: subprocess.Popen(["true"]),
    "start a shell": lambda: os.system("true"),
    "fork": os.fork,
    "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
}
print("\\n".join(f"{name}: {tried(act)}" for name, act in acts.items()))
"""
ALLOWED = {"read a served file", "list the served folder", "read the program", "spool", "copy"}


def test_a_confined_process_reads_served_files_and_does_nothing_else(tmp_path: Path) -> None:
    for folder in ("served", "temporary"):
        (tmp_path / folder).mkdir()
    (tmp_path / "served" / "chat.ocml").write_text("x")
    (tmp_path / "secret.ocml").write_text("x")
    links = {"away.ocml": tmp_path / "secret.ocml", "passwd.ocml": Path("/etc/passwd"), "leads": tmp_path}
    for name, target in links.items():
        (tmp_path / "served" / name).symlink_to(target)
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "TMPDIR": str(tmp_path / "temporary")}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT, "served"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    results = dict(line.split(": ") for line in ran.stdout.splitlines())
    assert {name for name, result in results.items() if result == "done"} == ALLOWED, ran.stderr
    assert {result for name, result in results.items() if name not in ALLOWED} == {"refused"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.ocml", "served", "temporary"]
    assert not any((tmp_path / "temporary").iterdir())
