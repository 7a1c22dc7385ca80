"""Preview of a theme: sample lines with speakers, problems, and matches."""

from __future__ import annotations

import os
from collections.abc import Iterator

from rich.color import ColorSystem
from rich.style import Style as RichStyle

from viewer.render.sanitize import sanitize_line
from viewer.render.style import Line, Part, Printable, Style, StyleRole, trusted
from viewer.render.theme import DEFAULT, Theme
from viewer.render.width import cells, cut

WIDTH = 72
_FEW_COLORS = ("linux", "ansi", "cygwin", "vt220")


def preview_lines(theme: Theme, style: Style) -> Iterator[Printable]:
    """Yield the lines of the preview, all of the same width. Only the title comes from the theme file."""
    system = color_system()
    page, styles = _page(theme), theme.styles
    for line in _sample(theme, style):
        room = WIDTH
        drawn = []
        for part in line:
            text = cut(part.text, max(room, 0), trusted(style.signs.ellipsis))
            room -= cells(text)
            drawn.append((page + styles[part.look]).render(text, color_system=system))
        drawn.append(page.render(" " * max(room, 0), color_system=system))
        yield Printable("".join(drawn))


def color_system() -> ColorSystem:
    """Return the color system that the terminal declares; true color if it declares nothing."""
    term = os.environ.get("TERM", "")
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or term in ("", "dumb"):
        return ColorSystem.TRUECOLOR
    return ColorSystem.STANDARD if term in _FEW_COLORS or "16color" in term else ColorSystem.EIGHT_BIT


def _page(theme: Theme) -> RichStyle:
    text, page = (theme.colors[name].replace("-", "_") for name in ("text", "background"))
    return RichStyle(color=None if text == DEFAULT else text, bgcolor=None if page == DEFAULT else page)


def _sample(theme: Theme, style: Style) -> list[Line]:
    signs = style.signs
    bar = f" {signs.gutter} "
    return [
        _line("title", f" {theme.name}   ", "safe-badge", "[SAFE]", "plain", " ", "debug-badge", "[DEBUG]",
              "quiet", f"   {style.spell(sanitize_line(theme.title))}"),
        _line("user", f"{bar}User ", "plain", "Is it warm in ", "match", "Tokyo", "plain", "? And in ",
              "this-match", "Osaka", "plain", "?"),
        _line("assistant", f"{bar}Assistant ", "plain", "It is ", "strong", "**warm**", "plain", ", see ",
              "code", "`forecast`", "plain", "."),
        _line("analysis", f"{bar}analysis ", "commentary", f"{bar}commentary ", "tool", f"{bar}tool ",
              "system", f"{bar}system ", "unknown", f"{bar}unknown"),
        _line("tool", bar, "json-key", '{"warm": ', "json-word", "true", "json-key", ', "celsius": ',
              "json-number", "20", "json-key", ', "unit": ', "bad-span", '"kelvin"', "json-key", "}"),
        _line("error", f" {signs.error} error ", "warning", f" {signs.warning} warning ", "info", f" {signs.info} note",
              "ok", "  ok ", "pending", " pending ", "quiet", " quiet ", "footer-key", " q ", "footer-text", "Quit"),
    ]  # fmt: skip


def _line(*words: str) -> Line:
    """Build a line from pairs of a style role and its text."""
    return tuple(Part(trusted(text), StyleRole(look)) for look, text in zip(words[::2], words[1::2], strict=True))
