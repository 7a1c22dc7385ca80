"""End of a big file, shown while everything before it is still being read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, RowOrder
from viewer.render.blocks.block import Block, BlockFacts, BlockLine
from viewer.render.page import BlockMaker
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import TitleFacts
from viewer.tui.bars.title import TitleBar
from viewer.tui.cursor import cursor_at
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript

NOTE = "The end of the file. The rest is still being read, so there are no numbers, links, or problems yet."
_EARLIER = "earlier messages are being read"
_PAGES = {"half_page_down": 0.5, "half_page_up": -0.5, "page_down": 1.0, "page_up": -1.0}
_LINES = {"line_down": 1, "line_up": -1}


class EndMaker:
    """Builds the blocks for the end of the file. The first row may be part of a longer run of hidden messages, whose
    length is unknown."""

    def __init__(self, maker: BlockMaker) -> None:
        self._maker = maker
        self.margin = maker.margin

    @property
    def rows(self) -> RowOrder:
        """The rows at the end of the file."""
        return self._maker.rows

    def make(self, row: int) -> Block:
        """Return the block of a row."""
        if row or self._maker.rows.kind(row) is RowKind.MESSAGE:
            return self._maker.make(row)
        sign = self._maker.signs.hidden
        words = Part(trusted(f"{sign} {_EARLIER} {sign}"), StyleRole.QUIET)
        return Block(0, [BlockLine((self.margin, words)), BlockLine(())])

    def drawn_row(self, row: int) -> int:
        """Return the row whose block shows this row."""
        return self._maker.drawn_row(row)


class FileEndScreen(DismissOnce[str]):
    """Scrolls through the end of the file. A key that does not scroll closes the screen, which returns the key's
    action."""

    AUTO_FOCUS = "#end"
    DEFAULT_CSS = "FileEndScreen { layout: vertical; } FileEndScreen > #end { height: 1fr; }"

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        title: TitleFacts,
        projection: Projection,
        wrap: int,
        markdown: bool,
        rendered: bool,
        *,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        super().__init__()
        self._projection = projection
        self._printing = printing
        self._wrap = wrap
        self._facts = BlockFacts(markdown=markdown, rendered=rendered, has_numbers=False)
        self._title_facts = title
        self._title = TitleBar(painter, printing)
        self._note = HeadLine(painter, id="end-note", classes="-bar")
        self._actions = {key: action.id for action in actions for key in action.keys}
        self.transcript = Transcript(painter, printing.signs, id="end")
        self.is_drawn = asyncio.Event()
        """Set once the end is on the screen."""

    def compose(self) -> ComposeResult:
        """Yield a title, the messages, and a note."""
        yield from (self._title, self.transcript, self._note)

    def on_mount(self) -> None:
        """Draw everything."""
        self.set_class(self._printing.ascii, "-ascii")
        self.show_progress(self._title_facts)
        self._note.show(self._note_lines)
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        """Lay out the messages for the new width."""
        self.call_after_refresh(self._show)

    def show_progress(self, title: TitleFacts) -> None:
        """Show how much has been read."""
        self._title.show(title)

    def _show(self) -> None:
        rows = self._projection.rows()
        maker = BlockMaker(
            self._projection, rows, self.transcript.size.width, self._facts, self._printing.signs, wrap=self._wrap
        )
        self.transcript.show(EndMaker(maker))
        last = next((row for row in range(len(rows) - 1, -1, -1) if rows.kind(row) is RowKind.MESSAGE), len(rows) - 1)
        if last >= 0:
            self.transcript.put_cursor(cursor_at(rows, last))
        self.transcript.stick_to_end()
        self.call_after_refresh(self.is_drawn.set)

    def _note_lines(self, width: int) -> list[Line]:
        return [(Part(self._printing.words(f" {NOTE}"), StyleRole.QUIET),)]

    def on_key(self, event: events.Key) -> None:
        """Scroll, or close the screen so that the main screen performs the action of the key."""
        event.stop().prevent_default()
        action = self._actions.get(event.key, "")
        if action in _LINES:
            self.transcript.move(_LINES[action])
        elif action in _PAGES:
            self.transcript.move(round(_PAGES[action] * max(1, self.transcript.view_height - 1)))
        elif action != "bottom":
            self.dismiss(action)
        else:
            self.transcript.stick_to_end()
