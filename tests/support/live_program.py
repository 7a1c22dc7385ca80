"""Run the program in follow mode as a separate process: what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tests.support.program import ROOT, Result

LONGEST_WAIT = 120.0
NO_EVENTS = (
    "import watchfiles; watchfiles.watch = None\nimport os\nwatchfiles.watch = lambda *a, **k: os.stat('/nowhere')\n"
)
"""Code that runs before the program. It disables file system events, so only polling finds changes."""
_COUNT_POLLS = """
import os, viewer.sources.follow as _follow
def _poll(self, _poll=_follow.FollowSource.poll):
    try:
        return _poll(self)
    finally:
        try:
            os.write({descriptor}, b".")
        except OSError:
            pass
_follow.FollowSource.poll = _poll
"""
"""Code that runs before the program. Each poll of the input writes one byte to a pipe, if the pipe has room."""
_START = "import sys\nfrom viewer.cli import run\nsys.exit(run(sys.argv[1:]))\n"


class Live:
    """A program in follow mode, as a context manager."""

    def __init__(
        self, *arguments: str | Path, prelude: str = "", stdin: int | IO[bytes] = subprocess.DEVNULL, **environment: str
    ) -> None:
        self._polls, descriptor = os.pipe()
        for end in (self._polls, descriptor):
            os.set_blocking(end, False)
        count_polls = _COUNT_POLLS.format(descriptor=descriptor)
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + count_polls + _START, *map(str, arguments)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **environment},
            preexec_fn=_heed_interrupts,
            pass_fds=[descriptor],
        )
        os.close(descriptor)
        self._out, self._err = bytearray(), bytearray()
        assert self.process.stdout and self.process.stderr
        self._threads = [
            threading.Thread(target=_collect, args=pair, daemon=True)
            for pair in ((self.process.stdout, self._out), (self.process.stderr, self._err))
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._polls)

    @property
    def out(self) -> str:
        return bytes(self._out).decode("utf-8", "replace")

    def ends_with(self, word: str) -> bool:
        """True if a word is near the end of the output, without decoding all of it."""
        return word.encode() in self._out[-2000:]

    @property
    def err(self) -> str:
        return bytes(self._err).decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The complete JSON lines so far."""
        return [json.loads(line) for line in self.out.split("\n")[:-1]]

    @property
    def bodies(self) -> list[str]:
        """The bodies of the messages since the last reset."""
        lines = self.lines
        last = max((place for place, line in enumerate(lines) if line["kind"] == "reset"), default=-1)
        return [line["body"] for line in lines[last + 1 :] if line["kind"] == "message"]

    @property
    def resets(self) -> list[str]:
        return [line["reason"] for line in self.lines if line["kind"] == "reset"]

    def until(self, holds: Callable[[Live], object]) -> None:
        """Wait for a condition."""
        end = time.monotonic() + LONGEST_WAIT
        while not holds(self):
            assert time.monotonic() < end, (self.out[-2000:], self.err[-2000:])
            time.sleep(0.005)

    def poll_again(self, times: int = 3) -> None:
        """Wait until the program has polled its input this many times, or has ended. By the third poll, it has handled
        all earlier changes."""
        self._count_polls()
        count = 0

        def has_polled(_: Live) -> bool:
            nonlocal count
            count += self._count_polls()
            return count >= times or self.process.poll() is not None

        self.until(has_polled)

    def _count_polls(self) -> int:
        """Return the number of polls since the last call, 65,536 at most."""
        try:
            return len(os.read(self._polls, 1 << 16))
        except BlockingIOError:
            return 0

    def until_bodies(self, *bodies: str) -> None:
        """Wait until these messages have been printed since the last reset."""
        self.until(lambda live: live.bodies == list(bodies))

    def interrupted(self) -> Result:
        """Interrupt the program and return its result."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> Result:
        """Wait for the program to end and return its result."""
        code = self.process.wait(LONGEST_WAIT)
        for thread in self._threads:
            thread.join(LONGEST_WAIT)
        return Result(code, self.out, self.err)


def _collect(stream: IO[bytes], into: bytearray) -> None:
    while data := os.read(stream.fileno(), 65536):
        into += data


def _heed_interrupts() -> None:
    """Restore the handling of interrupts, which a shell disables for background jobs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
