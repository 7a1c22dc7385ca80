"""The console script: if possible, paint the beginning of a file immediately, then run the program."""

from __future__ import annotations

import sys

from viewer.core_dumps import disable_core_dumps
from viewer.held_screen import SCREEN


def main() -> None:
    """Run the `ocmlview` command and exit. This is the entry point."""
    disable_core_dumps()
    if len(sys.argv) == 2 and names_file(sys.argv[1]):
        from viewer.first import show_first

        show_first(sys.argv[1])
    try:
        from viewer.cli import main as run_program

        run_program()
    finally:
        SCREEN.release()


def names_file(argument: str) -> bool:
    """True if an argument can only be a file name: it contains a `.` or a `/`, unlike any command, and names no item of
    a file."""
    return ("." in argument or "/" in argument) and argument[0] != "-" and ":" not in argument
