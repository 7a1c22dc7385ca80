"""Memory that is given up: words of headers that functions remember, and room that growing columns left behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_FORGETTING: list[Callable[[], None]] = []


def bounded_cache(most: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Remember what the function made of so many different things, until `forget`."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        remembered = lru_cache(maxsize=most)(function)
        _FORGETTING.append(remembered.cache_clear)
        return remembered  # type: ignore[return-value]

    return wrap


def clear_caches() -> None:
    """Drop all that is remembered: what has been read stands in the index alone."""
    for clear in _FORGETTING:
        clear()


def give_back() -> None:
    """Let the system have the memory that is free: half of what a big index took while its columns grew."""
    import ctypes  # where there is a big index, NumPy has loaded it

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # only the GNU library has it
        return
    trim(0)
