"""Widgets that a selection skips because they contain no transcript text."""

from __future__ import annotations

from textual.selection import Selection
from textual.widget import Widget


class NotSelectable(Widget, can_focus=False):
    """Not selectable. Otherwise "select all" copies the widget's class name."""

    ALLOW_SELECT = False

    def get_selection(self, selection: Selection) -> None:
        return
