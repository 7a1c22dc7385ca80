"""Random HTTP exchanges, a server that plays them, and a client that compares the bytes."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from dataclasses import dataclass

from viewer.tap.address import Listen, Upstream
from viewer.tap.log import Log
from viewer.tap.proxy import Proxy

PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat", "/v1/models", "/x?key=SECRET_QUERY")


@dataclass(frozen=True)
class Played:
    """One exchange: what the client sends, and what the server answers."""

    request: bytes
    answer: bytes
    waits: bool = False
    """True if the client sends the body only after `100 Continue`."""


def chunked(rng: random.Random, body: bytes) -> bytes:
    made = bytearray()
    at = 0
    while at < len(body):
        size = rng.choice((1, 7, 100, 5000))
        part = body[at : at + size]
        extension = rng.choice((b"", b";a=b"))
        made += f"{len(part):{rng.choice('xX')}}".encode() + extension + b"\r\n" + part + b"\r\n"
        at += size
    return bytes(made) + b"0\r\n" + rng.choice((b"", b"X-Trailer: 1\r\n")) + b"\r\n"


def body_of(rng: random.Random) -> bytes:
    text = "".join(rng.choices('abc {}"\\\n\r\0é😀<|', k=rng.choice((0, 1, 40, 3000))))
    message = {"model": "m", "messages": [{"role": "user", "content": text}], "stream": True}
    streamed = "".join(f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\r\n\r\n" for word in text)
    return rng.choice((text.encode(), json.dumps(message).encode(), streamed.encode(), rng.randbytes(500)))


def exchange(rng: random.Random) -> Played:
    """Return an exchange that keeps the connection open."""
    method = rng.choice(("POST", "POST", "POST", "GET", "HEAD", "PUT"))
    host = rng.choice((b"Host", b"host", b"HOST"))
    lines = [host + b": 127.0.0.1:8899", b"Authorization: Bearer SECRET_KEY", b"Cookie: a=SECRET_COOKIE"]
    body, waits = b"", False
    if method in ("POST", "PUT"):
        body = body_of(rng)
        if rng.random() < 0.4:
            body = chunked(rng, body)
            lines.append(b"Transfer-Encoding: chunked")
        else:
            lines.append(f"Content-Length: {len(body)}".encode())
        waits = rng.random() < 0.1
        if waits:
            lines.append(b"Expect: 100-continue")
    rng.shuffle(lines)
    head = f"{method} {rng.choice(PATHS)} HTTP/1.1\r\n".encode() + b"\r\n".join(lines) + b"\r\n\r\n"
    return Played(head + body, answer(rng, method), waits)


def answer(rng: random.Random, method: str) -> bytes:
    """Return a final answer, possibly after early hints."""
    status = rng.choice((200, 200, 200, 204, 304, 404, 500))
    kinds = (b"application/json", b"text/event-stream; charset=utf-8", b"application/x-ndjson", b"text/plain")
    head = f"HTTP/1.1 {status} Fine\r\nSet-Cookie: SECRET_COOKIE\r\nContent-Type: ".encode() + rng.choice(kinds)
    before = rng.choice((b"", b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"))
    body = body_of(rng)
    if rng.random() < 0.2:
        body = gzip.compress(body)
        head += b"\r\nContent-Encoding: gzip"
    is_empty = method == "HEAD" or status in (204, 304)
    if rng.random() < 0.5:
        head += b"\r\nTransfer-Encoding: chunked"
        body = chunked(rng, body)
    elif status != 204:
        head += f"\r\nContent-Length: {len(body)}".encode()
    return before + head + b"\r\n\r\n" + (b"" if is_empty else body)


def pieces(rng: random.Random, data: bytes) -> list[bytes]:
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 1, 5))))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True) if start < end]


def host_changed(request: bytes, authority: str) -> bytes:
    """Return the request as the server must receive it."""
    head, end, body = request.partition(b"\r\n\r\n")
    return head.replace(b": 127.0.0.1:8899", f": {authority}".encode()) + end + body


async def play(seed: int, count: int, log: Log | None = None) -> None:
    """Play exchanges on one connection through a proxy, with pipelining, and compare every byte."""
    rng = random.Random(seed)
    played = [exchange(rng) for _ in range(count)]
    received = bytearray()
    authority = ""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wanted = 0
        for each in played:
            whole = host_changed(each.request, authority)
            head = wanted + whole.index(b"\r\n\r\n") + 4
            wanted += len(whole)
            while len(received) < head:
                received.extend(await reader.read(65536))
            if each.waits:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            while len(received) < wanted:
                received.extend(await reader.read(65536))
            for piece in pieces(rng, each.answer):
                writer.write(piece)
                await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    authority = f"127.0.0.1:{port}"
    proxy = Proxy(Upstream("127.0.0.1", port, False, ""), frozenset(), log)
    listen = await proxy.start(Listen("127.0.0.1", 0))
    reader, writer = await asyncio.open_connection(listen.host, listen.port)
    expected = b""
    for index, each in enumerate(played):
        head, end, body = each.request.partition(b"\r\n\r\n")
        parts = pieces(rng, each.request)
        if each.waits:
            expected += b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(head + end)
            answers = expected
            assert await reader.readexactly(len(answers)) == answers, index
            expected, parts = b"", [body]
        for piece in parts:
            writer.write(piece)
            await asyncio.sleep(0)
        expected += each.answer
        if rng.random() < 0.6:  # otherwise, the next request comes before this answer
            assert await reader.readexactly(len(expected)) == expected, index
            expected = b""
    assert await reader.readexactly(len(expected)) == expected
    assert await reader.read() == b""
    assert bytes(received) == b"".join(host_changed(each.request, authority) for each in played)
    writer.close()
    await proxy.close()
    server.close()
