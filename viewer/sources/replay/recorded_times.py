"""Recorded times: a sidecar file with the moment at which each part of a followed input arrived."""

from __future__ import annotations

import json
import os
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable

import msgspec

from viewer.errors import ViewerError
from viewer.syntax.times import LATEST_MS

LEAST_MS = 10
"""The shortest time between two lines."""
LARGEST = 256 * 1024 * 1024
"""The maximum size in bytes. A larger sidecar is refused."""


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    b: int = -1
    t: int = -1
    reset: bool = False


class RecordedTimes:
    """The times at which the parts of an input arrived, since the last restart."""

    def __init__(self, offsets: array[int], times: array[int]) -> None:
        self.offsets = offsets
        """The number of bytes that had been read at each time."""
        self._times = times

    def between(self, start: int, end: int) -> array[int]:
        """Return the recorded offsets between two offsets."""
        return self.offsets[bisect_right(self.offsets, start) : bisect_left(self.offsets, end)]

    def at(self, offset: int) -> int | None:
        """Return when the bytes before this offset had arrived, in milliseconds since 1970, or None if not recorded."""
        place = bisect_left(self.offsets, offset)
        return self._times[place] if place < len(self.offsets) else None


def read_recorded_times(path: str, size: int) -> RecordedTimes:
    """Read the sidecar of an input with this many bytes."""
    offsets, times = array("Q"), array("Q")
    decoder = msgspec.json.Decoder(_Line)
    for number, line in enumerate(_content(path).splitlines(), 1):
        try:
            recorded = decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise ViewerError(f"{path}: line {number:,} is not a recorded time") from None
        if recorded.reset:
            offsets, times = array("Q"), array("Q")
            continue
        if recorded.b < (offsets[-1] if offsets else 0) or not 0 <= recorded.t <= LATEST_MS:
            raise ViewerError(f"{path}: line {number:,} is not a recorded time")
        offsets.append(recorded.b)
        times.append(recorded.t)
    if offsets and offsets[-1] > size:
        raise ViewerError(f"{path} belongs to another file: it has times up to byte {offsets[-1]:,} of {size:,}")
    return RecordedTimes(offsets, times)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (pathlib takes long to load)
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ViewerError(f"{path} cannot be read: {error.strerror or 'input error'}") from None
    if len(data) > LARGEST:
        raise ViewerError(f"{path} is too large for recorded times")
    return data


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class TimeRecorder:
    """Appends to a sidecar when bytes arrive."""

    def __init__(self, path: str, clock: Callable[[], int] = _now_ms) -> None:
        self._clock = clock
        self._waiting: tuple[int, int] | None = None
        """The newest offset and time that have not been written yet."""
        self._written_at = -LEAST_MS
        try:
            self._file = open(path, "a", encoding="ascii", opener=_private)  # noqa: SIM115
        except OSError as error:
            raise ViewerError(f"{path} cannot be written: {error.strerror or 'output error'}") from None
        if os.fstat(self._file.fileno()).st_size:
            self.restart()

    def arrive(self, offset: int) -> None:
        """Record that this many bytes have been read."""
        now = self._clock()
        if now - self._written_at >= LEAST_MS:
            self._write_waiting()
            self._write({"b": offset, "t": now})
            self._written_at = now
        else:
            self._waiting = offset, now

    def restart(self) -> None:
        """Record that the input is read from its first byte again."""
        self._write_waiting()
        self._write({"reset": True})

    def close(self) -> None:
        """Write the last time that is still waiting."""
        if not self._file.closed:
            self._write_waiting()
            self._file.close()

    def _write_waiting(self) -> None:
        if self._waiting:
            offset, ms = self._waiting
            self._waiting = None
            self._write({"b": offset, "t": ms})

    def _write(self, line: dict[str, int]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
