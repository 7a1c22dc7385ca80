"""Read text in every text format and compare its safe views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from viewer.cli.lens import compare
from viewer.document.document import Document
from viewer.document.values import ShownMessage
from viewer.insight.lens.readings import READERS, REFUSES, Read, Reading
from viewer.insight.lens.rows import Cell, Rank, Row
from viewer.model.visibility import END_USER
from viewer.sources.files import SpooledSource


def document(text: bytes, format: str | None = None) -> Document:
    return Document(SpooledSource("chat", iter([text]), False), format).load()


def readings(text: bytes) -> list[Reading]:
    return [*compare(document(text)).readings]


def safe_view(text: bytes, format: str) -> list[tuple[str, str]]:
    items = document(text, format).project(END_USER).items()
    return [(item.role, item.body) for item in items if isinstance(item, ShownMessage)]


def letters(text: bytes) -> str:
    """Return one letter per reader. Equal letters mean equal safe views; letters are assigned from left to right."""
    known: dict[str, str] = {}
    return "".join(known.setdefault(repr(safe_view(text, name)), "ABCDE"[len(known)]) for name in READERS)


def texts_of(found: Reading, text: bytes) -> dict[int, str]:
    """Return the shown text of each message, read message by message."""
    shown = document(text, found.format).project(END_USER)
    return {each.number: "".join(shown.blocks(each.number)) for each in found.messages if each.is_shown}


def row_by_row(found: Sequence[Reading]) -> list[Row]:
    """Return the rows of the lens, found one by one."""
    judges = [place for place, each in enumerate(found) if each.verdict != REFUSES]
    messages = [[*each.messages] for each in found]
    borders = {border for each in messages for border in _borders(each)}
    rows = []
    for span in pairwise(sorted(borders)):
        cells = tuple(_cell_at(each, span[0]) for each in messages)
        if any(cells):
            rows.append(Row(span, cells, _rank([cells[place] for place in judges])))
    merged = [list(run) for _, run in groupby(rows, _sameness)]
    return [Row((run[0].span[0], run[-1].span[1]), run[0].cells, run[0].rank) for run in merged]


def _borders(messages: Sequence[Read]) -> set[int]:
    last, found = 0, set()
    for message in messages:
        for border in (message.start, *message.body, message.end):
            last = max(last, border)
            found.add(last)
    return found


def _cell_at(messages: Sequence[Read], place: int) -> Cell | None:
    message = next((each for each in messages if each.end > place), None)
    if message is None or message.start > place:
        return None
    return Cell(message, "head" if place < message.body[0] else "body" if place < message.body[1] else "stop")


def _rank(cells: Sequence[Cell | None]) -> Rank | None:
    for rank in Rank:
        if len({_value(rank, cell) for cell in cells}) > 1:
            return rank
    return None


def _value(rank: Rank, cell: Cell | None) -> object:
    message = cell.message if cell else None
    if cell is None or message is None:
        return {Rank.VISIBILITY: "", Rank.TEXT: 0}.get(rank)
    return {
        Rank.VISIBILITY: message.shown_as,
        Rank.BOUNDARY: (message.start, message.end, cell.part),
        Rank.CALL: message.header.recipient,
        Rank.TEXT: message.text if cell.part == "body" else 0,
        Rank.LABEL: (message.header.role, message.header.channel_given),
    }[rank]


def _sameness(row: Row) -> object:
    is_apart = row.rank is Rank.VISIBILITY
    return row.rank, tuple(cell and (cell.message.number, is_apart or cell.part) for cell in row.cells)
