"""The themes: colours of every look and of the screen, from `themes/<name>.yaml` or the person's own folder.

A theme that cannot be used never stops the app: the dark one is used, and `notice` says so in one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.style import Style

from viewer.render.sanitize import sanitize_line
from viewer.render.style import StyleRole
from viewer.resources import bundled
from viewer.syntax.yaml_reader import LARGEST
from viewer.tui.settings.settings import DARK
from viewer.tui.settings.yaml_file import did_you_mean
from viewer.tui.themes.files import ANSI, DEFAULT, ThemeError, ThemeFile, read_theme
from viewer.tui.themes.places import theme_names, theme_path
from viewer.values import frozen

if TYPE_CHECKING:
    from textual.theme import Theme

_OF_THE_TERMINAL = (DEFAULT, *ANSI)


@frozen
class ViewerTheme:
    """The colours of one theme, complete."""

    name: str
    title: str
    dark: bool
    colors: Mapping[str, str]
    styles: Mapping[StyleRole, Style]
    files: tuple[Path, ...] = ()
    """Where it was read from, its own file first."""
    notice: str = ""
    """Why this is not the theme that was asked for, in one sentence."""

    @property
    def is_ansi(self) -> bool:
        """Whether it uses colours that the terminal has of its own: then none of them is made into another."""
        own = [color for style in self.styles.values() for color in (style.color, style.bgcolor) if color]
        named = any(color.is_default or color.is_system_defined for color in own)
        return named or any(color in _OF_THE_TERMINAL for color in self.colors.values())

    def textual_theme(self) -> Theme:
        """The colours as Textual wants them."""
        from textual.theme import Theme

        colors = {name: _textual_name(color) for name, color in self.colors.items()}
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
            ansi=self.is_ansi,
            variables=_variables(colors),
        )


class UnknownThemeError(ThemeError):
    """Nothing is called like that."""


def load_theme(name: str, folders: Sequence[Path] = ()) -> ViewerTheme:
    """The theme of this name, from the first folder that has it, or from those that come with the program."""
    try:
        return find_theme(name, folders)
    except ThemeError as error:
        fallback = find_theme(DARK)
        return replace(fallback, notice=f"{error}; the {DARK} theme is used")


def find_theme(name: str, folders: Sequence[Path] = (), within: tuple[str, ...] = ()) -> ViewerTheme:
    """The same, but one that cannot be used is a ThemeError; `within` are themes that are to be like this one."""
    path = _path(name, folders)
    file = _read(path)
    if file.like is None and path.parent == bundled("themes"):
        return _complete(name, file, path, ViewerTheme(name, name, True, {}, {}))
    like = file.like or DARK
    if like in (*within, name):
        like, folders = DARK, ()
    try:
        return _complete(name, file, path, find_theme(like, folders, (*within, name)))
    except UnknownThemeError as missing:
        raise ThemeError(f"{file.like_place}: {missing}") from None


def _path(name: str, folders: Sequence[Path]) -> Path:
    path = theme_path(name, folders)
    if path is None:
        perhaps = did_you_mean(name, theme_names(folders))
        raise UnknownThemeError(f"there is no theme '{sanitize_line(name, 60)}'{perhaps}")
    return path


def _read(path: Path) -> ThemeFile:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ThemeError(f"{sanitize_line(str(path))} cannot be read as UTF-8 text") from None
    return read_theme(text, str(path))


def _complete(name: str, file: ThemeFile, path: Path, base: ViewerTheme) -> ViewerTheme:
    """What the file says over what the other theme has."""
    return ViewerTheme(
        name,
        sanitize_line(file.title or name),
        base.dark if file.dark is None else file.dark,
        {**base.colors, **file.colors},
        {**base.styles, **file.looks},
        (path, *base.files),
    )


def _textual_name(color: str) -> str:
    return f"ansi_{color.replace('-', '_')}" if color in _OF_THE_TERMINAL else color


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
        return {**variables, **_ansi_variables(colors), "block-cursor-text-style": "reverse"}
    selected = {"screen-selection-foreground": colors["text"], "input-selection-foreground": colors["text"]}
    return {**variables, **selected, **(_ansi_variables(colors) if colors["background"].startswith("ansi_") else {})}


def _ansi_variables(colors: Mapping[str, str]) -> dict[str, str]:
    """What Textual would else take from a terminal with colours of its own choice."""
    return {
        "text": colors["text"],
        "surface": colors["surface"],
        "panel": colors["surface"],
        "ansi-background": colors["background"],
        "ansi-foreground": colors["text"],
        "block-cursor-blurred-background": colors["background"],
        "block-cursor-blurred-foreground": colors["text"],
        "footer-key-foreground": colors["primary"],
    }
