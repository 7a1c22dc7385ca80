"""Paint a screen of lines in one step, in the colors of a theme. Imports little, for the first page."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NARROWEST, LOWEST = 60, 20
"""The width and height of the smallest screen for a first page. On smaller screens, the app omits parts."""
LARGEST = 400
"""The maximum width and height, in cells, of a screen for a first page."""


def is_sane(columns: int, lines: int) -> bool:
    """True if a first page fits the screen."""
    return NARROWEST <= columns <= LARGEST and LOWEST <= lines <= LARGEST


def painted(lines: Sequence[Iterable[tuple[str, str]]], size: tuple[int, int], page: str, title: str) -> str:
    """Return the terminal output that paints a screen. `page` and `title` are the codes of the screen and of its first
    line.

    A line consists of pairs: the codes of a part, each with a leading semicolon, and its text."""
    rows = [f"\x1b[0;{page}m\x1b[2J"]
    for number in range(size[1]):
        base = page if number else title
        rows.append(f"\x1b[{number + 1};1H\x1b[0;{base}m{' ' * size[0]}\x1b[{number + 1};1H")
        if number < len(lines):
            rows += [f"\x1b[0;{base}{codes}m{text}" for codes, text in lines[number]]
    return "\x1b[?7l" + "".join(rows) + "\x1b[0m\x1b[?7h"
