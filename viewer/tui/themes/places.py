"""Where themes are found by their names: in the person's own folder, then among those of the program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from viewer.resources import bundled

_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


def theme_names(folders: Sequence[Path] = ()) -> list[str]:
    """All themes that can be asked for."""
    places = [*folders, bundled("themes")]
    return sorted({path.stem for place in places for path in place.glob("*.yaml") if _NAME.fullmatch(path.stem)})


def theme_path(name: str, folders: Sequence[Path] = ()) -> Path | None:
    """The file of a theme, from the first folder that has it; None where there is none."""
    paths = (folder / f"{name}.yaml" for folder in (*folders, bundled("themes")))
    return next((path for path in paths if path.is_file()), None) if _NAME.fullmatch(name) else None
