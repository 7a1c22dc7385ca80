"""Colors of a theme as terminal codes, for output before the app is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from colorsys import rgb_to_hls
from pathlib import Path

from viewer.render.strip_controls import strip_controls
from viewer.render.style import Line, StyleRole
from viewer.syntax.yaml_plain import read_plain
from viewer.syntax.yaml_reader import LARGEST
from viewer.values import frozen

_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_FLAGS = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7", "strike": "9"}


@frozen
class FirstColors:
    """The codes of the page and of its style roles."""

    page: str
    title: str
    looks: Mapping[str, str]

    def paint(self, line: Line, base: str, *, ascii_only: bool = False) -> str:
        """Paint a line; each part over the colors of the line."""
        return "".join(f"\x1b[0;{base}{self._look(part.look)}m{strip_controls(part.text, ascii_only)}" for part in line)

    def _look(self, look: StyleRole) -> str:
        return self.looks.get(look.value, "")


def colors_of(name: str, folders: Sequence[Path], *, exact: bool) -> FirstColors | None:
    """The colors of a theme that defines all of them itself; with `exact`, the terminal shows any color, not only
    256."""
    from viewer.tui.themes.places import theme_path

    path = theme_path(name, folders)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            plain = read_plain(file.read(LARGEST))
    except OSError:
        return None
    colors, looks = (plain.value.get(key) for key in ("colors", "looks")) if plain else (None, None)
    if not isinstance(colors, dict) or not isinstance(looks, dict):
        return None
    page = [_code(colors.get(key), layer, exact) for key, layer in (("text", 38), ("background", 48))]
    title = _code(colors.get("surface"), 48, exact)
    if not all(page) or not title:
        return None
    return FirstColors(
        ";".join(page), f"{page[0]};{title}", {look: _codes(value, exact) for look, value in looks.items()}
    )


def _codes(look: object, exact: bool) -> str:
    """The codes added to the colors of the line, each with a leading semicolon."""
    said = look if isinstance(look, dict) else {"color": look}
    codes = [_code(said.get("color"), 38, exact), _code(said.get("background"), 48, exact)]
    codes += [code for name, code in _FLAGS.items() if said.get(name) == "true"]
    return "".join(f";{code}" for code in codes if code)


def _code(color: object, layer: int, exact: bool) -> str:
    """The code of `#rrggbb` as text color (38) or background (48); empty if it is not such a color."""
    if not isinstance(color, str) or not _COLOR.fullmatch(color):
        return ""
    red, green, blue = bytes.fromhex(color[1:])
    return f"{layer};2;{red};{green};{blue}" if exact else f"{layer};5;{_nearest(red, green, blue)}"


def _nearest(red: int, green: int, blue: int) -> int:
    """The nearest of 256 colors, as the app computes it."""
    _, lightness, saturation = rgb_to_hls(red / 255, green / 255, blue / 255)
    if saturation < 0.15:
        gray = round(lightness * 25.0)
        return 16 if gray == 0 else 231 if gray == 25 else 231 + gray
    steps = (part / 95 if part < 95 else 1 + (part - 95) / 40 for part in (red, green, blue))
    high, middle, low = map(round, steps)
    return 16 + 36 * high + 6 * middle + low
