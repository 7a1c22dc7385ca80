"""Themes: validated colors per style role and of the screen, from `themes/<name>.yaml` or your own folder.

A theme file is read strictly: every mistake is reported with its line, its column and a suggestion. A theme that cannot
be used never stops the app: `load_theme` falls back to the dark one, and `notice` explains why in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.render.sanitize import sanitize_line
from viewer.render.style import StyleRole
from viewer.render.yaml_file import MistakeError, PlainFile, YamlFile, did_you_mean, quoted
from viewer.resources import bundled
from viewer.syntax.yaml_plain import read_plain
from viewer.syntax.yaml_reader import LARGEST

if TYPE_CHECKING:
    from rich.style import Style as RichStyle

DARK = "dark"
"""The default theme."""
COLORS = (
    "background", "surface", "text", "quiet", "border", "primary", "debug", "error", "warning", "success", "selection",
    "scrollbar", "scrollbar-hover", "scrollbar-active", "scrollbar-background",
)  # fmt: skip
"""The colors of the screen itself."""
FLAGS = ("bold", "dim", "italic", "underline", "reverse", "strike")
DEFAULT = "default"
"""The default color of the terminal."""
_HUES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI = (*_HUES, *(f"bright-{hue}" for hue in _HUES))
"""The sixteen colors of the terminal, in their order."""
OF_THE_TERMINAL = (DEFAULT, *ANSI)
"""Colors that the terminal defines."""

_LOOKS = {look.value: look for look in StyleRole}


class Derived(Struct, frozen=True):
    """A role that a theme may omit."""

    of: StyleRole
    """The role from which the color is derived."""
    flags: Mapping[str, bool] = {}
    """The attributes that differ from those of the role `of`."""
    on_code: bool = False
    """True if the role has the background of code."""


DERIVED = {
    StyleRole.SAID: Derived(StyleRole.STRONG, {"bold": False}),
    StyleRole.ASIDE: Derived(StyleRole.QUIET, {"italic": True}),
    StyleRole.LINK: Derived(StyleRole.STRONG, {"bold": False, "underline": True}),
    StyleRole.STRIKE: Derived(StyleRole.QUIET, {"strike": True}),
    StyleRole.THUMB: Derived(StyleRole.RULE, {"reverse": True}),
    StyleRole.CODE_KEY: Derived(StyleRole.JSON_KEY, on_code=True),
    StyleRole.CODE_TEXT: Derived(StyleRole.JSON_TEXT, on_code=True),
    StyleRole.CODE_NUMBER: Derived(StyleRole.JSON_NUMBER, on_code=True),
    StyleRole.CODE_WORD: Derived(StyleRole.JSON_WORD, on_code=True),
    StyleRole.CODE_NOTE: Derived(StyleRole.QUIET, {"italic": True}, on_code=True),
    StyleRole.BRIEF_BADGE: Derived(StyleRole.WARNING),
}
"""The roles that a theme may omit."""
_KEYS = ("title", "dark", "like", "colors", "looks")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

ThemeError = MistakeError
"""The error for a theme file that cannot be used. The message contains the position and the reason."""


class UnknownThemeError(ThemeError):
    """The error for a theme name that does not exist."""


class Look(Struct, frozen=True):
    """The colors and attributes of a style role; a color is `#rrggbb`, `default`, or a name in `ANSI`."""

    color: str | None = None
    background: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)
    """Attributes in `FLAGS` that are switched on or off."""


class Theme(Struct, frozen=True):
    """A complete theme."""

    name: str
    title: str
    dark: bool
    colors: Mapping[str, str]
    looks: Mapping[StyleRole, Look]
    files: tuple[Path, ...] = ()
    """The files from which the theme was read, its own file first."""
    notice: str = ""
    """The reason why this is not the requested theme, in one sentence; empty if it is."""

    @property
    def is_ansi(self) -> bool:
        """True if the theme uses colors that the terminal defines. Such colors are not converted."""
        used = {color for look in self.looks.values() for color in (look.color, look.background) if color}
        return not used.isdisjoint(OF_THE_TERMINAL) or not set(self.colors.values()).isdisjoint(OF_THE_TERMINAL)

    @property
    def styles(self) -> dict[StyleRole, RichStyle]:
        """The looks as Rich styles."""
        from rich.style import Style as RichStyle  # slow to import; the first page does not need it

        return {
            role: RichStyle(color=_rich_name(look.color), bgcolor=_rich_name(look.background), **_named(look.flags))
            for role, look in self.looks.items()
        }


def load_theme(name: str, folders: Sequence[Path] = ()) -> Theme:
    """Return the theme of this name, from the first folder that has it, or else from the bundled themes. If it cannot
    be used, return the dark theme."""
    try:
        return find_theme(name, folders)
    except ThemeError as error:
        fallback = find_theme(DARK)
        return replace(fallback, notice=f"Using the {DARK} theme: {error}")


def find_theme(name: str, folders: Sequence[Path] = (), within: tuple[str, ...] = ()) -> Theme:
    """Return the theme of this name. Raise ThemeError if it cannot be used. `within` lists the themes that refer to
    this one with `like`."""
    path = _path(name, folders)
    file = _read(path)
    if file.like is None and path.parent == bundled("themes"):
        return _complete(name, file, path, Theme(name, name, True, {}, {}))
    like = file.like or DARK
    if like in (*within, name):
        like, folders = DARK, ()
    try:
        return _complete(name, file, path, find_theme(like, folders, (*within, name)))
    except UnknownThemeError as missing:
        raise ThemeError(f"{file.like_place}: {missing}") from None


def theme_names(folders: Sequence[Path] = ()) -> list[str]:
    """Return the names of all themes."""
    places = [*folders, bundled("themes")]
    return sorted({path.stem for place in places for path in place.glob("*.yaml") if _NAME.fullmatch(path.stem)})


def theme_path(name: str, folders: Sequence[Path] = ()) -> Path | None:
    """Return the file of a theme, from the first folder that has it; None if there is none."""
    paths = (folder / f"{name}.yaml" for folder in (*folders, bundled("themes")))
    return next((path for path in paths if path.is_file()), None) if _NAME.fullmatch(name) else None


class ThemeFile(Struct, frozen=True):
    """The content of a theme file. Anything missing comes from the theme in `like`."""

    title: str | None
    dark: bool | None
    like: str | None
    colors: Mapping[str, str]
    looks: Mapping[StyleRole, Look]
    like_place: str = ""
    """The position of `like`, as `file:line:column`."""


def read_theme(text: str, source: str) -> ThemeFile:
    """Read a theme file; raise a ThemeError with the position of the first mistake."""
    plain = read_plain(text.encode())
    if plain is not None:
        with suppress(MistakeError):  # reported below, with its position
            return _Reading(PlainFile(plain.value)).theme()
    return _Reading(YamlFile(text, source)).theme()


class _Reading:
    """A theme file while it is being read."""

    def __init__(self, file: YamlFile | PlainFile) -> None:
        self._file = file

    def theme(self) -> ThemeFile:
        file = self._file
        keys: dict[str, Any] = dict(file.entries(file.root(), _KEYS))
        return ThemeFile(
            file.word(keys["title"]) if "title" in keys else None,
            file.boolean(keys["dark"]) if "dark" in keys else None,
            file.word(keys["like"]) if "like" in keys else None,
            {name: self._color(node) for name, node in file.entries(keys.get("colors"), COLORS)},
            {_LOOKS[name]: self._look(node) for name, node in file.entries(keys.get("looks"), _LOOKS)},
            file.place(keys["like"]) if "like" in keys else "",
        )

    def _look(self, node: Any) -> Look:
        if self._file.is_word(node):
            return Look(self._color(node))
        entries: dict[str, Any] = dict(self._file.entries(node, ("color", "background", *FLAGS)))
        flags = {name: self._file.boolean(value) for name, value in entries.items() if name in FLAGS}
        colors = [self._color(entries[name]) if name in entries else None for name in ("color", "background")]
        return Look(colors[0], colors[1], flags)

    def _color(self, node: Any) -> str:
        word = self._file.word(node).lower()
        if word not in ANSI and word != DEFAULT and not _COLOR.fullmatch(word):
            perhaps = did_you_mean(word, (*ANSI, DEFAULT)) if word else ""
            words = f"{quoted(word)} is not a color; write '#rrggbb' in quotes, default, or one of the 16 colors of the"
            raise self._file.mistake(node, f"{words} terminal, such as bright-cyan{perhaps}")
        return word


def _path(name: str, folders: Sequence[Path]) -> Path:
    path = theme_path(name, folders)
    if path is None:
        perhaps = did_you_mean(name, theme_names(folders))
        raise UnknownThemeError(f"unknown theme '{sanitize_line(name, 60)}'{perhaps}")
    return path


def _read(path: Path) -> ThemeFile:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ThemeError(f"{sanitize_line(str(path))} cannot be read as UTF-8 text") from None
    return read_theme(text, str(path))


def _complete(name: str, file: ThemeFile, path: Path, base: Theme) -> Theme:
    """Override the values of another theme with the values in the file."""
    return Theme(
        name,
        sanitize_line(file.title or name),
        base.dark if file.dark is None else file.dark,
        {**base.colors, **file.colors},
        {**_derived_looks({**base.looks, **file.looks}), **file.looks},
        (path, *base.files),
    )


def _derived_looks(looks: Mapping[StyleRole, Look]) -> dict[StyleRole, Look]:
    """Add the derived looks of the roles that theme files may omit."""
    code = looks[StyleRole.CODE].background if StyleRole.CODE in looks else None
    derived = {
        role: replace(
            looks[how.of],
            background=code if how.on_code else looks[how.of].background,
            flags={**looks[how.of].flags, **how.flags},
        )
        for role, how in DERIVED.items()
        if how.of in looks
    }
    return {**looks, **derived}


def _rich_name(color: str | None) -> str | None:
    return color.replace("-", "_") if color else None


def _named(flags: Mapping[str, bool]) -> dict[str, Any]:
    return dict(flags)
