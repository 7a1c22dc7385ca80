"""The proxy passes every byte on, whatever the two sides do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from tests.support.exchanges import play
from viewer.errors import ViewerError
from viewer.tap.address import Listen, Upstream, is_known_host, parse_listen, parse_upstream
from viewer.tap.proxy import Proxy, reset

pytestmark = pytest.mark.slow

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def through(serve: Serve, path: str = "") -> tuple[Proxy, asyncio.StreamReader, asyncio.StreamWriter]:
    """Start a proxy to a server and connect to it."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy = Proxy(Upstream("127.0.0.1", server.sockets[0].getsockname()[1], False, path), frozenset(), None)
    listen = await proxy.start(Listen("127.0.0.1", 0))
    return proxy, *await asyncio.open_connection(listen.host, listen.port)


async def test_random_exchanges_are_byte_identical() -> None:
    for seed in range(8):
        await play(seed, 10)


@pytest.mark.lab
async def test_a_thousand_random_exchanges_are_byte_identical() -> None:
    for seed in range(100, 200):
        await play(seed, 10)


async def _relay_large(size: int) -> None:
    block = random.Random(1).randbytes(1 << 20)
    sums: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        sums.extend([hash(await reader.readexactly(len(block))) for _ in range(size)])
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size * len(block)}\r\n\r\n".encode())
        for _ in range(size):
            writer.write(block)
            await writer.drain()

    proxy, reader, writer = await through(serve)
    writer.write(
        f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size * len(block)}\r\n\r\n".encode()
    )
    for _ in range(size):
        writer.write(block)
        await writer.drain()
    await reader.readuntil(b"\r\n\r\n")
    for _ in range(size):
        assert await reader.readexactly(len(block)) == block
    assert sums == [hash(block)] * size
    writer.close()
    await proxy.close()


async def test_a_large_body_passes() -> None:
    await _relay_large(8)


@pytest.mark.lab
async def test_a_body_of_100_mb_passes() -> None:
    await _relay_large(100)


async def test_each_ending_of_one_side_reaches_the_other() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        writer.close()

    proxy, reader, writer = await through(hang_up)
    writer.write(GET)
    assert (await reader.read()).endswith(b"half")
    await proxy.close()

    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        await writer.drain()
        await reader.readexactly(1)
        reset(writer)

    proxy, reader, writer = await through(break_off)
    writer.write(GET)
    await reader.readuntil(b"half")
    writer.write(GET)
    with pytest.raises(ConnectionResetError):  # not a normal end, which would make the body look complete
        await reader.readexactly(1)
    await proxy.close()

    left = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        left.set()

    proxy, reader, writer = await through(wait)
    writer.write(GET)
    await writer.drain()
    writer.close()
    await left.wait()
    await proxy.close()


async def test_an_early_answer_arrives_while_the_request_is_sent() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        writer.close()

    proxy, reader, writer = await through(refuse)
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n" + b"a" * 100_000)
    assert (await reader.read()).endswith(b"\r\n\r\nno")
    await proxy.close()


async def test_an_upgraded_connection_passes_bytes_of_any_kind() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
        writer.write(await reader.readexactly(4))

    proxy, reader, writer = await through(echo)
    writer.write(GET.replace(b"\r\n\r\n", b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"))
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"\x81\0\r\n")
    assert await reader.readexactly(4) == b"\x81\0\r\n"
    await proxy.close()


async def test_a_base_path_is_put_in_front() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(line) + line)

    proxy, reader, writer = await through(echo, "/api/v1")
    writer.write(GET.replace(b" / ", b" /chat?x=/ "))
    await reader.readuntil(b"\r\n\r\n")
    assert await reader.readline() == b"GET /api/v1/chat?x=/ HTTP/1.1\r\n"
    await proxy.close()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (GET.replace(b"localhost", b"attacker.example"), 403),
        (GET.replace(b" / ", b" http://other.example/ "), 400),
        (b"CONNECT other.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"\x16\x03\x01\n\n", 400),
        (GET, 502),
    ],
)
async def test_some_requests_are_refused(request_: bytes, status: int) -> None:
    probe = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = probe.sockets[0].getsockname()[1]
    probe.close()
    proxy = Proxy(Upstream("127.0.0.1", port, False, ""), frozenset(), None)
    listen = await proxy.start(Listen("127.0.0.1", 0))
    reader, writer = await asyncio.open_connection(listen.host, listen.port)
    writer.write(request_)
    writer.write_eof()
    assert (await reader.read()).startswith(f"HTTP/1.1 {status} ".encode())
    writer.close()
    await proxy.close()
    if status != 502:
        await assert_refused_after_the_answer_to_an_earlier_request(request_, status)


async def assert_refused_after_the_answer_to_an_earlier_request(request_: bytes, status: int) -> None:
    for head, may_follow in ((b"Content-Length: 2\r\n", True), (b"", False)):

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes = head) -> None:
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.read() == b""
            writer.write(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nhi")
            writer.close()

        proxy, reader, writer = await through(answer)
        writer.write(GET + request_)
        first, _, rest = (await reader.read()).partition(b"\r\n\r\n")
        assert first.startswith(b"HTTP/1.1 200 OK")
        assert rest[2:].startswith(f"HTTP/1.1 {status} ".encode()) if may_follow else rest == b"hi"
        writer.close()
        await proxy.close()


async def test_a_proxy_does_not_call_itself() -> None:
    proxy = Proxy(Upstream("127.0.0.1", 1, False, ""), frozenset(), None)
    listen = await proxy.start(Listen("127.0.0.1", 0))
    assert proxy.is_own("127.0.0.1", listen.port)
    assert not proxy.is_own("127.0.0.1", listen.port + 1)
    proxy.upstream = Upstream("localhost", listen.port, False, "")
    reader, writer = await asyncio.open_connection(listen.host, listen.port)
    writer.write(GET)
    writer.write_eof()
    assert (await reader.read()).startswith(b"HTTP/1.1 508 ")
    writer.close()
    await proxy.close()


def test_addresses() -> None:
    assert parse_upstream("https://API.example:443/v1/") == Upstream("api.example", 443, True, "/v1")
    assert parse_upstream("http://[::1]:80").authority == "[::1]"
    assert parse_listen("localhost:0", exposed=False) == Listen("127.0.0.1", 0)
    assert parse_listen("[::1]:80", exposed=False).shown == "[::1]:80"
    assert parse_listen("0.0.0.0:80", exposed=True).host == "0.0.0.0"
    urls = ("ftp://a", "a:80", "http://u:SECRET@h", "http://h/?k=SECRET", "http://h:x", "http://h/a b", "http://é")
    for url in urls:
        refused(partial(parse_upstream, url))
    for text in ("0.0.0.0:80", "10.0.0.1:1", "80", "127.0.0.1:", "127.0.0.1:99999", "host:80"):
        refused(partial(parse_listen, text, exposed=False))
    known = [b"localhost", b"LOCALHOST:80", b"127.0.0.1:1", b"[::1]:5", b"10.0.0.5", b"Name:9"]
    assert all(is_known_host(host, frozenset({"name"})) for host in known)
    assert not any(is_known_host(host, frozenset()) for host in (b"a.example", b"localhost.example", b"name", b""))


def refused(act: Callable[[], Any]) -> None:
    with pytest.raises(ViewerError) as caught:
        act()
    assert "SECRET" not in str(caught.value)
