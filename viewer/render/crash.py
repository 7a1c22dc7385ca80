"""Crash reports and their exit code: the exception type and code positions, never a message or a local variable.

Exception messages may quote the input, so the interpreter's own hooks must not print them either."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from types import TracebackType

from viewer.render.sanitize import sanitize_line
from viewer.signals import raise_again

CRASHED = 70
"""The exit code of a crash, which differs from the exit code of findings."""

_LONGEST_PLACE = 2000


def report_crash(kind: type[BaseException], trace: TracebackType | None) -> int:
    """Print a crash report on standard error and return the exit code."""
    lines = [f"ocmlview: this is a bug: {kind.__name__}"]
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    if sys.stderr is not None:
        with suppress(OSError):  # stderr may be closed
            sys.stderr.write("".join(sanitize_line(line, _LONGEST_PLACE) + "\n" for line in lines))
            sys.stderr.flush()
    return CRASHED


def take_faults() -> None:
    """Install hooks that print a crash report for every uncaught exception, including those in threads and during
    shutdown."""
    sys.excepthook = _uncaught
    threading.excepthook = _in_thread
    sys.unraisablehook = _ignored


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    code = report_crash(kind, trace)
    if issubclass(kind, KeyboardInterrupt):
        return
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # standard output is closed or has no reader
                stream.flush()
    os._exit(code)  # the interpreter would exit with 1, the code for problems


def _in_thread(fault: threading.ExceptHookArgs) -> None:
    report_crash(fault.exc_type, fault.exc_traceback)


def _ignored(fault: sys.UnraisableHookArgs) -> None:
    """Report an exception from a destructor or an exit callback. After one in an exit callback, exit here, because the
    interpreter would keep its own exit code.

    A signal that interrupts a destructor is not a crash, and must not be lost."""
    if raise_again(fault.exc_value):
        return
    report_crash(fault.exc_type, fault.exc_traceback)
    if "atexit" in (fault.err_msg or ""):
        os._exit(CRASHED)
