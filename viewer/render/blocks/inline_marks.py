"""Inline text of one line of Markdown: its characters without marks, each with its source offset and style.

This module imports little, because the first page is painted before anything else is imported."""

from __future__ import annotations

from viewer.cache import lazy_regex
from viewer.style_roles import StyleRole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Runs = list[tuple[int, StyleRole | None]]
    """The end and the style of each run of characters. No two adjacent runs have the same style."""

DEEPEST_MARKS = 8

_INLINE = lazy_regex(
    r"\\(?P<escape>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>[^\n]{1,400}?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,400})\]"
    r"\((?P<url><[^<>\n]{1,400}>|(?:[^()\s]|\([^()\s]{0,200}\)){1,400})(?:[ ]+\"[^\"\n]{0,200}\")?\)"
    r"|<(?P<auto>https?://[^\s<>]{1,400})>"
    r"|\*\*\*(?=\S)(?P<both>[^*\n]{1,400}?)(?<=\S)\*\*\*(?!\*)"
    r"|\*\*(?=\S)(?P<strong>[^\n]{1,400}?)(?<=\S)\*\*"
    r"|(?<!\w)__(?=\S)(?P<strong2>[^\n]{1,400}?)(?<=\S)__(?!\w)"
    r"|~~(?=\S)(?P<strike>[^\n]{1,400}?)(?<=\S)~~"
    r"|(?<![\w*])\*(?=\S)(?P<em>[^*\n]{1,400}?)(?<=\S)\*(?![\w*])"
    r"|(?<![\w_])_(?=\S)(?P<em2>[^_\n]{1,400}?)(?<=\S)_(?![\w_])"
)
_LOOKS = {
    "both": StyleRole.STRONG,
    "strong": StyleRole.STRONG,
    "strong2": StyleRole.STRONG,
    "strike": StyleRole.STRIKE,
    "em": StyleRole.EMPHASIS,
    "em2": StyleRole.EMPHASIS,
    "code": StyleRole.CODE,
    "auto": StyleRole.LINK,
}
"""The style of the text inside each kind of inline mark; the marks themselves are not drawn."""


class InlineText:
    """A line without its marks, before it is wrapped."""

    def __init__(self, characters: str = "", origins: list[int] | None = None, runs: Runs | None = None) -> None:
        self.characters = characters
        self.origins = [] if origins is None else origins
        """The source offset of each character."""
        self.runs: Runs = [] if runs is None else runs
        """The style of each run of characters; None for the style of the surrounding text."""

    def add(self, text: str, origins: Sequence[int], look: StyleRole | None) -> None:
        """Append characters."""
        self.characters += text
        self.origins.extend(origins)
        extend_runs(self.runs, len(self.characters), look)


def extend_runs(runs: Runs, end: int, look: StyleRole | None) -> None:
    """Extend the runs up to this end in one style."""
    if runs and runs[-1][1] is look:
        runs[-1] = end, look
    elif end > (runs[-1][0] if runs else 0):
        runs.append((end, look))


def read_inline(text: str, start: int, end: int, look: StyleRole | None, line: InlineText, depth: int = 0) -> None:
    """Add the text between two offsets to a line, without its inline marks."""
    at = start
    for match in _INLINE.finditer(text, start, end) if depth < DEEPEST_MARKS else ():
        line.add(text[at : match.start()], range(at, match.start()), look)
        at = match.end()
        kind = match.lastgroup or ""
        if match["label"] is not None:
            read_inline(text, *match.span("label"), StyleRole.LINK, line, depth + 1)
            first, last = match.start("url"), match.end() - 1  # including the title of the link
            if text[first:last] != match["label"]:
                line.add(" (", [first - 2, first - 1], StyleRole.QUIET)
                line.add(text[first:last], range(first, last), StyleRole.QUIET)
                line.add(")", [last], StyleRole.QUIET)
        elif kind in ("both", "strong", "strong2", "strike", "em", "em2"):
            read_inline(text, *match.span(kind), _LOOKS[kind], line, depth + 1)
        elif match["escape"] is not None:
            line.add(match["escape"], [match.start("escape")], look)
        else:
            kind = "code" if match["code"] is not None else "auto"
            first, last = match.span(kind)
            if kind == "code" and text[first] == text[last - 1] == " " and not text[first:last].isspace():
                first, last = first + 1, last - 1  # the spaces only separate backticks inside and outside
            line.add(text[first:last], range(first, last), _LOOKS[kind])
    line.add(text[at:end], range(at, end), look)
