"""Resize panes by dragging a border with the mouse."""

from __future__ import annotations

from textual import events
from textual.geometry import Size

from viewer.tui.control.panes import PaneController
from viewer.tui.main.widgets import Widgets
from viewer.tui.panes.panel import Panel

NARROWEST, LOWEST = 16, 3


class PaneSizes:
    """Tracks the pane whose border is being dragged."""

    def __init__(self, widgets: Widgets, panes: PaneController) -> None:
        self._widgets = widgets
        self._panes = panes
        self._dragged: Panel | None = None

    def grab(self, event: events.MouseDown) -> bool:
        """Start dragging the border under the mouse. Return True if there is one between two panes."""
        if not self._panes.is_roomy:
            return False
        for panel in (Panel.OUTLINE, Panel.INSPECTOR, Panel.BOTTOM):
            if panel in self._panes.visible and self._is_border(panel, event.screen_x, event.screen_y):
                self._dragged = panel
                return True
        return False

    def drag(self, event: events.MouseMove, size: Size) -> bool:
        """Resize the pane if its border is being dragged. Return True if so."""
        panel = self._dragged
        if panel is None:
            return False
        region = self._widgets.frames[panel].region
        if panel is Panel.BOTTOM:
            self._panes.resize(panel, max(LOWEST, min(region.bottom - event.screen_y, size.height // 2)))
        else:
            wanted = event.screen_x + 1 if panel is Panel.OUTLINE else size.width - event.screen_x
            self._panes.resize(panel, max(NARROWEST, min(wanted, size.width // 2)))
        return True

    def release(self) -> bool:
        """End the drag. Return True if a border was being dragged."""
        was_dragged, self._dragged = self._dragged is not None, None
        return was_dragged

    def _is_border(self, panel: Panel, x: int, y: int) -> bool:
        region = self._widgets.frames[panel].region
        if panel is Panel.BOTTOM:
            return y == region.y - 1 and region.x <= x < region.right
        column = region.right - 1 if panel is Panel.OUTLINE else region.x
        return x == column and region.y < y < region.bottom - 1
