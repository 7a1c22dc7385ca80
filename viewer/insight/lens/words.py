"""Words for the lens: describe how readers read a run of bytes."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.insight.lens.readings import READERS, Read, Reading
from viewer.insight.lens.rows import Cell, Row

SHORT_NAMES = {name: name.removeprefix("openchatml-") for name in READERS}
"""The names of the formats in column headings."""
_LETTERS = {"user": "U", "system": "S", "developer": "D", "tool": "T"}
_CHANNELS = {"analysis": "A", "commentary": "C"}
_HIDDEN = "not shown"


def cell_words(cell: Cell | None) -> str:
    """Describe a cell in words."""
    if cell is None:
        return "-"
    if cell.part == "stop":
        return "end"
    shown = "shown" if cell.message.is_shown else "hidden"
    return f"{_letter(cell.message)} {'text' if cell.part == 'body' and cell.message.is_shown else shown}"


def _letter(message: Read) -> str:
    header = message.header
    if header.role != "assistant":
        return _LETTERS.get(header.role, "?")
    return "X" if header.recipient is not None else _CHANNELS.get(header.channel_given or "", "F")


def sentence(row: Row, readings: Sequence[Reading]) -> str:
    """Describe which readers show a row, under which role, and which readers hide it."""
    ways: dict[str, list[str]] = {}
    for each, cell in zip(readings, row.cells, strict=True):
        role = cell.message.shown_as if cell else ""
        way = f"shown as text of the {role}" if role else _HIDDEN
        ways.setdefault(way, []).append(SHORT_NAMES[each.format])
    ordered = sorted(ways.items(), key=lambda each: each[0] == _HIDDEN)
    return "; ".join(f"{way} by {_listed(names)}" for way, names in ordered)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
