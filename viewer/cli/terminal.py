"""Whether there is a screen for the app, and its keyboard where standard input is a pipe."""

from __future__ import annotations

import io
import os
import sys

TERMINAL = "/dev/tty"


def take_keyboard() -> bool:
    """Whether the app can run. Where input comes through a pipe, keys come from the controlling terminal."""
    if os.environ.get("TERM", "dumb") == "dumb" or sys.stdout is None or not sys.stdout.isatty():
        return False
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        keyboard = os.open(TERMINAL, os.O_RDWR)
    except OSError:
        return False
    if sys.stdin is not None:
        data = os.dup(0)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(data)), encoding="utf-8")
    os.dup2(keyboard, 0)
    os.close(keyboard)
    return True
