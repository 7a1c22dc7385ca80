"""Layout of a body in rows of a given width, with a map back to the source text."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from viewer.render.line import cluster_cells, clusters_at, has_one_cell_each, rows_of_width
from viewer.render.sanitize import SafeText
from viewer.values import frozen


@frozen
class Row:
    """A row of the screen."""

    text: SafeText
    start: int
    """The start offset in the source text."""
    end: int
    joined: bool = False
    """True if it continues in the next row, without a line end."""
    origins: array[int] | None = None
    """The source offset of each character of the row; None if they are consecutive."""

    def column_of(self, offset: int) -> int:
        """The column of the row that shows this source offset."""
        if self.origins is None:
            return min(max(offset - self.start, 0), len(self.text))
        return bisect_left(self.origins, offset)

    def offset_of(self, column: int) -> int:
        """The source offset of a column of the row."""
        if self.origins is None:
            return min(self.start + column, self.end)
        return self.origins[column] if column < len(self.origins) else self.end


def lay_out(text: SafeText, width: int) -> list[Row]:
    """The rows of a text, broken at line ends, after spaces, and inside words that are too long."""
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
    for match in rows_of_width(width).finditer(line):
        group = 1 if match[1] is not None else 2
        joined = match.end() < len(line)
        yield Row(SafeText(match[group]), start + match.start(), start + match.end(group), joined)


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
