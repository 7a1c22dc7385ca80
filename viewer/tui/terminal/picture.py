"""SVG picture of the screen."""

from __future__ import annotations

from typing import Any

from textual.app import App

from viewer.render.exports.svg import svg_of


def picture(app: App[Any]) -> str:
    """Return a picture of the current screen."""
    return svg_of(app.screen._compositor.render_strips(app.size), app.size.width)
