"""A driver that outlives its terminal, and that goes on after a signal only from where it stands."""

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
"""The exit code where the terminal is gone, whoever notices it first."""


class ResilientFile:
    """The way to the terminal: where nothing can be written any more, that is told once and the rest is dropped.

    The thread that writes would end with the first error, and its queue, which nobody empties, hold the program.
    """

    def __init__(self, file: IO[str], lost: Callable[[], object]) -> None:
        self._file = file
        self._lost = lost
        self._is_there = True

    def write(self, text: str) -> None:
        """Write it, if there is still a terminal."""
        self._try(self._file.write, text)

    def flush(self) -> None:
        """What was written goes out."""
        self._try(self._file.flush)

    def fileno(self) -> int:
        """The descriptor below."""
        return self._file.fileno()

    def _try(self, call: Callable[..., object], *given: str) -> None:
        if self._is_there:
            try:
                call(*given)
            except (OSError, ValueError):
                self._is_there = False
                self._lost()


class Place(Enum):
    """Where the driver stands."""

    OFF = auto()
    CHANGING = auto()
    ON = auto()
    AWAY = auto()
    """The shell has the terminal."""


def resilient(driver: type[Driver]) -> type[Driver]:
    """This driver, if it is one for terminals."""
    if not issubclass(driver, LinuxDriver):
        return driver

    class Lasting(driver):  # type: ignore[misc, valid-type]
        """Knows whether it has the terminal; one that hangs up sends a signal to go on along with the other."""

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

        def _sigcont_application(self, *_: object) -> None:
            if not self._auto_restart or self.place not in (Place.ON, Place.AWAY):
                return
            if self.place is Place.ON:  # what stopped it cannot be heard; the shell may have had the terminal
                self.suspend_application_mode()
                self._must_signal_resume = True
            self.resume_application_mode()

        def _run_input_thread(self) -> None:
            try:
                self.run_input_thread()
            except OSError:
                self._lose()

        def _heed_hangup(self, loop: asyncio.AbstractEventLoop) -> None:
            """Without its shell a program hears no signal when the terminal goes, and would read its end for ever."""
            if hasattr(select, "epoll"):
                hangup = select.epoll()
                hangup.register(self.fileno, 0)  # what is reported without being asked for

                def heard() -> None:
                    loop.remove_reader(hangup)
                    self._lose()

                loop.add_reader(hangup, heard)

        def _lose(self) -> None:
            """Also told by the threads that write and read."""
            if self._loop is not None:
                with suppress(RuntimeError):  # the loop is closed: it has ended already
                    self._loop.call_soon_threadsafe(self._app.exit, LOST, LOST)

    return Lasting
