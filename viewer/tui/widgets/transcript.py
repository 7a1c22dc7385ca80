"""The transcript: drawn line by line, wrapped only where it is seen, anchored on the focused message."""

from __future__ import annotations

from collections import OrderedDict

from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from viewer.render.safe_text import copied
from viewer.render.style import Look, Part, own
from viewer.sources.rows import RowKind
from viewer.tui.block import Block, BlockLine
from viewer.tui.blocks import BlockMaker
from viewer.tui.minimap import Minimap
from viewer.tui.paint import Painter
from viewer.tui.scroller import Scroller

KEPT_BLOCKS = 300
LINES_A_ROW = 1 << 20
"""Lines are told apart for selection by row times this, plus the line in the row."""
WHEEL = 3


class Transcript(Widget, can_focus=True):
    """Shows what a `BlockMaker` makes of the rows."""

    class Moved(Message):
        """The view or the focus moved."""

        def __init__(self, sender: Transcript, *, by_person: bool = True) -> None:
            super().__init__()
            self.transcript = sender
            self.by_person = by_person

    class Clicked(Message):
        """The person clicked something that leads elsewhere: a link, or the line that unfolds."""

        def __init__(self, number: int, *, folds: bool = False) -> None:
            super().__init__()
            self.number = number
            self.folds = folds

    def __init__(self, painter: Painter, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.minimap = Minimap(painter)
        self.focus_number = 0
        """The message that has the focus; 0 for none."""
        self.partners: frozenset[int] = frozenset()
        self.marks: frozenset[int] = frozenset()
        self._maker: BlockMaker | None = None
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self.scroller = Scroller(self._count, self._height)

    # What is shown.

    def show(self, maker: BlockMaker | None) -> None:
        """Show other rows, or the same ones made in another way; the place stays."""
        self._maker = maker
        self._blocks.clear()
        self.scroller.settle(self.viewport)
        self.refresh()

    def clear(self) -> None:
        """Forget every text."""
        self.show(None)
        self.scroller.row = self.scroller.line = 0

    def changed_from(self, row: int) -> None:
        """Rows from this one on are new or others."""
        for known in [known for known in self._blocks if known >= row]:
            del self._blocks[known]
        self.refresh()

    def redraw(self) -> None:
        """Blocks must be made anew: hits, folds or links have changed."""
        self._blocks.clear()
        self.refresh()

    @property
    def viewport(self) -> int:
        """How many lines are seen."""
        return max(1, self.size.height)

    @property
    def text_width(self) -> int:
        """How wide blocks are: all but the minimap."""
        return max(1, self.size.width - 1)

    def _count(self) -> int:
        return len(self._maker.rows) if self._maker else 0

    def _height(self, row: int) -> int:
        return self.block(row).height

    def block(self, row: int) -> Block:
        """The block of a row, made if it is not at hand."""
        known = self._blocks.get(row)
        if known is None:
            assert self._maker is not None
            known = self._blocks[row] = self._maker.make(row)
            if len(self._blocks) > KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        return known

    # Moving.

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        self.scroller.move(lines, self.viewport)
        self._moved()

    def go_to_row(self, row: int, line: int = 0, *, above: int = 0) -> None:
        """Put a row at the top, or some lines below it."""
        self.scroller.place(row, line, above, self.viewport)
        self._moved()

    def go_to_end(self) -> None:
        """Show the last line."""
        self.scroller.row, self.scroller.line = self.scroller.last(self.viewport)
        self._moved()

    def focus_on(self, number: int, *, above: int | None = None) -> None:
        """Give a message the focus and bring it on the screen; `above` lines stay before it where it must move."""
        self.focus_number = number
        if self._maker is None or not self._count():
            return
        row = self._maker.rows.row_of(number)
        first = self.block(row).first
        seen = self.scroller.screen_line(row, first, self.viewport)
        if above is not None or seen is None or seen > self.viewport - 3:
            self.scroller.place(row, first, self.viewport // 4 if above is None else above, self.viewport)
        self._moved()

    def line_of_focus(self) -> int | None:
        """Where the head of the focused message stands on the screen."""
        if self._maker is None or not self.focus_number or not self._count():
            return None
        row = self._maker.rows.row_of(self.focus_number)
        return self.scroller.screen_line(row, self.block(row).first, self.viewport)

    def first_seen(self) -> int:
        """The number of the first message on the screen; 0 where there is none."""
        return self._number_from(self.scroller.row, 1)

    def _number_from(self, row: int, step: int) -> int:
        if self._maker is None:
            return 0
        rows = self._maker.rows
        while 0 <= row < len(rows):
            if rows.kind(row) is RowKind.MESSAGE:
                return rows.value(row)
            row += step
        return 0

    def neighbour(self, number: int, step: int) -> int:
        """The next or previous shown message; 0 where there is none."""
        if self._maker is None or not self._count():
            return 0
        return self._number_from(self._maker.rows.row_of(number) + step, step) if number else self.first_seen()

    def _moved(self, *, by_person: bool = True) -> None:
        self.refresh()
        self.post_message(self.Moved(self, by_person=by_person))

    # Drawing.

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the block line there, and its piece of the minimap."""
        width = self.text_width
        found = self._line_at(y)
        strip = Strip.blank(width, self.rich_style) if found is None else self._strip(*found, width)
        thumb = self.minimap.piece(y, self.viewport, self.scroller.row, self._count(), self._fraction_seen())
        return Strip.join([strip, self.painter.strip((thumb,), 1, self.rich_style)])

    def _fraction_seen(self) -> float:
        seen = len(self._seen_rows())
        return seen / max(1, self._count())

    def _seen_rows(self) -> list[int]:
        rows, at, row = [], -self.scroller.line, self.scroller.row
        while at < self.viewport and row < self._count():
            rows.append(row)
            at += self._height(row)
            row += 1
        return rows

    def _line_at(self, y: int) -> tuple[int, int, Block] | None:
        at, row = self.scroller.line + y, self.scroller.row
        while row < self._count():
            block = self.block(row)
            if at < block.height:
                return row, at, block
            at -= block.height
            row += 1
        return None

    def _strip(self, row: int, line: int, block: Block, width: int) -> Strip:
        content = block.lines[line]
        strip = self.painter.strip(self._with_focus(content, block, line), width, self.rich_style)
        strip = self._with_selection(strip, row, line)
        return strip.apply_offsets(0, row * LINES_A_ROW + line)

    def _with_focus(self, content: BlockLine, block: Block, line: int) -> tuple[Part, ...]:
        if not block.number or not content.parts or line < block.first:
            return content.parts
        first, *rest = content.parts
        if block.number in self.marks and line == block.first:
            first = Part(own("◆" + first.text[1:]), Look.BOOKMARK)
        if block.number == self.focus_number:
            return (Part(first.text, Look.FOCUS), *rest)
        return (Part(first.text, Look.PARTNER), *rest) if block.number in self.partners else content.parts

    def _with_selection(self, strip: Strip, row: int, line: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(row * LINES_A_ROW + line) if selection else None
        if span is None:
            return strip
        start, end = span
        end = strip.cell_length if end < 0 else end
        style = Style.from_color() + self.screen.get_component_rich_style("screen--selection")
        before, inside, after = strip.divide([start, max(start, end), strip.cell_length])
        return Strip.join([before, inside.apply_style(style), after])

    # Selecting and clicking.

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as it may be copied: bodies as they are, without gutters and without wrapping."""
        from viewer.tui.selecting import selected_text

        if self._maker is None:
            return None
        return copied(selected_text(selection, self.block, self._count(), LINES_A_ROW)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls by some lines."""
        self.move(WHEEL)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls by some lines."""
        self.move(-WHEEL)
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """A click gives the focus, follows a link, unfolds, or jumps in the minimap."""
        if event.x >= self.text_width:
            self.go_to_row(self.minimap.row_at(event.y, self.viewport, self._count()))
            return
        found = self._line_at(event.y)
        if found is None:
            return
        _, line, block = found
        content = block.lines[line]
        if block.number:
            self.focus_number = block.number
            if content.folds or content.link:
                self.post_message(self.Clicked(content.link or block.number, folds=content.folds))
            self._moved()

    def on_resize(self, event: events.Resize) -> None:
        """Another width: the screen makes the blocks anew."""
        self.scroller.settle(self.viewport)


__all__ = ["Offset", "Transcript"]
