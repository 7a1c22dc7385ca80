"""Caches of bounded size that can be cleared together, and the release of free memory to the system."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_FORGETTING: list[Callable[[], None]] = []


def bounded_cache(most: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Cache the results of a function for `most` different arguments until `clear_caches`."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        remembered = lru_cache(maxsize=most)(function)
        _FORGETTING.append(remembered.cache_clear)
        return remembered  # type: ignore[return-value]

    return wrap


def clear_caches() -> None:
    """Clear all caches: results that were read are in the index."""
    for clear in _FORGETTING:
        clear()


def give_back() -> None:
    """Return free memory to the system: growing columns leave half the size of a large index behind."""
    import ctypes  # for a large index, NumPy has loaded it already

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # only the GNU library has it
        return
    trim(0)
