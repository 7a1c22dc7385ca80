"""Lines of a screen without caches, for the apps of the tests: a key makes hundreds, and each is drawn once."""

from __future__ import annotations

from typing import Any

import textual.strip


class NoCache:
    """Takes the place of the seven caches that Textual makes for each line."""

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
