"""The themes: colours of every look and of the screen, from `themes/<name>.yaml` or the person's own folder.

A theme that cannot be used never stops the app: the dark one is used, and `notice` says so in one sentence.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.style import Style
from textual.theme import Theme

from viewer.render.safe_text import safe_line
from viewer.render.style import Look
from viewer.resources import bundled
from viewer.tui.theme_file import DEFAULT, ThemeError, ThemeFile, read_theme

DARK = "dark"
PLAIN = "plain"
"""The theme without colours, for NO_COLOR."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True)
class ViewerTheme:
    """The colours of one theme, complete."""

    name: str
    title: str
    dark: bool
    colors: Mapping[str, str]
    styles: Mapping[Look, Style]
    notice: str = ""
    """Why this is not the theme that was asked for, in one sentence."""

    def textual_theme(self) -> Theme:
        """The colours as Textual wants them."""
        colors = {name: "ansi_default" if color == DEFAULT else color for name, color in self.colors.items()}
        return Theme(
            name=f"viewer-{self.name}",
            primary=colors["primary"],
            secondary=colors["quiet"],
            accent=colors["debug"],
            error=colors["error"],
            warning=colors["warning"],
            success=colors["success"],
            foreground=colors["text"],
            background=colors["background"],
            surface=colors["surface"],
            panel=colors["surface"],
            dark=self.dark,
            ansi=self.colors["background"] == DEFAULT,
            variables=_variables(colors),
        )


def load_theme(name: str, folders: Sequence[Path] = ()) -> ViewerTheme:
    """The theme of this name, from the first folder that has it, or from those that come with the program."""
    try:
        return _load(name, folders)
    except ThemeError as error:
        fallback = _load(DARK, ())
        return replace(fallback, notice=f"{error}; the {DARK} theme is used")


def theme_names(folders: Sequence[Path] = ()) -> list[str]:
    """All themes that can be asked for."""
    places = [*folders, bundled("themes")]
    return sorted({path.stem for place in places for path in place.glob("*.yaml") if _NAME.fullmatch(path.stem)})


def _load(name: str, folders: Sequence[Path], within: tuple[str, ...] = ()) -> ViewerTheme:
    path = _path(name, folders)
    file = _read(path)
    if file.like is None and path.parent == bundled("themes"):
        return _complete(name, file, ViewerTheme(name, name, True, {}, {}))
    like = file.like or DARK
    if like in (*within, name):
        like, folders = DARK, ()
    return _complete(name, file, _load(like, folders, (*within, name)))


def _path(name: str, folders: Sequence[Path]) -> Path:
    if _NAME.fullmatch(name):
        for folder in (*folders, bundled("themes")):
            if (path := folder / f"{name}.yaml").is_file():
                return path
    near = difflib.get_close_matches(name, theme_names(folders), 1)
    perhaps = f" (did you mean '{near[0]}'?)" if near else ""
    raise ThemeError(f"there is no theme '{safe_line(name, 60)}'{perhaps}")


def _read(path: Path) -> ThemeFile:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ThemeError(f"{safe_line(str(path))} cannot be read as UTF-8 text") from None
    return read_theme(text, str(path))


def _complete(name: str, file: ThemeFile, base: ViewerTheme) -> ViewerTheme:
    """What the file says over what the other theme has."""
    return ViewerTheme(
        name,
        safe_line(file.title or name),
        base.dark if file.dark is None else file.dark,
        {**base.colors, **file.colors},
        {**base.styles, **file.looks},
    )


def _variables(colors: Mapping[str, str]) -> dict[str, str]:
    """Textual's own names for the rest of the screen."""
    pairs: Iterable[tuple[str, str]] = [
        ("border", "border"),
        ("border-blurred", "border"),
        ("scrollbar", "scrollbar"),
        ("scrollbar-hover", "scrollbar-hover"),
        ("scrollbar-active", "scrollbar-active"),
        ("scrollbar-background", "scrollbar-background"),
        ("scrollbar-background-hover", "scrollbar-background"),
        ("scrollbar-background-active", "scrollbar-background"),
        ("scrollbar-corner-color", "scrollbar-background"),
        ("input-selection-background", "selection"),
        ("screen-selection-background", "selection"),
        ("block-cursor-background", "selection"),
        ("block-cursor-foreground", "text"),
    ]
    variables = {variable: colors[name] for variable, name in pairs}
    if colors["selection"] == "ansi_default":
        return {
            **variables,
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "block-cursor-text-style": "reverse",
            "footer-key-foreground": "ansi_default",
        }
    return {**variables, "screen-selection-foreground": colors["text"], "input-selection-foreground": colors["text"]}
