"""Blocks: the lines of each row of a view, the data needed to build them, and the problems of each row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, overload

from msgspec import Struct, field

from viewer.document.calls import CallView, no_calls
from viewer.document.diagnostics import DiagnosticView
from viewer.document.rows import RowKind, Rows
from viewer.document.values import ShownDiagnostic
from viewer.render.blocks.times import Times
from viewer.render.layout import Layouts, Row
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Styled, StyleRole, trusted

if TYPE_CHECKING:
    from viewer.document.usage import UsageView

_MOST_CHECKED = 64
"""The maximum number of problems to check in a range for one whose message has a row."""


class BlockLine(Struct, frozen=True):
    """One line and the part of the body that it shows."""

    parts: Line
    row: Row | None = None
    """The row of the body; None for headings, rules, and notes."""
    indent: int = 0
    """The indentation of the row in characters."""
    folds: bool = False
    """True if a click folds or unfolds the body."""
    link: int = 0
    """The message to which a click leads; 0 if there is none."""
    node: int = -1
    """The value that a click folds or unfolds, as an offset in the text of the block; -1 if there is none."""
    is_open: bool = False
    """True if the value at `node` is unfolded."""


SPACE = BlockLine(())
"""The empty row between messages."""


class Source(Struct, frozen=True):
    """The Markdown source of rendered text, for copying."""

    text: str
    origins: list[int]
    """The offset in the text of each drawn character."""

    def between(self, first: int, last: int) -> str:
        """Return the source of the drawn characters between two offsets."""
        end = len(self.origins) - 1
        return self.text[self.origins[min(first, end)] : self.origins[min(last, end)]]


class Block(Struct, frozen=True):
    """The lines of one row of a view."""

    number: int
    """The message number; 0 if the row is not a message."""
    lines: Sequence[BlockLine] = field(default_factory=list)
    text: str = ""
    """The text that the rows of the lines refer to, and that is copied."""
    first: int = 0
    """The index of the first line of the message itself, after rules and space."""
    begins_transcript: bool = False
    """True if the lines include the boundary of a transcript."""
    bases: dict[int, int] = field(default_factory=dict)
    """The offset of each message's body in the text, if there are several."""
    source: Source | None = None
    """The source to copy from, if it is not the text itself."""
    is_folded: bool = False
    """True for a folded branch or a folded sub-agent."""
    origins: list[int] | None = None
    """The offset in the body of each character of the text; None if both have the same offsets."""

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.lines)

    @property
    def whole_text(self) -> str:
        """The source if there is one, otherwise the text. It does not depend on the width."""
        return self.text if self.source is None else self.source.text

    def body_offset(self, offset: int) -> int:
        """Return the offset in the body of a character of the text."""
        return offset if self.origins is None else self.origins[min(offset, len(self.origins) - 1)]

    def text_offset(self, offset: int) -> int:
        """Return the offset in the text of the first character at or after this offset of the body."""
        return offset if self.origins is None else bisect_left(self.origins, offset)

    def has_offset(self, offset: int) -> bool:
        """True if the text includes this offset of the body. The head of a long body may end before it."""
        return offset <= self.body_offset(len(self.text))

    def shows(self, line: int, offset: int) -> bool:
        """True if this line, from `line_of`, shows the character at this offset. The shown part of a folded body may
        end before it."""
        row = self.lines[line].row if line < len(self.lines) else None
        return row is None or offset <= row.end or any(each.row for each in self.lines[line + 1 :])

    def line_of(self, offset: int) -> int:
        """Return the last line that shows text up to this offset."""
        lines = self.lines
        if self.bases:
            rows = ((at, line.row) for at, line in enumerate(lines))
            return max((at for at, row in rows if row and row.start <= offset), default=self.first)
        first = next((at for at in range(self.first, len(lines)) if lines[at].row), None)
        last = next((at for at in range(len(lines) - 1, self.first - 1, -1) if lines[at].row), None)
        if first is None or last is None:
            return self.first
        found = bisect_right(range(first, last + 1), offset, key=lambda at: row.start if (row := lines[at].row) else 0)
        return first + max(found - 1, 0)


class RowProblems(Struct, frozen=True):
    """The problems of a view by row. Panes and filters have rows for only some messages."""

    rows: Rows
    problems: DiagnosticView

    def of(self, row: int) -> list[ShownDiagnostic]:
        """Return the problems of a row: of its message, or of the messages that it hides. Stray text has none."""
        kind, value = self.rows.kind(row), self.rows.value(row)
        if kind is RowKind.MESSAGE:
            return self.problems.of(value) or self.problems.ahead(value)
        if kind is RowKind.STRAY:
            return []
        return self.problems.between(self.rows.first_number(row), self.rows.last_number(row))

    @property
    def state(self) -> tuple[int, ...]:
        """Numbers that change when the rows or the problems do."""
        return len(self.rows), self.rows.reach, *(len(self.problems.numbers(each)) for each in ("error", "warning"))

    def worst(self, first: int, last: int) -> str:
        """Return the worst severity in a range of rows; empty if there is no problem."""
        if not len(self.rows) or first > last:
            return ""
        begin, end = self._first(first), self.rows.last_number(min(last, len(self.rows) - 1))
        if self.rows.is_whole:
            return self.problems.worst(begin, end)
        return next((severity for severity in ("error", "warning") if self._has_row(severity, begin, end)), "")

    def _has_row(self, severity: str, begin: int, end: int) -> bool:
        numbers = self.problems.numbers(severity)
        found = numbers[bisect_left(numbers, begin) : bisect_right(numbers, end)][:_MOST_CHECKED]
        return any(self.rows.row_holding(number) is not None for number in found)

    def next(self, severity: str, here: int, step: int, hidden: int = 0) -> tuple[int, int] | None:
        """Return the row and the number of the next or previous message with a problem of this severity, wrapping
        around, or None if there is none.

        `hidden` is the message hidden by the row `here` from which to start; 0 starts from the row as a whole."""
        numbers = self.problems.numbers(severity)
        if step > 0:
            split = bisect_right(numbers, hidden or self.rows.last_number(here)) if here >= 0 else 0
            around = chain(range(split, len(numbers)), range(split))
        else:
            split = bisect_left(numbers, hidden or self._first(here)) if here >= 0 else 0
            around = chain(range(split - 1, -1, -1), range(len(numbers) - 1, split - 1, -1))
        found = ((self.rows.row_holding(numbers[place]), numbers[place]) for place in around)
        return next(((row, number) for row, number in found if row is not None), None)

    def _first(self, row: int) -> int:
        """Return the first message that a row may contain."""
        return self.rows.last_number(row - 1) + 1 if row else 0


class BlockFacts(Struct):
    """The data that blocks need in addition to the projection, gathered once per view."""

    calls: CallView = field(default_factory=no_calls)
    problems: RowProblems | None = None
    matches: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Returns the search matches in the body of a message."""
    faults: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Returns the spans in the body of a message to which diagnostics refer."""
    folds: dict[int, bool] = field(default_factory=dict)
    """Messages that the user unfolded (True) or folded (False)."""
    depths: dict[int, int] = field(default_factory=dict)
    """How many levels are open in each unfolded message."""
    turned: dict[int, frozenset[int]] = field(default_factory=dict)
    """For each message, the values that are exceptions: folded although their level is open, or open although their
    level is folded."""
    layouts: Layouts = field(default_factory=Layouts)
    """Layouts of long unfolded bodies."""
    live: bool = False
    """True if the input may grow."""
    growing: frozenset[int] = frozenset()
    """Messages that may still grow."""
    markdown: bool = True
    """True if Markdown is styled where its source is shown."""
    rendered: bool = True
    """True if Markdown is rendered; otherwise its source is shown."""
    opens_thoughts: bool = False
    """True if thoughts are unfolded unless they were folded by hand."""
    problems_key: str = "p"
    times: Times = Times.OFF
    """How the times of messages are shown."""
    usages: UsageView | None = None
    """Tokens and cost for the rules between turns; None to show none."""
    has_numbers: bool = True
    """False if the numbers of messages and turns are not known yet."""

    def update_growing(self, numbers: frozenset[int]) -> None:
        """Set the messages that are growing."""
        self.growing = numbers


def styled_row(row: Row, look: StyleRole, spans: Sequence[Styled]) -> list[Part]:
    """Return the parts of one row of a body. `spans` touch the row, and later ones override earlier ones."""
    if not spans or not row.text:
        return [Part(row.text, look)]
    text, at = row.text, 0
    runs: list[tuple[int, StyleRole]] = []
    for span in spans:
        first, last = row.column_of(max(span.start, row.start)), row.column_of(min(span.end, row.end))
        if first >= last:
            continue
        if first < at:
            return list(_runs(text, _looks(row, look, spans)))
        runs += [(first, look), (last, span.look)]
        at = last
    parts: list[Part] = []
    start = end = 0
    before = look
    for stop, each in (*runs, (len(text), look)):
        if stop > end:
            if each is not before and start < end:
                parts.append(Part(trusted(text[start:end]), before))
                start = end
            before, end = each, stop
    return [*parts, Part(trusted(text[start:end]), before)]


class Overlays:
    """Spans over the text, looked up row by row in order."""

    def __init__(self, *layers: Sequence[Styled]) -> None:
        self._layers = layers
        self._at = [0] * len(layers)

    def over(self, row: Row) -> list[Styled]:
        """Return the spans that touch this row. Rows must be passed in order."""
        found: list[Styled] = []
        for number, layer in enumerate(self._layers):
            at = self._at[number]
            while at < len(layer) and layer[at].end <= row.start:
                at += 1
            self._at[number] = at
            while at < len(layer) and layer[at].start < max(row.end, row.start + 1):
                found.append(layer[at])
                at += 1
        return found


def _looks(row: Row, look: StyleRole, spans: Sequence[Styled]) -> list[StyleRole]:
    """Return the style of each character of a row under overlapping spans."""
    looks = [look] * len(row.text)
    for span in spans:
        first, last = row.column_of(max(span.start, row.start)), row.column_of(min(span.end, row.end))
        looks[first : max(last, first)] = [span.look] * max(last - first, 0)
    return looks


def _runs(text: SafeText, looks: Sequence[StyleRole]) -> Iterable[Part]:
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or looks[at] is not looks[start]:
            yield Part(trusted(text[start:at]), looks[start])
            start = at


class RowLines(Sequence[BlockLine]):
    """The rows of a body as lines, built on access."""

    def __init__(self, rows: Sequence[Row], lead: Part, look: StyleRole, layers: Sequence[Sequence[Styled]]) -> None:
        self.rows = rows
        self._lead = lead
        self._look = look
        self._layers = [(layer, *_reach(layer)) for layer in layers if layer]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> BlockLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockLine]: ...
    def __getitem__(self, index: int | slice) -> BlockLine | Sequence[BlockLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        row = self.rows[index]
        parts = (self._lead, *styled_row(row, self._look, list(self._over(row))))
        return BlockLine(parts, row, len(self._lead.text))

    def _over(self, row: Row) -> Iterator[Styled]:
        """Yield the spans that touch a row."""
        for layer, starts, reach in self._layers:
            end = bisect_right(starts, max(row.end - 1, row.start))
            first = bisect_right(reach, row.start, 0, end)
            yield from (span for span in layer[first:end] if span.end > row.start)


def _reach(layer: Sequence[Styled]) -> tuple[list[int], list[int]]:
    """Return the start of each span, and the maximum end of all spans up to it."""
    reach: list[int] = []
    for span in layer:
        reach.append(max(span.end, reach[-1]) if reach else span.end)
    return [span.start for span in layer], reach


class Joined(Sequence[BlockLine]):
    """Several sequences of lines as one sequence, without a copy."""

    def __init__(self, pieces: Iterable[Sequence[BlockLine]]) -> None:
        self._pieces = [piece for piece in pieces if len(piece)]
        self._count = sum(map(len, self._pieces))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> BlockLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockLine]: ...
    def __getitem__(self, index: int | slice) -> BlockLine | Sequence[BlockLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(self._count)[index]
        for piece in self._pieces:
            if at < len(piece):
                return piece[at]
            at -= len(piece)
        raise IndexError(index)

    def __iter__(self) -> Iterator[BlockLine]:
        return chain.from_iterable(self._pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
