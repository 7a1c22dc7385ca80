"""SAFE or DEBUG in the title line: its words, and its place, which depends on the width alone."""

from __future__ import annotations

BADGES = {True: " [DEBUG]", False: "  [SAFE]"}
ROOMY = 100
"""From so many columns on there is room for more words."""


def badge_room() -> int:
    """Cells of the widest badge."""
    return len(BADGES[True])


def state_room(width: int) -> int:
    """Cells right of the badge."""
    if width >= ROOMY:
        return 46
    if width >= 70:
        return 27
    return max(min(width - 34, 20), 0)
