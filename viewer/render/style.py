"""How printed lines look: their parts, the ANSI colours, the signs for terminals with and without Unicode."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, NewType

from viewer.render.sanitize import SafeText, sanitize_line
from viewer.values import frozen


class StyleRole(Enum):
    """What a part of a line is; the value is its name in a theme."""

    PLAIN = "plain"
    USER = "user"
    ASSISTANT = "assistant"
    ANALYSIS = "analysis"
    COMMENTARY = "commentary"
    TOOL = "tool"
    SYSTEM = "system"
    UNKNOWN = "unknown"
    RULE = "rule"
    QUIET = "quiet"
    STRONG = "strong"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    OK = "ok"
    PENDING = "pending"
    EMPHASIS = "emphasis"
    HEADING = "heading"
    CODE = "code"
    BULLET = "bullet"
    JSON_KEY = "json-key"
    JSON_TEXT = "json-text"
    JSON_NUMBER = "json-number"
    JSON_WORD = "json-word"
    MARKER = "marker"
    """A control token in the raw view."""
    BAD_SPAN = "bad-span"
    """The bytes that an error is about."""
    NOTED_SPAN = "noted-span"
    """The bytes that a warning or a note is about."""
    CURSOR = "cursor"
    """The row of a list that the cursor is on."""
    FOCUS = "focus"
    """The gutter of the message that has the focus."""
    PARTNER = "partner"
    """The other end of the call that has the focus."""
    MATCH = "match"
    THIS_MATCH = "this-match"
    BOOKMARK = "bookmark"
    TITLE = "title"
    SAFE_BADGE = "safe-badge"
    DEBUG_BADGE = "debug-badge"
    FOOTER_KEY = "footer-key"
    FOOTER_TEXT = "footer-text"
    BANNER = "banner"


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
"""The looks of printed text; all others are plain there."""


class Part(NamedTuple):
    """A run of text with one look."""

    text: SafeText
    look: StyleRole = StyleRole.PLAIN


Line = tuple[Part, ...]

Printable = NewType("Printable", str)
"""A line that may be written to a terminal: safe text, and colours of our own. Printing takes no other type."""


@frozen
class Glyphs:
    """The marks that the program draws itself; text of a transcript is never taken for one of them."""

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

    def severity(self, severity: str) -> str:
        """The mark of a diagnostic."""
        return {"error": self.error, "warning": self.warning}.get(severity, self.info)


UNICODE = Glyphs("▌", "┆", "─", "━", "┄", "·", "→", "↓", "↑", "┄", "×", "…", "✖", "⚠", "ℹ")
ASCII = Glyphs("|", ":", "-", "=", "..", "-", "->", "reply ", "call ", "~", "x", "...", "x", "!", "i")


_ASCII_WORDS = str.maketrans(
    {"§": "section ", "…": "...", "–": "-", "—": "-", "·": "-", "×": "x", "°": " deg", "→": "->"}
)


@frozen
class Style:
    """What the place that is printed to can show."""

    color: bool = False
    ascii: bool = False
    wrapped: bool = False
    """Lines must fit the width; otherwise every line of a body is printed as long as it is."""

    @property
    def signs(self) -> Glyphs:
        """The marks that can be shown."""
        return ASCII if self.ascii else UNICODE

    def spell(self, text: SafeText) -> SafeText:
        """Text that is already safe, in characters that can be shown."""
        if not self.ascii or text.isascii():
            return text
        return SafeText(text.encode("ascii", "backslashreplace").decode("ascii"))

    def words(self, text: str) -> SafeText:
        """Words of the program itself: sentences of the tables, numbers, labels."""
        return SafeText(text.translate(_ASCII_WORDS)) if self.ascii else SafeText(text)

    def name(self, text: str) -> SafeText:
        """A name from outside (of a file, a tool, a role, an id) on one line."""
        return self.spell(sanitize_line(text))

    def paint(self, line: Iterable[Part]) -> Printable:
        """The line as it is printed, without its end."""
        if not self.color:
            return Printable("".join(part.text for part in line))
        return Printable("".join(map(_painted, line)))


def trusted(text: str) -> SafeText:
    """Signs and numbers of the program itself: fixed, and therefore safe."""
    return SafeText(text)


def _painted(part: Part) -> str:
    code = _ANSI.get(part.look)
    return f"\x1b[{code}m{part.text}\x1b[0m" if code else part.text
