"""A server of the served view in this process, and a page that communicates with it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType

from tests.support.live_program import LONGEST_WAIT
from viewer.serve.child import Child, Sent
from viewer.serve.server import ServeOptions, Server, listen


@dataclass
class Serving:
    """A running server, and what it printed."""

    server: Server
    base: str
    lines: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def page(self, *, enters: bool = True) -> AsyncIterator[ClientSession]:
        """Open a browser. It uses the link, unless `enters` is False."""
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:
            if enters:
                async with client.get(self.server.link) as answer:
                    assert answer.status == 200
            yield client

    @asynccontextmanager
    async def socket(self, client: ClientSession, query: str = "") -> AsyncIterator[ClientWebSocketResponse]:
        address = f"{self.base}/ws?width=100&height=30{query}".replace("http", "ws", 1)
        async with client.ws_connect(address, headers={"Origin": self.base}) as opened:
            yield opened


@asynccontextmanager
async def serving(*paths: str | Path, **more: Any) -> AsyncIterator[Serving]:
    """Serve these files until the end of the block."""
    listener = listen("127.0.0.1", 0)
    port, ended = listener.getsockname()[1], asyncio.Event()
    lines: list[str] = []
    links: list[str] = []
    options = ServeOptions(tuple(map(str, paths)), **more)
    server = Server(options, port, log=lines.append, tell=links.append)
    running = asyncio.ensure_future(server.run(listener, ended))
    try:
        yield Serving(server, f"http://127.0.0.1:{port}", lines, links)
    finally:
        ended.set()
        await running
        listener.close()


async def received(
    socket: ClientWebSocketResponse, wanted: Callable[[bytes, list[Any]], bool], texts: list[Any] | None = None
) -> bytes:
    """Read until the binary and text messages received so far satisfy `wanted`, or until the socket is closed."""
    data, texts = b"", [] if texts is None else texts
    while not wanted(data, texts):
        message = await asyncio.wait_for(socket.receive(), LONGEST_WAIT)
        if message.type is WSMsgType.BINARY:
            data += message.data
        elif message.type is WSMsgType.TEXT:
            texts.append(message.json())
        else:
            break
    return data


class Apart:
    """One session without a server: packets as a page sends them, and the output."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.data = bytearray()
        self.places: list[tuple[str, int]] = []
        self.is_over = False
        self.rows = 30
        self._grew = asyncio.Event()
        self._before = {name: os.environ.get(name) for name in environment}
        self._environment = environment
        self.child = Child(arguments, Sent(self._write, self._place, self._close))

    async def start(self) -> None:
        """Start the session and wait until it shows a message, a line for hidden ones, or the list of files."""
        os.environ.update(self._environment)
        await self.child.start(100, self.rows)
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        signs = b"all files", b"hidden message"
        await self.until(lambda: any(sign in self.data for sign in signs) or any(number for _, number in self.places))

    async def settled(self) -> None:
        """Wait until all packets sent so far have been handled. To see this, make the screen taller than ever
        before."""
        self.rows += 1
        row = b"\x1b[%d;1H" % self.rows
        await self.child.hear(json.dumps(["resize", {"width": 100, "height": self.rows}]))
        await self.until(lambda: row in self.data)

    async def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until this is true, or until the child ends."""
        async with asyncio.timeout(LONGEST_WAIT):
            while not is_done() and not self.is_over:
                self._grew.clear()
                await self._grew.wait()

    async def _write(self, data: bytes) -> None:
        self.data += data
        self._grew.set()

    async def _place(self, name: str, message: int) -> None:
        self.places.append((name, message))
        self._grew.set()

    async def _close(self) -> None:
        self.is_over = True
        self._grew.set()
