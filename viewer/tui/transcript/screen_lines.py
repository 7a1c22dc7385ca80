"""Screen lines of a transcript pane: the visible lines, and the content of their margins and the minimap."""

from __future__ import annotations

from viewer.render.blocks.block import Block, BlockLine
from viewer.render.layout import MARGIN
from viewer.render.page import centered_notes
from viewer.render.sanitize import SafeText
from viewer.render.style import Glyphs, Line, Part, StyleRole, trusted
from viewer.tui.transcript.blocks import Blocks, VisibleLine
from viewer.tui.transcript.minimap import Minimap
from viewer.tui.transcript.nodes import line_of_node
from viewer.tui.transcript.scroller import Scroller

Content = tuple[Line, Part]
"""The content of a screen line: its parts, and its cell of the minimap."""


class ScreenLines:
    """Owns the visible lines, the marked and highlighted messages, and the sentences of an empty view."""

    def __init__(self, blocks: Blocks, scroller: Scroller, minimap: Minimap, signs: Glyphs) -> None:
        self.visible: list[VisibleLine] = []
        self.partners: frozenset[int] = frozenset()
        """The other messages of the call under the cursor."""
        self._blocks = blocks
        self._scroller = scroller
        self._minimap = minimap
        self._signs = signs
        self._marks: frozenset[int] = frozenset()
        self._notes: list[SafeText] = []
        self._cursor_row: int | None = None
        self._node: int | None = None
        """The value under the cursor; None if the cursor is on its whole row."""
        self._height = 0
        self._share = 1.0
        """The visible fraction of the rows."""

    def show_notes(self, notes: list[SafeText]) -> None:
        """Set the sentences of an empty view."""
        self._notes = notes

    def show_marks(self, marks: frozenset[int]) -> None:
        """Set the marked messages."""
        self._marks = marks

    def show_partners(self, partners: frozenset[int]) -> None:
        """Set the messages to highlight: the other messages of a call."""
        self.partners = partners

    def find(self, height: int, cursor_row: int | None, node: int) -> None:
        """Find the visible lines. The cursor is on `cursor_row`, or on the value `node` in it."""
        self._height, self._cursor_row = height, cursor_row
        self._minimap.measure(self._blocks.count)
        self.visible = self._blocks.lines_from(self._scroller.row, self._scroller.line, max(1, height))
        here = next((block for row, _, block in self.visible if row == cursor_row), None)
        self._node = node if here is not None and line_of_node(here, node) is not None else None
        self._share = len({row for row, _, _ in self.visible}) / max(1, self._blocks.count)

    @property
    def rows(self) -> range:
        """The visible rows."""
        return range(self.visible[0][0], self.visible[-1][0] + 1) if self.visible else range(0)

    def content(self, y: int, width: int) -> Content:
        """Return the content of a screen line."""
        blocks = self._blocks
        rows = blocks.maker.rows if blocks.maker else None
        top, height = self._scroller.row, max(1, self._height)
        piece = self._minimap.piece(y, height, top, blocks.count, self._share, rows)
        if y >= len(self.visible):
            return self._note_line(y - len(self.visible), width), piece
        row, line, block = self.visible[y]
        return self._with_cursor(block.lines[line], block, row, line), piece

    def is_body(self, y: int) -> bool:
        """True if a screen line shows text of a body, which scrolls sideways."""
        if y >= len(self.visible):
            return False
        _, line, block = self.visible[y]
        return block.lines[line].row is not None

    def _note_line(self, y: int, width: int) -> Line:
        """Return a line of the notes, which are centered below the rows."""
        if not self._notes:
            return ()
        lines = centered_notes(self._notes, width, self._height - len(self.visible))
        return lines[y] if y < len(lines) else ()

    def _with_cursor(self, content: BlockLine, block: Block, row: int, line: int) -> Line:
        """Return the line of a block, with the cursor or a mark in the margin."""
        if not content.parts or line < block.first:
            return content.parts
        is_here = row == self._cursor_row
        margin, *rest = content.parts
        if block.number in self._marks and line == block.first:
            sign, look = "◆", StyleRole.BOOKMARK
        elif is_here:
            is_apart = self._node is not None and content.node != self._node
            sign, look = self._signs.open_gutter if is_apart else self._signs.gutter, StyleRole.FOCUS
        elif block.number and block.number in self.partners:
            sign, look = self._signs.open_gutter, StyleRole.PARTNER
        else:
            return content.parts
        left, right = margin.text[:-MARGIN], margin.text[1 - MARGIN :]
        return (
            Part(trusted(left)),
            Part(trusted(sign), StyleRole.FOCUS if is_here else look),
            Part(trusted(right)),
            *rest,
        )
