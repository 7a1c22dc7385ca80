"""The panes of the main screen and the tabs of the bottom pane, by number and in order."""

from __future__ import annotations

from enum import Enum


class Panel(Enum):
    """A pane of the main screen; the value is its number."""

    OUTLINE = 1
    TRANSCRIPT = 2
    INSPECTOR = 3
    BOTTOM = 4
    SIDE = 5


class BottomTab(Enum):
    """The tabs of the bottom pane, in order."""

    PROBLEMS = "Problems"
    CALLS = "Calls"
    TIMELINE = "Timeline"
