"""`HeldScreen`: holds the terminal from the first page until the app starts. Every exit restores the terminal.

This module imports little, because the first page is painted before anything else is imported. It avoids `signal`,
which needs `enum`, and similar modules."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

ENTER = "\x1b[?1049h\x1b[?25l"
LEAVE = "\x1b[0m\x1b[?1049l\x1b[?25h"

_FAULTS = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV")
"""Signals that report a crash. If a Python handler returned, the faulting instruction would run again."""
_OTHER_DEFAULTS = (
    "SIGKILL", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGURG", "SIGWINCH", "SIGINFO",
)  # fmt: skip
"""Signals that cannot be caught, or that are not fatal by default."""
_IGNORED = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores, so a write fails instead."""


def _fatal_signals() -> tuple[int, ...]:
    others = {getattr(signal, name, None) for name in (*_FAULTS, *_OTHER_DEFAULTS, *_IGNORED)}
    return tuple(sorted(int(number) for number in signal.valid_signals() if number not in others))


FATAL = _fatal_signals()
"""Every signal that can be caught and ends a process by default, including real-time signals."""


def handled_signals() -> list[int]:
    """Return the fatal signals that the parent process did not ignore."""
    return [number for number in FATAL if signal.getsignal(number) != signal.SIG_IGN]


class HeldScreen:
    """Owns the terminal until the app takes over. Before `show` is called, every other method does nothing."""

    def __init__(self) -> None:
        self.is_complete = False
        """True if the page on the screen is complete, so the app need not draw another one."""
        self._is_held = False
        self._is_ours = False
        self._attributes: list[Any] = []
        self._before: dict[int, Any] = {}

    @property
    def is_held(self) -> bool:
        """True from the first page until the program leaves the app."""
        return self._is_held

    def show(self, page: str, *, is_complete: bool) -> None:
        """Write a page. Before the first page, enter the alternate screen.

        Keep typed keys for the app, including Ctrl-Z, and do not echo them. Restore the terminal on fatal signals."""
        lead = "" if self._is_held else ENTER
        if not self._is_held:
            self._hold()
        self.is_complete = is_complete
        try:
            _write(lead + page)
        except OSError:  # the terminal is gone, but its signal has not arrived yet
            self.release()
            raise SystemExit(128 + int(signal.SIGHUP)) from None

    def _hold(self) -> None:
        self._attributes = termios.tcgetattr(0)
        self._before = {each: signal.signal(each, self._end) for each in handled_signals()}
        self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        self._is_held = self._is_ours = True
        quiet = termios.tcgetattr(0)
        quiet[3] &= ~termios.ECHO
        quiet[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(0, termios.TCSADRAIN, quiet)

    def take_over(self) -> None:
        """Restore the terminal attributes set by the shell and leave the terminal to the app."""
        self._is_ours = False
        self._restore_attributes()

    def release(self) -> None:
        """Restore the signal handlers and, unless the app has taken it over, the terminal."""
        if not self._is_held:
            return
        self._give_back()
        self._is_held = self.is_complete = False
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _restore_attributes(self) -> None:
        try:  # noqa: SIM105 (contextlib takes 1 ms to import)
            termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)
        except termios.error:
            pass

    def _give_back(self) -> None:
        if self._is_ours:
            try:  # noqa: SIM105
                _write(LEAVE)
            except OSError:  # the terminal may be gone
                pass
            self.take_over()

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Exit immediately: an exception could get lost, for example during an import.

        Always restore the terminal attributes of the shell: the app may have saved its copy of them while echo was
        off."""
        self._give_back()
        self.take_over()
        os._exit(128 + number)


SCREEN = HeldScreen()
"""The terminal of this process."""


def _write(text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(2, data) :]
