"""The lines of the transcript pane: what stands where on the screen, and how each line is drawn."""

from __future__ import annotations

from collections import OrderedDict

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from viewer.document.rows import RowKind
from viewer.render.page import Block, BlockLine, BlockMaker
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, StyleRole, trusted
from viewer.tui.cursor import NOWHERE, Cursor, cursor_at
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.minimap import Minimap
from viewer.tui.transcript.scroller import Scroller

KEPT_BLOCKS = 300
LINES_A_ROW = 1 << 20
"""Lines are told apart for selection by row times this, plus the line in the row."""


class TranscriptLines(PlainLines, can_focus=True):
    """Makes blocks where they are seen, and draws them."""

    def __init__(self, painter: Painter, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.minimap = Minimap(painter)
        self.cursor = NOWHERE
        self.is_carried = False
        """True if scrolling moved the cursor to keep it on the screen."""
        self.partners: frozenset[int] = frozenset()
        self.marks: frozenset[int] = frozenset()
        self.notes: list[SafeText] = []
        """What is said where there is no message to show."""
        self._maker: BlockMaker | None = None
        self._frame: list[tuple[int, int, Block]] = []
        self._seen = 1.0
        self._base = Style()
        self._drawn: list[tuple[Line, Part]] = []
        """What each line of the screen was drawn from."""
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self.scroller = Scroller(self._count, self._height)

    @property
    def viewport(self) -> int:
        """How many lines are seen."""
        return max(1, self.size.height)

    @property
    def text_width(self) -> int:
        """How wide blocks are: all but the minimap."""
        return max(1, self.size.width - 1)

    @property
    def focus_number(self) -> int:
        """The message under the cursor; 0 where the cursor is on something else."""
        return self.cursor.message

    @focus_number.setter
    def focus_number(self, number: int) -> None:
        self.put_cursor(Cursor(number))

    def put_cursor(self, cursor: Cursor) -> None:
        """Set the cursor without scrolling."""
        self.cursor, self.is_carried = cursor, False

    def cursor_row(self) -> int | None:
        """The row of the cursor; None where it has none."""
        return self.cursor.row(self._maker.rows) if self._maker else None

    @property
    def shows_cursor(self) -> bool:
        """True if this pane has the row of the cursor, and not only one near to it."""
        row = self.cursor_row()
        return row is not None and self._maker is not None and self.cursor.is_at(self._maker.rows, row)

    def rows_on_screen(self) -> list[int]:
        """The rows of which a line with text is on the screen, without rules above them."""
        seen = (row for row, line, block in self._lines_on_screen() if line >= block.first and block.lines[line].parts)
        return list(dict.fromkeys(seen))

    def keep_cursor_on_screen(self) -> None:
        """Carry the cursor along where its row has left the screen."""
        row = self.cursor_row()
        if row is None or self._maker is None:
            return
        seen = self.rows_on_screen()
        if not seen or row in seen:
            return
        rows = self._maker.rows
        messages = [each for each in seen if rows.kind(each) is RowKind.MESSAGE] or seen
        self.cursor = cursor_at(rows, messages[0] if row < seen[0] else messages[-1])
        self.is_carried = True

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

    def redraw_row(self, number: int) -> None:
        """Make the block of a message again."""
        row = self.row_showing(number)
        if row is not None:
            self._blocks.pop(row, None)
            self.scroller.settle(self.viewport)
            self.redraw_changed()

    def row_showing(self, number: int) -> int | None:
        """The row of a message; None where this pane does not show it."""
        if self._maker is None or not self._count():
            return None
        rows = self._maker.rows
        row = rows.row_of(number)
        return row if rows.kind(row) is RowKind.MESSAGE and rows.value(row) == number else None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Find out once what stands on the screen, then draw it line by line."""
        self._look()
        self._base = self.rich_style
        self._drawn = [self._content(y) for y in range(self.size.height)]
        return super().render_lines(crop)

    def redraw_changed(self) -> None:
        """Draw the lines that are others than before; where nothing changed, nothing is sent to the terminal."""
        self._look()
        drawn, height = self._drawn, self.size.height
        if len(drawn) != height:
            self.refresh()
            return
        changed = [y for y in range(height) if self._content(y) != drawn[y]]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _look(self) -> None:
        self._frame = self._lines_on_screen()
        self._seen = len({row for row, _, _ in self._frame}) / max(1, self._count())

    def _content(self, y: int) -> tuple[Line, Part]:
        """What a line of the screen is drawn from, and its piece of the minimap."""
        rows = self._maker.rows if self._maker else None
        piece = self.minimap.piece(y, self.viewport, self.scroller.row, self._count(), self._seen, rows)
        if y >= len(self._frame):
            return self._note_line(y - len(self._frame)), piece
        _, line, block = self._frame[y]
        return self._with_focus(block.lines[line], block, line), piece

    def segments(self, y: int) -> list[Segment]:
        """One line of the screen: the block line there, and its piece of the minimap."""
        content, thumb = self._drawn[y] if y < len(self._drawn) else self._content(y)
        width = max(1, self.line_width - 1)
        segments = self.painter.segments(content, width, self._base)
        if y < len(self._frame) and self.text_selection:
            row, line, _ = self._frame[y]
            segments = list(self._with_selection(Strip(segments, width), row, line))
        if self.line_width < 2:  # no room for the minimap
            return segments
        return segments + self.painter.segments((thumb,), 1, self._base)

    def render_line(self, y: int) -> Strip:
        """The same with the places that a selection begins and ends at: Textual asks for the line under the mouse."""
        strip = super().render_line(y)
        if y >= len(self._frame):
            return strip
        row, line, _ = self._frame[y]
        places = strip.crop(0, self.text_width).apply_offsets(0, row * LINES_A_ROW + line)
        return Strip.join([places, strip.crop(self.text_width)])

    def _lines_on_screen(self) -> list[tuple[int, int, Block]]:
        lines: list[tuple[int, int, Block]] = []
        row, first = self.scroller.row, self.scroller.line
        while len(lines) < self.viewport and row < self._count():
            block = self.block(row)
            end = min(block.height, first + self.viewport - len(lines))
            lines += [(row, line, block) for line in range(first, end)]
            row, first = row + 1, 0
        return lines[: self.viewport]

    def _note_line(self, y: int) -> tuple[Part, ...]:
        """What is said where nothing is shown: below the rows, after an empty line."""
        return (Part(self.notes[y - 1], StyleRole.QUIET),) if 1 <= y <= len(self.notes) else ()

    def _line_at(self, y: int) -> tuple[int, int, Block] | None:
        lines = self._lines_on_screen()
        return lines[y] if 0 <= y < len(lines) else None

    def _with_focus(self, content: BlockLine, block: Block, line: int) -> tuple[Part, ...]:
        if not block.number or not content.parts or line < block.first:
            return content.parts
        first, *rest = content.parts
        if block.number in self.marks and line == block.first:
            first = Part(trusted("◆" + first.text[1:]), StyleRole.BOOKMARK)
        if block.number == self.focus_number:
            return (Part(first.text, StyleRole.FOCUS), *rest)
        return (Part(first.text, StyleRole.PARTNER), *rest) if block.number in self.partners else content.parts

    def _with_selection(self, strip: Strip, row: int, line: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(row * LINES_A_ROW + line) if selection else None
        if span is None:
            return strip
        length = strip.cell_length
        start, end = min(span[0], length), length if span[1] < 0 else min(span[1], length)
        if start >= end:  # the line has become shorter since
            return strip
        style = Style.from_color() + self.screen.get_component_rich_style("screen--selection")
        inside = strip.crop(start, end).apply_style(style)
        return Strip.join([strip.crop(0, start), inside, strip.crop(end, length)])
