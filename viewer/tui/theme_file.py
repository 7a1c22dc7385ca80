"""Theme files, read strictly: every mistake is told with its line and column, and with what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import yaml
from rich.style import Style

from viewer.core.yaml_header import read_yaml
from viewer.errors import ViewerError
from viewer.render.safe_text import safe_line
from viewer.render.style import Look

COLORS = (
    "background", "surface", "text", "quiet", "border", "primary", "debug", "error", "warning", "success", "selection",
    "scrollbar", "scrollbar-hover", "scrollbar-active", "scrollbar-background",
)  # fmt: skip
"""The colours of the screen itself."""
FLAGS = ("bold", "dim", "italic", "underline", "reverse", "strike")
DEFAULT = "default"
"""The terminal's own colour."""

_LOOKS = {look.value: look for look in Look}
_KEYS = ("title", "dark", "like", "colors", "looks")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}|default")
_BOOLEANS = {"true": True, "false": False}


class ThemeError(ViewerError):
    """A theme file that cannot be used; the message says where and why."""


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """What a theme file says; what it leaves out comes from the theme it is like."""

    title: str | None
    dark: bool | None
    like: str | None
    colors: Mapping[str, str]
    looks: Mapping[Look, Style]


def read_theme(text: str, source: str) -> ThemeFile:
    """The theme in this text, or a ThemeError with the place of the first mistake."""
    return _Reading(text, source).theme()


class _Reading:
    """One theme file while it is read."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = safe_line(source)

    def theme(self) -> ThemeFile:
        """The whole file."""
        keys = dict(self._entries(self._root(), _KEYS))
        like = self._word(keys["like"]) if "like" in keys else None
        return ThemeFile(
            self._word(keys["title"]) if "title" in keys else None,
            self._boolean(keys["dark"]) if "dark" in keys else None,
            like,
            {name: self._color(node) for name, node in self._entries(keys.get("colors"), COLORS)},
            {_LOOKS[name]: self._style(node) for name, node in self._entries(keys.get("looks"), _LOOKS)},
        )

    def _root(self) -> yaml.Node | None:
        """The file as nodes with places; it was read under caps before, so that nothing in it is nested deeply."""
        data = self._text.encode()
        for fault in read_yaml(data).faults:
            index = len(data[: fault.start].decode("utf-8", "replace"))
            line = self._text.count("\n", 0, index) + 1
            raise self._error(line, index - self._text.rfind("\n", 0, index), "this is not well-formed YAML")
        root: yaml.Node | None = yaml.compose(self._text, Loader=yaml.SafeLoader)
        return root

    def _entries(self, node: yaml.Node | None, known: Iterable[str]) -> Iterator[tuple[str, yaml.Node]]:
        if node is None:
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._at(node, "keys and values are needed here")
        for key, value in node.value:
            if key.value not in known:
                raise self._at(key, f"unknown key '{safe_line(str(key.value), 40)}'{_perhaps(str(key.value), known)}")
            yield key.value, value

    def _style(self, node: yaml.Node) -> Style:
        if isinstance(node, yaml.ScalarNode):
            return _colored(self._color(node), None, {})
        entries = dict(self._entries(node, ("color", "background", *FLAGS)))
        flags = {name: self._boolean(value) for name, value in entries.items() if name in FLAGS}
        colors = [self._color(entries[name]) if name in entries else None for name in ("color", "background")]
        return _colored(colors[0], colors[1], flags)

    def _color(self, node: yaml.Node) -> str:
        word = self._word(node)
        if not _COLOR.fullmatch(word):
            raise self._at(node, f"'{safe_line(word, 40)}' is no color: write '#rrggbb' in quotes, or default")
        return word.lower()

    def _boolean(self, node: yaml.Node) -> bool:
        word = self._word(node)
        if word not in _BOOLEANS:
            raise self._at(node, f"'{safe_line(word, 40)}' is neither true nor false")
        return _BOOLEANS[word]

    def _word(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._at(node, "one value is needed here")
        return str(node.value)

    def _at(self, node: yaml.Node, words: str) -> ThemeError:
        mark = node.start_mark
        return self._error(mark.line + 1, mark.column + 1, words)

    def _error(self, line: int, column: int, words: str) -> ThemeError:
        return ThemeError(f"{self._source}:{line}:{column}: {words}")


def _colored(color: str | None, background: str | None, flags: Mapping[str, bool]) -> Style:
    return Style(
        color=color,
        bgcolor=background,
        bold=flags.get("bold"),
        dim=flags.get("dim"),
        italic=flags.get("italic"),
        underline=flags.get("underline"),
        reverse=flags.get("reverse"),
        strike=flags.get("strike"),
    )


def _perhaps(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f" (did you mean '{near[0]}'?)" if near else ""
