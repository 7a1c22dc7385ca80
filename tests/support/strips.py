"""Cheap frames for tests: lines have no caches, because each is drawn once, and nobody sees composed frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import textual.strip
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.app import App
from textual.cache import FIFOCache


class NoCache:
    """Replaces the seven caches that Textual creates for each line."""

    def __class_getitem__(cls, item: object) -> type[NoCache]:
        return cls

    def __new__(cls, _size: int = 0) -> Any:  # one for all
        return NO_CACHE

    def get(self, _key: object) -> None:
        return None

    def __setitem__(self, key: object, value: object) -> None:
        return None


NO_CACHE: Any = object.__new__(NoCache)


def make_lines_without_caches() -> None:
    setattr(textual.strip, "FIFOCache", NoCache)  # noqa: B010


_render_update = Compositor.render_update


def compose_no_frames() -> None:
    """Draw what changed in each frame of an app without a terminal, but do not cut and join the lines: Textual would
    drop the result. What a test looks at is composed for it."""

    def render_update(self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> Any:
        app: App[Any] | None = active_app.get(None)
        if full or app is None or not app.is_headless:
            return _render_update(self, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        changed = [region.intersection(self.size.region) for region in self._dirty_regions]
        self._dirty_regions.clear()
        for widget, (region, clip) in self.visible_widgets.items() if changed else ():
            part = region.intersection(clip)
            if any(map(part.overlaps, changed)):
                widget.render_lines(part.translate((-region.x, -region.y)))
        return None

    Compositor.render_update = render_update  # type: ignore[method-assign]


@contextmanager
def drawn_as_for_users() -> Iterator[None]:
    """Draw with the caches of Textual, and compose every frame, for measurements."""
    cache, compose = vars(textual.strip)["FIFOCache"], Compositor.render_update
    setattr(textual.strip, "FIFOCache", FIFOCache)  # noqa: B010
    Compositor.render_update = _render_update  # type: ignore[method-assign]
    try:
        yield
    finally:
        setattr(textual.strip, "FIFOCache", cache)  # noqa: B010
        Compositor.render_update = compose  # type: ignore[method-assign]
