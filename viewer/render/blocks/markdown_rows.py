"""Render Markdown as rows: blocks come from the parser; inline marks, layout, and source offsets are our own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.character_rows import has_one_cell_each
from viewer.render.blocks.inline import SourceLines
from viewer.render.blocks.inline_marks import InlineText, read_inline
from viewer.render.markdown import LARGEST, MAY_BE_BLOCK, parsed_blocks
from viewer.render.sanitize import SafeText
from viewer.render.style import Styled, StyleRole
from viewer.render.width import cells

if TYPE_CHECKING:
    from markdown_it.token import Token

LEAST_WIDTH = 12
"""The minimum width of nested blocks in cells."""


class Signs(Struct, frozen=True, gc=False):
    """The glyphs of rendered Markdown."""

    bullets: str
    quote: str
    double: str
    rule: str
    bar: str
    cross: str
    corners: str


UNICODE_SIGNS = Signs("•◦▪", "▎", "═", "─", "│", "┼", "╭╮╰╯")
ASCII_SIGNS = Signs("-*+", "|", "=", "-", "|", "+", "++++")


class Rendered(Struct, frozen=True):
    """Rendered text, with no line wider than requested."""

    text: SafeText
    origins: list[int]
    """The source offset of each character, followed by the length of the source."""
    spans: list[Styled]


class _Prefix(Struct, frozen=True):
    """The text before the first line of a block, and before each following line."""

    first: str
    rest: str
    look: StyleRole = StyleRole.BULLET


def rendered(
    text: SafeText, width: int, *, ascii: bool = False, fold: tuple[int, int] | None = None
) -> Rendered | None:
    """Return the rendered text; None if its source should be shown. With `fold`, text of more rows than the first
    number is folded to the second, and code below the fold is not highlighted, which would take most of the time."""
    if len(text) > LARGEST or width < LEAST_WIDTH:
        return None
    page = _Page(text, width, ASCII_SIGNS if ascii else UNICODE_SIGNS, fold)
    if not MAY_BE_BLOCK.search(text):
        page.plain()
        return page.rendered()
    tokens = parsed_blocks(text)
    return page.rendered() if tokens is not None and page.blocks(tokens) else None


class _Page:
    """Draws blocks line by line."""

    def __init__(self, text: SafeText, width: int, signs: Signs, fold: tuple[int, int] | None) -> None:
        self._text = text
        self._width = width
        self._signs = signs
        self._fold = fold
        self._rows = 0
        """The number of drawn rows."""
        self._lines = SourceLines(text)
        self._starts = self._lines.starts
        self._out: list[str] = []
        """The drawn text; each line ends with an item for its newline."""
        self._origins: list[int] = []
        """The source offset of each drawn character."""
        self._spans: list[Styled] = []
        self._next = 0
        """The source offset after the last drawn character."""
        self._prefixes: list[_Prefix] = []
        self._used: list[bool] = []
        """True for each prefix whose first line has been drawn."""
        self._line = 0
        """The source line after the last block."""

    def rendered(self) -> Rendered:
        if self._out and self._out[-1] == "\n":
            self._out.pop()
            self._origins.pop()
        return Rendered(SafeText("".join(self._out)), [*self._origins, len(self._text)], self._spans)

    def plain(self) -> None:
        """Draw every line as a paragraph."""
        for number in range(len(self._starts) - 1):
            line = InlineText("", [], [])
            read_inline(self._text, self._starts[number], self._starts[number + 1] - 1, None, line)
            self._wrapped(line)

    def blocks(self, tokens: Sequence[Token]) -> bool:
        """Draw the parsed blocks. Return False if one cannot be found in the source."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(place for place in range(at, len(tokens)) if tokens[place].type == "table_close")
                if not self._table(tokens[at:end]):
                    return False
                at = end
            elif not self._block(token, tokens[at + 1] if at + 1 < len(tokens) else None):
                return False
            at += 1
        while self._line < len(self._starts) - 1 and not self._source(self._line).strip():
            self._line += 1
        return True

    def _block(self, token: Token, inner: Token | None) -> bool:
        """Draw one block, or the beginning or end of one. Return False if it cannot be found in the source."""
        match token.type:
            case "heading_open":
                return inner is not None and self._heading(inner, int(token.tag[1:]))
            case "paragraph_open":
                return inner is not None and self._paragraph(inner)
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._begin(token)
                self._decorated(self._signs.rule * self._room(), StyleRole.RULE)
                self._finish(token)
            case "blockquote_open":
                self._begin(token)  # the empty line above a quote has no quote mark
                self._line = token.map[0] if token.map else self._line
                self._open(_Prefix(f"{self._signs.quote} ", f"{self._signs.quote} "))
            case "list_item_open":
                self._open(self._marker(token))
            case "blockquote_close" | "list_item_close":
                self._close()
        return True

    # Blocks.

    def _heading(self, inner: Token, level: int) -> bool:
        lines = self._lines.of_paragraph(inner)
        if lines is None:
            return False
        self._begin(inner)
        widest = 0
        for start, end in lines:
            line = InlineText("", [], [])
            read_inline(self._text, start, end, StyleRole.HEADING, line)
            widest = max([widest, *self._wrapped(line)])
        if level < 3 and widest:
            self._decorated((self._signs.double if level == 1 else self._signs.rule) * widest, StyleRole.RULE)
        self._finish(inner)
        below = self._line
        if below < len(self._starts) - 1 and inner.map and not self._source(inner.map[0]).lstrip(" >").startswith("#"):
            mark = self._source(below)
            self._line += bool(mark.strip()) and not mark.strip(" \t>=-")
        return True

    def _paragraph(self, inner: Token) -> bool:
        lines = self._lines.of_paragraph(inner)
        if lines is None:
            return False
        self._begin(inner)
        for start, end in lines:
            line = InlineText("", [], [])
            read_inline(self._text, start, end, None, line)
            self._wrapped(line)
        self._finish(inner)
        return True

    def _code(self, token: Token) -> None:
        """Draw a frame around code, as wide as its longest line."""
        assert token.map is not None
        first, end = token.map
        self._begin(token)
        lines, info = self._lines.of_code(token, self._shown_lines(token)), " ".join(token.info.split())
        inner = min(
            max([cells(line.characters) for line in lines] + [cells(info) + 1 if info else 0, 4]), self._room() - 4
        )
        signs = self._signs
        title = f" {info} " if info and cells(info) < inner else ""
        self._decorated(f"{signs.corners[0]}{title}{signs.rule * (inner + 2 - cells(title))}{signs.corners[1]}", _RULE)
        if info and not title:
            self._framed(self._lines.of_info(token), inner)
        for line in lines:
            self._framed(line, inner)
        self._decorated(f"{signs.corners[2]}{signs.rule * (inner + 2)}{signs.corners[3]}", _RULE)
        while end > first + 1 and not self._source(end - 1).strip():
            end -= 1
        self._line = end

    def _shown_lines(self, token: Token) -> int | None:
        """Return how many lines of a code block may be shown; None if the text is perhaps not folded."""
        if self._fold is None:
            return None
        most, keep = self._fold  # of the rows without the first one, if that is empty
        least = self._rows + token.content.count("\n") + 1
        return max(keep - self._rows, 0) if least > most else None

    def _framed(self, line: InlineText, inner: int) -> None:
        """Draw a line of code inside its frame."""
        last = -1
        for row, places, _ in _rows(line.characters, inner):
            self._lead()
            self._decoration(f"{self._signs.bar} ", _RULE)
            # A tab whose spaces continue in the next row is drawn only in the first row.
            rest = next((at for at, place in enumerate(places) if line.origins[place] > last), len(places))
            last = line.origins[places[-1]] if places else last
            self._draw(line, row[rest:], places[rest:])
            self._decoration(" " * (inner - cells(row[rest:])), StyleRole.CODE)
            self._decoration(f" {self._signs.bar}", _RULE)
            self._new_line()

    def _table(self, tokens: Sequence[Token]) -> bool:
        rows = self._lines.of_table(tokens)
        if rows is None or tokens[0].map is None:
            return False
        self._begin(tokens[0])
        widths = [max(cells(row[column].characters) for row in rows) for column in range(len(rows[0]))]
        if sum(widths) + 3 * (len(widths) - 1) > self._room():
            self._as_pairs(rows)
        else:
            aligned = [str(token.attrGet("style") or "") for token in tokens if token.type == "th_open"]
            for number, row in enumerate(rows):
                self._table_row(row, widths, aligned)
                if number == 0:
                    rule = self._signs.rule
                    strokes = [rule * (width + (1 if not column else 2)) for column, width in enumerate(widths)]
                    self._decorated(self._signs.cross.join(strokes)[: self._room()], _RULE)
        self._finish(tokens[0])
        return True

    def _table_row(self, row: Sequence[InlineText], widths: Sequence[int], aligned: Sequence[str]) -> None:
        self._lead()
        for column, (line, width) in enumerate(zip(row, widths, strict=True)):
            gap = width - cells(line.characters)
            style = aligned[column] if column < len(aligned) else ""
            left = gap if "right" in style else gap // 2 if "center" in style else 0
            if column:
                self._decoration(f" {self._signs.bar} ", _RULE)
            self._decoration(" " * left, None)
            self._draw(line, line.characters.replace("\t", " "), range(len(line.characters)))
            if column < len(row) - 1:
                self._decoration(" " * (gap - left), None)
        self._new_line()

    def _as_pairs(self, rows: Sequence[Sequence[InlineText]]) -> None:
        """Draw a table that is too wide as pairs of column name and value, row by row. If the table has only a header,
        draw the names."""
        for name in rows[0] if len(rows) == 1 else ():
            self._wrapped(name)
        for number, row in enumerate(rows[1:]):
            if number:
                self._lead()
                self._new_line()
            for name, value in zip(rows[0], row, strict=True):
                words = f"{name.characters}: "
                if 2 * cells(words) > self._room() or self._room() - len(_INDENT) < LEAST_WIDTH:
                    for text, _, _ in _rows(words.rstrip(), self._room()):
                        self._decorated(text, StyleRole.STRONG)
                    words = _INDENT
                self._open(_Prefix(words, _INDENT, StyleRole.STRONG))
                self._wrapped(value)
                self._close()

    # Lines.

    def _source(self, line: int) -> str:
        return self._text[self._starts[line] : self._starts[line + 1] - 1]

    def _begin(self, token: Token) -> None:
        """Draw an empty line if the source has one above the block."""
        first = token.map[0] if token.map else self._line
        if self._out and any(not self._source(line).strip(" \t>") for line in range(self._line, first)):
            self._lead(is_empty=True)
            self._new_line()

    def _finish(self, token: Token) -> None:
        self._line = token.map[1] if token.map else self._line

    def _open(self, prefix: _Prefix) -> None:
        if self._room() - len(prefix.rest) < LEAST_WIDTH:
            if any(map(str.isdigit, prefix.first)):
                self._decorated(prefix.first.strip(), prefix.look)
            prefix = _Prefix("", "")
        self._prefixes.append(prefix)
        self._used.append(False)

    def _close(self) -> None:
        if not self._used[-1] and self._prefixes[-1].first.strip():
            self._lead()
            self._new_line()
        self._prefixes.pop()
        self._used.pop()

    def _marker(self, token: Token) -> _Prefix:
        """Return the marker of a list item: a bullet that depends on its depth, or the number as written."""
        depth = sum(prefix.look is StyleRole.BULLET and prefix.rest.isspace() for prefix in self._prefixes)
        if token.info:
            mark = f"  {token.info}{token.markup} " if not depth else f"{token.info}{token.markup} "
        else:
            mark = f"{self._signs.bullets[min(depth, 2)]} "
        return _Prefix(mark, " " * cells(mark))

    def _room(self) -> int:
        return max(self._width - sum(cells(prefix.rest) for prefix in self._prefixes), LEAST_WIDTH)

    def _wrapped(self, line: InlineText) -> list[int]:
        """Wrap a line, draw its rows, and return their widths."""
        sizes = []
        first = sum(
            cells(prefix.first if not used else prefix.rest)
            for prefix, used in zip(self._prefixes, self._used, strict=True)
        )
        for row, places, size in _rows(line.characters, max(min(self._room(), self._width - first), 1)):
            self._lead()
            self._draw(line, row, places)
            self._new_line()
            sizes.append(size)
        return sizes

    def _decorated(self, text: str, look: StyleRole) -> None:
        self._lead()
        self._decoration(text, look)
        self._new_line()

    def _lead(self, *, is_empty: bool = False) -> None:
        for number, prefix in enumerate(self._prefixes):
            is_first = not self._used[number] and not is_empty
            text = prefix.first if is_first else prefix.rest
            self._decoration(text.rstrip() if is_empty and number == len(self._prefixes) - 1 else text, prefix.look)
            self._used[number] = self._used[number] or is_first

    def _draw(self, line: InlineText, row: str, places: Sequence[int]) -> None:
        """Draw the characters of a row from these positions of the line."""
        if not places:
            return
        self._out.append(row)
        self._next = max(self._next, line.origins[places[-1]] + 1)
        start = len(self._origins)
        if isinstance(places, range):
            self._origins += line.origins[places[0] : places[-1] + 1]
            for first, end, look in _runs_in(line, places[0], places[-1] + 1):
                self._style(start + first - places[0], start + end - places[0], look)
            return
        self._origins += [line.origins[place] for place in places]
        for first, end, look in _runs_in(line, places[0], places[-1] + 1):
            self._style(start + bisect_left(places, first), start + bisect_left(places, end), look)

    def _style(self, start: int, end: int, look: StyleRole | None) -> None:
        """Add a span, or extend the last span if the new one continues it."""
        if look is None or start >= end:
            return
        last = self._spans[-1] if self._spans else None
        if last is not None and last.end == start and last.look is look:
            self._spans[-1] = Styled(last.start, end, look)
        else:
            self._spans.append(Styled(start, end, look))

    def _decoration(self, text: str, look: StyleRole | None) -> None:
        """Draw characters that are not in the source; they map to the position after the last source character."""
        if text:
            start = len(self._origins)
            self._out.append(text)
            self._origins += [self._next] * len(text)
            self._style(start, start + len(text), look)

    def _new_line(self) -> None:
        self._rows += 1
        self._out.append("\n")
        self._origins.append(self._next)


_RULE = StyleRole.RULE
_INDENT = "  "
"""The space before the value of a pair, below its name."""


def _rows(text: str, width: int) -> Iterator[tuple[str, Sequence[int], int]]:
    """Yield each row of a line, with the positions of its characters in the line and its width."""
    from viewer.render.layout import lay_out  # importing it at the top would be circular

    shown = text.replace("\t", " ")
    if len(shown) <= width and has_one_cell_each(shown):
        yield shown, range(len(shown)), len(shown)
        return
    for row in lay_out(SafeText(shown), width):
        places = row.origins if row.origins is not None else range(row.start, row.start + len(row.text))
        yield row.text, places, cells(row.text)


def _runs_in(line: InlineText, start: int, end: int) -> Iterator[tuple[int, int, StyleRole | None]]:
    """Yield the styled runs of a line between two positions."""
    at = 0
    for stop, look in line.runs:
        if stop > start:
            yield max(at, start), min(stop, end), look
        if stop >= end:
            return
        at = stop
