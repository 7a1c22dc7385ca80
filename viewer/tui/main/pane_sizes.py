"""Pane sizes: from the settings, or by dragging a border with the mouse."""

from __future__ import annotations

from textual import events
from textual.geometry import Size
from textual.widget import Widget

from viewer.tui.main.widgets import Widgets
from viewer.tui.settings.settings import Settings

NARROWEST, LOWEST = 16, 3


class PaneSizes:
    """Owns the pane whose border is dragged."""

    def __init__(self, widgets: Widgets, settings: Settings) -> None:
        self._widgets = widgets
        self._settings = settings
        self._dragged: Widget | None = None

    def reset(self, *, is_roomy: bool) -> None:
        """Use the sizes of the settings if panes fit next to each other, otherwise those of the layout."""
        widgets, settings = self._widgets, self._settings
        widgets.outline.styles.width = (is_roomy and settings.outline.size) or None
        widgets.inspector.styles.width = (is_roomy and settings.inspector.size) or None
        widgets.problems.styles.height = (is_roomy and settings.problems.size) or None

    def grab(self, event: events.MouseDown, *, is_roomy: bool) -> bool:
        """Start dragging the border under the mouse; True if there is one."""
        for pane in self._widgets.panels.values():
            if pane.display and self._is_border(pane, event.screen_x, event.screen_y, is_roomy):
                self._dragged = pane
                return True
        return False

    def drag(self, event: events.MouseMove, size: Size, *, is_roomy: bool) -> bool:
        """Resize the pane; True if a border is dragged."""
        pane, widgets = self._dragged, self._widgets
        if pane is None:
            return False
        if pane is widgets.outline:
            pane.styles.width = max(NARROWEST, min(event.screen_x + 1, size.width // 2))
        elif pane is widgets.inspector and is_roomy:
            pane.styles.width = max(NARROWEST, min(size.width - event.screen_x, size.width // 2))
        else:
            pane.styles.height = max(LOWEST, min(pane.region.bottom - event.screen_y, size.height // 2))
        return True

    def release(self) -> bool:
        """End the drag; True if there was one."""
        was_dragged, self._dragged = self._dragged is not None, None
        return was_dragged

    def _is_border(self, pane: Widget, x: int, y: int, is_roomy: bool) -> bool:
        region, inspector = pane.region, self._widgets.inspector
        if pane is self._widgets.outline:
            return x == region.right - 1 and region.y <= y < region.bottom
        if pane is inspector and is_roomy:
            return x == region.x and region.y <= y < region.bottom
        return y == region.y - (pane is not inspector) and region.x <= x < region.right
