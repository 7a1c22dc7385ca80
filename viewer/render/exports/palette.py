"""Inks of exported pages and pictures: a light and a dark color per style role."""

from __future__ import annotations

from msgspec import Struct


class Ink(Struct, frozen=True, gc=False):
    """A color on a light and on a dark page."""

    light: str
    dark: str


PAGE = Ink("#ffffff", "#0f141b")
SURFACE = Ink("#f6f7f9", "#161d27")
"""Background of code, tool data and tables."""

INKS = {
    "page": PAGE,
    "surface": SURFACE,
    "line": Ink("#dfe3e8", "#2a3442"),
    "plain": Ink("#1c2128", "#d8dfe9"),
    "strong": Ink("#0d1117", "#f3f6fa"),
    "quiet": Ink("#59636e", "#93a0b4"),
    "user": Ink("#006b7a", "#5fd4e6"),
    "assistant": Ink("#1a7035", "#7fdc92"),
    "analysis": Ink("#6638bd", "#bba6f7"),
    "commentary": Ink("#1a59b5", "#86b5ff"),
    "tool": Ink("#8a4e00", "#f2b866"),
    "system": Ink("#56606c", "#a3aebd"),
    "unknown": Ink("#a63a08", "#ff9e80"),
    "error": Ink("#b4202d", "#ff7b7b"),
    "warning": Ink("#775800", "#f7d35c"),
    "info": Ink("#1a59b5", "#86b5ff"),
    "ok": Ink("#1a7035", "#7fdc92"),
    "code": Ink("#7a3e0b", "#e6c48f"),
    "json-key": Ink("#1a5a99", "#8fc9f4"),
    "json-text": Ink("#28692f", "#abd8a2"),
    "json-number": Ink("#94480c", "#f4b681"),
    "json-word": Ink("#7637a8", "#cbabf8"),
    "bad-page": Ink("#fde4e4", "#4a1d22"),
    "noted-page": Ink("#fff2c9", "#443711"),
    "safe-page": Ink("#1a7035", "#69d58a"),
    "safe-ink": Ink("#ffffff", "#06210f"),
    "brief-page": Ink("#775800", "#f7d35c"),
    "brief-ink": Ink("#ffffff", "#2a2000"),
    "debug-page": Ink("#b01c55", "#c2255c"),
    "debug-ink": Ink("#ffffff", "#ffffff"),
}


def custom_properties(night: bool) -> str:
    """The inks as CSS custom properties."""
    return "".join(f"--{name}:{ink.dark if night else ink.light};" for name, ink in INKS.items())
