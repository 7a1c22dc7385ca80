"""Limits for decompressed bytes, and for spooled bytes of an input that cannot be read twice."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.errors import ViewerError

KB, MB, GB = 1024, 1024**2, 1024**3
_UNITS = (("GB", GB), ("MB", MB), ("KB", KB))
_SIZE = lazy_regex(r"([0-9]{1,15}(?:\.[0-9]{1,3})?) ?(KB|MB|GB|B|bytes?)?", re.IGNORECASE)
_LARGEST = 2**50


class Limits(Struct, frozen=True, gc=False):
    """Two limits in bytes, which the settings file can change."""

    max_decompressed: int = 2 * GB
    max_spool: int = 4 * GB


_load: Callable[[], Limits] = Limits


def limits() -> Limits:
    """Return the current limits. Only spooled inputs call this, so other inputs never wait for the settings."""
    return _load()


def load_limits_with(load: Callable[[], Limits]) -> None:
    """Set the function that loads the limits."""
    global _load
    _load = load


def parse_size(text: str) -> int | None:
    """Return the number of bytes in `4 GB`, `1.5 MB`, or `4096`, or None if the text is not a size."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    size = int(float(found[1]) * dict(_UNITS).get((found[2] or "").upper(), 1))
    return size if 1 <= size <= _LARGEST else None


def size_text(size: int) -> str:
    """Format a number of bytes in the largest unit that divides it evenly: `4 GB`, `1536 MB`, `1 byte`."""
    for unit, factor in _UNITS:
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} byte{'' if size == 1 else 's'}"


def spool_stopped(name: str, size: int) -> str:
    """Return the error text for an input that reaches `max_spool`."""
    return f"stopped after {size_text(size)}: {name} cannot be read twice; raise max_spool to continue"


class SpoolError(ViewerError):
    """An input that can be read only once cannot be kept: the spool has reached its limit, or the disk is full."""
