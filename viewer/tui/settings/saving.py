"""Write the chosen theme to the settings file and leave the rest of the file unchanged."""

from __future__ import annotations

import re
from pathlib import Path

from viewer.atomic_file import AtomicFile
from viewer.errors import ViewerError
from viewer.render.sanitize import sanitize_line
from viewer.tui.settings.file import settings_in
from viewer.tui.settings.places import tilde
from viewer.tui.settings.template import TEMPLATE

_SETTING = re.compile(r"^theme[ \t]*:.*$", re.MULTILINE)
_IN_COMMENT = re.compile(r"^#theme:.*$", re.MULTILINE)
"""A pattern for the setting in the template, where it is commented out."""


def save_theme(path: Path, name: str, themes: Path) -> None:
    """Set the theme in the settings file, which is created if it does not exist. If the edited file would still not
    select this theme, change nothing and raise ViewerError."""
    shown = sanitize_line(tilde(path))
    try:
        text = path.read_text("utf-8") if path.exists() else TEMPLATE
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, UnicodeDecodeError):
        raise ViewerError(f"{shown} cannot be changed") from None
    line = f"theme: {name}"
    found = _SETTING.search(text) or _IN_COMMENT.search(text)
    if found is not None:
        text = f"{text[: found.start()]}{line}{text[found.end() :]}"
    else:
        text = f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"
    if settings_in(text, shown, themes).theme != name:
        raise ViewerError(f"{shown} has a mistake; it was not changed")
    with AtomicFile(path, overwrite=True, private=True) as file:
        file.write(text)
