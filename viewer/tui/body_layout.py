"""The layout of a body: all of it, or where it is folded and long, the rows of its head."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from viewer.render.drawn_text import BodyText, drawn_text
from viewer.render.layout import Row, lay_out
from viewer.render.markdown import Styled
from viewer.render.style import Look, Part
from viewer.tui.block import BlockLine, styled_row
from viewer.tui.body_lines import raw_text, trimmed
from viewer.values import frozen

LONG = 32 * 1024
"""Characters from which a folded body is laid out only as far as it is shown, and an unfolded one in a thread."""


KEPT = 8
"""Layouts of long bodies that are kept."""


@frozen
class Layout:
    """A body in rows of a width."""

    drawn: BodyText
    rows: Sequence[Row]
    left: int = 0
    """The characters behind the rows, where only the head was laid out."""


@frozen
class LayoutRequest:
    """A body that is to be laid out; equal requests have equal layouts."""

    body: str | bytes
    width: int
    json: bool
    markdown: bool
    trim: bool


def lay_out_body(request: LayoutRequest) -> Layout:
    """The whole layout of a body."""
    drawn = _drawn(request, request.body)
    return Layout(drawn, trimmed(lay_out(drawn.text, request.width), request.trim) if drawn.text else [])


def lay_out_head(request: LayoutRequest, rows: int) -> Layout:
    """The first rows of a body; not more of it is looked at than they can hold."""
    size = min(LONG, (rows + 1) * request.width + 1024)
    drawn = _drawn(request, request.body[:size], is_head=True)
    shown = trimmed(lay_out(drawn.text, request.width), request.trim)[:rows]
    end = shown[-1].end if shown else 0
    return Layout(drawn, shown, len(request.body) - (drawn.origins[end] if drawn.origins else end))


def _drawn(request: LayoutRequest, body: str | bytes, *, is_head: bool = False) -> BodyText:
    if isinstance(body, bytes):
        return raw_text(body)
    return drawn_text(
        body, request.width, json=request.json, markdown=request.markdown, trim=request.trim, is_head=is_head
    )


class Layouts:
    """Layouts of long bodies by message; whoever draws a body asks for its layout, which comes later."""

    def __init__(self, ask: Callable[[int, LayoutRequest], None] = lambda number, request: None) -> None:
        self._known: OrderedDict[int, tuple[LayoutRequest, Layout]] = OrderedDict()
        self._asked: dict[int, LayoutRequest] = {}
        self._ask = ask

    def get(self, number: int, request: LayoutRequest) -> Layout | None:
        """The layout, if it is there; else ask for it."""
        known = self._known.get(number)
        if known is not None and known[0] == request:
            return known[1]
        if self._asked.get(number) != request:
            self._asked[number] = request
            self._ask(number, request)
        return None

    def put(self, number: int, request: LayoutRequest, layout: Layout) -> bool:
        """Keep a layout that was asked for; returns whether it is still wanted."""
        if self._asked.get(number) is not request:
            return False
        del self._asked[number]
        self._known[number] = request, layout
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return True


class RowLines(Sequence[BlockLine]):
    """The rows of a body as lines, each made when it is drawn."""

    def __init__(self, rows: Sequence[Row], lead: Part, look: Look, layers: Sequence[Sequence[Styled]]) -> None:
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
        """The spans that touch a row."""
        for layer, starts, reach in self._layers:
            end = bisect_right(starts, max(row.end - 1, row.start))
            first = bisect_right(reach, row.start, 0, end)
            yield from (span for span in layer[first:end] if span.end > row.start)


def _reach(layer: Sequence[Styled]) -> tuple[list[int], list[int]]:
    """Where the spans begin, and how far the spans up to each of them go."""
    reach: list[int] = []
    for span in layer:
        reach.append(max(span.end, reach[-1]) if reach else span.end)
    return [span.start for span in layer], reach


class Joined(Sequence[BlockLine]):
    """Lines one after the other, without a copy of them."""

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
