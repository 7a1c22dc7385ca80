"""Recorded times: a sidecar file with the moment at which each part of a followed input arrived."""

from __future__ import annotations

import json
import os
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

import msgspec

from viewer.errors import ViewerError
from viewer.syntax.times import LATEST_MS

LEAST_MS = 10
"""The shortest time between two lines, in milliseconds."""
LARGEST = 256 * 1024 * 1024
"""The maximum size of a sidecar in bytes."""
_RESET = b'{"reset":true}'


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

    def arrived_by(self, ms: int) -> int:
        """Return the number of bytes that had arrived by this time."""
        place = bisect_right([*accumulate(self._times, max)], ms)
        return self.offsets[place - 1] if place else 0

    def between(self, start: int, end: int) -> array[int]:
        """Return the recorded offsets between two offsets."""
        return self.offsets[bisect_right(self.offsets, start) : bisect_left(self.offsets, end)]

    def offset_from(self, offset: int) -> int | None:
        """Return the first recorded offset that is not before this one, or None if there is none."""
        place = bisect_left(self.offsets, offset)
        return self.offsets[place] if place < len(self.offsets) else None

    def at(self, offset: int) -> int | None:
        """Return when the bytes before this offset had arrived, in milliseconds since 1970, or None if not recorded."""
        place = bisect_left(self.offsets, offset)
        return self._times[place] if place < len(self.offsets) else None


def read_recorded_times(path: str, size: int) -> RecordedTimes:
    """Read the sidecar of an input with this many bytes. Lines before the last reset and an incomplete last line are
    ignored."""
    offsets, times = array("Q"), array("Q")
    decoder = msgspec.json.Decoder(_Line)
    lines = _content(path).splitlines(keepends=True)
    first = next((place for place in range(len(lines), 0, -1) if lines[place - 1].strip() == _RESET), 0)
    for number, line in enumerate(lines[first:], first + 1):
        try:
            recorded = decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            if number == len(lines) and not line.endswith(b"\n"):
                break
            raise ViewerError(f"{path}: line {number:,} is not a recorded time") from None
        if recorded.reset:
            offsets, times = array("Q"), array("Q")
            continue
        if recorded.b < (offsets[-1] if offsets else 0) or not 0 <= recorded.t <= LATEST_MS:
            raise ViewerError(f"{path}: line {number:,} is not a recorded time")
        offsets.append(recorded.b)
        times.append(recorded.t)
    if offsets and offsets[-1] > size:
        raise ViewerError(
            f"{path} belongs to another file: its times go up to byte {offsets[-1]:,}, but the input has {size:,} bytes"
        )
    return RecordedTimes(offsets, times)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (pathlib takes long to load)
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ViewerError(f"{path} cannot be read: {error.strerror or 'input error'}") from None
    if len(data) > LARGEST:
        raise ViewerError(f"{path} is too large for a file of recorded times")
    return data


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class TimeRecorder:
    """Records, in a sidecar, when bytes arrive. An error while writing ends the recording, but not the reading."""

    def __init__(self, path: str, clock: Callable[[], int] = _now_ms) -> None:
        self.fault = ""
        """Why recording ended early; empty if it did not."""
        self._path = path
        self._clock = clock
        self._waiting: tuple[int, int] | None = None
        """The newest offset and time that have not been written yet."""
        self._written_at = -LEAST_MS
        self._recorded = 0
        """The number of bytes with a recorded arrival."""
        self._identity: tuple[int, int] | None = None
        """The identity of the file that is being recorded."""
        try:
            self._descriptor: int | None = self._opened()
        except OSError as error:
            raise ViewerError(f"{path} cannot be written: {error.strerror or 'output error'}") from None
        if os.fstat(self._descriptor).st_size:
            self.restart()

    def begin(self, identity: tuple[int, int], length: int) -> None:
        """Record a file from its first byte. If the same file was recorded before, recording continues where it
        stopped."""
        if self._identity not in (None, identity) or length < self._recorded:
            self.restart()
        self._identity = identity

    def arrive(self, offset: int) -> None:
        """Record that this many bytes have been read."""
        if offset <= self._recorded:
            return
        self._recorded, now = offset, self._clock()
        if now - self._written_at >= LEAST_MS or now < self._written_at:
            self._write_waiting()
            self._write({"b": offset, "t": now})
            self._written_at = now
        else:
            self._waiting = offset, now

    def restart(self) -> None:
        """Record that the input is being read from its first byte again."""
        self._write_waiting()
        self._write({"reset": True})
        self._recorded = 0

    def close(self) -> None:
        """Write the last time if it is still pending. Bytes that arrive later reopen the sidecar."""
        self._write_waiting()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write_waiting(self) -> None:
        if self._waiting:
            offset, ms = self._waiting
            self._waiting = None
            self._write({"b": offset, "t": ms})

    def _write(self, line: dict[str, int]) -> None:
        if self.fault:
            return
        try:
            if self._descriptor is None:
                self._descriptor = self._opened()
            os.write(self._descriptor, (json.dumps(line, separators=(",", ":")) + "\n").encode())
        except OSError as error:
            words = error.strerror or "output error"
            self.fault = f"{self._path} cannot be written: {words}; times are no longer recorded"

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
