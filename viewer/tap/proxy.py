"""The proxy: relays the bytes of each connection unchanged, apart from `Host` and the base path, and logs a copy."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections import deque
from contextlib import suppress

from msgspec import Struct

from viewer.tap.address import Listen, Upstream, is_known_host
from viewer.tap.apis import api_of
from viewer.tap.dialer import Dialer, OwnAddressError
from viewer.tap.http import SWITCHING, Head, MalformedError, Messages, Part
from viewer.tap.log import Log

SLICE = 64 * 1024
"""The maximum number of bytes that a relay passes on in one step."""
LINGER_SECONDS = 2.0
"""Seconds to keep reading from a client after the server has closed the connection, so that a reset does not destroy
the last answer."""
_SENTENCES = {
    400: ("Bad Request", "This is not an HTTP/1.1 request that ocmlview tap can forward."),
    403: ("Forbidden", "The name in Host is not known to ocmlview tap; add --allow-host NAME."),
    502: ("Bad Gateway", "ocmlview tap cannot reach the server."),
    504: ("Gateway Timeout", "ocmlview tap cannot reach the server: it does not answer."),
    508: ("Loop Detected", "ocmlview tap would forward this request to itself."),
}


class _Refused(Exception):  # noqa: N818
    """A request that the proxy answers itself before it ends the connection."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Pending(Struct):
    """A request that has no complete answer yet."""

    method: str
    number: int | None
    """The number of the exchange in the log; None if it is not logged."""


class Proxy:
    """Accepts connections and relays each to the server."""

    def __init__(self, upstream: Upstream, hosts: frozenset[str], log: Log | None) -> None:
        self.upstream = upstream
        self.hosts = hosts
        self.log = log
        tls = ssl.create_default_context() if upstream.is_tls else None
        self.dialer = Dialer(tls, SLICE, self.is_own)
        self._server: asyncio.Server | None = None
        self._relays: set[asyncio.Task[None]] = set()

    async def start(self, listen: Listen) -> Listen:
        """Start listening, and return the address with the port in use."""
        self._server = await asyncio.start_server(self._accept, listen.host, listen.port, limit=SLICE)
        return Listen(listen.host, self._server.sockets[0].getsockname()[1])

    def is_own(self, host: str, port: int) -> bool:
        """True if this proxy listens at the address."""
        assert self._server is not None
        for each in self._server.sockets:
            own, own_port = each.getsockname()[:2]
            if port == own_port and (own == host or (own in ("0.0.0.0", "::") and _is_local(host))):
                return True
        return False

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._relays:
            task.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        try:
            await _Relay(self, reader, writer).run()
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._relays.discard(task)


class _Relay:
    """A client's connection and its matching connection to the server."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._log = proxy.log
        self._client = reader
        self._to_client = writer
        self._to_server: asyncio.StreamWriter | None = None
        self._answers_task: asyncio.Task[None] | None = None
        self._requests = Messages()
        self._answers = Messages(self._next_method)
        self._pending: deque[_Pending] = deque()
        self._sending: int | None = None
        """The number of the exchange whose request is being received, or None if there is none or it is not logged."""
        self._is_readable = True
        """True as long as the answers are HTTP/1.1 and can be logged."""
        self._has_client_left = False
        self._is_refusing = False
        """True once a request is refused: the answers to earlier requests are passed on, and nothing after them."""
        self._may_answer = False
        """True if these answers are complete, so that the answer to the refused request may follow."""

    async def run(self) -> None:
        """Relay until either side ends the connection."""
        try:
            await self._relay_requests()
            if self._answers_task is not None:
                await self._answers_task
        except _Refused as refused:
            await self._answer_here(refused.status)
        except (OSError, asyncio.IncompleteReadError):
            self._has_client_left = True
        finally:
            if self._answers_task is not None:
                self._answers_task.cancel()
            self._end_exchanges("client" if self._has_client_left else "server")
            for writer in (self._to_server, self._to_client):
                if writer is not None:
                    writer.close()

    # Requests.

    async def _relay_requests(self) -> None:
        while data := await self._client.read(SLICE):
            if self._is_server_gone:
                continue  # the answer is on its way, and a reset would destroy it
            await self._pass_on(data)
        self._has_client_left = True
        if self._to_server is None or self._is_server_gone:
            return
        if self._pending and self._to_server.can_write_eof():
            with suppress(OSError):
                self._to_server.write_eof()
        else:
            self._to_server.close()

    @property
    def _is_server_gone(self) -> bool:
        return self._answers_task is not None and self._answers_task.done()

    async def _pass_on(self, data: bytes) -> None:
        """Send the client's next bytes to the server and copy them to the log. Raise `_Refused` at a request that is
        not forwarded."""
        made = bytearray()
        passed: list[Part] = []
        fault: _Refused | None = None
        try:
            for part in self._requests.feed(data):
                if part.head is not None:
                    await self._connect(part.head)
                    made += self._rewritten(part.head)
                else:
                    made += part.raw
                passed.append(part)
        except MalformedError:
            fault = _Refused(400)
        except _Refused as refused:
            fault = refused
        if made and self._to_server is not None:
            self._to_server.write(made)
            for part in passed:  # meanwhile, the server is working on the answer
                self._copy_request(part)
            try:
                await self._to_server.drain()
            except OSError:  # the server has closed; its answer may still be on the way
                if self._answers_task is not None:
                    await self._answers_task
        if fault is not None:
            raise fault

    async def _connect(self, head: Head) -> None:
        """Check a request, and connect to the server if there is no connection yet. Raise `_Refused` if either
        fails."""
        hosts = head.values("host")
        if any(not is_known_host(host, self._proxy.hosts) for host in hosts):
            raise _Refused(403)
        if not head.target.startswith("/") and not (head.target == "*" and head.method == "OPTIONS"):
            raise _Refused(400)
        if self._to_server is not None:
            return
        try:
            reader, self._to_server = await self._proxy.dialer.dial(self._proxy.upstream)
        except OwnAddressError:
            raise _Refused(508) from None
        except TimeoutError:
            raise _Refused(504) from None
        except (OSError, UnicodeError):
            raise _Refused(502) from None
        self._answers_task = asyncio.create_task(self._relay_answers(reader))

    def _rewritten(self, head: Head) -> bytes:
        """Return the bytes of a head with the server's name and base path."""
        upstream = self._proxy.upstream
        raw = head.with_value("host", upstream.authority.encode("ascii"))
        if upstream.path and head.target.startswith("/"):
            at = len(head.method) + 1
            raw = raw[:at] + upstream.path.encode("ascii") + raw[at:]
        return raw

    def _note_request(self, head: Head) -> None:
        api = api_of(head.method, head.target) if self._log is not None else None
        number = None
        if api is not None and self._log is not None and self._is_readable:
            number = self._log.begin(api, _joined(head, "content-encoding"))
        self._pending.append(_Pending(head.method, number))
        self._sending = number

    def _copy_request(self, part: Part) -> None:
        if part.head is not None:
            self._note_request(part.head)
        if self._sending is None or self._log is None:
            return
        if part.body:
            self._log.add_request(self._sending, part.body)
        if part.is_end:
            self._log.end_request(self._sending)
            self._sending = None

    async def _answer_here(self, status: int) -> None:
        """Answer a refused request. If earlier requests are still unanswered, wait briefly for their answers, and
        give up if these do not arrive."""
        if self._pending and self._answers_task is not None:
            self._is_refusing = True
            if self._to_server is not None and self._to_server.can_write_eof():
                with suppress(OSError):
                    self._to_server.write_eof()
            await asyncio.wait([self._answers_task], timeout=LINGER_SECONDS)
            if not self._may_answer:
                return
        reason, sentence = _SENTENCES[status]
        text = f"{sentence}\n".encode()
        fields = ("Content-Type: text/plain", f"Content-Length: {len(text)}", "Connection: close", "", "")
        head = "\r\n".join((f"HTTP/1.1 {status} {reason}", *fields))
        with suppress(OSError):
            self._to_client.write(head.encode() + text)
            await self._to_client.drain()
            await self._linger()

    # Answers.

    async def _relay_answers(self, reader: asyncio.StreamReader) -> None:
        try:
            while data := await reader.read(SLICE):
                self._to_client.write(data)
                self._copy_answers(data)
                await self._to_client.drain()
                if self._is_refusing and self._is_readable and not self._pending:
                    self._may_answer = True
                    return
        except OSError:
            # Just as it would without the proxy, the client sees a broken connection, not a normal end.
            self._end_exchanges("client" if self._to_client.is_closing() else "server")
            reset(self._to_client)
            return
        end = self._answers.close() if self._is_readable else None
        if end is not None:
            self._copy_part(end)
        self._end_exchanges("client" if self._has_client_left else "server")
        with suppress(OSError):
            await self._to_client.drain()
            if self._to_client.can_write_eof():
                self._to_client.write_eof()
        if not self._has_client_left:
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self._to_client.close)

    async def _linger(self) -> None:
        """Let the client read an answer before the connection closes."""
        if self._to_client.can_write_eof():
            self._to_client.write_eof()
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while await self._client.read(SLICE):
                    pass

    def _next_method(self) -> str:
        return self._pending[0].method if self._pending else ""

    def _copy_answers(self, data: bytes) -> None:
        if not self._is_readable:
            return
        try:
            for part in self._answers.feed(data):
                self._copy_part(part)
        except MalformedError:
            self._is_readable = False
            self._end_exchanges("server")

    def _copy_part(self, part: Part) -> None:
        head = part.head
        if head is not None and head.status == SWITCHING:
            self._requests.make_opaque()
            self._is_readable = False
            self._end_exchanges("server")
            return
        if not self._pending or (head is not None and head.status < 200):
            return
        number = self._pending[0].number
        if number is not None and self._log is not None:
            if head is not None:
                kind = _joined(head, "content-type")
                self._log.begin_answer(number, head.status, kind, _joined(head, "content-encoding"))
            self._log.add_answer(number, part.body)
            if part.is_end:
                self._log.end(number)
        if part.is_end:
            self._pending.popleft()

    def _end_exchanges(self, outcome: str) -> None:
        """End the exchanges without a complete answer."""
        while self._pending:
            number = self._pending.popleft().number
            if number is not None and self._log is not None:
                self._log.end(number, outcome)


def reset(writer: asyncio.StreamWriter) -> None:
    """Abort a connection so that the other side does not mistake this for a normal end."""
    with suppress(OSError):
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _joined(head: Head, name: str) -> str:
    return b",".join(head.values(name)).decode("latin-1")


def _is_local(host: str) -> bool:
    """True if an address belongs to this computer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True
