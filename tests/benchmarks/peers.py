"""Peers: programs to compare with, if they are installed. Environment variables name those installed elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.inputs import FIRST, LAST

MINIMAL = "minimal Textual app"
PAGERS = {"less": "less", "lnav": "lnav", "toolong": os.environ.get("OCML_BENCH_TOOLONG", "tl")}
"""The programs that show a file, and their commands."""
SHOWN_FIRST = {"toolong": LAST, "lnav": LAST}
"""For programs that do not start at the top, the word that is on the screen once they are open."""
REMEMBERS = {"lnav"}
"""Programs that restore the last position in a file, unless their home folder is empty."""
HARMONY_PYTHON = os.environ.get("OCML_BENCH_HARMONY_PYTHON", sys.executable)
"""A Python in which openai-harmony is installed."""


def pager(name: str, path: Path) -> list[str] | None:
    """Return the command that shows this file, or None if the program is not installed."""
    command = shutil.which(PAGERS[name])
    home = ["env", f"HOME={path.parent}", f"XDG_CONFIG_HOME={path.parent}"] if name in REMEMBERS else []
    return [*home, command, str(path)] if command else None


def shown_first(name: str) -> str:
    """Return the word that appears once a program has drawn the file."""
    return SHOWN_FIRST.get(name, FIRST)


def minimal_app(path: Path) -> list[str]:
    """Return the command that sets the lower bound: a Textual app that shows the beginning of a file."""
    return [sys.executable, "-m", "tests.benchmarks.minimal_app", str(path)]


def harmony_seconds(path: Path) -> float | None:
    """Return the seconds that the reference library takes to encode and parse a string, or None if it is not
    installed."""
    try:
        done = subprocess.run(
            [HARMONY_PYTHON, "-c", _ENCODE_AND_PARSE, str(path)], capture_output=True, text=True, timeout=300
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return float(done.stdout) if done.returncode == 0 else None


_ENCODE_AND_PARSE = """
import sys, time
from openai_harmony import HarmonyEncodingName, StreamableParser, load_harmony_encoding
text = open(sys.argv[1], encoding="utf-8").read()
encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
start = time.perf_counter()
parser = StreamableParser(encoding, role=None)
for token in encoding.encode(text, allowed_special="all"):
    parser.process(token)
assert len(parser.messages) > 100
print(time.perf_counter() - start)
"""
