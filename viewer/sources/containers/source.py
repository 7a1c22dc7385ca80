"""`ContainerSource`: the text of a container, produced and spooled on demand."""

from __future__ import annotations

from threading import Lock

from viewer.errors import ViewerError
from viewer.sources.compressed import TOO_LARGE
from viewer.sources.containers.parts import PartFault, Parts
from viewer.sources.limits import limits
from viewer.sources.spool import Spool


class ContainerSource:
    """A container as a source. Positions refer to the text produced from it."""

    converted = False

    def __init__(self, name: str, parts: Parts, note: str, only: str = "") -> None:
        self.name = name
        self.only = only
        self.note = note
        self.fault = ""
        self.part_faults: list[tuple[int, str]] = []
        """The offset and reason of each part that could not be read."""
        self._parts: Parts | None = parts
        self._spool = Spool(name)
        self._most = limits().max_decompressed
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The number of bytes produced so far, plus one while there may be more."""
        return self._spool.size + (self._parts is not None)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets."""
        with self._lock:
            while self._parts is not None and self._spool.size < end:
                self._make_more()
            return self._spool.read(start, end)

    read_again = read

    def _make_more(self) -> None:
        assert self._parts is not None
        part = next(self._parts, None)
        if part is None:
            self._parts = None
        elif isinstance(part, PartFault):
            self.part_faults.append((self._spool.size, part.reason))
        else:
            room = self._most - self._spool.size
            try:
                self._spool.append(part[:room])
            except ViewerError:  # the spool or the disk is full
                room = 0
            if len(part) > room:
                self._parts, self.fault = None, TOO_LARGE
