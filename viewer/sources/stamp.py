"""The stamp of a file: device, inode, size, modification time and change time, compared around every read."""

from __future__ import annotations

import os
import time

YOUNGEST_NS = 20_000_000
"""A younger stamp proves nothing: one clock tick of the file system may hide a second write."""

Stamp = tuple[int, int, int, int, int]
"""Its last number, the change time, cannot be set back."""


def stamp_of(descriptor: int) -> Stamp:
    """The current stamp of an open file."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def size_in(stamp: Stamp) -> int:
    """The size of the file."""
    return stamp[2]


def is_young(stamp: Stamp) -> bool:
    """True if the file changed so recently that another change may have left the stamp as it is."""
    return time.time_ns() - stamp[4] < YOUNGEST_NS
