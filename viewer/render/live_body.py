"""Body of a growing message for append-only output: only text that is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from viewer.render.line import plain_line, wrap
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Printable, Style

_SETTLES = re.compile(
    r"[\n -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0558\u3001-\u3029\u3041-\u3096\u30a1-\u30ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d]"
)
"""Characters that never join with the text before them: that text is drawn in its final form."""


class LiveBody:
    """Lines behind a gutter, as `body_lines` makes them, piece by piece.

    On a terminal the last word of a row waits, because it may move to the next row; elsewhere the last character waits,
    because a mark may follow. If a part of the text turns out to be a thought, the new text no longer continues this
    one: see `continues`."""

    def __init__(self, gutter: Printable, width: int, style: Style, *, trim: bool) -> None:
        self._gutter = gutter
        self._width = width
        self._style = style
        self._trims = trim
        self._seen = ""
        """The text up to the last certain character."""
        self._line = 0
        """The start of the current line in the text."""
        self._rows = 0
        """The number of complete rows of the current line."""
        self._sent = 0
        """The number of characters written of the current row."""
        self._is_inside = False
        """True if the row has begun."""
        self._is_empty = True
        """True if no row was written yet."""

    @property
    def seen(self) -> str:
        """The text up to the last certain character."""
        return self._seen

    def continues(self, body: str) -> bool:
        """True if a text begins with the written text."""
        return body.startswith(self._seen)

    def grow(self, body: str) -> Iterator[str]:
        """Write the certain part of a text that may grow."""
        self._seen = body[: certain_length(body)]
        *complete, last = self._lines_from(self._line)
        yield from self._complete(complete)
        self._line = self._seen.rfind("\n") + 1
        if last:
            *rows, row = self._rows_of(last)
            yield from self._rows_done(rows)
            yield from self._part(row[: _certain_cells(row)] if self._style.wrapped else row)

    def finish(self, body: str) -> Iterator[str]:
        """Write the rest of the final text."""
        self._seen = body
        text = "\n".join(self._lines_from(self._line)).removesuffix("\n")
        if text or not self._is_empty or self._is_inside:
            yield from self._complete(text.split("\n"))

    def break_off(self) -> Iterator[str]:
        """End the current row."""
        if self._is_inside:
            self._is_inside = False
            yield "\n"

    def _lines_from(self, start: int) -> list[str]:
        text = normalize_newlines(self._seen[start:])
        if self._trims and start == 0 and text.startswith("\n"):
            text = text[1:]
        return text.split("\n")

    def _complete(self, lines: list[str]) -> Iterator[str]:
        """Write whole lines; the first may have begun."""
        for line in lines:
            yield from self._rows_done(self._rows_of(line))
            self._rows = 0

    def _rows_of(self, line: str) -> list[SafeText]:
        ready = plain_line(self._style.spell(sanitize(line)))
        return list(wrap(ready, self._width)) if self._style.wrapped else [ready]

    def _rows_done(self, rows: list[SafeText]) -> Iterator[str]:
        for row in rows[self._rows :]:
            yield from self._part(row, even_if_empty=True)
            yield "\n"
            self._is_inside = self._is_empty = False
            self._sent = 0
            self._rows += 1

    def _part(self, row: str, *, even_if_empty: bool = False) -> Iterator[str]:
        if not self._is_inside and (row or even_if_empty):
            self._is_inside = True
            yield self._gutter
        yield row[self._sent :]
        self._sent = max(self._sent, len(row))


def certain_length(text: str) -> int:
    """The length of the text that is drawn in its final form: up to its last settling character."""
    for at in range(len(text) - 1, -1, -1):
        if _SETTLES.match(text, at):
            return len(text[:at].rstrip("\r"))  # a trailing carriage return may be half a line end
    return 0


def _certain_cells(row: str) -> int:
    """The length of the row that cannot move: before the last space, or all if there is none."""
    return len(row[: row.rfind(" ")].rstrip(" ")) if " " in row else len(row)
