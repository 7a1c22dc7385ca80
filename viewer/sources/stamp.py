"""The stamp of a file, compared around every read: device, inode, size, modification time, and change time."""

from __future__ import annotations

import os
import time

YOUNGEST_NS = 20_000_000
"""The age in nanoseconds below which a stamp proves nothing, because a second write in the same clock tick of the file
system may leave it unchanged."""

Stamp = tuple[int, int, int, int, int]
"""The stamp of a file. The last number is the change time, which programs cannot set."""


def stamp_of(descriptor: int) -> Stamp:
    """Return the current stamp of an open file."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def size_in(stamp: Stamp) -> int:
    """Return the size of the file, from its stamp."""
    return stamp[2]


def is_young(stamp: Stamp) -> bool:
    """True if the file changed so recently that another change might not show in the stamp."""
    return time.time_ns() - stamp[4] < YOUNGEST_NS
