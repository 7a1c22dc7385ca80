"""Rendered Markdown: blocks of its parser, our inline marks and layout, with the source of each drawn character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.render.highlight import code_spans
from viewer.render.markdown import LARGEST, MAY_BE_BLOCK, block_parser
from viewer.render.sanitize import SafeText
from viewer.render.style import Styled, StyleRole
from viewer.render.width import cells

if TYPE_CHECKING:
    from markdown_it.token import Token

DEEPEST_MARKS = 8
LEAST_WIDTH = 12
"""Nested blocks keep this many cells."""

_INLINE = lazy_regex(
    r"\\(?P<escape>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>[^\n]{1,400}?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>[^\[\]\n]{0,400})\]\((?P<url>[^()\s]{1,400})(?:[ ]+\"[^\"\n]{0,200}\")?\)"
    r"|<(?P<auto>https?://[^\s<>]{1,400})>"
    r"|\*\*(?=\S)(?P<strong>[^\n]{1,400}?)(?<=\S)\*\*"
    r"|(?<!\w)__(?=\S)(?P<strong2>[^\n]{1,400}?)(?<=\S)__(?!\w)"
    r"|~~(?=\S)(?P<strike>[^\n]{1,400}?)(?<=\S)~~"
    r"|(?<![\w*])\*(?=\S)(?P<em>[^*\n]{1,400}?)(?<=\S)\*(?![\w*])"
    r"|(?<![\w_])_(?=\S)(?P<em2>[^_\n]{1,400}?)(?<=\S)_(?![\w_])"
)
_LOOKS = {
    "strong": StyleRole.STRONG,
    "strong2": StyleRole.STRONG,
    "strike": StyleRole.STRIKE,
    "em": StyleRole.EMPHASIS,
    "em2": StyleRole.EMPHASIS,
    "code": StyleRole.CODE,
    "auto": StyleRole.LINK,
}
"""The style of the text of each inline mark; the marks themselves are not drawn."""


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
    """Rendered text, of which no line is wider than asked."""

    text: SafeText
    origins: list[int]
    """The source offset of each character, and the length of the source."""
    spans: list[Styled]


class _Text(Struct):
    """A line before it is wrapped."""

    characters: str = ""
    origins: list[int] = []
    looks: list[StyleRole | None] = []

    def add(self, text: str, origins: Sequence[int], look: StyleRole | None) -> None:
        """Append characters."""
        self.characters += text
        self.origins.extend(origins)
        self.looks.extend([look] * len(text))


class _Prefix(Struct, frozen=True):
    """What precedes the lines of a block: once, and on the lines after that."""

    first: str
    rest: str
    look: StyleRole = StyleRole.BULLET


def rendered(text: SafeText, width: int, *, ascii: bool = False) -> Rendered | None:
    """The rendered text; None if it is to be shown as source."""
    if len(text) > LARGEST or width < LEAST_WIDTH:
        return None
    page = _Page(text, width, ASCII_SIGNS if ascii else UNICODE_SIGNS)
    if not MAY_BE_BLOCK.search(text):
        page.plain()
    elif not page.blocks(block_parser().parse(text)):
        return None
    return page.rendered()


def _inline(text: str, start: int, end: int, look: StyleRole | None, line: _Text, depth: int = 0) -> None:
    """Add the text between two offsets to a line, without its inline marks."""
    at = start
    for match in _INLINE.finditer(text, start, end) if depth < DEEPEST_MARKS else ():
        line.add(text[at : match.start()], range(at, match.start()), look)
        at = match.end()
        kind = match.lastgroup or ""
        if match["label"] is not None:
            _inline(text, *match.span("label"), StyleRole.LINK, line, depth + 1)
            first, last = match.start("url"), match.end() - 1  # with its title
            if text[first:last] != match["label"]:
                line.add(" (", [first - 2, first - 1], StyleRole.QUIET)
                line.add(text[first:last], range(first, last), StyleRole.QUIET)
                line.add(")", [last], StyleRole.QUIET)
        elif kind in ("strong", "strong2", "strike", "em", "em2"):
            _inline(text, *match.span(kind), _LOOKS[kind], line, depth + 1)
        elif match["escape"] is not None:
            line.add(match["escape"], [match.start("escape")], look)
        else:
            kind = "code" if match["code"] is not None else "auto"
            first, last = match.span(kind)
            line.add(text[first:last], range(first, last), _LOOKS[kind])
    line.add(text[at:end], range(at, end), look)


class _Page:
    """Draws blocks line by line."""

    def __init__(self, text: SafeText, width: int, signs: Signs) -> None:
        self._text = text
        self._width = width
        self._signs = signs
        self._starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n"), len(text) + 1]
        """The start of each line, and one more."""
        self._out: list[str] = []
        self._origins: list[int] = []
        self._looks: list[StyleRole | None] = []
        self._next = 0
        """The source offset after the last drawn character."""
        self._prefixes: list[_Prefix] = []
        self._used: list[bool] = []
        """For each prefix, if its first line was drawn."""
        self._line = 0
        """The source line after the last block."""

    def rendered(self) -> Rendered:
        """What was drawn."""
        if self._out and self._out[-1] == "\n":
            for each in (self._out, self._origins, self._looks):
                each.pop()
        return Rendered(SafeText("".join(self._out)), [*self._origins, len(self._text)], _spans(self._looks))

    def plain(self) -> None:
        """Draw every line as a paragraph."""
        for number in range(len(self._starts) - 1):
            line = _Text("", [], [])
            _inline(self._text, self._starts[number], self._starts[number + 1] - 1, None, line)
            self._wrapped(line)

    def blocks(self, tokens: Sequence[Token]) -> bool:
        """Draw the blocks of the parser; False if the place of one is not found."""
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
        """Draw one block, or begin or end one."""
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
                self._begin(token)  # the space above a quote has no mark
                self._line = token.map[0] if token.map else self._line
                self._open(_Prefix(f"{self._signs.quote} ", f"{self._signs.quote} "))
            case "list_item_open":
                self._open(self._marker(token))
            case "blockquote_close" | "list_item_close":
                self._close()
        return True

    # Blocks.

    def _heading(self, inner: Token, level: int) -> bool:
        lines = self._lines_of(inner)
        if lines is None:
            return False
        self._begin(inner)
        widest = 0
        for start, end in lines:
            line = _Text("", [], [])
            _inline(self._text, start, end, StyleRole.HEADING, line)
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
        lines = self._lines_of(inner)
        if lines is None:
            return False
        self._begin(inner)
        for start, end in lines:
            line = _Text("", [], [])
            _inline(self._text, start, end, None, line)
            self._wrapped(line)
        self._finish(inner)
        return True

    def _code(self, token: Token) -> None:
        """A frame around code, as wide as its longest line."""
        assert token.map is not None
        first, end = token.map
        is_fence = token.type == "fence"
        self._begin(token)
        lines = token.content.removesuffix("\n").split("\n")
        words = token.info.split()
        language, info = words[0] if words else "", " ".join(words)
        colors: dict[int, StyleRole] = {}
        if language:
            for span in code_spans(token.content, language):
                colors |= dict.fromkeys(range(span.start, span.end), span.look)
        inner = min(max([cells(line) for line in lines] + [cells(info) + 1 if info else 0, 4]), self._room() - 4)
        signs = self._signs
        title = f" {info} " if info and cells(info) < inner else ""
        self._decorated(f"{signs.corners[0]}{title}{signs.rule * (inner + 2 - cells(title))}{signs.corners[1]}", _RULE)
        if info and not title:
            place = self._text.index(token.markup + token.info, self._starts[first]) + len(token.markup)
            line = _Text("", [], [])
            line.add(token.info, range(place, place + len(token.info)), StyleRole.QUIET)
            self._framed(line, inner)
        at = 0
        for number, content in enumerate(lines):
            source = first + number + is_fence
            start = self._starts[min(source, len(self._starts) - 1)]
            stop = self._starts[min(source + 1, len(self._starts) - 1)] - 1
            kept = content.lstrip(" ")  # the parser may replace a tab by spaces
            begin = (self._text.rfind(kept, start, stop) if kept else stop) - (len(content) - len(kept))
            places = [min(max(place, start), stop) for place in range(begin, begin + len(content))]
            looks: list[StyleRole | None] = [colors.get(at + step, StyleRole.CODE) for step in range(len(content))]
            self._framed(_Text(content, places, looks), inner)
            at += len(content) + 1
        self._decorated(f"{signs.corners[2]}{signs.rule * (inner + 2)}{signs.corners[3]}", _RULE)
        while end > first + 1 and not self._source(end - 1).strip():
            end -= 1
        self._line = end

    def _framed(self, line: _Text, inner: int) -> None:
        """The rows of a line of code inside its frame."""
        for row, places, size in _rows(line.characters, inner):
            self._lead()
            self._decoration(f"{self._signs.bar} ", _RULE)
            self._draw(line, row, places)
            self._decoration(" " * (inner - size), StyleRole.CODE)
            self._decoration(f" {self._signs.bar}", _RULE)
            self._new_line()

    def _table(self, tokens: Sequence[Token]) -> bool:
        rows = self._cells_of(tokens)
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

    def _cells_of(self, tokens: Sequence[Token]) -> list[list[_Text]] | None:
        """The rows of cells; None if one is not found in the source."""
        rows: list[list[_Text]] = []
        at = end = 0
        for number, token in enumerate(tokens):
            if token.type == "tr_open" and token.map is not None:
                rows.append([])
                at, end = self._starts[token.map[0]], self._starts[token.map[0] + 1] - 1
            elif token.type in ("th_open", "td_open"):
                content = tokens[number + 1].content
                found = self._text.find(content, at, end) if content else at
                if found < 0:
                    return None
                line = _Text("", [], [])
                look = StyleRole.STRONG if token.type == "th_open" else None
                _inline(self._text, found, found + len(content), look, line)
                rows[-1].append(line)
                at = found + len(content)
            elif token.type == "tr_close" and rows[-1]:
                rest = self._text[at:end].rstrip("| \t")
                if rest.strip("| \t"):  # more cells than columns
                    _inline(self._text, at, at + len(rest), None, rows[-1][-1])
        most = max(map(len, rows), default=0)
        for row in rows:
            row += [_Text("", [], []) for _ in range(most - len(row))]
        return rows if most else None

    def _table_row(self, row: Sequence[_Text], widths: Sequence[int], aligned: Sequence[str]) -> None:
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

    def _as_pairs(self, rows: Sequence[Sequence[_Text]]) -> None:
        """A table that is too wide: the name of each column with its value, row by row."""
        for number, row in enumerate(rows[1:]):
            if number:
                self._lead()
                self._new_line()
            for name, value in zip(rows[0], row, strict=True):
                self._open(_Prefix(f"{name.characters}: ", "  ", StyleRole.STRONG))
                self._wrapped(value)
                self._close()

    # Lines.

    def _lines_of(self, inner: Token) -> list[tuple[int, int]] | None:
        """The places of the lines of a paragraph; None if one is not found."""
        if inner.map is None:
            return None
        found: list[tuple[int, int]] = []
        lines = range(inner.map[0], inner.map[1])
        for number, content in zip(lines, inner.content.split("\n"), strict=False):
            start, end = self._starts[number], self._starts[number + 1] - 1
            place = self._text.rfind(content.rstrip(), start, end)
            if place < 0:
                return None
            found.append((place, place + len(content.rstrip())))
        return found

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
        """The mark of an item: a bullet by its depth, or the number as written."""
        depth = sum(prefix.look is StyleRole.BULLET and prefix.rest.isspace() for prefix in self._prefixes)
        if token.info:
            mark = f"  {token.info}{token.markup} " if not depth else f"{token.info}{token.markup} "
        else:
            mark = f"{self._signs.bullets[min(depth, 2)]} "
        return _Prefix(mark, " " * cells(mark))

    def _room(self) -> int:
        return max(self._width - sum(cells(prefix.rest) for prefix in self._prefixes), LEAST_WIDTH)

    def _wrapped(self, line: _Text) -> list[int]:
        """Draw a line in rows; return their widths."""
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

    def _draw(self, line: _Text, row: str, places: Sequence[int]) -> None:
        """Draw the characters of a row, which are at these places of the line."""
        self._out.extend(row)
        self._origins += [line.origins[place] for place in places]
        self._looks += [line.looks[place] for place in places]
        if places:
            self._next = max(self._next, line.origins[places[-1]] + 1)

    def _decoration(self, text: str, look: StyleRole | None) -> None:
        """Characters that are not in the source; they belong to the place after the last one."""
        self._out.extend(text)
        self._origins += [self._next] * len(text)
        self._looks += [look] * len(text)

    def _new_line(self) -> None:
        self._decoration("\n", None)


_RULE = StyleRole.RULE


def _rows(text: str, width: int) -> Iterator[tuple[str, Sequence[int], int]]:
    """The rows of a line, the places of their characters in it, and their widths."""
    from viewer.render.layout import lay_out  # which draws bodies, and so imports this module

    for row in lay_out(SafeText(text.replace("\t", " ")), width):
        places = row.origins if row.origins is not None else range(row.start, row.start + len(row.text))
        yield row.text, places, cells(row.text)


def _spans(looks: Sequence[StyleRole | None]) -> list[Styled]:
    spans: list[Styled] = []
    start = 0
    for at in range(1, len(looks) + 1):
        if at == len(looks) or looks[at] is not looks[start]:
            look = looks[start]
            if look is not None:
                spans.append(Styled(start, at, look))
            start = at
    return spans
