"""Dialer: a name is looked up once, again when its addresses do not answer, and the proxy never calls itself."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from viewer.tap import dialer
from viewer.tap.address import Upstream
from viewer.tap.dialer import Dialer, OwnAddressError


@asynccontextmanager
async def server() -> AsyncIterator[int]:
    """Run a server that accepts connections on a port."""
    listening = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


def name_with(monkeypatch: pytest.MonkeyPatch, *lookups: list[int]) -> list[str]:
    """Make names resolve to these ports of 127.0.0.1, one list per lookup. Return the names that are looked up."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **more: Any) -> list[Any]:
        if host == "127.0.0.1":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        asked.append(host)
        ports = lookups[min(len(asked), len(lookups)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", each)) for each in ports]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    return asked


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_a_name_is_looked_up_once_a_minute_and_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(dialer, "time", type("Clock", (), {"monotonic": staticmethod(lambda: now)}))
    closed = closed_port()
    async with server() as first, server() as second:
        asked = name_with(monkeypatch, [closed, first], [second])
        dialing, upstream = Dialer(None, 1024, lambda host, port: False), Upstream("name.test", 80, False, "")

        async def port_of_next() -> int:
            _, writer = await dialing.dial(upstream)
            port: int = writer.get_extra_info("peername")[1]
            writer.close()
            return port

        assert [await port_of_next() for _ in range(3)] == [first] * 3
        assert asked == ["name.test"] and dialing.addresses[0] == ("127.0.0.1", first)
        now += dialer.FRESH_SECONDS + 1
        assert await port_of_next() == second
        assert len(asked) == 2
    with pytest.raises(OSError):
        await dialing.dial(upstream)
    assert len(asked) == 3


async def test_the_proxy_is_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    name_with(monkeypatch, [4711])
    called: list[int] = []
    monkeypatch.setattr(asyncio, "open_connection", called.append)
    dialing, upstream = Dialer(None, 1024, lambda host, port: port == 4711), Upstream("name.test", 80, False, "")
    assert await dialing.reaches_proxy(upstream)
    with pytest.raises(OwnAddressError):
        await dialing.dial(upstream)
    assert called == []
