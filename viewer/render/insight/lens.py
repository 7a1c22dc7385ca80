"""Print how readers interpret each byte of an input: a table, or JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from viewer.insight.lens.readings import Reading
from viewer.insight.lens.rows import Cell, Rank, Row, RowTable
from viewer.insight.lens.words import SHORT_NAMES, cell_words, sentence
from viewer.model.messages import Span
from viewer.render.json_lines import encode
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Printable, Style, StyleRole, trusted
from viewer.render.width import cells, wrap

_SOURCE_WIDTH = 48
_SOURCE_BYTES = 4 * (_SOURCE_WIDTH + 2)
"""The number of bytes that contain `_SOURCE_WIDTH` characters and one more, which shows that the text is longer."""
_GAP = "  "
_LEAST_SOURCE = 20
Excerpts = Callable[[Iterable[Span], int], Iterator[str]]
"""A function that yields the start of each of these texts, of at most this many bytes."""


def lens_objects(
    found: RowTable, readings: Sequence[Reading], rank: Rank | None, file: str | None
) -> Iterator[Printable]:
    """Yield a JSON object for each row in which readers disagree at least this seriously, or for all rows."""
    templates: dict[object, str] = {}
    for block, rows in found.faces(rank):
        for place, span, worst, face, numbers in zip(
            rows.places, rows.spans, rows.ranks, rows.faces, rows.numbers, strict=True
        ):
            template = templates.get((worst, face))
            if template is None:
                template = templates[worst, face] = _template(block.row(place), readings, file)
            yield Printable(template % (*span, *numbers))


def _template(row: Row, readings: Sequence[Reading], file: str | None) -> str:
    """Return the object of a row as a format string for the ends of its span and the number of each reader's message.
    The number is not printed if the reader has no message."""
    columns = ",".join(f'"{each.format}":{_cell(cell)}' for each, cell in zip(readings, row.cells, strict=True))
    rank = row.rank.word if row.rank else None
    text = encode({"kind": "lens", "span": None, "rank": rank, "readings": {}}, file).replace("%", "%%")
    head, tail = text.split("{}", 1)
    return head.replace("null", "[%d,%d]", 1) + "{" + columns + "}" + tail


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "null%.0s"
    message = cell.message
    header = message.header
    text = encode(
        {
            "visible": message.is_shown,
            "message": None,
            "role": header.role,
            "channel": header.channel_given,
            "part": cell.part,
        }
    )
    return text.replace("%", "%%").replace("null", "%d", 1)


def lens_table(
    found: RowTable, readings: Sequence[Reading], rank: Rank | None, excerpts: Excerpts, width: int, style: Style
) -> Iterator[Line]:
    """Yield a table of the rows in which readers disagree at least this seriously, or of all rows, and the verdicts."""
    table = _Table(found, readings, rank, style)
    yield (Part(table.line("", "bytes", [SHORT_NAMES[each.format] for each in readings], "source"), StyleRole.STRONG),)
    room = max(width - table.indent, _LEAST_SOURCE)
    for text, source in table.rows(excerpts):
        first, *rest = wrap(source, room) if style.wrapped else (source,)
        yield (Part(SafeText((text + first).rstrip(" "))),)
        for more in rest:
            yield (Part(SafeText(" " * table.indent + more)),)
    yield (Part(table.line("", "verdict", [each.verdict for each in readings], "")),)


class _Table:
    """The rows of the table. Each face is laid out once."""

    def __init__(self, found: RowTable, readings: Sequence[Reading], rank: Rank | None, style: Style) -> None:
        self._found, self._rank, self._style = found, rank, style
        self._faces: dict[object, tuple[SafeText, list[SafeText]]] = {}
        last: Span = (0, 0)
        for block, rows in found.faces(rank):
            for place, worst, face in zip(rows.places, rows.ranks, rows.faces, strict=True):
                if (worst, face) not in self._faces:
                    self._faces[worst, face] = self._words(block.row(place))
            last = rows.spans[-1] if rows.spans else last
        columns = zip(*(words for _, words in self._faces.values()), strict=True)
        widest = [max(map(cells, column)) for column in columns] or [0] * len(readings)
        self._widths = [
            max(len(SHORT_NAMES[each.format]), len(each.verdict), width)
            for each, width in zip(readings, widest, strict=True)
        ]
        self._sign = max((cells(sign) for sign, _ in self._faces.values()), default=0)
        self._place = max(len("verdict"), len(_place(last)))
        self.indent = self._sign + self._place + sum(self._widths) + len(_GAP) * (len(readings) + 2)
        """Where the last column begins."""

    def _words(self, row: Row) -> tuple[SafeText, list[SafeText]]:
        style = self._style
        sign = style.words(style.signs.severity("error")) if row.rank is Rank.VISIBILITY else trusted("")
        return sign, [style.name(cell_words(cell)) for cell in row.cells]

    def line(self, sign: str, place: str, words: Sequence[str], source: str) -> SafeText:
        """Lay out a row."""
        lead, columns = self._laid_out(sign, words)
        return SafeText(f"{lead}{place:<{self._place}}{columns}{source}".rstrip(" "))

    def _laid_out(self, sign: str, words: Sequence[str]) -> tuple[str, str]:
        """Return the columns before and after that of the bytes."""
        padded = [text + " " * (width - cells(text)) for text, width in zip(words, self._widths, strict=True)]
        return sign + " " * (self._sign - cells(sign)) + _GAP, _GAP.join(["", *padded, ""])

    def rows(self, excerpts: Excerpts) -> Iterator[tuple[str, SafeText]]:
        """Yield each row without its last column, and the text of that column."""
        laid_out = {key: self._laid_out(*words) for key, words in self._faces.items()}
        spell, room = self._style.spell, self._place
        for _, rows in self._found.faces(self._rank):
            sources = excerpts(rows.spans, _SOURCE_BYTES)
            for span, worst, face, source in zip(rows.spans, rows.ranks, rows.faces, sources, strict=True):
                lead, columns = laid_out[worst, face]
                yield f"{lead}{_place(span):<{room}}{columns}", spell(sanitize_line(source, _SOURCE_WIDTH))


def _place(span: Span) -> str:
    return f"{span[0]:,}-{span[1]:,}"


def lens_sentences(found: RowTable, readings: Sequence[Reading], style: Style) -> Iterator[Line]:
    """Yield a sentence about each row in which readers disagree about visibility."""
    sentences: dict[object, SafeText] = {}
    for block, rows in found.faces(Rank.VISIBILITY):
        for place, span, face in zip(rows.places, rows.spans, rows.faces, strict=True):
            words = sentences.get(face)
            if words is None:
                words = sentences[face] = style.name(f": {sentence(block.row(place), readings)}")
            yield ()
            yield (Part(SafeText(f"{span[0]:,}{words}")),)
