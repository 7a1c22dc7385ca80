"""Panels: the main screen's panes, by number, and the bottom pane's tabs."""

from __future__ import annotations

from enum import Enum


class Panel(Enum):
    """A pane of the main screen. The value is its number."""

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
