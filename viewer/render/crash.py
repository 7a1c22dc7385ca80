"""What is said of a fault of the program: the kind of exception and places in the code, never a message or a local.

Messages of exceptions quote what was being read, so that no hook of the interpreter may print one either.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from types import TracebackType

from viewer.render.sanitize import sanitize_line

CRASHED = 70
"""The exit code of a fault of the program, so that scripts can tell it from findings."""

_LONGEST_PLACE = 2000


def report_crash(kind: type[BaseException], trace: TracebackType | None) -> int:
    """Say it on standard error; the exit code for it."""
    lines = [f"ocmlview: this is a bug: {kind.__name__}"]
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    if sys.stderr is not None:
        with suppress(OSError):  # nobody may be there to read it
            sys.stderr.write("".join(sanitize_line(line, _LONGEST_PLACE) + "\n" for line in lines))
            sys.stderr.flush()
    return CRASHED


def take_faults() -> None:
    """Whatever nobody catches is told in these words: also what is raised in threads, and while the program ends."""
    sys.excepthook = _uncaught
    threading.excepthook = _in_thread
    sys.unraisablehook = _ignored


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    code = report_crash(kind, trace)
    if issubclass(kind, KeyboardInterrupt):
        return
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # closed, or nobody may be there to read it
                stream.flush()
    os._exit(code)  # the interpreter would end with 1, the code of findings


def _in_thread(fault: threading.ExceptHookArgs) -> None:
    report_crash(fault.exc_type, fault.exc_traceback)


def _ignored(fault: sys.UnraisableHookArgs) -> None:
    """What a destructor or a callback at the exit raised; the latter would leave the exit code as if all were well."""
    report_crash(fault.exc_type, fault.exc_traceback)
    if "atexit" in (fault.err_msg or ""):
        os._exit(CRASHED)
