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
_SHORT = 128 * 1024
_MOST_LOOKS = 8192
"""Searches of inputs of up to `_SHORT` bytes look for literals first, until they have looked at about `_MOST_LOOKS`
places. That takes as long as compiling a pattern for them."""


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
    return LazyRegex(pattern, flags, signs)  # type: ignore[return-value]


def lazy_literals(pattern: Callable[[], bytes], literals: Iterable[bytes]) -> re.Pattern[bytes]:
    """Return a pattern that matches the longest of many literals, ignoring case. Short inputs never compile it. The
    function returns it for longer ones."""
    return LazyLiterals(pattern, re.IGNORECASE, literals)  # type: ignore[return-value]


class LazyRegex:
    """A replacement for `re.Pattern` that compiles its pattern on first use and caches the methods of the result."""

    def __init__(
        self, pattern: str | bytes | Callable[[], str | bytes], flags: int, signs: Iterable[bytes] = ()
    ) -> None:
        self._given = pattern, flags
        self._compiled: re.Pattern[Any] | None = None
        self.signs = tuple({sign.lower(): None for sign in signs})
        self._starts: dict[bytes, dict[bytes, tuple[bytes, ...]]] | None = None
        """The signs by their first byte and by their second byte, which is empty for a sign of one byte."""
        self._left = _MOST_LOOKS if self.signs else 0
        """How many places to look at for signs before the pattern is compiled. A large input needs it sooner or
        later."""

    def search(self, data: Any, start: int = 0, end: int = sys.maxsize) -> re.Match[Any] | None:
        if self._sign_at(data, start, end) == -1:
            return None
        found: re.Match[Any] | None = self.__getattr__("search")(data, start, end)
        return found

    def finditer(self, data: Any, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[Any]]:
        if self._sign_at(data, start, end) == -1:
            return iter(())
        found: Iterator[re.Match[Any]] = self.__getattr__("finditer")(data, start, end)
        return found

    def _sign_at(self, data: Any, start: int, end: int) -> int | None:
        """Return the offset of the first sign, or -1 if there is none; None if the pattern has to be compiled."""
        if not self._left or not isinstance(data, bytes) or len(data) > _SHORT:
            return None
        text = data[start:end].lower()
        starts = self._starts = _by_start(self.signs) if self._starts is None else self._starts
        self._left = max(0, self._left - 8 - len(text) // 256 - sum(map(text.count, starts)))
        if not self._left:
            return None
        first = len(text)
        for byte, signs_after in starts.items():
            at = text.find(byte, 0, first)
            while at >= 0:
                if b"" in signs_after or text.startswith(signs_after.get(text[at + 1 : at + 2], ()), at):
                    first = at
                    break
                at = text.find(byte, at + 1, first)
        return start + first if first < len(text) else -1

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            pattern, flags = self._given
            self._compiled = re.compile(pattern() if callable(pattern) else pattern, flags)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


class LazyLiterals(LazyRegex):
    """A pattern whose signs are all that it matches, ignoring case."""

    def search(self, data: Any, start: int = 0, end: int = sys.maxsize) -> re.Match[Any] | None:
        at = self._sign_at(data, start, end)
        if at is None:
            found: re.Match[Any] | None = self.__getattr__("search")(data, start, end)
            return found
        if at < 0:
            return None
        text = data[at : min(end, at + max(map(len, self.signs)))].lower()
        longest = max(filter(text.startswith, self.signs), key=len)
        return re.compile(re.escape(longest), re.IGNORECASE).match(data, at, end)


def _by_start(signs: Iterable[bytes]) -> dict[bytes, dict[bytes, tuple[bytes, ...]]]:
    starts: dict[bytes, dict[bytes, tuple[bytes, ...]]] = {}
    for sign in signs:
        after = starts.setdefault(sign[:1], {})
        after[sign[1:2]] = (*after.get(sign[1:2], ()), sign)
    return starts
