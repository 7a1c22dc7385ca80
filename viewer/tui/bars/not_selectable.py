"""Widgets that a selection skips because they contain no transcript text."""

from __future__ import annotations

from textual.selection import Selection
from textual.widget import Widget


class NotSelectable(Widget, can_focus=False):
    """Base class for widgets that cannot be selected. Otherwise, "select all" would copy the widget's class name."""

    ALLOW_SELECT = False

    def get_selection(self, selection: Selection) -> None:
        return
