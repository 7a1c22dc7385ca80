"""Names of items: `FILE:ITEM` is one transcript of a file. A file whose name contains the colon comes first."""

from __future__ import annotations

import os

from viewer.errors import ViewerError

_LARGEST_NUMBER = 9
"""Digits."""


def split_item(path: str) -> tuple[str, str]:
    """The file and the item that a path names; the item is empty if it names a whole file."""
    if ":" not in path or os.path.lexists(path):
        return path, ""
    at = path.rfind(":")
    while at > 0:
        if path[at + 1 :] and os.path.exists(path[:at]):  # noqa: PTH110 (never raises)
            return path[:at], path[at + 1 :]
        at = path.rfind(":", 0, at)
    return path, ""


def item_number(file: str, item: str) -> int:
    """The number of a transcript, counted from 1, that an item of a plain file is."""
    if item.isascii() and item.isdigit() and len(item) <= _LARGEST_NUMBER and int(item):
        return int(item)
    raise ViewerError(f"{file}: name a transcript by its number: {file}:1")
