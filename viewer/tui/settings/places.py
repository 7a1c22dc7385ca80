"""Paths of the user's own files: settings, themes, and the state file."""

from __future__ import annotations

import os
from pathlib import Path

PROGRAM = "ocmlview"


def config_folder() -> Path:
    """Return the folder for the user's own files, in XDG_CONFIG_HOME or the system's default location."""
    import platformdirs  # 3 ms, and few commands need it

    return Path(platformdirs.user_config_dir(PROGRAM, appauthor=False, roaming=True))


def state_file() -> Path:
    """Return the path of the state file, in XDG_STATE_HOME or the system's default location."""
    import platformdirs

    return Path(platformdirs.user_state_dir(PROGRAM, appauthor=False)) / "state.json"


def config_file() -> Path:
    """Return the path of the settings file."""
    return config_folder() / "config.yaml"


def themes_folder() -> Path:
    """Return the folder for the user's own themes."""
    return config_folder() / "themes"


def tilde(path: Path) -> str:
    """Return a path with `~` for the home folder."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (Path.home raises without a home)
    return f"~/{path.relative_to(home)}" if home.is_absolute() and path.is_relative_to(home) else str(path)
