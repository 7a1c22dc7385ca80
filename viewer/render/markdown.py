"""Style Markdown source: spans of its blocks and inline marks. The text itself is not changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct, field

from viewer.cache import lazy_regex
from viewer.render.highlight import code_spans
from viewer.render.style import Styled, StyleRole

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGEST = 200_000
"""The maximum length of styled text in characters."""
DEEPEST = 20
"""The maximum nesting depth of styled blocks."""
_CONTAINERS = ("blockquote_open", "list_item_open")

MAY_BE_BLOCK = lazy_regex(r"^[ \t]*(?:[#>*+_=|:-]|```|~~~|\d{1,9}[.)])|^(?: {4}|\t)", re.MULTILINE)
"""A pattern for the beginning of a block. Text without a match consists only of paragraphs, and does not need the
parser."""
_MARKER = lazy_regex(r"[ \t]*([-*+]|\d{1,9}[.)])(?=[ \t]|$)", re.MULTILINE)
_QUOTE = lazy_regex(r"[ \t]*(>)")
_INLINE = lazy_regex(
    r"`[^`\n]{1,400}`|\*\*(?=\S)[^*\n]{1,400}(?<=\S)\*\*|(?<![\w*])\*(?=\S)[^*\n]{1,400}(?<=\S)\*(?![\w*])"
)


class MarkdownSpans(Struct):
    """The spans of the text, each list in order and without overlaps."""

    spans: list[Styled] = field(default_factory=list)
    tokens: list[Styled] = field(default_factory=list)
    """The tokens of code in a known language."""


def markdown_spans(text: str) -> MarkdownSpans:
    """Return the blocks, inline marks and code tokens of the text."""
    if len(text) > LARGEST:
        return MarkdownSpans()
    if not MAY_BE_BLOCK.search(text):
        return MarkdownSpans([*_inline(text, 0, len(text))])
    return _Blocks(text).read(block_parser().parse(text))


@cache
def block_parser() -> MarkdownIt:
    """Return a parser for blocks only: no HTML, no link references, and no inline marks, because it does not report
    their positions."""
    from markdown_it import MarkdownIt  # slow to import

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table").disable(["html_block", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parsed_blocks(text: str) -> Sequence[Token] | None:
    """Return the parsed blocks of the text; None if they are nested so deeply that the parser leaves out some of
    them."""
    tokens = block_parser().parse(text)
    is_cut = any(token.level >= DEEPEST - 1 and token.type in _CONTAINERS for token in tokens)
    return None if is_cut else tokens


class _Blocks:
    """Collects the spans of the blocks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [*accumulate((len(line) + 1 for line in text.split("\n")), initial=0)]
        """The start of each line, and of a line after the last one."""
        self._at: dict[int, int] = {}
        """For each line with list or quote marks, the end of the last mark."""
        self._made = MarkdownSpans()

    def read(self, tokens: Sequence[Token]) -> MarkdownSpans:
        for token in tokens:
            if token.map is not None:
                self._read(token, *token.map)
        self._made.spans = _apart(sorted(self._made.spans, key=lambda span: (span.start, -span.end)))
        return self._made

    def _read(self, token: Token, first: int, end: int) -> None:
        match token.type:
            case "heading_open":
                self._add(self._begin(first), self._end(end), StyleRole.HEADING)
            case "hr":
                self._add(self._begin(first), self._end(end), StyleRole.RULE)
            case "fence" | "code_block":
                self._add_code(token, first, end)
            case "list_item_open":
                self._add_mark(first, _MARKER)
            case "blockquote_open":
                for line in range(first, end):
                    self._add_mark(line, _QUOTE)
            case "thead_open":
                self._add(self._begin(first), self._end(first + 1), StyleRole.STRONG)
                self._add(self._begin(first + 1), self._end(first + 2), StyleRole.RULE)
            case "inline":
                for line in range(first, end):
                    self._made.spans += _inline(self._text, self._begin(line), self._end(line + 1))

    def _begin(self, line: int) -> int:
        """Return the start of the content of a line."""
        return self._at.get(line, self._starts[line])

    def _end(self, line: int) -> int:
        """Return the end of the line before this one."""
        return self._starts[line] - 1

    def _add(self, start: int, end: int, look: StyleRole) -> None:
        if start < end:
            self._made.spans.append(Styled(start, end, look))

    def _add_mark(self, line: int, pattern: re.Pattern[str]) -> None:
        mark = pattern.match(self._text, self._begin(line), self._end(line + 1))
        if mark is not None:
            self._add(mark.start(1), mark.end(1), StyleRole.BULLET)
            self._at[line] = mark.end()

    def _add_code(self, token: Token, first: int, end: int) -> None:
        while end > first + 1 and not self._text[self._begin(end - 1) : self._end(end)].strip():
            end -= 1
        self._add(self._begin(first), self._end(end), StyleRole.CODE)
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        is_quoted = any(line in self._at for line in range(first + 1, end))
        if not language or is_quoted:
            return
        last = self._text[self._starts[end - 1] : self._end(end)].strip()
        is_closed = end > first + 1 and last.startswith(token.markup) and not last.strip(token.markup[0])
        start, stop = self._starts[first + 1], self._starts[end - is_closed]
        for span in code_spans(self._text[start:stop], language):
            self._made.tokens.append(Styled(start + span.start, start + span.end, span.look))


def _inline(text: str, start: int, end: int) -> Iterator[Styled]:
    return (Styled(*match.span(), _look(match[0])) for match in _INLINE.finditer(text, start, end))


def _look(text: str) -> StyleRole:
    if text.startswith("`"):
        return StyleRole.CODE
    return StyleRole.STRONG if text.startswith("**") else StyleRole.EMPHASIS


def _apart(spans: list[Styled]) -> list[Styled]:
    kept: list[Styled] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


_JSON_TOKEN = lazy_regex(r'("(?:[^"\\\n]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b')


def json_spans(text: str) -> list[Styled]:
    """Return the spans of JSON: keys, strings, numbers, and words. Return none if the text is too long."""
    return [_json_span(match) for match in _JSON_TOKEN.finditer(text)] if len(text) <= LARGEST else []


def _json_span(match: re.Match[str]) -> Styled:
    if match[1]:
        return Styled(match.start(1), match.end(1), StyleRole.JSON_KEY if match[2] else StyleRole.JSON_TEXT)
    return Styled(
        match.start(), match.end(), StyleRole.JSON_NUMBER if match[0][0] in "-0123456789" else StyleRole.JSON_WORD
    )
