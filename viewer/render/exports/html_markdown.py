"""HTML of Markdown: the blocks and inline marks that the app draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viewer.render.blocks.inline import SourceLines
from viewer.render.blocks.inline_marks import InlineText, read_inline
from viewer.render.exports.html_spans import Marks, line_html
from viewer.render.exports.html_text import Html, closing, element, joined, opening, words
from viewer.render.markdown import LARGEST, MAY_BE_BLOCK, parsed_blocks
from viewer.render.sanitize import SafeText
from viewer.render.style import StyleRole

if TYPE_CHECKING:
    from markdown_it.token import Token

_CONTAINERS = {
    "bullet_list_open": opening("ul"),
    "ordered_list_open": opening("ol"),
    "blockquote_open": opening("blockquote"),
    "bullet_list_close": closing("ul"),
    "ordered_list_close": closing("ol"),
    "blockquote_close": closing("blockquote"),
    "list_item_close": closing("li"),
    "hr": opening("hr"),
}
_ALIGNED = {"text-align:right": "right", "text-align:center": "center"}
_DEEPEST_HEADING = 6


def markdown_html(shown: SafeText, marks: Marks) -> Html | None:
    """Return the text's blocks as HTML; None if its source should be shown."""
    if len(shown) > LARGEST:
        return None
    page = _Page(shown, marks)
    if not MAY_BE_BLOCK.search(shown):
        made = page.plain()
    else:
        tokens = parsed_blocks(shown)
        found = page.blocks(tokens) if tokens is not None else None
        if found is None:
            return None
        made = found
    return made if marks.are_drawn else None


class _Page:
    """Builds the HTML of one body, block by block."""

    def __init__(self, shown: SafeText, marks: Marks) -> None:
        self._lines = SourceLines(shown)
        self._marks = marks

    def plain(self) -> Html:
        """Return text without blocks as one paragraph, with its line breaks."""
        starts = self._lines.starts
        places = [(starts[number], starts[number + 1] - 1) for number in range(len(starts) - 1)]
        while places and places[-1][0] == places[-1][1]:
            places.pop()
        return element("p", self._inline(places, None), dir="auto")

    def blocks(self, tokens: Sequence[Token]) -> Html | None:
        """Return the parsed blocks as HTML; None if one cannot be found in the source."""
        parts: list[Html] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(place for place in range(at, len(tokens)) if tokens[place].type == "table_close")
                made = self._table(tokens[at:end])
                at = end
            else:
                made = self._block(token, tokens[at + 1] if at + 1 < len(tokens) else None)
            if made is None:
                return None
            parts.append(made)
            at += 1
        return joined(parts)

    def _block(self, token: Token, inner: Token | None) -> Html | None:
        """Return one block, or its beginning or end, as HTML; None if it cannot be found in the source."""
        match token.type:
            case "heading_open":
                return self._heading(inner, int(token.tag[1:]))
            case "paragraph_open":
                return self._paragraph(inner, "p", None)
            case "fence" | "code_block":
                return self._code(token)
            case "list_item_open":
                number = f"{token.info}{token.markup}" if token.info else ""
                marker = element("span", words(number), class_="marker") if number else Html("")
                return joined([opening("li"), marker])
        return _CONTAINERS.get(token.type, Html(""))

    def _heading(self, inner: Token | None, level: int) -> Html | None:
        return self._paragraph(inner, f"h{min(level + 2, _DEEPEST_HEADING)}", StyleRole.HEADING)

    def _paragraph(self, inner: Token | None, tag: str, look: StyleRole | None) -> Html | None:
        places = self._lines.of_paragraph(inner) if inner is not None else None
        return element(tag, self._inline(places, look), dir="auto") if places is not None else None

    def _inline(self, places: Sequence[tuple[int, int]], look: StyleRole | None) -> Html:
        lines = []
        for start, end in places:
            line = InlineText("", [], [])
            read_inline(self._lines.text, start, end, look, line)
            lines.append(line_html(line, self._marks, look))
        return joined(lines, "\n")

    def _code(self, token: Token) -> Html:
        """Return code in a panel, with the language as title."""
        title = Html("")
        if token.info.strip():
            info = line_html(self._lines.of_info(token), self._marks, StyleRole.QUIET)
            title = element("span", info, class_="language")
        lines = [line_html(line, self._marks, StyleRole.CODE) for line in self._lines.of_code(token)]
        return element("div", title, element("pre", joined(lines, "\n")), class_="panel")

    def _table(self, tokens: Sequence[Token]) -> Html | None:
        rows = self._lines.of_table(tokens)
        if rows is None:
            return None
        styles = [str(token.attrGet("style") or "") for token in tokens if token.type == "th_open"]
        parts = []
        for number, row in enumerate(rows):
            cells = []
            for column, line in enumerate(row):
                align = _ALIGNED.get(styles[column] if column < len(styles) else "", "")
                named = {"class_": align} if align else {}
                cells.append(element("td" if number else "th", line_html(line, self._marks, StyleRole.STRONG), **named))
            parts.append(element("tr", *cells))
        return element("div", element("table", *parts), class_="grid")
