"""The log writer: a process that turns frames into the records of a file, one exchange after another.

It is a separate process so that parsing and slow disks never delay requests, and a failure ends only the log."""

from __future__ import annotations

import os
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct, field

from viewer.tap.apis import APIS
from viewer.tap.exchange import Exchange, Record, line_of
from viewer.tap.frames import Frame, FrameKind, FrameReader
from viewer.tap.sessions import Sessions

MOST_HELD = 32 * 1024 * 1024
"""The maximum number of bytes of records that wait until the current exchange ends."""
_READ = 1024 * 1024
_APIS = {api.name: api for api in APIS}


class LogFile:
    """The log file. A failed write loses records. When the file is writable again, a note in it reports how many."""

    def __init__(self, descriptor: int, report: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._report = report
        self.lost = 0
        """The total number of records that could not be written."""
        self._missing = 0
        """The number of lost records that the file does not mention yet."""
        self._is_torn = False
        """True if the last line in the file is incomplete."""

    def write(self, lines: list[bytes]) -> None:
        """Append lines. After a loss, first write a note about the missing records. If a write fails, count the lines
        as lost."""
        if not lines:
            return
        if self._missing or self._is_torn:
            note = line_of({"tap": "note", "exchange": "0", "text": f"{self._missing:,} records are missing here."})
            if not self._put((b"\n" if self._is_torn else b"") + note):
                self._lose(len(lines))
                return
            self._missing, self._is_torn = 0, False
        if not self._put(b"".join(lines)):
            self._lose(len(lines))

    def _put(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                self._is_torn = self._is_torn or len(view) < len(data)
                if not self.lost:
                    why = error.strerror or "it cannot be written"
                    self._report(f"the log is incomplete: {why}; requests are still forwarded")
                return False
        return True

    def _lose(self, count: int) -> None:
        self.lost += count
        self._missing += count


class _Held(Struct):
    """An exchange that is incomplete or not yet written."""

    exchange: Exchange
    api: str
    codings: str = ""
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    is_ended: bool = False


class Writer:
    """Writes the records of one exchange after another. Exchanges that arrive in the meantime wait.

    If more than `MOST_HELD` bytes are waiting, records of several exchanges may alternate."""

    def __init__(self, file: LogFile, run: str) -> None:
        self._file = file
        self._sessions = Sessions(run)
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._size = 0
        self.count = 0
        """The number of complete exchanges."""

    def take(self, frame: Frame) -> None:
        """Handle a frame."""
        number, facts = frame.exchange, frame.facts if frame.kind not in _RAW else None
        if frame.kind is FrameKind.BEGIN:
            assert facts is not None
            exchange = Exchange(_APIS[facts.api], number, self._sessions)
            self._held[number] = _Held(exchange, facts.api, facts.codings)
            return
        held = self._held.get(number)
        if held is None:
            return
        exchange = held.exchange
        match frame.kind:
            case FrameKind.REQUEST:
                exchange.take_request(frame.data)
            case FrameKind.REQUEST_END:
                assert facts is not None
                self._add(number, exchange.end_request(held.codings, frame.time_ms, is_cut=facts.is_cut))
            case FrameKind.ANSWER:
                assert facts is not None
                exchange.begin_answer(facts.status, facts.content_type, facts.codings)
            case FrameKind.BODY:
                self._add(number, exchange.take_answer(frame.data, frame.time_ms))
            case FrameKind.CUT:
                exchange.cut()
            case FrameKind.END:
                assert facts is not None
                self._add(number, exchange.end_answer(facts.outcome, frame.time_ms))
                held.is_ended = True
                self.count += 1
                self._go_on()

    def close(self) -> None:
        """Write everything that is waiting."""
        for held in self._held.values():
            self._file.write(held.lines)
        self._held.clear()

    def _add(self, number: int, records: Iterable[Record]) -> None:
        lines = [line_of(record) for record in records]
        if next(iter(self._held)) == number:
            self._file.write(lines)
            return
        held = self._held[number]
        held.lines += lines
        size = sum(map(len, lines))
        held.size += size
        self._size += size
        if self._size > MOST_HELD:
            for each in self._held.values():
                self._write(each)
            for done in [key for key, each in self._held.items() if each.is_ended]:
                del self._held[done]

    def _go_on(self) -> None:
        """Write the waiting exchanges in order, up to and including the first one that has not ended."""
        while self._held:
            number, held = next(iter(self._held.items()))
            self._write(held)
            if not held.is_ended:
                return
            del self._held[number]

    def _write(self, held: _Held) -> None:
        self._file.write(held.lines)
        self._size -= held.size
        held.lines, held.size = [], 0


_RAW = (FrameKind.REQUEST, FrameKind.BODY)
"""The kinds of frames that contain bytes of a body."""


def run(frames: int, log: int, notices: int, name: str) -> None:
    """Read frames from a descriptor until the end of its input, and write the log. This is the main function of the
    writer process."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the writer ends after the last frame of the proxy

    def report(sentence: str) -> None:
        with suppress(OSError):
            os.write(notices, sentence.encode() + b"\n")

    file = LogFile(log, report)
    writer, reader = Writer(file, name), FrameReader()
    while data := os.read(frames, _READ):
        for frame in reader.feed(data):
            writer.take(frame)
    writer.close()
    report(f"\0{writer.count} {file.lost}")
