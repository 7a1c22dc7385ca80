"""Crash handler: shuts the app down cleanly after a fatal signal or an exception in a thread or task."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Any

from textual.app import App
from textual.worker import WorkerFailed

from viewer.signals import TerminalGuard


def handle_signals(app: App[int], guard: TerminalGuard) -> None:
    """Shut the app down when a fatal signal arrives so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    guard.attach(lambda code: loop.call_soon_threadsafe(app.exit, code, code))


def fault_of(error: BaseException) -> BaseException:
    """Return the original exception, without Textual's wrapper for workers."""
    return error.error if isinstance(error, WorkerFailed) else error


def handle_faults(app: App[int]) -> None:
    """Treat an exception in a thread, or in a task that is never awaited, like one in an event handler."""
    loop = asyncio.get_running_loop()
    fallback = threading.excepthook

    def in_thread(fault: threading.ExceptHookArgs) -> None:
        if loop.is_closed() or not isinstance(fault.exc_value, Exception):
            fallback(fault)
        else:
            loop.call_soon_threadsafe(app._handle_exception, fault.exc_value)

    def in_task(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            app._handle_exception(error)

    threading.excepthook = in_thread
    loop.set_exception_handler(in_task)


class Crash:
    """The first exception that crashed the app. Later exceptions are ignored as its consequences."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.kind: type[BaseException] | None = None
        self.trace: TracebackType | None = None

    def note(self, error: BaseException | None) -> None:
        """Keep an exception, if it is the first one."""
        if error is not None and self.kind is None:
            self.error = fault_of(error)
            self.kind, self.trace = type(self.error), self.error.__traceback__
