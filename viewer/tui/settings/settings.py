"""Settings: the user's permanent choices, and where each comes from. None of them reveals anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from viewer.model.prices import NO_PRICES, Prices
from viewer.render.theme import DARK
from viewer.sources.limits import Limits
from viewer.tui.keys import Action, Scope, remapped, rows_for

PLAIN = "plain"
"""The theme without colors."""


class Pane(Struct, frozen=True, gc=False):
    """A pane that opens with the debug view, if there is room."""

    is_open: bool = True
    size: int = 0
    """The width of the outline or inspector, or the height of the problems; 0 for the layout's default."""


class Settings(Struct, frozen=True):
    """The values of the settings file. These defaults replace missing and invalid values."""

    theme: str = ""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action ID, already checked: known actions and keys, without clashes."""
    outline: Pane = Pane()
    inspector: Pane = Pane()
    problems: Pane = Pane(is_open=False)
    wrap: int = 88
    """The maximum width of text in columns; 0 for the pane's width."""
    markdown: bool = True
    """True if Markdown is rendered."""
    stall_after: float = 10.0
    """Seconds without data before an unfinished message counts as stalled."""
    plugins: bool = True
    """True if format plug-ins may be loaded."""
    discovery: bool = True
    """True if the program may search for agent sessions."""
    state: bool = True
    """True if marks, positions, and pane sizes survive a restart."""
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Additional folders to search, by agent."""
    redact: Mapping[str, str] = field(default_factory=dict)
    """Patterns to mask with `--redact`, by name. An invalid pattern is kept so that `--redact` fails instead of
    ignoring it."""
    prices: Prices = NO_PRICES
    """Prices of tokens by model. None are built in."""
    limits: Limits = Limits()
    """Size limits for compressed and spooled input."""
    folder: Path | None = None
    """The folder of the user's own themes."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each setting in the file."""
    problems_found: tuple[str, ...] = ()
    """The mistakes in the file, one sentence each."""
    scope: Scope = Scope.ALL
    """The kind of view, which determines the actions that it offers. Set by the command line, never by the file."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return the table of actions with the user's own keys, for this view."""
        return rows_for(self.scope, remapped(self.keymap))

    @property
    def theme_folders(self) -> tuple[Path, ...]:
        """The folders to search for themes before the bundled ones."""
        return (self.folder,) if self.folder else ()

    @property
    def notice(self) -> str:
        """Return the first mistake, and how many more there are; empty if there are none."""
        if not self.problems_found:
            return ""
        more = len(self.problems_found) - 1
        return self.problems_found[0] + (f" (and {more} more; run ocmlview config)" if more else "")


class Chosen(Struct, frozen=True, gc=False):
    """A value and its origin."""

    value: str
    origin: str


def theme_in_force(settings: Settings, option: str = "", color: str = "auto") -> Chosen:
    """Choose the theme: the one from the command line, the plain one if colors are turned off, the one from the
    settings, or else dark."""
    if option:
        return Chosen(option, "--theme")
    if color == "never":
        return Chosen(PLAIN, "--color never")
    if os.environ.get("NO_COLOR"):
        return Chosen(PLAIN, "NO_COLOR")
    return Chosen(settings.theme, "theme") if settings.theme else Chosen(DARK, "")
