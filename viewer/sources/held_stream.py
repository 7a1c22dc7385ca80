"""A FIFO or a pipe while it is followed: what can be read once, without ever waiting for it."""

from __future__ import annotations

import os
import select

from viewer.sources.held_file import identity_of

PART = 256 * 1024


class HeldStream:
    """What the writers of a FIFO or a pipe have sent. One writer's end is the end of a pipe, not of a FIFO."""

    def __init__(self, descriptor: int, ends: bool) -> None:
        self._descriptor = descriptor
        self.identity = identity_of(os.fstat(descriptor))
        self.has_ended = False
        self._ends = ends
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN)

    length = 0
    """What is still to come is not known."""

    def take(self, limit: int) -> bytes:
        """What has come, at most so much."""
        parts: list[bytes] = []
        size = 0
        while size < limit and not self.has_ended and self._ready.poll(0):
            part = self._part(limit - size)
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _part(self, limit: int) -> bytes:
        try:
            data = os.read(self._descriptor, min(limit, PART))
        except BlockingIOError:
            return b""
        self.has_ended = self._ends and not data
        return data

    def __del__(self) -> None:
        os.close(self._descriptor)
