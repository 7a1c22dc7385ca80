"""The background of a dialog: the screen directly below it."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen


def screen_below(dialog: Screen[Any]) -> RenderableType:
    """Return the screen below a dialog, as the dialog draws it.

    Textual draws the next screen of a list that all dialogs consume together. A dialog that must be drawn again may
    then get the one above it, which draws this one, without end."""
    stack = dialog.app.screen_stack
    below = stack[stack.index(dialog) - 1] if dialog in stack[1:] else None
    return BackgroundScreen(below, dialog.styles.background) if below is not None else ""
