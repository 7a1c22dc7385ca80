"""What the program says around a transcript: it is not copied."""

from __future__ import annotations

from textual.selection import Selection
from textual.widget import Widget


class NotSelectable(Widget, can_focus=False):
    """Neither dragging begins in it, nor has it a text when everything around it is selected: Textual would take the
    name of the class."""

    ALLOW_SELECT = False

    def get_selection(self, selection: Selection) -> None:
        """Nothing."""
