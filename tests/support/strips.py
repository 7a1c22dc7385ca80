"""Screen lines without caches, for apps in tests: a key creates hundreds of lines, and each is drawn only once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import textual.strip
from textual.cache import FIFOCache


class NoCache:
    """Replaces the seven caches that Textual creates for each line."""

    def __class_getitem__(cls, item: object) -> type[NoCache]:
        return cls

    def __new__(cls, _size: int = 0) -> Any:  # one for all
        return NO_CACHE

    def get(self, _key: object) -> None:
        return None

    def __setitem__(self, key: object, value: object) -> None:
        return None


NO_CACHE: Any = object.__new__(NoCache)


def make_lines_without_caches() -> None:
    setattr(textual.strip, "FIFOCache", NoCache)  # noqa: B010


@contextmanager
def lines_with_caches() -> Iterator[None]:
    """Draw as users do, with the caches of Textual, for measurements."""
    before = vars(textual.strip)["FIFOCache"]
    setattr(textual.strip, "FIFOCache", FIFOCache)  # noqa: B010
    try:
        yield
    finally:
        setattr(textual.strip, "FIFOCache", before)  # noqa: B010
