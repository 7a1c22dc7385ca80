"""The badge SAFE or DEBUG in the title line: its text, and its position, which depends only on the width."""

from __future__ import annotations

BADGES = {True: " [DEBUG]", False: "  [SAFE]"}
ROOMY = 100
"""From this width on there is room for more words."""


def badge_room() -> int:
    """Cells of the widest badge."""
    return len(BADGES[True])


def state_room(width: int) -> int:
    """Cells to the right of the badge."""
    if width >= ROOMY:
        return 46
    if width >= 70:
        return 27
    return max(min(width - 34, 20), 0)
