"""Inline text of a whole Markdown block: its characters without marks, each with its source offset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from viewer.cache import lazy_regex
from viewer.render.blocks.inline_marks import InlineText, extend_runs, read_inline
from viewer.render.highlight import code_spans
from viewer.render.sanitize import SafeText
from viewer.render.style import Styled, StyleRole
from viewer.render.width import cells

if TYPE_CHECKING:
    from markdown_it.token import Token

    from viewer.render.blocks.inline_marks import Runs

CODE_TAB = 4
"""The distance between two tab stops of code, in columns."""
_MAY_HAVE_MARKS = lazy_regex(r"[*_`~<\[\\]|^[#>]")
_HEAD_MARKS = lazy_regex(r"(?:#{1,6} |> ?)+")
"""The marks of a heading or a quotation at the beginning of a line."""


def without_marks(words: SafeText) -> SafeText:
    """Return the first words of a message without Markdown markup, for a title."""
    if not _MAY_HAVE_MARKS.search(words):
        return words
    line = InlineText("", [], [])
    head = _HEAD_MARKS.match(words)
    read_inline(words, head.end() if head else 0, len(words), None, line)
    return SafeText(line.characters)


def runs_between(spans: Iterable[Styled], start: int, end: int, look: StyleRole | None) -> Runs:
    """Return the runs of the characters between two offsets. `spans` are in order; `look` applies between them."""
    runs: Runs = []
    for span in spans:
        if span.start >= end:
            break
        if span.end > start:
            extend_runs(runs, max(span.start - start, 0), look)
            extend_runs(runs, min(span.end, end) - start, span.look)
    extend_runs(runs, end - start, look)
    return runs


def _with_indents(line: InlineText) -> InlineText:
    """Expand the tabs of a line of code. Each space has the position of its tab."""
    if "\t" not in line.characters:
        return line
    wide, column, at = InlineText("", [], []), 0, 0
    for end, look in line.runs:
        for character, origin in zip(line.characters[at:end], line.origins[at:end], strict=True):
            drawn = " " * (CODE_TAB - column % CODE_TAB) if character == "\t" else character
            wide.add(drawn, [origin] * len(drawn), look)
            column += cells(drawn)
        at = end
    return wide


def _start_of(text: str, line: int | None) -> int | None:
    """Return the start of a line, counted from 0; None if the text ends before it."""
    if line is None:
        return None
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
        if not at:
            return None
    return at


def line_starts(text: str) -> list[int]:
    """Return the start of each line, and of a line after the last one."""
    return [*accumulate((len(line) + 1 for line in text.split("\n")), initial=0)]


class SourceLines:
    """Finds the content of parsed blocks in the lines of the text."""

    def __init__(self, text: SafeText) -> None:
        self.text = text
        self.starts = line_starts(text)

    def of_paragraph(self, inner: Token) -> list[tuple[int, int]] | None:
        """Return the positions of the lines of a paragraph; None if a line is not found in the source."""
        if inner.map is None:
            return None
        found: list[tuple[int, int]] = []
        lines = range(inner.map[0], inner.map[1])
        for number, content in zip(lines, inner.content.split("\n"), strict=False):
            start, end = self.starts[number], self.starts[number + 1] - 1
            place = self.text.rfind(content.rstrip(), start, end)
            if place < 0:
                return None
            found.append((place, place + len(content.rstrip())))
        return found

    def of_code(self, token: Token, most: int | None = None) -> list[InlineText]:
        """Return the lines of a code block. The first `most` have the styles of their tokens, or all if it is None."""
        assert token.map is not None
        first, is_fence = token.map[0], token.type == "fence"
        language = (token.info.split(maxsplit=1) or [""])[0]
        spans = code_spans(token.content, language, _start_of(token.content, most)) if language else []
        found = []
        at = first_span = 0
        for number, content in enumerate(token.content.removesuffix("\n").split("\n")):
            source = first + number + is_fence
            start = self.starts[min(source, len(self.starts) - 1)]
            stop = self.starts[min(source + 1, len(self.starts) - 1)] - 1
            kept = content.lstrip(" ")  # the parser may have replaced a tab with spaces
            begin = (self.text.rfind(kept, start, stop) if kept else stop) - (len(content) - len(kept))
            end = begin + len(content)
            places = [*range(begin, end)]
            if begin < start or end > stop:
                places = [min(max(place, start), stop) for place in places]
            while first_span < len(spans) and spans[first_span].end <= at:
                first_span += 1
            runs = runs_between(islice(spans, first_span, None), at, at + len(content), StyleRole.CODE)
            found.append(_with_indents(InlineText(content, places, runs)))
            at += len(content) + 1
        return found

    def of_info(self, token: Token) -> InlineText:
        """Return the info string after the opening fence of a code block."""
        assert token.map is not None
        place = self.text.index(token.markup + token.info, self.starts[token.map[0]]) + len(token.markup)
        line = InlineText("", [], [])
        line.add(token.info, range(place, place + len(token.info)), StyleRole.QUIET)
        return line

    def of_table(self, tokens: Sequence[Token]) -> list[list[InlineText]] | None:
        """Return the rows of cells; None if a cell is not found in the source."""
        rows: list[list[InlineText]] = []
        at = end = 0
        for number, token in enumerate(tokens):
            if token.type == "tr_open" and token.map is not None:
                rows.append([])
                at, end = self.starts[token.map[0]], self.starts[token.map[0] + 1] - 1
            elif token.type in ("th_open", "td_open"):
                place = self._cell(tokens[number + 1].content, at, end)
                if place is None:
                    return None
                line = InlineText("", [], [])
                look = StyleRole.STRONG if token.type == "th_open" else None
                read_inline(self.text, *place, look, line)
                rows[-1].append(_without_escapes(line) if "|" in line.characters else line)
                at = place[1]
            elif token.type == "tr_close" and rows[-1]:
                rest = self.text[at:end].rstrip("| \t")
                if rest.strip("| \t"):  # more cells than columns
                    read_inline(self.text, at, at + len(rest), None, rows[-1][-1])
        most = max(map(len, rows), default=0)
        for row in rows:
            row += [InlineText("", [], []) for _ in range(most - len(row))]
        return rows if most else None

    def _cell(self, content: str, at: int, end: int) -> tuple[int, int] | None:
        """Return the position of the content of a cell, or None if it is not found. In the source, a backslash precedes
        each bar in a cell."""
        if not content:
            return at, at
        written = content.replace("|", "\\|")
        place = self.text.find(written, at, end)
        return (place, place + len(written)) if place >= 0 else None


def _without_escapes(line: InlineText) -> InlineText:
    """Return the text of a cell without the backslashes before its bars, even in code."""
    kept, at = InlineText("", [], []), 0
    for end, look in line.runs:
        places = [place for place in range(at, end) if not line.characters.startswith("\\|", place)]
        kept.add("".join(line.characters[place] for place in places), [line.origins[place] for place in places], look)
        at = end
    return kept
