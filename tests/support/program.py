"""Run the program as an operator does: arguments and standard input go in; an exit code and two streams come out."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import viewer.cli

ROOT = Path(__file__).parent.parent.parent

CHAT = """\
version: 2.2
<|start|>system<|message|>Be brief.<|end|>
<|start|>user<|message|>Is it warm in Tokyo?<|end|>
<|start|>assistant<|channel|>analysis<|message|>A hidden thought about plums.<|end|>
<|start|>assistant to=functions.weather call_id=c1<|channel|>commentary<|constrain|>json<|message|>{"city":1}<|call|>
<|start|>tool name=functions.weather call_id=c1 to=assistant<|channel|>commentary<|message|>{"ok":true}<|end|>
<|start|>assistant<|channel|>final<|message|>Yes, it is.<|return|>
"""
BROKEN = """\
version: 2.2
<|start|>user<|message|>Hello<|end|>
<|start|>assistant<|channel|>anaylsis<|message|>Secret plums<|end|>
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run(*arguments: str | Path, stdin: str | bytes = b"", **environment: str) -> Result:
    """Run the program with these arguments, in this process or, if environment variables matter, in a separate one."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    words = [str(argument) for argument in arguments]
    return _run_apart(words, data, environment) if environment else _run_here(words, data)


def _run_here(arguments: list[str], stdin: bytes) -> Result:
    follows = "-f" in arguments and "-" in arguments
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="") for data in (stdin, b"", b"")]
    before = sys.stdin, sys.stdout, sys.stderr
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        with _as_descriptor(stdin) if follows else nullcontext():
            code = viewer.cli.run(arguments)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    out, err = (_written(stream) for stream in streams[1:])
    return Result(code, out, err)


@contextmanager
def _as_descriptor(stdin: bytes) -> Iterator[None]:
    """Let descriptor 0 of this process read the data from a pipe: a program that follows standard input polls it.

    Data that the program leaves unread is read at the end. A process that it started may still hold the pipe open, and
    the thread would then write forever."""
    reader, writer = os.pipe()
    before = os.dup(0)
    os.dup2(reader, 0)
    os.close(reader)
    thread = threading.Thread(target=_write, args=(writer, stdin))
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError):
            while os.read(0, 1 << 16):
                pass
        os.dup2(before, 0)
        os.close(before)
        thread.join()


def _write(descriptor: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _run_apart(arguments: list[str], stdin: bytes, environment: dict[str, str]) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "viewer", *arguments],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
