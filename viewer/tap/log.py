"""The proxy's side of the log: sends bytes to the writer process without ever waiting for it."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Callable

from viewer.tap import writer
from viewer.tap.apis import Api
from viewer.tap.decoding import LARGEST_BODY
from viewer.tap.exchange import STREAMS
from viewer.tap.frames import Facts, FrameKind, encoded

MOST_WAITING = 64 * 1024 * 1024
"""The maximum number of bytes that wait for the writer. Beyond that, the rest of an exchange is not logged."""
MOST_COPIED = 128 * 1024 * 1024
"""The maximum total size, in bytes, of unfinished bodies that the writer keeps because they are not streamed."""
PATIENCE = 10.0
"""The maximum number of seconds to wait for the writer after the proxy has ended."""


class _Copy:
    """The state of an exchange that is being logged."""

    def __init__(self) -> None:
        self.room = LARGEST_BODY
        """The number of further bytes of the current body that may be copied."""
        self.copied = 0
        self.is_asked = False
        """True if the request is complete."""
        self.is_cut = False
        self.is_stream = False


class Log:
    """Sends exchanges to the writer. Its methods never fail or wait: data that cannot be sent is dropped and
    counted."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._transport: asyncio.WriteTransport | None = None
        self._notices: _Notices | None = None
        self._copies: dict[int, _Copy] = {}
        self._total = 0
        self._count = 0
        self._process = 0
        self._is_ending = False
        self._has_ended = False
        self.written = 0
        """The number of exchanges that the writer completed. Known only at the end."""
        self.lost = 0
        """The number of exchanges or records that are missing. Those that the writer lost are included only at the
        end."""

    def start(self, descriptor: int) -> tuple[int, int]:
        """Start the writer process. Call this before any thread is started.

        Return the descriptors for `connect`."""
        frames, to_writer = os.pipe()
        from_writer, notices = os.pipe()
        self._process = os.fork()
        if not self._process:
            code = 1
            try:
                os.close(to_writer)
                os.close(from_writer)
                writer.run(frames, descriptor, notices, secrets.token_hex(3))
                code = 0
            finally:
                os._exit(code)
        os.close(frames)
        os.close(notices)
        return to_writer, from_writer

    async def connect(self, to_writer: int, from_writer: int) -> None:
        """Connect to the writer."""
        loop = asyncio.get_running_loop()
        notices = self._notices = _Notices(self._take_notice)
        self._transport, _ = await loop.connect_write_pipe(
            lambda: _Pipe(self._writer_ended), os.fdopen(to_writer, "wb", 0)
        )
        await loop.connect_read_pipe(lambda: notices, os.fdopen(from_writer, "rb", 0))

    async def close(self) -> None:
        """Wait for the writer to finish, but kill it after `PATIENCE`. Report a failure."""
        self._is_ending = True
        if self._transport is None or self._notices is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._notices.closed.wait()
        except TimeoutError:
            os.kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        if status:
            self._say_that_it_ended()

    # One exchange.

    def begin(self, api: Api, codings: str) -> int:
        """Begin an exchange and return its number."""
        self._count += 1
        self._copies[self._count] = _Copy()
        self._send(FrameKind.BEGIN, self._count, Facts(api=api.name, codings=codings))
        return self._count

    def add_request(self, number: int, data: bytes) -> None:
        """Copy bytes of the request body."""
        self._copy_body(FrameKind.REQUEST, number, data)

    def end_request(self, number: int) -> None:
        """Log the end of the request, unless it has been logged already."""
        copy = self._copies.get(number)
        if copy is not None and not copy.is_asked:
            self._end_request(number, copy, is_cut=copy.is_cut)

    def _end_request(self, number: int, copy: _Copy, *, is_cut: bool) -> None:
        self._send(FrameKind.REQUEST_END, number, Facts(is_cut=is_cut))
        self._total -= copy.copied
        copy.room, copy.copied, copy.is_cut, copy.is_asked = LARGEST_BODY, 0, False, True

    def begin_answer(self, number: int, status: int, content_type: str, codings: str) -> None:
        """Log the head of the answer. If the request is incomplete, log it without its body first."""
        copy = self._copies.get(number)
        if copy is not None:
            if not copy.is_asked:  # an answer to an incomplete request
                self._end_request(number, copy, is_cut=True)
            copy.is_stream = content_type.partition(";")[0].strip().lower() in STREAMS
            self._send(
                FrameKind.ANSWER, number, Facts(status=status, content_type=content_type[:200], codings=codings[:200])
            )

    def add_answer(self, number: int, data: bytes) -> None:
        """Copy bytes of the answer body."""
        self._copy_body(FrameKind.BODY, number, data)

    def end(self, number: int, outcome: str = "") -> None:
        """Log the end of the exchange. If the exchange ended early, `outcome` names the side that ended it."""
        copy = self._copies.pop(number, None)
        if copy is not None:
            if not copy.is_asked:
                self._end_request(number, copy, is_cut=True)
            self._total -= copy.copied
            self._send(FrameKind.END, number, Facts(outcome=outcome))

    def _copy_body(self, kind: FrameKind, number: int, data: bytes) -> None:
        copy = self._copies.get(number)
        if copy is None or copy.is_cut or not data or (copy.is_asked and kind is FrameKind.REQUEST):
            return
        if not copy.is_stream:
            copy.room -= len(data)
            copy.copied += len(data)
            self._total += len(data)
            if copy.room < 0 or self._total > MOST_COPIED:
                copy.is_cut = True
                if kind is FrameKind.BODY:
                    self._send(FrameKind.CUT, number)
                return
        if self._transport is not None and self._transport.get_write_buffer_size() + len(data) > MOST_WAITING:
            copy.is_cut = True
            if not self.lost:
                self._report("the log is incomplete: it cannot be written fast enough; requests are still forwarded")
            self.lost += 1
            if kind is FrameKind.BODY:
                self._send(FrameKind.CUT, number)
            return
        self._send(kind, number, data)

    def _send(self, kind: FrameKind, number: int, data: bytes | Facts = b"") -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(encoded(kind, number, time.time_ns() // 1_000_000, data))

    # The writer.

    def _writer_ended(self) -> None:
        if not self._is_ending:
            self._say_that_it_ended()

    def _say_that_it_ended(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._report("logging has stopped because the log writer exited; requests are still forwarded")
            self.lost += 1

    def _take_notice(self, line: str) -> None:
        if line.startswith("\0"):
            written, lost = line[1:].split(" ")
            self.written, self.lost = int(written), self.lost + int(lost)
        else:
            self._report(line)


class _Pipe(asyncio.BaseProtocol):
    """The pipe to the writer."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def connection_lost(self, error: Exception | None) -> None:
        self._ended()


class _Notices(asyncio.Protocol):
    """The pipe from the writer. It closes when the writer ends."""

    def __init__(self, take: Callable[[str], None]) -> None:
        self.closed = asyncio.Event()
        self._take = take
        self._rest = ""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
        for line in lines:
            self._take(line)

    def connection_lost(self, error: Exception | None) -> None:
        self.closed.set()
