"""The settings: what the person chose once and for all, and where it was said. None of them reveals anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from viewer.render.theme import DARK
from viewer.sources.limits import Limits
from viewer.tui.keys import Action, remapped
from viewer.values import frozen

PLAIN = "plain"
"""The theme without colours."""


@frozen
class Pane:
    """A pane of the debug view, where there is room for it."""

    is_open: bool = True
    size: int = 0
    """Columns of the outline and the inspector, lines of the problems; 0: as the layout has it."""


@frozen
class Settings:
    """What the settings file says; what it leaves out, or says wrongly, is as it is here."""

    theme: str = ""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """By action id; sound: of known actions, with keys that there are, and without clashes."""
    outline: Pane = Pane()
    inspector: Pane = Pane()
    problems: Pane = Pane()
    wrap: int = 0
    """The widest that text may be, in columns; 0: as wide as the pane."""
    markdown: bool = True
    """Headings, emphasis, code and lists are styled in place."""
    stall_after: float = 10.0
    """Seconds after which an open message is said to have stalled."""
    limits: Limits = Limits()
    """Caps for compressed and spooled input."""
    folder: Path | None = None
    """Where the person's own themes are."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """On which line of the file each setting stands."""
    problems_found: tuple[str, ...] = ()
    """What is wrong with the file, one sentence each."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The table of keys with the person's own."""
        return remapped(self.keymap)

    @property
    def theme_folders(self) -> tuple[Path, ...]:
        """Where themes are looked for before those of the program."""
        return (self.folder,) if self.folder else ()

    @property
    def notice(self) -> str:
        """What is wrong, in one sentence; empty where nothing is."""
        if not self.problems_found:
            return ""
        more = len(self.problems_found) - 1
        return self.problems_found[0] + (f" (and {more} more: ocmlview config)" if more else "")


class Chosen(NamedTuple):
    """A value, and who said so."""

    value: str
    origin: str


def theme_in_force(settings: Settings, option: str = "", color: str = "auto") -> Chosen:
    """The theme: of the command line, without colours where none are wanted, of the settings, or the dark one."""
    if option:
        return Chosen(option, "--theme")
    if color == "never":
        return Chosen(PLAIN, "--color never")
    if os.environ.get("NO_COLOR"):
        return Chosen(PLAIN, "NO_COLOR")
    return Chosen(settings.theme, "theme") if settings.theme else Chosen(DARK, "")
