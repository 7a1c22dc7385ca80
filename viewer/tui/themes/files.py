"""Theme files, read strictly: every mistake is told with its line and column, and with what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rich.style import Style

from viewer.render.style import StyleRole
from viewer.syntax.yaml_plain import read_plain
from viewer.tui.settings.yaml_file import MistakeError, PlainFile, YamlFile, did_you_mean, quoted
from viewer.values import frozen

COLORS = (
    "background", "surface", "text", "quiet", "border", "primary", "debug", "error", "warning", "success", "selection",
    "scrollbar", "scrollbar-hover", "scrollbar-active", "scrollbar-background",
)  # fmt: skip
"""The colours of the screen itself."""
FLAGS = ("bold", "dim", "italic", "underline", "reverse", "strike")
DEFAULT = "default"
"""The terminal's own colour."""
_HUES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI = (*_HUES, *(f"bright-{hue}" for hue in _HUES))
"""The sixteen colours that a terminal has of its own, in their order."""

_LOOKS = {look.value: look for look in StyleRole}
_KEYS = ("title", "dark", "like", "colors", "looks")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")

ThemeError = MistakeError
"""A theme file that cannot be used; the message says where and why."""


@frozen
class ThemeFile:
    """What a theme file says; what it leaves out comes from the theme it is like."""

    title: str | None
    dark: bool | None
    like: str | None
    colors: Mapping[str, str]
    looks: Mapping[StyleRole, Style]
    like_place: str = ""
    """Where that other theme is named, as `file:line:column`."""


def read_theme(text: str, source: str) -> ThemeFile:
    """The theme in this text, or a ThemeError with the place of the first mistake."""
    plain = read_plain(text.encode())
    if plain is not None:
        with suppress(MistakeError):  # it is told below, with its place
            return _Reading(PlainFile(plain.value)).theme()
    return _Reading(YamlFile(text, source)).theme()


class _Reading:
    """One theme file while it is read."""

    def __init__(self, file: YamlFile | PlainFile) -> None:
        self._file = file

    def theme(self) -> ThemeFile:
        """The whole file."""
        file = self._file
        keys: dict[str, Any] = dict(file.entries(file.root(), _KEYS))
        return ThemeFile(
            file.word(keys["title"]) if "title" in keys else None,
            file.boolean(keys["dark"]) if "dark" in keys else None,
            file.word(keys["like"]) if "like" in keys else None,
            {name: self._color(node) for name, node in file.entries(keys.get("colors"), COLORS)},
            {_LOOKS[name]: self._style(node) for name, node in file.entries(keys.get("looks"), _LOOKS)},
            file.place(keys["like"]) if "like" in keys else "",
        )

    def _style(self, node: Any) -> Style:
        if self._file.is_word(node):
            return _colored(self._color(node), None, {})
        entries: dict[str, Any] = dict(self._file.entries(node, ("color", "background", *FLAGS)))
        flags = {name: self._file.boolean(value) for name, value in entries.items() if name in FLAGS}
        colors = [self._color(entries[name]) if name in entries else None for name in ("color", "background")]
        return _colored(colors[0], colors[1], flags)

    def _color(self, node: Any) -> str:
        word = self._file.word(node).lower()
        if word not in ANSI and word != DEFAULT and not _COLOR.fullmatch(word):
            perhaps = did_you_mean(word, (*ANSI, DEFAULT)) if word else ""
            words = f"{quoted(word)} is no color{perhaps}: write '#rrggbb' in quotes, default, or one of the terminal's"
            raise self._file.mistake(node, f"{words} sixteen, such as bright-cyan")
        return word


def _colored(color: str | None, background: str | None, flags: Mapping[str, bool]) -> Style:
    return Style(
        color=_rich_name(color),
        bgcolor=_rich_name(background),
        bold=flags.get("bold"),
        dim=flags.get("dim"),
        italic=flags.get("italic"),
        underline=flags.get("underline"),
        reverse=flags.get("reverse"),
        strike=flags.get("strike"),
    )


def _rich_name(color: str | None) -> str | None:
    return color.replace("-", "_") if color else None
