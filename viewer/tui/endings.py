"""How the program ends before its time: by a signal, or by a fault of its own."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from types import TracebackType

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


def report_crash(kind: type[BaseException], trace: TracebackType | None) -> int:
    """The kind of exception and the places in the code; never its message, which may quote a transcript."""
    lines = [f"ocmlview: this is a bug: {kind.__name__}"]
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    sys.stderr.write("\n".join(lines) + "\n")
    return 1
