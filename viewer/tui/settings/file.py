"""Read the settings file strictly: report and ignore each mistake, and never stop the program."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from viewer.errors import ViewerError
from viewer.formats.places import PLACES
from viewer.model.prices import Price, Prices
from viewer.render.sanitize import sanitize_line
from viewer.render.theme import theme_names
from viewer.render.yaml_file import MistakeError, YamlFile, did_you_mean, quoted
from viewer.sources.limits import Limits, parse_size
from viewer.syntax.yaml_reader import LARGEST
from viewer.tui.keys import check_keymap
from viewer.tui.settings.places import config_file, themes_folder, tilde
from viewer.tui.settings.settings import Pane, Settings

if TYPE_CHECKING:
    import yaml

NEVER = (
    "reveal", "revealed", "level", "brief", "debug", "view", "show", "audience", "channels", "analysis",
    "commentary", "tools", "tool", "system", "developer", "hidden", "unsafe",
)  # fmt: skip
"""Names of settings that users might expect to reveal hidden messages. All are refused."""
WHY_NEVER = "no setting can reveal hidden messages; use --reveal or press d"
WRAP = (20, 1000)
SIZES = {"outline": (16, 200), "inspector": (16, 200), "problems": (3, 60)}
SCREEN = "screen"

_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?")
_MONEY = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
_PRICES = ("input", "output", "cached")
_COUNT = re.compile(r"[0-9]{1,6}")


def read_settings(path: Path | None = None, themes: Path | None = None) -> Settings:
    """Read the settings from this file, or else from the user's settings file; return the defaults if there is none."""
    path, folder = path or config_file(), themes or themes_folder()
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1).decode("utf-8")
    except FileNotFoundError:
        return Settings(folder=folder)
    except (OSError, UnicodeDecodeError):
        problem = f"{sanitize_line(tilde(path))} cannot be read as UTF-8 text; it is ignored"
        return Settings(folder=folder, problems_found=(problem,))
    return settings_in(text, tilde(path), folder)


def settings_in(text: str, source: str, themes: Path) -> Settings:
    """Return the settings in the text of a settings file."""
    return _Reading(text, source, themes).settings()


class _Reading:
    """The state while a settings file is being read."""

    def __init__(self, text: str, source: str, folder: Path) -> None:
        self._file = YamlFile(text, source)
        self._settings = Settings(folder=folder)
        self._lines: dict[str, int] = {}
        self._problems: list[str] = []
        self._readers: dict[str, Callable[[yaml.Node], Any]] = {
            "theme": self._theme,
            "keymap": self._keymap,
            "layout": self._layout,
            "wrap": self._wrap,
            "markdown": self._markdown,
            "stall-after": self._stall_after,
            "plugins": lambda node: self._set(node, "plugins", plugins=self._file.boolean(node)),
            "discovery": lambda node: self._set(node, "discovery", discovery=self._file.boolean(node)),
            "state": lambda node: self._set(node, "state", state=self._file.boolean(node)),
            "places": self._places,
            "prices": self._prices,
            "redact": self._redact,
            "max_spool": lambda node: self._limit(node, "max_spool"),
            "max_decompressed": lambda node: self._limit(node, "max_decompressed"),
        }

    def settings(self) -> Settings:
        """Return the valid settings of the file, with the mistakes found in it."""
        self._tried(self._all)
        return replace(self._settings, lines=self._lines, problems_found=tuple(self._problems))

    def _all(self) -> None:
        for key, name, value in self._file.pairs(self._file.root()):
            self._tried(self._one, key, name, value)

    def _one(self, key: yaml.Node, name: str, value: yaml.Node) -> None:
        if name not in self._readers:
            raise self._unknown(key, name, self._readers)
        self._readers[name](value)

    def _tried(self, read: Callable[..., None], *arguments: Any) -> None:
        """Read an entry. If it contains a mistake, record the mistake and continue with the next entry."""
        try:
            read(*arguments)
        except MistakeError as mistake:
            self._problems.append(str(mistake))

    def _unknown(self, key: yaml.Node, name: str, known: Any) -> MistakeError:
        if name.lower().replace("_", "-") in NEVER:
            return self._file.mistake(key, f"{quoted(name)} is not allowed: {WHY_NEVER}")
        return self._file.unknown_key(key, known)

    def _set(self, node: yaml.Node, name: str, **values: Any) -> None:
        self._settings = replace(self._settings, **values)
        self._lines[name] = node.start_mark.line + 1

    def _theme(self, node: yaml.Node) -> None:
        name = self._file.word(node)
        known = theme_names(self._settings.theme_folders)
        if name not in known:
            raise self._file.mistake(node, f"unknown theme {quoted(name)}{did_you_mean(name, known)}")
        self._set(node, "theme", theme=name)

    def _wrap(self, node: yaml.Node) -> None:
        word = self._file.word(node)
        self._set(node, "wrap", wrap=0 if word == SCREEN else self._count(node, *WRAP, f"{SCREEN}, or "))

    def _markdown(self, node: yaml.Node) -> None:
        self._set(node, "markdown", markdown=self._file.boolean(node))

    def _stall_after(self, node: yaml.Node) -> None:
        word = self._file.word(node)
        if not _SECONDS.fullmatch(word) or not float(word):
            raise self._file.mistake(node, f"{quoted(word)} is not a time: write a number of seconds")
        self._set(node, "stall-after", stall_after=float(word))

    def _limit(self, node: yaml.Node, name: str) -> None:
        word = self._file.word(node)
        size = parse_size(word)
        if size is None:
            raise self._file.mistake(node, f"{quoted(word)} is not a size: write a number and KB, MB, or GB")
        self._set(node, name, limits=replace(self._settings.limits, **{name: size}))

    def _places(self, node: yaml.Node) -> None:
        for key, name, value in self._file.pairs(node):
            self._tried(self._place, key, name, value)

    def _place(self, key: yaml.Node, name: str, node: yaml.Node) -> None:
        """Read additional folders of one agent: a folder or a list of folders."""
        known = [place.agent for place in PLACES]
        if name not in known:
            raise self._file.unknown_key(key, known)
        folders = [self._file.word(item) for item in self._file.items(node)]
        more = tuple(os.path.expanduser(folder) for folder in folders)  # noqa: PTH111 (no error without a home)
        self._set(node, f"places.{name}", places={**self._settings.places, name: more})

    def _redact(self, node: yaml.Node) -> None:
        """Read the user's patterns. Keep and report an invalid pattern: ignoring it would leave secrets unmasked."""
        from viewer.document.redaction.finder import compiled_pattern  # few settings have patterns

        for key, name, value in self._file.pairs(node):
            pattern = self._file.word(value)
            self._set(key, f"redact.{name}", redact={**self._settings.redact, name: pattern})
            try:
                compiled_pattern(name, pattern)
            except ViewerError as error:
                self._problems.append(str(self._file.mistake(value, str(error))))

    def _prices(self, node: yaml.Node) -> None:
        for key, name, value in self._file.pairs(node):
            self._tried(self._price, key, name, value)

    def _price(self, key: yaml.Node, name: str, node: yaml.Node) -> None:
        """Read the prices of one model: input, output and, if it differs, cached input."""
        numbers: dict[str, float] = {}
        for kind_key, kind, value in self._file.pairs(node):
            if kind not in _PRICES:
                raise self._file.unknown_key(kind_key, _PRICES)
            word = self._file.word(value)
            if not _MONEY.fullmatch(word):
                raise self._file.mistake(value, f"{quoted(word)} is not a price: write an amount per million tokens")
            numbers[kind] = float(word)
        missing = [kind for kind in _PRICES[:2] if kind not in numbers]
        if missing:
            raise self._file.mistake(key, f"{quoted(name)} needs a price for {' and '.join(missing)}")
        by_model = {**self._settings.prices.by_model, name: Price(**numbers)}
        self._set(key, f"prices.{name}", prices=Prices(by_model))

    def _layout(self, node: yaml.Node) -> None:
        for key, name, value in self._file.pairs(node):
            self._tried(self._pane, key, name, value)

    def _pane(self, key: yaml.Node, name: str, node: yaml.Node) -> None:
        if name not in SIZES:
            raise self._unknown(key, name, SIZES)
        word = self._file.word(node)
        if word in ("true", "false"):
            pane = Pane(word == "true")
        else:
            pane = Pane(size=self._count(node, *SIZES[name], "true, false, or "))
        self._set(node, f"layout.{name}", **{name: pane})

    def _count(self, node: yaml.Node, least: int, most: int, others: str) -> int:
        word = self._file.word(node)
        if not _COUNT.fullmatch(word) or not least <= int(word) <= most:
            raise self._file.mistake(
                node, f"{quoted(word)} is not allowed: write {others}a number from {least} to {most}"
            )
        return int(word)

    def _keymap(self, node: yaml.Node) -> None:
        """Read the keymap. If two entries clash, ignore the later one."""
        nodes: dict[str, yaml.Node] = {}
        keymap: dict[str, str] = {}
        for key, name, value in self._file.pairs(node):
            nodes[name] = key
            self._tried(self._keys, keymap, name, value)
        while problems := check_keymap(keymap):
            for problem in problems:
                self._problems.append(str(self._file.mistake(nodes[problem.id], problem.sentence)))
                keymap.pop(problem.id, None)
        self._settings = replace(self._settings, keymap=keymap)
        self._lines |= {f"keymap.{id}": nodes[id].start_mark.line + 1 for id in keymap}

    def _keys(self, keymap: dict[str, str], name: str, node: yaml.Node) -> None:
        """Read one key or a list of keys."""
        keys = self._file.items(node)
        keymap[name] = ", ".join(self._file.word(key) for key in keys)


def configured_prices() -> Prices:
    """Return the prices in the settings file."""
    return read_settings().prices


def configured_limits() -> Limits:
    """Return the limits in the settings file."""
    return read_settings().limits
