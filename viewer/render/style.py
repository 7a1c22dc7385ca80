"""How printed lines look: their parts, the ANSI colours, the signs for terminals with and without Unicode."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, NewType

from viewer.render.sanitize import SafeText, safe_line
from viewer.values import frozen


class Look(Enum):
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
    Look.USER: "1;36",
    Look.ASSISTANT: "1;32",
    Look.ANALYSIS: "35",
    Look.COMMENTARY: "34",
    Look.TOOL: "33",
    Look.SYSTEM: "1;90",
    Look.UNKNOWN: "1;31",
    Look.RULE: "90",
    Look.QUIET: "2",
    Look.STRONG: "1",
    Look.ERROR: "1;31",
    Look.WARNING: "1;33",
    Look.INFO: "1;34",
}
"""The looks of printed text; all others are plain there."""


class Part(NamedTuple):
    """A run of text with one look."""

    text: SafeText
    look: Look = Look.PLAIN


Line = tuple[Part, ...]

Printable = NewType("Printable", str)
"""A line that may be written to a terminal: safe text, and colours of our own. Printing takes no other type."""


@frozen
class Signs:
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


UNICODE = Signs("▌", "┆", "─", "━", "┄", "·", "→", "↓", "↑", "┄", "×", "…", "✖", "⚠", "ℹ")
ASCII = Signs("|", ":", "-", "=", "..", "-", "->", "reply ", "call ", "~", "x", "...", "x", "!", "i")


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
    def signs(self) -> Signs:
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
        return self.spell(safe_line(text))

    def paint(self, line: Iterable[Part]) -> Printable:
        """The line as it is printed, without its end."""
        if not self.color:
            return Printable("".join(part.text for part in line))
        return Printable("".join(map(_painted, line)))


def own(text: str) -> SafeText:
    """Signs and numbers of the program itself: fixed, and therefore safe."""
    return SafeText(text)


def _painted(part: Part) -> str:
    code = _ANSI.get(part.look)
    return f"\x1b[{code}m{part.text}\x1b[0m" if code else part.text
