"""Item names: `FILE:ITEM` is one transcript of a file. A file whose name contains the colon takes precedence."""

from __future__ import annotations

import os


def split_item(path: str) -> tuple[str, str]:
    """Return the file and the item that a path names. The item is empty for a whole file."""
    if ":" not in path or os.path.lexists(path):
        return path, ""
    at = path.rfind(":")
    while at > 0:
        if path[at + 1 :] and os.path.exists(path[:at]):  # noqa: PTH110 (never raises)
            return path[:at], path[at + 1 :]
        at = path.rfind(":", 0, at)
    return path, ""
