"""How the app ends early: by a fatal signal, or by a fault of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from textual.app import App
from textual.worker import WorkerFailed

from viewer.signals import TerminalGuard


def take_signals(app: App[int], guard: TerminalGuard) -> None:
    """End the app in order when a fatal signal arrives, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    guard.end_app = lambda code: loop.call_soon_threadsafe(app.exit, code, code)
    guard.is_taken = True


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
