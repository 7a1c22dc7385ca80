"""Compositor of a screen with panes: draws only what reaches the terminal.
Textual draws every widget that overlaps a change, from front to back, and keeps the first content of each cell. Panes
cover the containers behind them, and most changes touch no border, so most of that work is unnecessary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct
from textual import events
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

Result = TypeVar("Result")
Change = tuple[int, int, int]
"""A line, its first changed column, and the column after the last changed one."""


class Edges(Struct, frozen=True):
    """Where a widget's pieces begin and end in a line."""

    starts: list[int]
    ends: list[int]
    """Like `starts`, but counted from the first visible column of the widget."""


class _Front(Struct, frozen=True):
    """The visible part of a widget."""

    widget: Widget
    region: Region
    part: Region
    edges: list[Edges]
    """The edges in each line of the part."""


class FrontCompositor(Compositor):
    """Composes the same frames as Textual, but draws only widgets and lines in which a changed cell is visible."""

    def __init__(self) -> None:
        super().__init__()
        self._fronts: list[_Front] = []
        """The visible parts of widgets, from front to back."""
        self._fronts_of: tuple[object, object] = (None, None)
        """The `visible_widgets` and `cuts` from which `_fronts` was computed."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return the changed pieces, or None if nothing changed."""
        regions = [region.intersection(self.size.region) for region in self._dirty_regions]
        self._dirty_regions.clear()
        changes = list(self._regions_to_spans(region for region in regions if region))
        if not changes:
            return None
        return ChopsUpdate(self._pieces(changes), changes, [line[1:] for line in self.cuts])

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        lines = crop.intersection(self.size.region).line_range
        return self._pieces([(y, 0, self.size.width) for y in lines if is_rendered_line(y)])

    def _pieces(self, changes: Iterable[Change]) -> list[dict[int, Strip]]:
        """Draw the pieces that contain changed cells. The value of any other piece is None, as in Textual."""
        pieces = [dict.fromkeys(line[:-1]) for line in self.cuts]
        missing = self._changed_pieces(changes)
        for front in self._current_fronts():
            top, edges = front.part.y, front.edges
            here = [y for y in missing if 0 <= y - top < len(edges)]
            lines = [y for y in here if not missing[y].isdisjoint(edges[y - top].starts)]
            if not lines:
                continue
            x, y = front.region.offset
            shown = Region(front.part.x - x, lines[0] - y, front.part.width, lines[-1] + 1 - lines[0])
            drawn = front.widget.render_lines(shown)
            for y in lines:
                if y - lines[0] < len(drawn):
                    _put(pieces[y], drawn[y - lines[0]], edges[y - top], missing[y])
                    if not missing[y]:
                        del missing[y]
            if not missing:
                break
        return pieces  # type: ignore[return-value]

    def _changed_pieces(self, changes: Iterable[Change]) -> dict[int, set[int]]:
        """Return where the pieces with changed cells start, by line from the top."""
        changed: dict[int, set[int]] = {}
        for y, first, end in changes:
            cuts = self.cuts[y]
            wanted = {start for start, stop in pairwise(cuts) if start < end and stop > first}
            changed[y] = changed.get(y, set()) | wanted
        return changed

    def _current_fronts(self) -> list[_Front]:
        """Return the visible parts of the widgets in the current layout."""
        if self._fronts_of[0] is not self.visible_widgets or self._fronts_of[1] is not self.cuts:
            self._fronts_of = self.visible_widgets, self.cuts
            known: dict[tuple[int, ...], Edges] = {}
            self._fronts = []
            for widget, (region, clip) in self.visible_widgets.items():
                part = region.intersection(clip).intersection(self.size.region)
                if part:
                    edges = [_edges(tuple(self.cuts[y]), part, known) for y in part.line_range]
                    self._fronts.append(_Front(widget, region, part, edges))
        return self._fronts


class FrontScreen(Screen[Result]):
    """A screen that uses `FrontCompositor` and styles its widgets only once when it is first shown."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = FrontCompositor()
        self._was_shown = self._is_new = False

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Record whether Textual is about to style all widgets although they have just been styled, which happens when
        the screen is first shown."""
        self._is_new = event.refresh_styles and not self._was_shown
        self._was_shown = True

    def update_node_styles(self, animate: bool = True) -> None:
        """Style all widgets, unless they have just been styled."""
        if not self._is_new:
            super().update_node_styles(animate)
        self._is_new = False

    def paint_now(self) -> None:
        """Paint what has changed, instead of at the next tick of Textual's timer, which busy workers delay."""
        self._on_timer_update()


def _edges(cuts: tuple[int, ...], part: Region, known: dict[tuple[int, ...], Edges]) -> Edges:
    """Return where a widget's pieces begin and end. Most lines are cut at the same columns."""
    first, last = part.column_span
    key = (first, last, *cuts)
    if key not in known:
        within = [cut for cut in cuts if first <= cut <= last]
        known[key] = Edges(within[:-1], [cut - first for cut in within[1:]])
    return known[key]


def _put(line: dict[int, Strip | None], strip: Strip, edges: Edges, missing: set[int]) -> None:
    """Put the missing pieces of a line in their places."""
    for start, piece in zip(edges.starts, strip.divide(edges.ends), strict=False):
        if start in missing:
            line[start] = piece
            missing.remove(start)
