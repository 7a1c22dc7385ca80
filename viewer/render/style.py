"""Styles of printed lines: parts, roles, ANSI colors, and glyphs for terminals with and without Unicode."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NewType

from msgspec import Struct

from viewer.render.sanitize import SafeText, sanitize_line
from viewer.style_roles import StyleRole as StyleRole

_ANSI = {
    StyleRole.USER: "1;36",
    StyleRole.ASSISTANT: "1;32",
    StyleRole.ANALYSIS: "35",
    StyleRole.COMMENTARY: "34",
    StyleRole.TOOL: "33",
    StyleRole.SYSTEM: "1;90",
    StyleRole.UNKNOWN: "1;31",
    StyleRole.RULE: "90",
    StyleRole.QUIET: "2",
    StyleRole.STRONG: "1",
    StyleRole.ERROR: "1;31",
    StyleRole.WARNING: "1;33",
    StyleRole.INFO: "1;34",
}
"""The ANSI colors of printed text; all other roles are plain."""


class Part(Struct, frozen=True, gc=False):
    """A run of text with one style role."""

    text: SafeText
    look: StyleRole = StyleRole.PLAIN


Line = tuple[Part, ...]


class Styled(Struct, frozen=True, gc=False):
    """A span of text with a style role."""

    start: int
    end: int
    look: StyleRole


Printable = NewType("Printable", str)
"""A line that is safe to write to a terminal: safe text and the program's colors. Printing accepts no other type."""


class Glyphs(Struct, frozen=True, gc=False):
    """Glyphs drawn by the program. Transcript text can never imitate them."""

    gutter: str
    open_gutter: str
    rule: str
    heavy: str
    hidden: str
    dot: str
    to: str
    down: str
    up: str
    inferred: str
    times: str
    ellipsis: str
    error: str
    warning: str
    info: str
    live: str
    caret: str
    call: str
    thought: str
    commentary: str
    instruction: str
    reply: str
    ok: str
    running: str
    cancelled: str
    folded: str
    unfolded: str

    def branch(self, is_last: bool) -> str:
        """Return the tree lines before a row."""
        if self.dot != "·":
            return "- "
        return "└ " if is_last else "├ "

    def below(self, is_last: bool) -> str:
        """Return the tree lines before the rows of a branch."""
        return "  " if is_last or self.dot != "·" else "│ "

    def severity(self, severity: str) -> str:
        """Return the glyph of a diagnostic."""
        return {"error": self.error, "warning": self.warning}.get(severity, self.info)


UNICODE = Glyphs(
    "▌", "┆", "─", "━", "┄", "·", "→", "↓", "↑", "┄", "×", "…", "✖", "⚠", "ℹ", "●", "▏", "ƒ", "∴", "¶",
    "§", "↑", "✓", "◌", "⊘", "▸", "▾",
)  # fmt: skip
ASCII = Glyphs(
    "|", ":", "-", "=", "..", "-", "->", "reply ", "call ", "~", "x", "...", "x", "!", "i", "*", "_",
    "f", ":", "c", "s", "^", "", "o", "/", ">", "v",
)  # fmt: skip


_ASCII_WORDS = str.maketrans(
    {
        "§": "section ",
        "…": "...",
        "–": "-",
        "—": "-",
        "·": "-",
        "×": "x",
        "°": " deg",
        "→": "->",
        "←": "<-",
        "↑": "up",
        "↓": "down",
    }
)


_ASCII_LINES = str.maketrans({"␊": "\\n", "␉": "\\t"})
"""The signs for line ends and tabs in a text on one line."""


class Style(Struct, frozen=True, gc=False):
    """Capabilities of the output."""

    color: bool = False
    ascii: bool = False
    wrapped: bool = False
    """True if lines must fit the width; otherwise body lines are printed unwrapped."""

    @property
    def signs(self) -> Glyphs:
        """The glyphs that can be shown."""
        return ASCII if self.ascii else UNICODE

    def spell(self, text: SafeText) -> SafeText:
        """Replace characters of safe text that cannot be shown."""
        if not self.ascii or text.isascii():
            return text
        return SafeText(text.translate(_ASCII_LINES).encode("ascii", "backslashreplace").decode("ascii"))

    def words(self, text: str) -> SafeText:
        """Return text of the program: sentences from tables, numbers, and labels."""
        return SafeText(text.translate(_ASCII_WORDS)) if self.ascii else SafeText(text)

    def name(self, text: str) -> SafeText:
        """Return an external name (of a file, tool, role, or ID) on one line."""
        return self.spell(sanitize_line(text))

    def paint(self, line: Iterable[Part]) -> Printable:
        """Return the painted line, without a line end."""
        if not self.color:
            return Printable("".join([part.text for part in line]))
        return Printable("".join(map(_painted, line)))


def trusted(text: str) -> SafeText:
    """Mark text as safe that comes from the program itself, such as glyphs and numbers."""
    return SafeText(text)


def _painted(part: Part) -> str:
    code = _ANSI.get(part.look)
    return f"\x1b[{code}m{part.text}\x1b[0m" if code else part.text
