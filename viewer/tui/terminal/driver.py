"""Driver that survives the loss of its terminal and resumes correctly after signals."""

from __future__ import annotations

import asyncio
import io
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from typing import IO, Any

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

LOST = 128 + signal.SIGHUP
"""The exit code after the terminal is gone."""


class ResilientFile:
    """Output to the terminal. The first failed write is reported, and later writes are dropped.

    Otherwise the writer thread would end with the first error, and its full queue would block the program.
    """

    def __init__(self, file: IO[str], lost: Callable[[], object]) -> None:
        self._file = file
        self._lost = lost
        self._is_there = True

    def write(self, text: str) -> None:
        """Write text if the terminal still exists."""
        self._try(self._file.write, text)

    def flush(self) -> None:
        """Flush written text."""
        self._try(self._file.flush)

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._file.fileno()

    def _try(self, call: Callable[..., object], *given: str) -> None:
        if self._is_there:
            try:
                call(*given)
            except (OSError, ValueError):
                self._is_there = False
                self._lost()


class Place(Enum):
    """The owner of the terminal."""

    OFF = auto()
    CHANGING = auto()
    ON = auto()
    AWAY = auto()
    """The shell owns the terminal."""


def resilient(driver: type[Driver]) -> type[Driver]:
    """Return a version of a Linux driver that survives the loss of the terminal. Return any other driver unchanged."""
    if not issubclass(driver, LinuxDriver):
        return driver

    class Lasting(driver):  # type: ignore[misc, valid-type]
        """Tracks whether it owns the terminal, because SIGHUP arrives together with SIGCONT."""

        place = Place.OFF

        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            file: IO[str] = sys.__stderr__ or io.StringIO()
            self._file = ResilientFile(file, self._lose)
            self._loop: asyncio.AbstractEventLoop | None = None

        def start_application_mode(self) -> None:
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
                self._heed_hangup(self._loop)
            before, writer = self.place, self._writer_thread
            self.place = Place.CHANGING
            try:
                super().start_application_mode()
            finally:
                self.place = before if self._writer_thread is writer else Place.ON

        def stop_application_mode(self) -> None:
            self.place = Place.CHANGING
            try:
                super().stop_application_mode()
            finally:
                self.place = Place.OFF

        def suspend_application_mode(self) -> None:
            super().suspend_application_mode()
            self.place = Place.AWAY

        def close(self) -> None:
            writer = self._writer_thread
            if writer is not None and writer.is_alive():
                super().close()

        def _sigtstp_application(self, *_: object) -> None:
            self._soon(super()._sigtstp_application)

        def _sigcont_application(self, *_: object) -> None:
            self._soon(self._resume)

        def _soon(self, act: Callable[[], object]) -> None:
            """Call a function in the event loop. A signal may arrive while the program holds the lock on its output,
            and a write from the signal handler would then wait forever."""
            if self._loop is None:
                act()
                return
            with suppress(RuntimeError):  # the loop is closed because the app has ended
                self._loop.call_soon_threadsafe(act)

        def _resume(self) -> None:
            if not self._auto_restart or self.place not in (Place.ON, Place.AWAY):
                return
            if self.place is Place.ON:  # SIGSTOP cannot be caught; the shell may have used the terminal
                self.suspend_application_mode()
                self._must_signal_resume = True
            self.resume_application_mode()

        def _run_input_thread(self) -> None:
            try:
                self.run_input_thread()
            except OSError:
                self._lose()

        def _heed_hangup(self, loop: asyncio.AbstractEventLoop) -> None:
            """Watch for a hang-up. A program whose shell has exited gets no signal, and would read end of file
            forever."""
            if hasattr(select, "epoll"):
                hangup = select.epoll()
                hangup.register(self.fileno, 0)  # hang-ups and errors are always reported

                def heard() -> None:
                    loop.remove_reader(hangup)
                    self._lose()

                loop.add_reader(hangup, heard)

        def _lose(self) -> None:
            """Exit the app, because the terminal is lost. Also called from the reader and writer threads."""
            if self._loop is not None:
                with suppress(RuntimeError):  # the loop is closed because the app has ended
                    self._loop.call_soon_threadsafe(self._app.exit, LOST, LOST)

    return Lasting
