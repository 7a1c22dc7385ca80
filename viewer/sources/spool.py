"""A spool: text that can be read only once, in memory and beyond that in an unnamed file of mode 0600."""

from __future__ import annotations

from typing import IO

IN_MEMORY = 8 * 1024 * 1024


class Spool:
    """Grows at its end and stays readable by offset."""

    def __init__(self) -> None:
        import tempfile  # few inputs need it

        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (kept open for reading)
        self.size = 0

    def append(self, data: bytes) -> None:
        """The next bytes."""
        self._file.seek(self.size)
        self._file.write(data)
        self.size += len(data)

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        self._file.seek(start)
        return self._file.read(max(0, min(end, self.size) - start))
