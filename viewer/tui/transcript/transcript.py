"""Transcript pane: scrolls, wraps only visible text, and draws line by line. Scrolling carries the cursor along."""

from __future__ import annotations

from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from viewer.document.rows import PLACE_KINDS, RowKind
from viewer.render.blocks.block import Block
from viewer.render.blocks.sides import Maker
from viewer.render.sanitize import SafeText, sanitize_copy
from viewer.render.style import UNICODE, Glyphs
from viewer.tui.cursor import NOWHERE, Cursor, cursor_at
from viewer.tui.host import ScreenPlace
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.ahead import Ahead
from viewer.tui.transcript.blocks import Blocks, VisibleLine
from viewer.tui.transcript.minimap import Minimap
from viewer.tui.transcript.nodes import line_of_node, next_node
from viewer.tui.transcript.reading_place import ReadingPlace, TextPlace
from viewer.tui.transcript.screen_lines import Content, ScreenLines
from viewer.tui.transcript.scroller import Area, Scroller, Sideways
from viewer.tui.transcript.selecting import selected_text, with_selection

LINES_A_ROW = 1 << 20
"""How many line numbers a selection reserves for each row."""
_SHOWN = (RowKind.MESSAGE, RowKind.CALL)
"""Kinds of rows that are preferred when the cursor must move to stay on the screen."""
WHEEL = 3
"""Lines per step of the mouse wheel."""


class Transcript(PlainLines, can_focus=True):
    """Shows the blocks of a block maker and scrolls through them. Blocks are built when they become visible."""

    class Moved(Message):
        """The scroll position or the cursor has changed."""

        def __init__(self, sender: Transcript) -> None:
            super().__init__()
            self.transcript = sender

    class Resized(Message):
        """The size of the pane has changed. This may be posted only after the callbacks of the last layout have run."""

    class Clicked(Message):
        """The operator clicked a link, the line that unfolds a message, or a foldable value."""

        def __init__(self, number: int, *, folds: bool = False, node: int = -1) -> None:
            super().__init__()
            self.number = number
            self.folds = folds
            self.node = node

    def __init__(self, painter: Painter, signs: Glyphs = UNICODE, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.minimap = Minimap(signs)
        self.blocks = Blocks()
        self.scroller = Scroller(lambda: self.blocks.count, lambda row: self.blocks.at(row).height)
        self.reading = ReadingPlace(self.blocks, self.scroller)
        self.lines = ScreenLines(self.blocks, self.scroller, self.minimap, signs)
        self.ahead = Ahead(self, self.blocks)
        self.cursor = NOWHERE
        self.is_carried = False
        """True if the last scroll moved the cursor to keep it on the screen."""
        self.area = Area(self)
        self._anchor: tuple[int | None] | None = None
        """Where to put the cursor in the next rows, in lines below the top; None to keep the scroll position."""
        self.sideways = Sideways()
        self._base = Style()
        self._drawn: list[Content] = []
        """The content of each line as last drawn."""

    # The content to show.

    def show(self, maker: Maker | None) -> None:
        """Show other rows or blocks. Keep the text at the top in place or, with an anchor, put the cursor there."""
        before, top = self.blocks.maker, self.reading.top
        self.blocks.show(maker)
        anchor, self._anchor = self._anchor, None
        row = None if anchor is None else self.cursor_row
        if anchor is None or row is None:
            self._restore(top if before is not None and maker is not None and maker.rows is before.rows else None)
        elif anchor[0] is None and top is not None and (top.text or "").startswith(self.block(row).whole_text):
            self._restore(replace(top, row=row))
        else:
            self.go_to_cursor(self.cursor, above=anchor[0])

    def _restore(self, top: TextPlace | None) -> None:
        self.reading.restore(top, self.view_height)
        self.redraw_changed()

    def hold_cursor(self, cursor: Cursor, above: int | None) -> None:
        """Set the cursor. When the next rows are shown, scroll so that the cursor is `above` lines below the top."""
        self.put_cursor(cursor)
        self._anchor = (above,)

    def show_notes(self, notes: list[SafeText]) -> None:
        """Set the sentences of an empty view; the next redraw shows them."""
        self.lines.show_notes(notes)

    def show_marks(self, marks: frozenset[int]) -> None:
        """Set the marked messages; the next redraw shows them."""
        self.lines.show_marks(marks)

    def show_partners(self, partners: frozenset[int]) -> None:
        """Highlight the other messages of a call."""
        if partners != self.lines.partners:
            self.lines.show_partners(partners)
            self.refresh()

    def clear(self) -> None:
        """Remove all text."""
        self._drawn, self.sideways = [], Sideways()
        self.show(None)
        self.scroller.reset()

    def changed_from(self, row: int) -> None:
        """Rebuild the blocks from this row on, because these rows are new or different."""
        self.blocks.forget_from(row)
        self.redraw_changed()

    def redraw(self) -> None:
        """Rebuild all blocks, because matches, folds, or links changed."""
        self.blocks.forget()
        self.refresh()

    def redraw_row(self, number: int) -> None:
        """Rebuild the block of a message."""
        top = self.reading.top
        if self.blocks.forget_message(number):
            self._restore(top)

    # The place.

    @property
    def view_height(self) -> int:
        """The number of visible lines."""
        return max(1, self.area.size.height)

    @property
    def text_width(self) -> int:
        """The width of blocks: the width of the pane without the minimap."""
        return max(1, self.size.width - 1)

    @property
    def place(self) -> ScreenPlace:
        """The first line on the screen."""
        return self.scroller.row, self.scroller.line

    @property
    def moves(self) -> int:
        """How many times the scroll position has been set. Corrections after a new layout do not count."""
        return self.scroller.moves

    @property
    def is_at_end(self) -> bool:
        """True if the last line is on the screen."""
        return self.scroller.at_end(self.view_height)

    def move(self, lines: int) -> None:
        """Scroll by this number of lines, and keep the cursor on the screen."""
        self.scroller.move(lines, self.view_height)
        self.keep_cursor_on_screen()
        self._report_move()

    def scroll_sideways(self, step: int | None) -> None:
        """Scroll unwrapped lines, at most to the end of the longest visible one; None returns to the first column."""
        rows = (block.lines[line].row for _, line, block in self.visible_lines())
        if self.sideways.move(step, (row for row in rows if row is not None), self.text_width):
            self._report_move()

    def go_to_row(self, row: int, line: int = 0, *, above: int = 0) -> None:
        """Scroll so that a line of a row is at the top of the screen, or `above` lines below the top."""
        self.scroller.place(row, line, above, self.view_height)
        self.keep_cursor_on_screen()
        self._report_move()

    def go_to_end(self) -> None:
        """Scroll to the last line."""
        self.stick_to_end()
        self._report_move()

    def stick_to_end(self) -> None:
        """Scroll to the last line without posting a message."""
        self.scroller.go_to_end(self.view_height)
        self.keep_cursor_on_screen()
        self.redraw_changed()

    def go_back(self) -> None:
        """Scroll to the beginning and clear the cursor, without posting a message, because other content follows."""
        self.scroller.reset()
        self.put_cursor(NOWHERE)

    def go_to_cursor(self, cursor: Cursor, *, above: int | None = None) -> None:
        """Set the cursor and scroll to show its row, whole if it fits; with `above`, that many lines below the top."""
        self.put_cursor(cursor)
        row, height = self.cursor_row, self.view_height
        if row is None:
            return
        block = self.block(row)
        line = line_of_node(block, cursor.node)
        if line is not None:
            self._show_line(row, line)
            return
        if above is None:
            above = self.scroller.fitting_line(row, block.first, block.height - block.first, height)
        if above is not None:
            self.scroller.place(row, block.first, above, height)
        self._report_move()

    def show_offset(self, offset: int) -> bool:
        """Scroll to this character of the body under the cursor, perhaps later. Return False if it is folded away."""
        row = self.cursor_row
        if row is None or not self.shows_cursor:
            return True
        block = self.block(row)
        place = block.text_offset(offset) + block.bases.get(self.cursor.message, 0)
        self._show_line(row, line := block.line_of(place))
        shown = block.lines[line].row
        if shown is not None and self.sideways.show(shown, place, self.text_width):
            self._report_move()
        if block.bases or (block.has_offset(offset) and block.shows(line, place)):
            return True
        self.reading.wait_for(row, offset, self.view_height // 3)
        return False

    def _show_line(self, row: int, line: int) -> None:
        if self.scroller.screen_line(row, line, self.view_height) is None:
            self.go_to_row(row, line, above=self.view_height // 3)
        self._report_move()

    def follow(self, place: ScreenPlace, cursor: Cursor) -> None:
        """Follow another pane: show the same lines and the same cursor, without posting a message."""
        self.put_cursor(cursor)
        if place != self.place:
            self.scroller.place(*place, 0, self.view_height)
        self.redraw_changed()

    def _report_move(self) -> None:
        self.refresh()
        self.post_message(self.Moved(self))

    # The cursor.

    @property
    def focus_number(self) -> int:
        """The message under the cursor; 0 if the cursor is on something else."""
        return self.cursor.message

    @property
    def cursor_row(self) -> int | None:
        """The row that shows the cursor; None if there is no cursor."""
        maker = self.blocks.maker
        row = self.cursor.row(maker.rows) if maker else None
        return row if row is None or maker is None else maker.drawn_row(row)

    @property
    def shows_cursor(self) -> bool:
        """True if this pane shows the cursor's own row, not just one near it."""
        maker = self.blocks.maker
        row = self.cursor.row(maker.rows) if maker else None
        return row is not None and maker is not None and self.cursor.is_at(maker.rows, row)

    @property
    def lines_of_cursor(self) -> range:
        """The screen lines of the cursor's row."""
        rows = [row for row, _, _ in self.visible_lines()]
        here = self.cursor_row
        first = rows.index(here) if here is not None and here in rows else 0
        return range(first, first + (rows.count(here) if here is not None else 0))

    @property
    def line_of_cursor(self) -> int | None:
        """The screen line where the cursor's row begins; None if it is off the screen."""
        row = self.cursor_row
        return None if row is None else self.scroller.screen_line(row, self.block(row).first, self.view_height)

    def put_cursor(self, cursor: Cursor) -> None:
        """Set the cursor without scrolling."""
        self.cursor, self.is_carried = cursor, False

    def keep_cursor_on_screen(self) -> None:
        """Move the cursor to a visible row if its row has scrolled off the screen."""
        row, maker = self.cursor_row, self.blocks.maker
        if row is None or maker is None:
            return
        visible = self.rows_on_screen
        if not visible or row in visible:
            return
        messages = [each for each in visible if maker.rows.kind(each) in _SHOWN] or visible
        self.cursor = cursor_at(maker.rows, messages[0] if row < visible[0] else messages[-1])
        self.is_carried = True

    def first_visible(self) -> Cursor:
        """Return a cursor on the first visible message or call or, if none is visible, on the first visible row."""
        maker = self.blocks.maker
        if maker is None:
            return NOWHERE
        rows, visible = maker.rows, self.rows_on_screen
        messages = [row for row in visible if rows.kind(row) in _SHOWN] or visible
        return cursor_at(rows, messages[0]) if messages else NOWHERE

    def neighbor(self, step: int) -> Cursor:
        """Return the next (1) or previous (-1) message, call, or folded row; the cursor is unset if there is none."""
        row, maker = self.cursor_row, self.blocks.maker
        if row is None or maker is None:
            return self.first_visible()
        rows, row = maker.rows, row + step
        while 0 <= row < len(rows):
            if rows.kind(row) in PLACE_KINDS and maker.drawn_row(row) == row:
                return cursor_at(rows, row)
            row += step
        return NOWHERE

    def neighboring_node(self, step: int) -> Cursor:
        """Return the next (1) or previous (-1) value of the open card; the cursor is unset if there is none."""
        row = self.cursor_row
        node = next_node(self.block(row), self.cursor.node, step) if row is not None and self.shows_cursor else None
        return NOWHERE if node is None else Cursor(self.cursor.number, node=node)

    def is_node_open(self) -> bool | None:
        """True if the value under the cursor is open, False if it is folded; None if there is none."""
        row = self.cursor_row
        line = line_of_node(self.block(row), self.cursor.node) if row is not None else None
        return None if row is None or line is None else self.block(row).lines[line].is_open

    # Blocks.

    @property
    def rows_on_screen(self) -> list[int]:
        """Return the rows with at least one line of text on the screen, not counting rules above them."""
        seen = (row for row, line, block in self.visible_lines() if line >= block.first and block.lines[line].parts)
        return list(dict.fromkeys(seen))

    def block(self, row: int) -> Block:
        """Return the block of a row, from the cache if possible."""
        return self.blocks.at(row)

    def visible_lines(self) -> list[VisibleLine]:
        """Return the lines at the scroll position, even if they have not been drawn yet."""
        return self.blocks.lines_from(*self.place, self.view_height)

    # Drawing.

    def render_lines(self, crop: Region) -> list[Strip]:
        """Find the visible lines once, then draw each."""
        self._find_frame()
        self._base = self.rich_style
        width, height = self.text_width, self.size.height  # both are slow to read
        self._drawn = [self.lines.content(y, width) for y in range(height)]
        self.ahead.drawn(self.lines.rows, height)
        return super().render_lines(crop)

    def redraw_changed(self) -> None:
        """Redraw only the lines that differ so that the terminal receives no output if nothing changed."""
        drawn, width, height = self._drawn, self.text_width, self.size.height
        if len(drawn) != height or self.area.is_changing:
            self.refresh()
            return
        self._find_frame()
        changed = [y for y in range(height) if self.lines.content(y, width) != drawn[y]]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _find_frame(self) -> None:
        self.lines.find(self.size.height, self.cursor_row if self.shows_cursor else None, self.cursor.node)

    def segments(self, y: int) -> list[Segment]:
        """Return one screen line: the line of a block and its piece of the minimap."""
        content, thumb = self._drawn[y] if y < len(self._drawn) else self.lines.content(y, self.text_width)
        width = max(1, self.line_width - 1)
        left, maker = self._left_of(y), self.blocks.maker
        segments = self.painter.segments(content, width + left, self._base)
        if left and maker is not None:
            segments = _without(segments, left, len(maker.margin.text), width)
        if y < len(self.lines.visible) and (selection := self.text_selection):
            row, line, _ = self.lines.visible[y]
            span = selection.get_span(row * LINES_A_ROW + line)
            style = Style.from_color() + self.screen.get_component_rich_style("screen--selection")
            if span is not None and left:
                span = max(span[0] - left, 0), span[1] - left if span[1] >= left else min(span[1], 0)
            segments = list(with_selection(Strip(segments, width), span, style))
        if self.line_width < 2:  # no room for the minimap
            return segments
        return [*segments, self.painter.segment(thumb, self._base)]

    def _left_of(self, y: int) -> int:
        """Return the number of columns by which a screen line is scrolled, or 0 if it is not part of a body."""
        return self.sideways.left if self.sideways.left and self.lines.is_body(y) else 0

    def render_line(self, y: int) -> Strip:
        """Draw a line with offsets for a selection. Textual requests the line under the mouse."""
        strip = super().render_line(y)
        if y >= len(self.lines.visible):
            return strip
        row, line, _ = self.lines.visible[y]
        left = self._left_of(y)
        places = strip.crop(0, self.text_width).apply_offsets(left, row * LINES_A_ROW + line)
        return Strip.join([places, strip.crop(self.text_width)])

    # Selection and mouse.

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text for a copy: bodies without gutters and line wraps. None if there are no blocks."""
        if self.blocks.maker is None:
            return None
        return sanitize_copy(selected_text(selection, self.block, self.blocks.count, LINES_A_ROW)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.move(WHEEL)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.move(-WHEEL)
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """Set the cursor, follow a link, unfold, or jump in the minimap."""
        maker = self.blocks.maker
        if event.x >= self.text_width:
            if maker is not None and self.blocks.count:
                row = self.minimap.row_at(event.y, self.view_height, self.blocks.count)
                self.go_to_cursor(cursor_at(maker.rows, row), above=0)
            return
        lines = self.visible_lines()
        if not 0 <= event.y < len(lines):
            return
        row, line, block = lines[event.y]
        content = block.lines[line]
        assert maker is not None
        cursor = cursor_at(maker.rows, row)
        self.put_cursor(cursor if content.node < 0 else Cursor(cursor.number, node=content.node))
        self.keep_cursor_on_screen()
        if (block.number or block.is_folded) and (content.folds or content.link or content.node >= 0):
            self.post_message(self.Clicked(content.link or block.number, folds=content.folds, node=content.node))
        self._report_move()

    def on_resize(self, event: events.Resize) -> None:
        """Keep the scroll position valid. The screen builds the blocks for the new width."""
        self.area.expect(None)
        self.scroller.settle(self.view_height)
        self.post_message(self.Resized())


def _without(segments: list[Segment], left: int, margin: int, width: int) -> list[Segment]:
    """Return a line without the `left` columns after its margin."""
    strip = Strip(segments)
    return [*strip.crop(0, margin), *strip.crop(margin + left, width + left)]
