"""Exit codes: `fail` and `refuse` for commands; `ended` maps errors, Ctrl-C, and closed pipes to a code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

import click

from viewer.errors import Excerpt, ViewerError
from viewer.render.crash import take_faults
from viewer.render.sanitize import sanitize_line

FINE = 0
"""The exit code of success. That of a crash is in `viewer/render/crash.py`."""
FINDINGS = 1
"""Problems or differences were found, or the transcript is refused: it cannot be written or sent as requested."""
USAGE = 2
"""The request cannot be fulfilled: a wrong option, a missing file, an unknown format."""
INTERRUPTED = 130
PIPE_CLOSED = 141

_LONGEST_SENTENCE = 2000
_MOST_QUOTED = 72
"""The maximum number of characters to quote from a faulty argument."""


class PipeClosed(Exception):  # noqa: N818
    """The other end of the output pipe is closed. This is not an OSError, because click would catch one."""


def say(sentence: str) -> None:
    """Print one line for the user on standard error. It may quote a file name, never a transcript."""
    if sys.stderr is not None:
        line = sanitize_line(sentence, _LONGEST_SENTENCE).encode("utf-8", "replace")
        with suppress(OSError):  # stderr may be closed
            sys.stderr.write(line.decode(sys.stderr.encoding or "ascii", "replace") + "\n")
            sys.stderr.flush()


def complain(sentence: str) -> None:
    """Print one line on standard error, prefixed with the program name."""
    say(f"ocmlview: {sentence}")


def fail(sentence: str) -> int:
    """Report a request that cannot be fulfilled, and return its exit code. A command may also raise `ViewerError`."""
    complain(sentence)
    return USAGE


def refuse(sentence: str) -> int:
    """Report a transcript that cannot be written or sent as requested, and return the exit code for a refusal."""
    complain(sentence)
    return FINDINGS


def fail_without_reveal(name: str) -> int:
    """Report that a command needs `--reveal all`, and return its exit code."""
    say(f"ocmlview {name} shows hidden messages; add --reveal all")
    return USAGE


def say_which_plugins_failed() -> None:
    """Report each plug-in that has failed to load since the last call."""
    plugins = sys.modules.get("viewer.plugins.loading")
    for sentence in plugins.PLUGINS.failures if plugins else ():
        say(sentence)
    if plugins:
        plugins.PLUGINS.failures.clear()


def ended(act: Callable[[], int]) -> int:
    """Run a function, report an error that it raises, and return the exit code."""
    take_faults()
    try:
        code = act()
        if sys.stdout is not None:
            sys.stdout.flush()
    except ViewerError as error:
        code = fail(str(error))
        if error.excerpt is not None:
            _quote(error.excerpt)
    except click.ClickException as error:
        return fail(_first_sentence(error))
    except (PipeClosed, BrokenPipeError):
        _close_output()
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        _close_output()
        return INTERRUPTED
    except OSError as error:
        _close_output()
        return fail(error.strerror or "the operating system refused")
    return code


def _quote(excerpt: Excerpt) -> None:
    """Print what the user typed, with a line below that marks the fault. If the argument is long, quote only the part
    around the fault."""
    from viewer.render.width import cells  # needs msgspec, which is slow to load

    first = max(0, excerpt.column - _MOST_QUOTED // 2)
    shown = sanitize_line(excerpt.source[first : first + _MOST_QUOTED])
    before, fault = shown[: excerpt.column - first], shown[excerpt.column - first :][: excerpt.length]
    say(f"  {shown}")
    say(f"  {' ' * cells(before)}^{'~' * (cells(fault) - 1)}")


def _first_sentence(error: click.ClickException) -> str:
    """Return one line that describes the error in the command line and names the help command."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" Try '{context.command_path} --help'." if context else ""
    return error.format_message() + hint


def _close_output() -> None:
    """Discard further output so that the interpreter reports no error at exit."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
