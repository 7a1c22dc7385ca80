"""A program in a pseudo-terminal: when it writes a word, how much memory it holds, and when it is idle."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from tests.benchmarks.figures import NEVER
from tests.benchmarks.timing import ROOT, environment

ASKED, ANSWERED = b"\x1b[c", b"\x1b[?62;22c"
"""A query and its answer. Some programs wait until the terminal has identified itself."""
LONGEST = 60.0


class TooSlowError(Exception):
    """The expected output never arrived."""


class Terminal:
    """One run of a program."""

    def __init__(self, command: Sequence[str | Path], size: tuple[int, int] = (120, 40)) -> None:
        self.started = time.perf_counter()
        self.written = bytearray()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            self._become([str(word) for word in command], size)
        self.resize(size)

    def _become(self, command: list[str], size: tuple[int, int]) -> None:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.chdir(ROOT)
            os.execvpe(command[0], command, environment())
        finally:
            os._exit(127)

    def resize(self, size: tuple[int, int]) -> None:
        """Resize the terminal to these columns and lines, and signal the program."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def press(self, key: bytes) -> None:
        """Type a key."""
        os.write(self._master, key)

    def wait_for(self, word: bytes, after: int = 0, longest: float = LONGEST) -> float:
        """Wait until the word is written after this offset and return the time."""
        end = time.monotonic() + longest
        while self.written.find(word, after) < 0:
            if time.monotonic() > end or not self._read(end - time.monotonic()):
                raise TooSlowError(word.decode())
        return time.perf_counter()

    def rest(self, quiet: float = 0.3, longest: float = 10) -> None:
        """Wait until nothing has been drawn for a moment."""
        end = time.monotonic() + longest
        while time.monotonic() < end and self._read(quiet):
            pass

    def work_off(self, longest: float, most: float = 0.05) -> None:
        """Wait until the program uses less than `most` CPU seconds in half a second."""
        end, before = time.monotonic() + longest, -1.0
        while time.monotonic() < end:
            self.rest(0.5, 0.5)
            now = sum(map(_cpu_seconds, _family(self.pid)))
            if before >= 0 and now - before < most:
                return
            before = now
        raise TooSlowError("the program is still busy")

    def time_of(self, word: str, after: int = 0, longest: float = LONGEST) -> float:
        """Return the seconds from the start until this word is written, or infinity if it never is."""
        try:
            return self.wait_for(word.encode(), after, longest) - self.started
        except TooSlowError:
            return NEVER

    def anonymous_megabytes(self) -> float | None:
        """Return the private memory of the process and its children, or None if the system does not report it."""
        held = [anonymous_megabytes(pid) for pid in _family(self.pid)]
        return None if None in held or not held else sum(each or 0 for each in held)

    def _read(self, longest: float) -> bool:
        if not select.select([self._master], [], [], max(0.0, longest))[0]:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self.written += data
        if ASKED in data:
            self.press(ANSWERED)
        return bool(data)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self._master)
        os.waitpid(self.pid, 0)


def anonymous_megabytes(pid: int | str = "self") -> float | None:
    """Return the memory that is not backed by a file."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1000
    return None


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in path.read_text("ascii").split():
                yield from _family(int(child))


def _cpu_seconds(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


@contextmanager
def opened(command: Sequence[str | Path], word: str) -> Iterator[Terminal]:
    """Run a program that has drawn this word."""
    with Terminal(command) as terminal:
        terminal.wait_for(word.encode())
        yield terminal
