"""Panes are sized by dragging their borders."""

from __future__ import annotations

from textual import events
from textual.widget import Widget

from viewer.tui.main.acting import Acting

NARROWEST, LOWEST = 16, 3


class Sizing(Acting):
    """A press on a border takes hold of the pane, and the mouse sizes it until the button is let go."""

    _held: Widget | None = None

    def size_panes(self) -> None:
        """The sizes of the settings, where panes stand beside one another; else those of the layout."""
        settings, roomy = self.settings, self.is_roomy
        self.outline.styles.width = (roomy and settings.outline.size) or None
        self.inspector.styles.width = (roomy and settings.inspector.size) or None
        self.problems.styles.height = (roomy and settings.problems.size) or None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the pane whose border is under the mouse."""
        for pane in (self.outline, self.inspector, self.problems, self.calls):
            if pane.display and self._is_border(pane, event.screen_x, event.screen_y):
                self._held = pane
                self.capture_mouse()
                event.stop()
                return

    def _is_border(self, pane: Widget, x: int, y: int) -> bool:
        region = pane.region
        if pane is self.outline:
            return x == region.right - 1 and region.y <= y < region.bottom
        if pane is self.inspector and self.is_roomy:
            return x == region.x and region.y <= y < region.bottom
        return y == region.y - (pane is not self.inspector) and region.x <= x < region.right

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Size the pane that is held."""
        pane = self._held
        if pane is None:
            return
        if pane is self.outline:
            pane.styles.width = max(NARROWEST, min(event.screen_x + 1, self.size.width // 2))
        elif pane is self.inspector and self.is_roomy:
            pane.styles.width = max(NARROWEST, min(self.size.width - event.screen_x, self.size.width // 2))
        else:
            pane.styles.height = max(LOWEST, min(pane.region.bottom - event.screen_y, self.size.height // 2))
        event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        if self._held is not None:
            self._held = None
            self.release_mouse()
            self.call_after_refresh(self.fit)
            event.stop()
