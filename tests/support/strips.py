"""Cheap frames for tests: lines have no caches, because each is drawn once, and nobody sees composed frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.segment import Segment
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.app import App
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget


class NoCache:
    """Replaces the seven caches that Textual creates for each line."""

    def get(self, _key: object) -> None:
        return None

    def __setitem__(self, key: object, value: object) -> None:
        return None


_NO_CACHE: Any = NoCache()
_make_line = Strip.__init__


def make_lines_without_caches() -> None:
    """Let all lines share one cache that keeps nothing."""

    def make_line(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cell_length
        self._divide_cache = self._crop_cache = self._style_cache = self._filter_cache = _NO_CACHE
        self._line_length_cache = self._crop_extend_cache = self._offsets_cache = _NO_CACHE
        self._render_cache = self._link_ids = self._cell_count = None

    Strip.__init__ = make_line  # type: ignore[method-assign]


_render_update = Compositor.render_update


def compose_no_frames() -> None:
    """Draw what changed in each frame of an app without a terminal, but do not cut and join the lines, because Textual
    would discard the result. A frame is composed only when a test reads the screen; only then are blank containers
    drawn."""

    def render_update(self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> Any:
        app: App[Any] | None = active_app.get(None)
        if full or app is None or not app.is_headless:
            return _render_update(self, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        changed = [region.intersection(self.size.region) for region in self._dirty_regions]
        self._dirty_regions.clear()
        for widget, (region, clip) in self.visible_widgets.items() if changed else ():
            if _is_blank(widget):
                continue
            part = region.intersection(clip)
            if any(map(part.overlaps, changed)):
                widget.render_lines(part.translate((-region.x, -region.y)))
        return None

    Compositor.render_update = render_update  # type: ignore[method-assign]


def _is_blank(widget: Widget) -> bool:
    """True if a widget draws only empty lines below its children: no caption, and no other screen behind a dialog."""
    is_plain = widget.is_container and not isinstance(widget, ModalScreen)
    return is_plain and not (widget.border_title or widget.border_subtitle)


@contextmanager
def drawn_as_for_users() -> Iterator[None]:
    """Draw with the caches of Textual, and compose every frame, for measurements."""
    make, compose = Strip.__init__, Compositor.render_update
    Strip.__init__ = _make_line  # type: ignore[method-assign]
    Compositor.render_update = _render_update  # type: ignore[method-assign]
    try:
        yield
    finally:
        Strip.__init__ = make  # type: ignore[method-assign]
        Compositor.render_update = compose  # type: ignore[method-assign]
