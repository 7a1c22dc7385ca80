"""Signals that end the process, and a guard that restores the terminal first."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn

from viewer.held_screen import FATAL, handled_signals

RESTORE = (
    "\x1b\\\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?2026l"
    "\x1b[<u\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"
)
"""Output that ends an unfinished escape sequence, then resets every mode that the app or its first page may have
set."""

_MOMENT = 0.01
"""Seconds between checks of whether a destructor has ended."""


@contextmanager
def interrupt_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process like any other signal, unless a command has files to remove.

    During an import, Python can turn a KeyboardInterrupt into another exception.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or signal.getsignal(signal.SIGTERM):
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def raise_again(lost: BaseException | None) -> bool:
    """Send a signal again shortly after its handler raised inside a destructor, where Python drops the exception, and
    return True. Return False if the exception does not come from a signal."""
    if isinstance(lost, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif isinstance(lost, SystemExit) and isinstance(lost.code, int) and lost.code - 128 in FATAL:
        number = lost.code - 128
        signal.signal(number, _exit)
    else:
        return False
    _thread.start_new_thread(_send, (number, sys._getframe(1).f_code))  # `threading` would wait for the new thread
    return True


def _send(number: int, hook: CodeType) -> None:
    """Send a signal to the main thread once it has returned from the hook that received the lost exception."""
    main = threading.main_thread().ident or 0
    while True:
        time.sleep(_MOMENT)
        frame = sys._current_frames().get(main)
        while frame is not None and frame.f_code is not hook:
            frame = frame.f_back
        if frame is None:
            break
    signal.pthread_kill(main, number)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


class TerminalGuard:
    """Context manager: a fatal signal ends the app cleanly. If that fails, the terminal is restored immediately."""

    def __init__(self) -> None:
        self.is_taken = False
        """True while the app owns the screen."""
        self.end_app: Callable[[int], object] | None = None
        """A function that asks the app to end with an exit code; None if no app is running."""
        self._has_asked = False
        self._before: dict[int, signal._HANDLER] = {}
        self._attributes: list[Any] | None = None

    def attach(self, end_app: Callable[[int], object]) -> None:
        """Hand the screen over to the app. `end_app` asks it to end with an exit code."""
        self.end_app = end_app
        self.is_taken = True

    def detach(self) -> None:
        """Take the screen back after the app has ended and restored it."""
        self.is_taken = False

    def __enter__(self) -> TerminalGuard:
        with suppress(termios.error):
            self._attributes = termios.tcgetattr(0)
        for number in handled_signals():
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Ask the app to end, once. On a second signal, or without an app, restore the terminal and end the process."""
        if self.end_app and not self._has_asked:
            self._has_asked = True
            with suppress(RuntimeError):  # the event loop is closed
                self.end_app(128 + number)
                return
        if self.is_taken:
            self._restore()
        before = self._before[number]
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)
        os._exit(128 + number)

    def _restore(self) -> None:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with suppress(OSError):  # the terminal may be gone
            terminal = os.dup(2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # so that the writer thread cannot write another frame
            os.write(terminal, RESTORE.encode("ascii"))
        if self._attributes is not None:
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)
