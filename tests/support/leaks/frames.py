"""The text of every frame of an app: each widget is drawn once after it changed, as text without colors.

A frame of Textual draws, cuts and joins the lines of all widgets that overlap a changed region. A search of the text
needs only the widgets that changed, so this costs a session a quarter of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from viewer.tui.app import ViewerApp

Place = tuple[Region, Region]
_render_update = Compositor.render_update
_update_widgets = Compositor.update_widgets
_refresh = Widget.refresh


class Frames:
    """Draws the frames of one app and passes on the lines of each changed widget."""

    def __init__(self) -> None:
        self.see: Callable[[Widget, list[str]], bool] = lambda widget, lines: False
        """Receives the lines of a widget on the screen. False if they must not be searched now."""
        self._changed: WeakSet[Widget] = WeakSet()
        self._places: dict[Widget, Place] = {}
        """Where each widget of the last frame is."""
        self._unseen: WeakSet[Widget] = WeakSet()
        """Widgets that were drawn while no search was allowed and may still be on the screen."""

    def draw_instead(self, patched: pytest.MonkeyPatch) -> None:
        """Draw the frames of the app instead of Textual."""
        frames = self

        def render_update(
            compositor: Compositor,
            full: bool = False,
            screen_stack: list[Screen[Any]] | None = None,
            simplify: bool = False,
        ) -> RenderableType | None:
            if full:  # a picture for a file
                return _render_update(compositor, full, screen_stack, simplify)
            compositor._dirty_regions.clear()
            root = compositor.root
            if isinstance(root, Screen):
                frames.draw(root.app)
            return None

        def update_widgets(compositor: Compositor, widgets: set[Widget]) -> None:
            frames._changed.update(widgets)
            _update_widgets(compositor, widgets)

        def refresh(widget: Widget, *regions: Region, **options: bool) -> Widget:
            frames._changed.add(widget)
            return _refresh(widget, *regions, **options)

        patched.setattr(Widget, "refresh", refresh)
        patched.setattr(Compositor, "render_update", render_update)
        patched.setattr(Compositor, "update_widgets", update_widgets)
        patched.setattr(ViewerApp, "get_line_filters", lambda app: ())  # colors, and a guard against controls

    def draw(self, app: App[Any], *, again: bool = False) -> None:
        """Draw what has changed. `again` also draws what was drawn while no search was allowed."""
        before, self._places = self._places, {}
        for screen in (app.screen, *app._background_screens):
            for widget, place in screen._compositor.visible_widgets.items():
                self._places[widget] = place
                is_changed = widget in self._changed or before.get(widget) != place
                if is_changed or (again and widget in self._unseen):
                    self._changed.discard(widget)
                    self._draw(widget, *place)

    def _draw(self, widget: Widget, region: Region, clip: Region) -> None:
        shown = region.intersection(clip)
        if not shown:
            return
        crop = shown.translate(-region.offset)
        if _is_blank(widget):  # only its border may contain text
            if widget._border_title is None and widget._border_subtitle is None:
                return
            edges = [line for line in dict.fromkeys((0, region.height - 1)) if crop.y <= line < crop.bottom]
            strips = [strip for y in edges for strip in widget.render_lines(Region(crop.x, y, crop.width, 1))]
        else:
            strips = widget.render_lines(crop)
        if self.see(widget, [strip.text for strip in strips]):
            self._unseen.discard(widget)
        else:
            self._unseen.add(widget)


def _is_blank(widget: Widget) -> bool:
    """True if a widget draws nothing but its border and its children."""
    kind = type(widget)
    return isinstance(widget, Screen) or (
        widget.is_container and kind.render is Widget.render and kind.render_line is Widget.render_line
    )
