"""How the program ends before its time: by a signal, or by a fault of its own."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.worker import WorkerFailed

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def take_signals(app: App[int]) -> None:
    """A signal ends the app as a key would, so that the terminal is put back; the exit code tells which it was."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, app.exit, 128 + number, 128 + number)


def fault_of(error: BaseException) -> BaseException:
    """What went wrong, without the wrapping of a worker."""
    return error.error if isinstance(error, WorkerFailed) else error


def take_faults_of(app: App[int]) -> None:
    """A fault in a thread or in a task that nobody waits for ends the app as one in a handler does."""
    loop = asyncio.get_running_loop()
    fallback = threading.excepthook

    def in_thread(fault: threading.ExceptHookArgs) -> None:
        if loop.is_closed() or not isinstance(fault.exc_value, Exception):
            fallback(fault)
        else:
            loop.call_soon_threadsafe(app._handle_exception, fault.exc_value)

    def in_task(_: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        error = told.get("exception")
        if isinstance(error, Exception):
            app._handle_exception(error)

    threading.excepthook = in_thread
    loop.set_exception_handler(in_task)
