"""Terminal capabilities: a screen for the app, its colors, and its keyboard if standard input is a pipe."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

TERMINAL = "/dev/tty"
NO_SCREEN = ("dumb", "unknown")
"""Terminals that only print."""
_MANY = ("256color", "kitty", "direct")
"""Name endings of terminals with more than sixteen colors."""
_LIGHT = ("7", "9", "10", "11", "12", "13", "14", "15")
"""The light backgrounds of COLORFGBG, as editors judge them too."""


def take_keyboard() -> bool:
    """True if the app can run. If input comes through a pipe, keys come from the controlling terminal."""
    if os.environ.get("TERM", "dumb") in NO_SCREEN or not all(map(_is_terminal, (sys.stdout, sys.__stderr__))):
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
    if sys.__stdin__ is None:  # it was closed; Textual needs its descriptor
        sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    return True


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def color_count() -> int:
    """The number of colors of the terminal, from its name and the terminal database: 0, 16 or 256."""
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return 256
    name = os.environ.get("TERM", "dumb")
    if name in NO_SCREEN or _is_colorless(name):
        return 0
    return 256 if name.endswith(_MANY) else 16


def has_many_colors() -> bool:
    """True if the terminal declares that it shows any color; otherwise it has at most 256."""
    return os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")


def _is_colorless(name: str) -> bool:
    """True if the terminal database says so; unknown terminals are assumed to have colors."""
    import curses

    try:
        curses.setupterm(name, 1)
    except (curses.error, OSError, ValueError, io.UnsupportedOperation):
        return False
    return curses.tigetnum("colors") <= 0


def theme_of_terminal() -> str:
    """The theme for the terminal if none is chosen; empty if any is suitable."""
    count = color_count()
    if count < 256:
        return "ansi" if count else "plain"
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in _LIGHT else ""
