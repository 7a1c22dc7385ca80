"""Lines for a screen of fixed cells: widths, tab stops, excess combining marks, and where a long line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category, east_asian_width

from viewer.render.safe_text import SafeText, normalize_newlines, safe

TAB = 8
MOST_MARKS = 4
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def lines_of(text: str) -> list[SafeText]:
    """Text of a transcript as lines that are safe to print, each as long as it is."""
    return [plain_line(SafeText(line)) for line in safe(normalize_newlines(text)).split("\n")]


def plain_line(line: SafeText) -> SafeText:
    """One line with its tabs expanded and no more than four marks on a base."""
    return line if line.isascii() and "\t" not in line else SafeText("".join(_clusters(line)))


def wrap(line: SafeText, width: int) -> Iterator[SafeText]:
    """The rows of a line (as `plain_line` leaves it): broken after a space, or anywhere where a word is too long."""
    if line.isascii():
        yield from _wrap_ascii(line, width)
    else:
        yield from _wrap_cells(line, width)


def cells(text: str) -> int:
    """How many cells a terminal gives this text."""
    return len(text) if text.isascii() else sum(map(cluster_cells, _clusters(text)))


def cut(text: SafeText, width: int, ellipsis: SafeText) -> SafeText:
    """The beginning of a line that fits, with an ellipsis where something is missing."""
    if cells(text) <= width:
        return text
    kept: list[str] = []
    room = width - cells(ellipsis)
    for cluster in _clusters(text):
        room -= cluster_cells(cluster)
        if room < 0:
            break
        kept.append(cluster)
    return SafeText("".join(kept) + ellipsis)


def _wrap_ascii(line: SafeText, width: int) -> Iterator[SafeText]:
    if len(line) <= width:
        yield line
        return
    for match in _rows_of_width(width).finditer(line):
        yield SafeText(match[1] if match[1] is not None else match[2])


@lru_cache(maxsize=8)
def _rows_of_width(width: int) -> re.Pattern[str]:
    return re.compile(rf"(.{{1,{width}}})(?: +|$)|(.{{1,{width}}})")


def _wrap_cells(line: SafeText, width: int) -> Iterator[SafeText]:
    row: list[str] = []
    used = 0
    broken = False
    after_space = 0
    """How many clusters of the row end with its last white space."""
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
    """What a terminal draws as one thing (a base with its marks, an emoji sequence, a space of a tab), and where
    in the text it stands."""
    current = ""
    start = 0
    marks = 0
    column = 0
    for at, character in enumerate(text):
        if character == "\t":
            column += cluster_cells(current) if current else 0
            if current:
                yield start, current
            for _ in range(TAB - column % TAB):
                yield at, " "
            column += TAB - column % TAB
            current = ""
        elif current and _joins(current, character):
            marks += 1
            if marks <= MOST_MARKS or not is_mark(character):
                current += character
        else:
            if current:
                column += cluster_cells(current)
                yield start, current
            current = character
            start = at
            marks = 0
    if current:
        yield start, current


def _joins(current: str, character: str) -> bool:
    if character.isascii():
        return False
    return (
        is_mark(character)
        or character == _JOINER
        or ord(character) in _SKIN_TONES
        or (current[-1] == _JOINER and _is_wide(character))
    )


def cluster_cells(cluster: str) -> int:
    """How many cells a terminal gives one cluster."""
    if len(cluster) == 1:
        return _character_cells(cluster)
    if _EMOJI_STYLE in cluster or _JOINER in cluster:
        return 2
    return _character_cells(cluster[0])


def _character_cells(character: str) -> int:
    if character.isascii():
        return 1
    if is_mark(character) or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if _is_wide(character) else 1


@lru_cache(maxsize=4096)
def is_mark(character: str) -> bool:
    """Whether it is drawn on the character before it."""
    return category(character) in ("Mn", "Me")


@lru_cache(maxsize=4096)
def _is_wide(character: str) -> bool:
    return east_asian_width(character) in ("W", "F")
