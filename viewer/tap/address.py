"""Addresses of the proxy: the server it forwards to, where it listens, and which `Host` values it accepts."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from viewer.errors import ViewerError

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")
_PATH = re.compile(r"[!-~]*")
DEFAULT_LISTEN = "127.0.0.1:8899"


class Upstream(Struct, frozen=True):
    """The server to which requests are forwarded."""

    host: str
    port: int
    is_tls: bool
    path: str
    """The prefix of all paths, without a trailing slash."""

    @property
    def authority(self) -> str:
        """The value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.is_tls else "http"] else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """The URL to display, without its path, which may contain a key."""
        return f"{'https' if self.is_tls else 'http'}://{self.authority}"


class Listen(Struct, frozen=True):
    """The address and port where the proxy listens."""

    host: str
    port: int

    @property
    def shown(self) -> str:
        """The address as written in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_upstream(url: str) -> Upstream:
    """Parse the URL given by `--to`. Errors never repeat the URL, because it may contain a key."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ViewerError("--to is not a URL; write http://HOST:PORT or https://HOST") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ViewerError("--to is not a URL; write http://HOST:PORT or https://HOST")
    if "@" in parts.netloc:
        raise ViewerError("--to must not contain a user name or password; clients send their own keys")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ViewerError("--to must not contain a query string; clients send their own")
    host = unquote(parts.hostname)
    if _address(host) is None and not _NAME.fullmatch(host):
        raise ViewerError("--to has a host name that is not ASCII letters, digits, dots, and hyphens")
    if not _PATH.fullmatch(parts.path):
        raise ViewerError("--to has a path with spaces or characters outside ASCII; percent-encode them")
    return Upstream(
        host, _PORTS[parts.scheme] if port is None else port, parts.scheme == "https", parts.path.rstrip("/")
    )


def parse_listen(text: str, *, exposed: bool) -> Listen:
    """Parse the address given by `--listen`. Only `exposed` allows other computers to connect."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port[:6]) > 65535:
        raise ViewerError(f"--listen needs an address and a port, such as {DEFAULT_LISTEN}")
    if host == "localhost":
        host = "127.0.0.1"
    address = _address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    if address is None:
        raise ViewerError(f"--listen needs an IP address and a port, such as {DEFAULT_LISTEN}")
    if not address.is_loopback and not exposed:
        raise ViewerError("--listen is not a loopback address; add --expose if other computers may send requests")
    return Listen(str(address), int(port))


def is_known_host(value: bytes, allowed: frozenset[str]) -> bool:
    """True if a `Host` value is an IP address, localhost, or an allowed name.

    A page from another site can reach the proxy only under that site's name (DNS rebinding)."""
    text = value.decode("latin-1").strip().lower()
    host = re.sub(r":[0-9]{1,5}\Z", "", text)
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    return bare == "localhost" or bare in allowed or _address(bare) is not None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
