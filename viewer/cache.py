"""Bounded caches that can be cleared together, lazy regular expressions, and the release of free memory."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

TYPE_CHECKING = False  # `typing` takes milliseconds to import, and the first page needs this module
if TYPE_CHECKING:
    from typing import Any, AnyStr, ParamSpec, TypeVar

    Given = ParamSpec("Given")
    Made = TypeVar("Made")

_CLEARING: list[Callable[[], None]] = []
_FEW = 256
_SHORT = 4096
"""The first `_FEW` searches of inputs of up to `_SHORT` bytes check for signs first, which is cheaper than compiling
the pattern."""


def bounded_cache(most: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Return a decorator that caches the results of a function for up to `most` different arguments, until
    `clear_caches` is called."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        cached = lru_cache(maxsize=most)(function)
        _CLEARING.append(cached.cache_clear)
        return cached  # type: ignore[return-value]

    return wrap


_KEEPING: list[bool] = []


def keep_caches() -> None:
    """Make `clear_caches` do nothing from now on, for a process that reads many small files and shows none of them."""
    _KEEPING[:] = [True]


def clear_caches() -> None:
    """Clear all caches, unless `keep_caches` was called. Everything that is still needed is in the index."""
    if not _KEEPING:
        for clear in _CLEARING:
            clear()


def release_memory() -> None:
    """Return free memory to the system. Growing columns leave up to half the size of a large index unused."""
    import ctypes  # NumPy has already loaded it if the index is large

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # only glibc has it
        return
    trim(0)


def lazy_regex(
    pattern: AnyStr | Callable[[], AnyStr], flags: int = 0, signs: Iterable[bytes] = ()
) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled on first use: compiling takes longer than searching, and few inputs need it.

    A long pattern may be given as a function that returns it.

    Every match contains one of the `signs`, ignoring case. Short inputs without a sign never compile the pattern."""
    return LazyRegex(pattern, flags, tuple({sign.lower(): None for sign in signs}))  # type: ignore[return-value]


class LazyRegex:
    """A replacement for `re.Pattern` that compiles its pattern on first use and caches the methods of the result."""

    def __init__(self, pattern: str | bytes | Callable[[], str | bytes], flags: int, signs: tuple[bytes, ...]) -> None:
        self._given = pattern, flags
        self._compiled: re.Pattern[Any] | None = None
        self.signs = signs
        self._left = _FEW if signs else 0
        """How many more searches will check for signs first. A large input needs the compiled pattern sooner or
        later."""

    def search(self, data: Any, start: int = 0, end: int = sys.maxsize) -> re.Match[Any] | None:
        if self._is_without_sign(data, start, end):
            return None
        found: re.Match[Any] | None = self.__getattr__("search")(data, start, end)
        return found

    def finditer(self, data: Any, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[Any]]:
        if self._is_without_sign(data, start, end):
            return iter(())
        found: Iterator[re.Match[Any]] = self.__getattr__("finditer")(data, start, end)
        return found

    def _is_without_sign(self, data: Any, start: int, end: int) -> bool:
        if not self._left or not isinstance(data, bytes) or len(data) > _SHORT:
            return False
        self._left -= 1
        searched = data[start:end].lower()
        return not any(sign in searched for sign in self.signs)

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            pattern, flags = self._given
            self._compiled = re.compile(pattern() if callable(pattern) else pattern, flags)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
