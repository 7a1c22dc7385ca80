"""Dialer: opens connections to the server, using the addresses that its name resolved to recently."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress

from viewer.tap.address import Upstream

FRESH_SECONDS = 60.0
"""The number of seconds for which the addresses of a name are used before it is looked up again."""
CONNECT_SECONDS = 30.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class OwnAddressError(OSError):
    """The server is the proxy itself."""


class Dialer:
    """Connects to the server. Its addresses are cached, because a lookup needs a thread and would delay each new
    connection."""

    def __init__(self, tls: ssl.SSLContext | None, limit: int, is_own: Callable[[str, int], bool]) -> None:
        """`is_own` returns True for an address of the proxy, to which the dialer never connects."""
        self._tls = tls
        self._limit = limit
        self._is_own = is_own
        self._upstream: Upstream | None = None
        self.addresses: list[tuple[str, int]] = []
        """The addresses of the server, beginning with the most recent one to answer."""
        self._looked_up_at = 0.0

    async def dial(self, upstream: Upstream) -> Connection:
        """Connect to the server. Raise OSError, UnicodeError, or TimeoutError if that is impossible."""
        async with asyncio.timeout(CONNECT_SECONDS):
            if upstream != self._upstream or time.monotonic() - self._looked_up_at > FRESH_SECONDS:
                await self._look_up(upstream)
                return await self._connect(upstream)
            try:
                return await self._connect(upstream)
            except OwnAddressError:
                raise
            except OSError:  # the name may have other addresses by now
                await self._look_up(upstream)
                return await self._connect(upstream)

    async def reaches_proxy(self, upstream: Upstream) -> bool:
        """True if the server is the proxy itself. A name that has no address now may get one later."""
        with suppress(OSError, UnicodeError):
            await self._look_up(upstream)
        return any(self._is_own(*address) for address in self.addresses)

    async def _look_up(self, upstream: Upstream) -> None:
        found = await asyncio.get_running_loop().getaddrinfo(upstream.host, upstream.port, type=socket.SOCK_STREAM)
        known = {(str(each[4][0]), int(each[4][1])): None for each in found}
        last = self.addresses[:1]
        self.addresses = sorted(known, key=lambda address: address not in last)
        self._upstream, self._looked_up_at = upstream, time.monotonic()

    async def _connect(self, upstream: Upstream) -> Connection:
        """Connect to the first address that answers. If none does, raise the error of the first one. Raise
        `OwnAddressError` at an address of the proxy."""
        fault: OSError | None = None
        for address in [*self.addresses]:
            if self._is_own(*address):
                raise OwnAddressError
            try:
                opened = await asyncio.open_connection(
                    *address,
                    ssl=self._tls,
                    server_hostname=upstream.host if self._tls else None,
                    limit=self._limit,
                )
            except OSError as error:
                fault = fault or error
                continue
            self.addresses.sort(key=lambda each: each != address)
            return opened
        raise fault or OSError("the name has no address")
