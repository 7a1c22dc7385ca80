"""Bounded caches that can be cleared together, lazy regular expressions, and the release of free memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, AnyStr, ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Made = TypeVar("Made")

_CLEARING: list[Callable[[], None]] = []


def bounded_cache(most: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Cache the results of a function for `most` different arguments until `clear_caches`."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        cached = lru_cache(maxsize=most)(function)
        _CLEARING.append(cached.cache_clear)
        return cached  # type: ignore[return-value]

    return wrap


def clear_caches() -> None:
    """Clear all caches: results that were read are in the index."""
    for clear in _CLEARING:
        clear()


def release_memory() -> None:
    """Return free memory to the system: growing columns leave half the size of a large index behind."""
    import ctypes  # for a large index, NumPy has loaded it already

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # only the GNU library has it
        return
    trim(0)


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but deferred to the first use: compiling costs more than using, and few inputs need them."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))


class _Uncompiled:
    """Placeholder for a compiled pattern that copies its methods on first access."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags
        self._compiled: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(*self._given)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
