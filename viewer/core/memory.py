"""Functions that remember words of headers while an input is read, and the one way to make them all forget."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_FORGETTING: list[Callable[[], None]] = []


def remembering(most: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Remember what the function made of so many different things, until `forget`."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        remembered = lru_cache(maxsize=most)(function)
        _FORGETTING.append(remembered.cache_clear)
        return remembered  # type: ignore[return-value]

    return wrap


def forget() -> None:
    """Drop all that is remembered: what has been read stands in the index alone."""
    for clear in _FORGETTING:
        clear()
