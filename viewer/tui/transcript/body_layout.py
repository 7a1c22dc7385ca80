"""Body layout: all rows of a body, or the first rows of a long folded one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from viewer.render.drawn_text import BodyText, drawn_text
from viewer.render.layout import Row, lay_out
from viewer.render.markdown import Styled
from viewer.render.sanitize import SafeText, sanitize
from viewer.render.style import Part, StyleRole
from viewer.tui.transcript.block import BlockLine, styled_row
from viewer.tui.transcript.body_lines import raw_text, trimmed
from viewer.values import frozen

LONG = 32 * 1024
"""Characters from which on a folded body is laid out only as far as visible, and an unfolded one in a thread."""

LONG_WHILE_READ = 4 * 1024
"""The same for a folded body of which only the beginning has been read: its line count is unknown anyway."""
KEPT = 8
"""The number of cached layouts of long bodies."""


@frozen
class Layout:
    """A body in rows of one width."""

    drawn: BodyText
    rows: Sequence[Row]
    left: int = 0
    """The number of characters after the rows, if only the head was laid out."""


@frozen
class LayoutRequest:
    """A body to lay out; equal requests have equal layouts."""

    body: str | bytes
    width: int
    json: bool
    markdown: bool
    trim: bool


def lay_out_body(request: LayoutRequest) -> Layout:
    """Lay out a whole body."""
    drawn = _drawn(request, request.body)
    return Layout(drawn, trimmed(lay_out(drawn.text, request.width), request.trim) if drawn.text else [])


def lay_out_head(request: LayoutRequest, rows: int) -> Layout:
    """Lay out the first rows of a body, reading no more text than they can hold."""
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


REDONE_ROWS = 2
"""Rows at the end of a growing body that more text can change."""


class GrowingLayout:
    """The layout of a body that only grows at its end: each step lays out the last rows and the new text.

    Until the body is complete, it has no styles, and its JSON tokens are not laid out."""

    def __init__(self, request: LayoutRequest) -> None:
        self.request = request
        self._drawn = BodyText(SafeText(""), [])
        self._rows: list[Row] = []
        self.layout = self.grow(request)

    def grow(self, request: LayoutRequest) -> Layout:
        """The layout of the longer body. If the body does not continue the last one, lay out all of it."""
        keep, at = self._unchanged(request)
        given = self._drawn.origins[at] if self._drawn.origins else at
        body = _as_text(request.body)
        tail = _plain(request, body[given:])
        text = self._drawn.text[:at] + tail.text
        origins = _joined_origins(self._drawn.origins, at, given, tail)
        self._drawn = BodyText(SafeText(text), [], origins, self._drawn.given[:at] + tail.given)
        self._rows = [*self._rows[:keep], *(_moved(row, at) for row in lay_out(tail.text, request.width))]
        self.request = request
        self.layout = Layout(self._drawn, trimmed(self._rows, request.trim) if text else [])
        return self.layout

    def _unchanged(self, request: LayoutRequest) -> tuple[int, int]:
        """The number of rows that stay, and the offset in the drawn text at which they end."""
        keep = len(self._rows) - REDONE_ROWS
        if keep <= 0 or not self.is_for(request):
            return 0, 0
        at = self._rows[keep].start
        given = self._drawn.origins[at] if self._drawn.origins else at
        body, before = _as_text(request.body), _as_text(self.request.body)
        return (keep, at) if body[:given] == before[:given] else (0, 0)

    def is_for(self, request: LayoutRequest) -> bool:
        """True if two requests differ at most in the body."""
        now, here = request, self.request
        return (type(now.body), now.width, now.trim) == (type(here.body), here.width, here.trim)


def _plain(request: LayoutRequest, text: str) -> BodyText:
    if isinstance(request.body, bytes):
        return BodyText(sanitize(text), [], None, text)
    return drawn_text(text, request.width, json=False, markdown=False, trim=False)


def _as_text(body: str | bytes) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else body


def _joined_origins(before: list[int] | None, at: int, given: int, tail: BodyText) -> list[int] | None:
    """The origin of each drawn character in the body; the tail begins at `given`."""
    if before is None and tail.origins is None:
        return None
    behind = tail.origins if tail.origins is not None else range(len(tail.text) + 1)
    return [*(before[:at] if before is not None else range(at)), *(given + origin for origin in behind)]


def _moved(row: Row, by: int) -> Row:
    if not by:
        return row
    origins = array("Q", (by + origin for origin in row.origins)) if row.origins is not None else None
    return Row(row.text, row.start + by, row.end + by, row.joined, origins)


class Layouts:
    """Cached layouts of long bodies by message. A missing layout is requested and arrives later."""

    def __init__(self, ask: Callable[[int, LayoutRequest], None] = lambda number, request: None) -> None:
        self._known: OrderedDict[int, tuple[LayoutRequest, Layout]] = OrderedDict()
        self._asked: dict[int, LayoutRequest] = {}
        self._growing: dict[int, GrowingLayout] = {}
        self._ask = ask

    def get(self, number: int, request: LayoutRequest) -> Layout | None:
        """The layout from the cache; request it if it is missing."""
        known = self._known.get(number)
        if known is not None and known[0] == request:
            return known[1]
        if self._asked.get(number) != request:
            self._asked[number] = request
            self._ask(number, request)
        growing = self._growing.get(number)
        return self.grow(number, request) if growing is not None and growing.is_for(request) else None

    def grow(self, number: int, request: LayoutRequest) -> Layout:
        """The layout of a growing body."""
        known = self._growing.pop(number, None)
        if known is None:
            known = GrowingLayout(request)
        elif known.request != request:
            known.grow(request)
        self._growing[number] = known
        if len(self._growing) > KEPT:
            del self._growing[next(iter(self._growing))]
        return known.layout

    def put(self, number: int, request: LayoutRequest, layout: Layout) -> bool:
        """Store a requested layout; False if it is no longer needed."""
        if self._asked.get(number) is not request:
            return False
        del self._asked[number]
        self._growing.pop(number, None)
        self._known[number] = request, layout
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return True


class RowLines(Sequence[BlockLine]):
    """The rows of a body as lines, made on access."""

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
        """The spans that touch a row."""
        for layer, starts, reach in self._layers:
            end = bisect_right(starts, max(row.end - 1, row.start))
            first = bisect_right(reach, row.start, 0, end)
            yield from (span for span in layer[first:end] if span.end > row.start)


def _reach(layer: Sequence[Styled]) -> tuple[list[int], list[int]]:
    """The start of each span, and the furthest end of all spans up to it."""
    reach: list[int] = []
    for span in layer:
        reach.append(max(span.end, reach[-1]) if reach else span.end)
    return [span.start for span in layer], reach


class Joined(Sequence[BlockLine]):
    """Several sequences of lines as one, without a copy."""

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
