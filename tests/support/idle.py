"""Idle processes: all threads of a program and of its children sleep, and no signal is pending.

Observing the process replaces guessing how long a busy machine takes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

LONGEST = 60.0
"""The longest wait in seconds."""
LOOKS = 5
"""The number of consecutive checks, 10 ms apart, that must find the process idle."""
_WORKING = "RD"
"""The states of a thread that runs, waits for a processor, or waits for a disk."""
_PENDING = re.compile(r"^(?:SigPnd|ShdPnd):\s*0*[1-9a-f]", re.MULTILINE)


def is_idle(pid: int) -> bool:
    """True if no thread of the process is working. Always true on systems without `/proc`."""
    return not any(_is_working(thread) for thread in _threads(pid))


def wait_until_idle(pid: int) -> None:
    """Wait until a process is idle, or has ended."""
    end, looks = time.monotonic() + LONGEST, 0
    while looks < LOOKS:
        assert time.monotonic() < end, f"process {pid} is still busy"
        time.sleep(0.01)
        looks = looks + 1 if is_idle(pid) else 0


def _threads(pid: int) -> Iterator[Path]:
    """Yield the threads of a process and of its descendants."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has ended
        return
    for thread in threads:
        yield thread
        for child in _text(thread / "children").split():
            yield from _threads(int(child))


def _is_working(thread: Path) -> bool:
    state = _text(thread / "stat").rpartition(") ")[2][:1]
    return bool(state) and (state in _WORKING or bool(_PENDING.search(_text(thread / "status"))))


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
