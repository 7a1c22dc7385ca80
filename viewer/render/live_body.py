"""The body of a message that still grows, written to where nothing can be taken back: only what is certain."""

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
"""Characters that join with nothing before them: where one stands, how the text before it is drawn is settled."""


class LiveBody:
    """Lines behind a gutter, as `body_lines` makes them, piece by piece.

    On a terminal the last word of a row waits, since it may have to go to the next row; elsewhere the last character,
    to which a mark may be added. A text that is no longer what it was, because part of it turned out to be a thought,
    is not what this one continues: see `continues`."""

    def __init__(self, gutter: Printable, width: int, style: Style, *, trim: bool) -> None:
        self._gutter = gutter
        self._width = width
        self._style = style
        self._trims = trim
        self._seen = ""
        """The text up to the last character that was certain."""
        self._line = 0
        """Where in it the line begins that has been begun."""
        self._rows = 0
        """So many rows of that line are complete."""
        self._sent = 0
        """So many characters of the row after those are written."""
        self._is_inside = False
        """The row has been begun."""
        self._is_empty = True
        """No row was written yet."""

    @property
    def seen(self) -> str:
        """The text up to the last character that was certain."""
        return self._seen

    def continues(self, body: str) -> bool:
        """Whether a text begins with what has been written."""
        return body.startswith(self._seen)

    def grow(self, body: str) -> Iterator[str]:
        """What is certain of a text that may go on."""
        self._seen = body[: certain_length(body)]
        *complete, last = self._lines_from(self._line)
        yield from self._complete(complete)
        self._line = self._seen.rfind("\n") + 1
        if last:
            *rows, row = self._rows_of(last)
            yield from self._rows_done(rows)
            yield from self._part(row[: _certain_cells(row)] if self._style.wrapped else row)

    def finish(self, body: str) -> Iterator[str]:
        """The rest, when it is known that this is all."""
        self._seen = body
        text = "\n".join(self._lines_from(self._line)).removesuffix("\n")
        if text or not self._is_empty or self._is_inside:
            yield from self._complete(text.split("\n"))

    def break_off(self) -> Iterator[str]:
        """End the row that was begun."""
        if self._is_inside:
            self._is_inside = False
            yield "\n"

    def _lines_from(self, start: int) -> list[str]:
        text = normalize_newlines(self._seen[start:])
        if self._trims and start == 0 and text.startswith("\n"):
            text = text[1:]
        return text.split("\n")

    def _complete(self, lines: list[str]) -> Iterator[str]:
        """Whole lines; the first of them may have been begun."""
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
    """How much of a text is drawn as it is now, whatever follows: all before its last character that settles it."""
    for at in range(len(text) - 1, -1, -1):
        if _SETTLES.match(text, at):
            return len(text[:at].rstrip("\r"))  # that may be the first half of a line end
    return 0


def _certain_cells(row: str) -> int:
    """How much of a row stays in it: what stands before the last space, or all where there is none."""
    return len(row[: row.rfind(" ")].rstrip(" ")) if " " in row else len(row)
