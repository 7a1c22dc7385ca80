"""Measure, wrap, and truncate lines by cells: width, tab stops, ellipsis, excess combining marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from unicodedata import category, east_asian_width

from viewer.character_rows import character_rows, has_one_cell_each
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Glyphs, Line, Part, StyleRole, trusted

TAB = 8
MOST_MARKS = 4
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_CELLS, _MARK, _JOINS, _WIDE = 3, 4, 8, 16
"""Traits of a character, as bits of one number."""


def lines_of(text: str) -> list[SafeText]:
    """Return the text of a transcript as lines that are safe to print, unwrapped."""
    return [plain_line(SafeText(line)) for line in sanitize(normalize_newlines(text)).split("\n")]


def plain_line(line: SafeText) -> SafeText:
    """Expand tabs in a line and drop combining marks after the fourth on a base."""
    return line if has_one_cell_each(line) else SafeText("".join(_clusters(line)))


def wrap(line: SafeText, width: int) -> Iterator[SafeText]:
    """Wrap a line from `plain_line`: break after a space, or inside a word that is too long."""
    if has_one_cell_each(line):
        yield from _wrap_characters(line, width)
    else:
        yield from _wrap_cells(line, width)


def cells(text: str) -> int:
    """Return the width of the text in terminal cells."""
    return len(text) if text.isascii() or has_one_cell_each(text) else sum(map(cluster_cells, _clusters(text)))


def cut(text: SafeText, width: int, ellipsis: SafeText) -> SafeText:
    """Truncate a line to a width, with an ellipsis if something is missing."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    if text.isascii() and has_one_cell_each(text):
        return SafeText(text[: max(0, room)] + ellipsis)
    kept: list[str] = []
    for cluster in _clusters(text):
        room -= cluster_cells(cluster)
        if room < 0:
            break
        kept.append(cluster)
    return SafeText("".join(kept) + ellipsis)


def between(left: Sequence[Part], right: Sequence[Part], width: int, glyphs: Glyphs, fill: Part | None = None) -> Line:
    """Return a line with parts at the left and right edges. The left parts are truncated if there is no room for
    both."""
    room = width - sum(cells(part.text) for part in right) - (1 if right else 0)
    kept: list[Part] = []
    for part in left:
        mark = trusted(glyphs.ellipsis[: max(room, 0)])
        text = cut(part.text, max(room, 0), mark) if cells(part.text) > room else part.text
        if room > 0:
            kept.append(Part(text, part.look))
        room -= cells(text)
    gap = max(room + (1 if right else 0), 0)
    filler = Part(trusted((fill.text if fill else " ") * gap), fill.look if fill else StyleRole.PLAIN)
    return (*kept, filler, *right) if right or fill else tuple(kept)


def _wrap_characters(line: SafeText, width: int) -> Iterator[SafeText]:
    if len(line) <= width:
        yield line
        return
    for start, end in character_rows(line, width):
        yield SafeText(line[start:end])


def _wrap_cells(line: SafeText, width: int) -> Iterator[SafeText]:
    row: list[str] = []
    used = 0
    broken = False
    after_space = 0
    """The number of clusters in the row up to its last whitespace."""
    for cluster in _clusters(line):
        size = cluster_cells(cluster)
        while used + size > width and row:
            if cluster == " ":
                after_space = len(row)
            keep = after_space or len(row)
            yield SafeText("".join(row[:keep]).rstrip(" ") or " ")
            row = row[keep:]
            used = sum(map(cluster_cells, row))
            after_space = 0
            broken = True
        if cluster == " " and broken and not row:
            continue
        row.append(cluster)
        used += size
        if cluster == " ":
            after_space = len(row)
    if row or not line:
        yield SafeText("".join(row))


def _clusters(text: str) -> Iterator[str]:
    return (cluster for _, cluster in clusters_at(text))


def clusters_at(text: str) -> Iterator[tuple[int, str]]:
    """Yield the clusters of text (a base with its marks, an emoji sequence, a space of a tab), and their offsets."""
    current = ""
    start = 0
    marks = 0
    column = 0
    has_tabs = "\t" in text
    for at, character in enumerate(text):
        if character == "\t":
            if current:
                column += cluster_cells(current)
                yield start, current
            for _ in range(TAB - column % TAB):
                yield at, " "
            column += TAB - column % TAB
            current = ""
        elif current and (
            (traits := _traits_of_block(ord(character) >> 8)[ord(character) & 0xFF]) & _JOINS
            or (traits & _WIDE and current[-1] == _JOINER)
        ):
            marks += 1
            if marks <= MOST_MARKS or not traits & _MARK:
                current += character
        else:
            if current:
                if has_tabs:
                    column += cluster_cells(current)
                yield start, current
            current = character
            start = at
            marks = 0
    if current:
        yield start, current


def cluster_cells(cluster: str) -> int:
    """Return the width of one cluster in terminal cells."""
    if len(cluster) > 1 and (_EMOJI_STYLE in cluster or _JOINER in cluster):
        return 2
    code = ord(cluster[0])
    return _traits_of_block(code >> 8)[code & 0xFF] & _CELLS


@cache
def _traits_of_block(block: int) -> bytes:
    """Return the traits of a block of 256 characters. The traits of all characters take a little more than a
    megabyte."""
    return bytes(map(_traits, range(block * 0x100, block * 0x100 + 0x100)))


def _traits(code: int) -> int:
    character = chr(code)
    is_wide = east_asian_width(character) in ("W", "F")
    if category(character) in ("Mn", "Me"):
        return _MARK | _JOINS | (_WIDE if is_wide else 0)
    joins = _JOINS if character == _JOINER or code in _SKIN_TONES else 0
    cells_of_it = 0 if 0x1160 <= code <= 0x11FF else 2 if is_wide else 1
    return cells_of_it | joins | (_WIDE if is_wide else 0)
