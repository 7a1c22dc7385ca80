"""`FileRevision`: the text that was read from one revision of a followed file. UTF-16 is converted."""

from __future__ import annotations

import codecs

from viewer.sources.files import READ_AS_UTF_8
from viewer.sources.followed_file import FollowedFile
from viewer.sources.followed_pipe import FollowedPipe
from viewer.sources.limits import SpoolError
from viewer.sources.spool import Spool

RECENT = 1024 * 1024
"""The number of bytes of the most recent text to keep, because they are usually read again right away. The text from
the last poll is always kept."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAY_BE_UTF_16 = tuple(mark[:1] for mark in UTF_16)


class FileRevision:
    """The bytes read from one file. Offsets refer to the returned text, which is UTF-8 even if the file is UTF-16."""

    only = ""

    def __init__(self, name: str, held: FollowedFile | FollowedPipe | None) -> None:
        self.name = name
        self.size = 0
        self.converted = False
        self._held = held
        self._spool = Spool(name) if isinstance(held, FollowedPipe) else None
        self._is_full = ""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._first: bytes | None = b""
        """The first byte, until a second one arrives; None once the encoding is known."""
        self._recent = bytearray()

    @property
    def note(self) -> str:
        """A note for the status line."""
        origin = self._held.note if isinstance(self._held, FollowedPipe) else ""
        return ", ".join(filter(None, (origin, READ_AS_UTF_8 if self.converted else "")))

    @property
    def fault(self) -> str:
        """Why reading stopped early, as a reason of E-STREAM-TRUNCATED; empty if it did not."""
        return self._held.fault if isinstance(self._held, FollowedPipe) else ""

    @property
    def stopped(self) -> str:
        """Why no more text can be read or kept, in one sentence; empty if reading can continue."""
        return self._is_full or (self._held.stopped if isinstance(self._held, FollowedPipe) else "")

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets. Raise FileRewrittenError if the file no longer contains them."""
        return self._read(start, end, trusts_stamp=True)

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the stamp of the file."""
        return self._read(start, end, trusts_stamp=False)

    def _read(self, start: int, end: int, *, trusts_stamp: bool) -> bytes:
        recent = self.size - len(self._recent)
        if start >= recent:
            return bytes(self._recent[start - recent : max(start, end) - recent])
        if self._spool:
            return self._spool.read(start, end)
        if not isinstance(self._held, FollowedFile):
            return b""
        return self._held.read(start, min(end, self.size), trusts_stamp=trusts_stamp)

    def add(self, data: bytes, *, ends: bool = False) -> bytes:
        """Add the next bytes of the file and return their text."""
        data = self._known(data, ends)
        if self._decoder:
            data = self._decoder.decode(data, ends).encode("utf-8", "replace")
        if self._spool:
            data = self._spooled(self._spool, data)
        self.size += len(data)
        self._recent += data
        del self._recent[: max(0, len(self._recent) - max(RECENT, len(data)))]
        return data

    def _spooled(self, spool: Spool, data: bytes) -> bytes:
        """Store as much of the text as fits into the spool and return that part."""
        before = spool.size
        try:
            spool.append(data)
        except SpoolError as error:
            self._is_full = str(error)
        return data[: spool.size - before]

    def _known(self, data: bytes, ends: bool) -> bytes:
        """Return the bytes read so far, once their encoding is known; until then, none."""
        if self._first is None:
            return data
        data, self._first = self._first + data, None
        if not data or (data in _MAY_BE_UTF_16 and not ends):
            self._first = data
            return b""
        if data[:2] in UTF_16:
            self.converted = True
            self._spool = self._spool or Spool(self.name)
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        return data
