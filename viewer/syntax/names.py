"""Sanitize a name for one line: no control, format, or unassigned characters."""

from __future__ import annotations

import unicodedata

_UNPRINTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def plain_name(text: str, longest: int) -> str:
    """The name on one line, truncated to `longest` characters."""
    cut = text[: longest + 1]
    if not (cut.isascii() and cut.isprintable()):
        printed = (char for char in cut if char.isspace() or unicodedata.category(char) not in _UNPRINTED)
        cut = "".join(" " if char.isspace() else char for char in printed)
    return cut.strip() if len(text) <= longest else cut[: longest - 1] + "…"
