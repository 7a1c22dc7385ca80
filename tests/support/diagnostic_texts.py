"""Read `tests/data/diagnostics.md`, the page with the text of all diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).parent.parent / "data" / "diagnostics.md"


@cache
def texts() -> dict[str, tuple[str, str, str]]:
    """Return the title, safe sentence, and advice of each code."""
    return {cells[0]: (cells[1], cells[2], cells[3]) for cells in _rows(4)}


@cache
def reason_texts() -> dict[tuple[str, str], str]:
    """Return the text of each code and reason."""
    found = {}
    codes: list[str] = []
    for first, reason, text in _rows(3):
        codes = first.split(", ") if first else codes
        name, _, only = reason.partition(" (")
        for code in codes:
            if not only or only.startswith(code):
                found[code, name] = text.partition(" (With both times:")[0]
    return found


def _rows(width: int) -> Iterator[list[str]]:
    for line in _PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == width and cells[0] != "code" and not cells[0].startswith("---"):
            yield cells
