"""The guard of the served view: checks every request first, by host, origin, one-time token, and cookie."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

_BYTES = 24
"""The number of random bytes in a token and in a cookie."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SOCKET = "/ws"


class Verdict(Enum):
    """The decision about a request. The value of a refusal is its line in the log."""

    ENTER = "a link was used"
    """The token is valid: the response sets a cookie and redirects to the page."""
    PASS = "passed"
    HOST = "refused: another host"
    ORIGIN = "refused: another origin"
    NO_ORIGIN = "refused: a socket without an origin"
    TOKEN = "refused: a link that is invalid or already used"
    COOKIE = "refused: no cookie"

    @property
    def is_refused(self) -> bool:
        """True if the response is 403."""
        return self not in (Verdict.ENTER, Verdict.PASS)


class Asked(Struct, frozen=True):
    """The facts about a request that the guard checks."""

    path: str
    host: str | None = None
    origin: str | None = None
    token: str | None = None
    cookie: str | None = None


class Guard:
    """Owns the token and the cookies of one server."""

    def __init__(self, port: int, more_hosts: Sequence[str] = ()) -> None:
        names = [*(f"{name}:{port}" for name in LOOPBACK), *(_with_port(name, port) for name in more_hosts)]
        self.hosts = frozenset(name.lower() for name in names)
        self.cookie_name = f"ocmlview_{port}"
        """The port is part of the name, because browsers share cookies between the ports of a host."""
        self.token = secrets.token_urlsafe(_BYTES)
        """The token of the next link. It is replaced when it is used."""
        self._cookies: set[str] = set()

    def judge(self, asked: Asked) -> Verdict:
        """Decide on a request, in this order: host, origin, token, cookie."""
        if (asked.host or "").lower() not in self.hosts:
            return Verdict.HOST
        if asked.origin is None:
            if asked.path == SOCKET:
                return Verdict.NO_ORIGIN
        elif not asked.origin.startswith("http://") or asked.origin.removeprefix("http://").lower() not in self.hosts:
            return Verdict.ORIGIN
        if asked.path == "/" and asked.token is not None:
            return Verdict.ENTER if _is_same(asked.token, self.token) else Verdict.TOKEN
        found = [known for known in self._cookies if _is_same(asked.cookie or "", known)]  # compare with all of them
        return Verdict.PASS if found else Verdict.COOKIE

    def enter(self) -> str:
        """Consume the token and return the value of a new cookie."""
        self.token = secrets.token_urlsafe(_BYTES)
        cookie = secrets.token_urlsafe(_BYTES)
        self._cookies.add(cookie)
        return cookie


def _is_same(given: str, known: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _with_port(name: str, port: int) -> str:
    """Add the port of the server to a name without a port."""
    return name if name.rpartition(":")[2].isdigit() and not name.endswith("]") else f"{name}:{port}"
