"""Palette of exports: inks with a light and a dark color, taken from the themes."""

from __future__ import annotations

from msgspec import Struct

from viewer.render.style import StyleRole
from viewer.render.theme import DARK, Theme, find_theme

LIGHT = "light"
"""The theme of printed pages, and of browsers without a dark mode."""


class Ink(Struct, frozen=True, gc=False):
    """A color on a light and on a dark page."""

    light: str
    dark: str


_COLORS = {"page": "background", "surface": "surface", "line": "border", "accent": "primary"}
"""Inks taken from the screen colors of a theme, by name."""
_ROLES = (
    "plain", "strong", "quiet", "user", "assistant", "analysis", "commentary", "tool", "system", "unknown", "error",
    "warning", "info", "ok", "code", "json-key", "json-text", "json-number", "json-word",
)  # fmt: skip
"""Inks taken from the text colors of style roles."""
_LEVELS = {"safe": StyleRole.SAFE_BADGE, "brief": StyleRole.BRIEF_BADGE, "debug": StyleRole.DEBUG_BADGE}
_GROUNDS = {
    "code-page": StyleRole.CODE,
    "bad-page": StyleRole.BAD_SPAN,
    "noted-page": StyleRole.BANNER,
    "target-page": StyleRole.CURSOR,
    **{f"{level}-page": role for level, role in _LEVELS.items()},
}
"""Inks taken from the background colors of style roles."""


def _inks() -> dict[str, Ink]:
    light, dark = find_theme(LIGHT), find_theme(DARK)
    inks = {name: Ink(light.colors[color], dark.colors[color]) for name, color in _COLORS.items()}
    inks |= {name: Ink(_color(light, StyleRole(name)), _color(dark, StyleRole(name))) for name in _ROLES}
    inks |= {name: Ink(_ground(light, role), _ground(dark, role)) for name, role in _GROUNDS.items()}
    for level, role in _LEVELS.items():
        inks[f"{level}-ink"] = Ink(_color(light, role), _color(dark, role))
    return inks


def _color(theme: Theme, role: StyleRole) -> str:
    return theme.looks[role].color or theme.colors["text"]


def _ground(theme: Theme, role: StyleRole) -> str:
    return theme.looks[role].background or theme.colors["surface"]


INKS = _inks()


def custom_properties(night: bool) -> str:
    """Return the inks as CSS custom properties."""
    return "".join(f"--{name}:{ink.dark if night else ink.light};" for name, ink in INKS.items())
