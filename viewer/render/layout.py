"""Layout: break a body (all of it, its head, or one that grows) into rows, with a map to the source text."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from viewer.character_rows import character_rows, has_one_cell_each
from viewer.render.body import BodyText, Rendering, drawn_text, raw_text
from viewer.render.sanitize import SafeText, sanitize
from viewer.render.width import cluster_cells, clusters_at

LONG = 32 * 1024
"""The length in characters above which a body is long: if folded, only its shown part is laid out; if unfolded, it is
laid out in a thread."""

LONG_WHILE_READ = 4 * 1024
"""Like `LONG`, for a folded body that is still being read. It is lower, because the final number of lines is not known
yet anyway."""
KEPT = 8
"""The number of cached layouts of long bodies."""
REDONE_ROWS = 2
"""How many rows at the end of a growing body can change when text is added."""


WIDEST = 88
"""The maximum width of the reading column, unless the settings specify another one."""
MARGIN = 2
"""The width of the margin before the reading column. The first cell of the margin is for the cursor."""
_NARROWEST, _WIDEST_PANE = 40, 136
LONGEST_LINE = 4096
"""The maximum width of an unwrapped line in cells; longer lines are wrapped."""
_AROUND_LINES = 8
"""Extra cells for a list, a quote or a frame around a line."""


class Column(Struct, frozen=True, gc=False):
    """The reading column of a pane."""

    left: int
    """The number of cells to the left of the column."""
    width: int


def reading_column(pane: int, limit: int = WIDEST, *, centered: bool = True) -> Column:
    """Return the reading column of a pane. The last cell of the pane is for the scrollbar.

    In a very wide pane, the column is centered even without `centered`. A limit of 0 means no limit."""
    width = max(1, min(limit or pane, pane - (2 * MARGIN if pane >= _NARROWEST else MARGIN + 1)))
    is_centered = centered or pane >= _WIDEST_PANE
    return Column(max(MARGIN, (pane - width) // 2) if is_centered else MARGIN, width)


def unwrapped_width(body: str | bytes, width: int) -> int:
    """Return a width of at least `width` at which no line of a body wraps, unless the line is longer than
    `LONGEST_LINE`."""
    lines = (body[:LONG].decode("utf-8", "replace") if isinstance(body, bytes) else body[:LONG]).splitlines()
    longest = max(map(len, lines), default=0)
    return max(width, min(2 * longest + _AROUND_LINES, LONGEST_LINE))


class Row(Struct, frozen=True):
    """A row of the screen."""

    text: SafeText
    start: int
    """The start offset in the source text."""
    end: int
    joined: bool = False
    """True if the line continues in the next row."""
    origins: array[int] | None = None
    """The source offset of each character of the row; None if they are consecutive."""

    def column_of(self, offset: int) -> int:
        """Return the column of the row that shows this source offset."""
        if self.origins is None:
            return min(max(offset - self.start, 0), len(self.text))
        return bisect_left(self.origins, offset)

    def offset_of(self, column: int) -> int:
        """Return the source offset of a column of the row."""
        if self.origins is None:
            return min(self.start + column, self.end)
        return self.origins[column] if column < len(self.origins) else self.end


def lay_out(text: SafeText, width: int) -> list[Row]:
    """Break the text into rows at line ends, after spaces, and inside words that are too long."""
    rows: list[Row] = []
    start = 0
    while True:
        end = text.find("\n", start)
        line = text[start:] if end < 0 else text[start:end]
        rows += _rows(SafeText(line), start, max(1, width))
        if end < 0:
            return rows
        start = end + 1


def _rows(line: SafeText, start: int, width: int) -> Iterator[Row]:
    if not has_one_cell_each(line):
        yield from _rows_of_cells(line, start, width)
    elif len(line) <= width:
        yield Row(line, start, start + len(line))
    else:
        yield from _rows_of_characters(line, start, width)


def _rows_of_characters(line: SafeText, start: int, width: int) -> Iterator[Row]:
    end = len(line.rstrip(" "))
    for first, last in character_rows(line, width):
        yield Row(SafeText(line[first:last]), start + first, start + last, last < end)


def _rows_of_cells(line: SafeText, start: int, width: int) -> Iterator[Row]:
    clusters: list[tuple[int, str]] = []
    used = 0
    after_space = 0
    for at, cluster in clusters_at(line):
        size = cluster_cells(cluster)
        if used + size > width and clusters:
            keep = len(clusters) if cluster == " " else after_space or len(clusters)
            yield _row(clusters[:keep], start, start + (clusters[keep][0] if keep < len(clusters) else at), True)
            clusters = clusters[keep:]
            used = sum(cluster_cells(kept) for _, kept in clusters)
            after_space = 0
            if cluster == " " and not clusters:
                continue
        clusters.append((at, cluster))
        used += size
        if cluster == " ":
            after_space = len(clusters)
    yield _row(clusters, start, start + len(line), False)


def _row(clusters: list[tuple[int, str]], start: int, end: int, joined: bool) -> Row:
    origins = array("Q", (start + at for at, cluster in clusters for _ in cluster))
    text = SafeText("".join(cluster for _, cluster in clusters))
    return Row(text, origins[0] if origins else end, end, joined, origins)


def trimmed(rows: list[Row], trim: bool) -> list[Row]:
    """Drop the empty row after a trailing newline and, with `trim`, a leading empty one."""
    if trim and len(rows) > 1 and not rows[0].text:
        rows = rows[1:]
    return rows[:-1] if len(rows) > 1 and not rows[-1].text else rows


class Layout(Struct, frozen=True):
    """The rows of a body at a given width."""

    drawn: BodyText
    rows: Sequence[Row]
    left: int = 0
    """The number of characters after the rows, if only the head was laid out."""


class LayoutRequest(Struct, frozen=True, gc=False):
    """A body to lay out; equal requests have equal layouts."""

    body: str | bytes
    width: int
    json: bool
    markdown: Rendering
    trim: bool


def lay_out_body(request: LayoutRequest) -> Layout:
    """Return the whole layout of a body."""
    drawn = _drawn(request, request.body)
    return Layout(drawn, trimmed(lay_out(drawn.text, request.width), request.trim) if drawn.text else [])


def lay_out_head(request: LayoutRequest, rows: int) -> Layout:
    """Lay out the first rows of a body, reading only as much text as they can hold."""
    size = min(LONG, (rows + 1) * request.width + 1024)
    drawn = _drawn(request, request.body[:size], is_head=True)
    shown = trimmed(lay_out(drawn.text, request.width), request.trim)[:rows]
    end = shown[-1].end if shown else 0
    return Layout(drawn, shown, len(request.body) - (drawn.origins[end] if drawn.origins else end))


def _drawn(request: LayoutRequest, body: str | bytes, *, is_head: bool = False) -> BodyText:
    if isinstance(body, bytes):
        return raw_text(body)
    return drawn_text(
        body,
        request.width,
        json=request.json,
        markdown=request.markdown,
        trim=request.trim,
        is_head=is_head,
    )


class GrowingLayout:
    """The layout of a body that grows at its end.

    Each step lays out only the last rows and the new text. Until the body is complete, it is not styled, and JSON is
    not broken into lines."""

    def __init__(self, request: LayoutRequest) -> None:
        self.request = request
        self._drawn = BodyText(SafeText(""), [])
        self._rows: list[Row] = []
        self.layout = self.grow(request)

    def grow(self, request: LayoutRequest) -> Layout:
        """Lay out the longer body. If it does not start with the previous one, lay out all of it."""
        keep, at = self._unchanged(request)
        given = self._drawn.origins[at] if self._drawn.origins else at
        body = _as_text(request.body)
        tail = _plain(request, body[given:])
        text = self._drawn.text[:at] + tail.text
        origins = _joined_origins(self._drawn.origins, at, given, tail)
        self._drawn = BodyText(SafeText(text), [], origins, self._drawn.given[:at] + tail.given)
        self._rows = [*self._rows[:keep], *(moved_row(row, at) for row in lay_out(tail.text, request.width))]
        self.request = request
        self.layout = Layout(self._drawn, trimmed(self._rows, request.trim) if text else [])
        return self.layout

    def _unchanged(self, request: LayoutRequest) -> tuple[int, int]:
        """Return the number of rows that are kept, and the offset in the drawn text at which they end."""
        keep = len(self._rows) - REDONE_ROWS
        if keep <= 0 or not self.is_for(request):
            return 0, 0
        at = self._rows[keep].start
        given = self._drawn.origins[at] if self._drawn.origins else at
        body, before = _as_text(request.body), _as_text(self.request.body)
        return (keep, at) if body[:given] == before[:given] else (0, 0)

    def is_for(self, request: LayoutRequest) -> bool:
        """True if the two requests differ only in the body, if at all."""
        now, here = request, self.request
        return (type(now.body), now.width, now.trim) == (type(here.body), here.width, here.trim)


def _plain(request: LayoutRequest, text: str) -> BodyText:
    if isinstance(request.body, bytes):
        return BodyText(sanitize(text), [], None, text)
    return drawn_text(text, request.width, json=False, markdown=Rendering.PLAIN, trim=False)


def _as_text(body: str | bytes) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else body


def _joined_origins(before: list[int] | None, at: int, given: int, tail: BodyText) -> list[int] | None:
    """Return the source offset of each drawn character. The tail starts at `given` in the source."""
    if before is None and tail.origins is None:
        return None
    behind = tail.origins if tail.origins is not None else range(len(tail.text) + 1)
    return [*(before[:at] if before is not None else range(at)), *(given + origin for origin in behind)]


def moved_row(row: Row, by: int) -> Row:
    """Return the row with its offsets moved."""
    if not by:
        return row
    origins = array("Q", (by + origin for origin in row.origins)) if row.origins is not None else None
    return Row(row.text, row.start + by, row.end + by, row.joined, origins)


class Layouts:
    """Cache of layouts of long bodies, by message. A missing layout is requested and stored here later."""

    def __init__(self, ask: Callable[[int, LayoutRequest], None] = lambda number, request: None) -> None:
        self._known: OrderedDict[int, tuple[LayoutRequest, Layout]] = OrderedDict()
        self._asked: dict[int, LayoutRequest] = {}
        self._growing: dict[int, GrowingLayout] = {}
        self._ask = ask

    def get(self, number: int, request: LayoutRequest) -> Layout | None:
        """Return the layout. If it is missing, request it, and meanwhile return an unstyled layout if the body grew
        while it was shown, otherwise None."""
        known = self._known.get(number)
        if known is not None and known[0] == request:
            return known[1]
        if self._asked.get(number) != request:
            self._asked[number] = request
            self._ask(number, request)
        growing = self._growing.get(number)
        return self.grow(number, request) if growing is not None and growing.is_for(request) else None

    def grow(self, number: int, request: LayoutRequest) -> Layout:
        """Return the layout of a body that may still grow."""
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
        """Store a requested layout and return True, or return False if it is no longer needed."""
        if self._asked.get(number) is not request:
            return False
        del self._asked[number]
        self._growing.pop(number, None)
        self._known[number] = request, layout
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return True
