"""Screen lines without caches, for apps in tests: a key creates hundreds of lines, and each is drawn only once."""

from __future__ import annotations

from typing import Any

import textual.strip


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
