"""Whether there is a screen for the app, what it can show, and its keyboard where standard input is a pipe."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

TERMINAL = "/dev/tty"
NO_SCREEN = ("dumb", "unknown")
"""Terminals that only print."""
_MANY = ("256color", "kitty", "direct")
"""How the names of terminals end that have more than sixteen colours."""
_LIGHT = ("7", "9", "10", "11", "12", "13", "14", "15")
"""The backgrounds of COLORFGBG that are light, as editors judge them too."""


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
    if sys.__stdin__ is None:  # it was closed; Textual asks for its descriptor
        sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    return True


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def color_count() -> int:
    """How many colours the terminal has, as far as its name and the database of terminals tell: 0, 16 or 256."""
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return 256
    name = os.environ.get("TERM", "dumb")
    if name in NO_SCREEN or _is_colorless(name):
        return 0
    return 256 if name.endswith(_MANY) else 16


def has_many_colors() -> bool:
    """Whether the terminal says that it shows any colour; one that does not has 256 at most."""
    return os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")


def _is_colorless(name: str) -> bool:
    """Whether the database of terminals says so; of one that it does not know nothing bad is assumed."""
    import curses

    try:
        curses.setupterm(name, 1)
    except (curses.error, OSError, ValueError, io.UnsupportedOperation):
        return False
    return curses.tigetnum("colors") <= 0


def theme_of_terminal() -> str:
    """The theme that suits the terminal, where nobody has chosen one; empty where any does."""
    count = color_count()
    if count < 256:
        return "ansi" if count else "plain"
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in _LIGHT else ""
