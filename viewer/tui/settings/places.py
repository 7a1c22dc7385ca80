"""Where the person's own files are: settings and themes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = "ocmlview"


def config_folder() -> Path:
    """The folder for the person's own files: under XDG_CONFIG_HOME, else where this system has such files."""
    return _base() / PROGRAM


def config_file() -> Path:
    """The settings."""
    return config_folder() / "config.yaml"


def themes_folder() -> Path:
    """Themes of one's own."""
    return config_folder() / "themes"


def _base() -> Path:
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if given.is_absolute():  # what is not absolute is to be ignored, says the specification
        return given
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support"
    if sys.platform == "win32" and (roaming := os.environ.get("APPDATA")):
        return Path(roaming)
    return _home() / ".config"


def _home() -> Path:
    """Never raises, unlike Path.home: without a home there are no settings."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111


def tilde(path: Path) -> str:
    """A path as a person writes it."""
    home = _home()
    return f"~/{path.relative_to(home)}" if home.is_absolute() and path.is_relative_to(home) else str(path)
