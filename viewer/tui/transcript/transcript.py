"""The transcript: drawn line by line, wrapped only where it is seen, anchored on the focused message."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.selection import Selection

from viewer.document.rows import RowKind
from viewer.render.page import Block, BlockMaker
from viewer.render.sanitize import sanitize_copy
from viewer.tui.cursor import NOWHERE, Cursor, cursor_at
from viewer.tui.transcript.lines import LINES_A_ROW, TranscriptLines
from viewer.tui.transcript.selecting import selected_text

WHEEL = 3


class Transcript(TranscriptLines):
    """Shows what a `BlockMaker` makes of the rows, and moves through it."""

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

    _had_one_transcript = True

    @property
    def _has_several(self) -> bool:
        return self._maker is not None and len(self._maker.rows.shown_transcripts) > 1

    def show(self, maker: BlockMaker | None) -> None:
        """Show other rows, or the same ones made in another way; the place stays."""
        self._maker = maker
        self._blocks.clear()
        self.scroller.settle(self.viewport)
        self.redraw_changed()

    def clear(self) -> None:
        """Forget every text."""
        self._frame, self._drawn = [], []
        self.show(None)
        self.scroller.row = self.scroller.line = 0

    def changed_from(self, row: int) -> None:
        """Rows from this one on are new or others."""
        stale = [known for known, block in self._blocks.items() if known >= row or block.begins_transcript]
        if len(stale) < len(self._blocks) and self._had_one_transcript and self._has_several:
            stale = [*self._blocks]  # the first transcript has a boundary now
        self._had_one_transcript = not self._has_several
        for known in stale:
            del self._blocks[known]
        self.redraw_changed()

    def redraw(self) -> None:
        """Blocks must be made anew: hits, folds or links have changed."""
        self._blocks.clear()
        self.refresh()

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        self.scroller.move(lines, self.viewport)
        self.keep_cursor_on_screen()
        self._moved()

    def go_to_row(self, row: int, line: int = 0, *, above: int = 0) -> None:
        """Put a row at the top, or some lines below it."""
        self.scroller.place(row, line, above, self.viewport)
        self.keep_cursor_on_screen()
        self._moved()

    def go_to_end(self) -> None:
        """Show the last line."""
        self.scroller.row, self.scroller.line = self.scroller.last(self.viewport)
        self.keep_cursor_on_screen()
        self._moved()

    def focus_on(self, number: int, *, above: int | None = None) -> None:
        """Give a message the focus and bring it on the screen, all of it where it fits; with `above`, so many lines
        stay before it."""
        self.go_to_cursor(Cursor(number), above=above)

    def focus_on_row(self, row: int, number: int = 0, *, above: int | None = None) -> None:
        """The same for any row; `number` chooses one of the messages that it hides."""
        if self._maker is not None and self._count():
            self.go_to_cursor(cursor_at(self._maker.rows, row, number), above=above)

    def go_to_cursor(self, cursor: Cursor, *, above: int | None = None) -> None:
        """Set the cursor and bring its row on the screen."""
        self.put_cursor(cursor)
        row, viewport = self.cursor_row(), self.viewport
        if row is None:
            return
        block = self.block(row)
        place = self._fitting(row, block) if above is None else above
        if place is not None:
            self.scroller.place(row, block.first, place, viewport)
        self._moved()

    def _fitting(self, row: int, block: Block) -> int | None:
        """Where the head of a block should stand; None where it stands well."""
        viewport, height = self.viewport, block.height - block.first
        seen = self.scroller.screen_line(row, block.first, viewport)
        if seen is None:
            return max(0, min(viewport // 4, viewport - height))
        if seen + height <= viewport:
            return None
        return viewport - height if height < viewport else min(seen, viewport // 4)

    def stand_beside(self, cursor: Cursor, above: int | None) -> None:
        """Show what stands next to the cursor of another pane, without a word to anyone."""
        self.put_cursor(cursor)
        row = self.cursor_row()
        if row is not None:
            self.scroller.place(row, self.block(row).first, above or 0, self.viewport)
            self.refresh()

    def go_back(self) -> None:
        """To the beginning, without a focus and without a word to anyone: what comes is something else."""
        self.scroller.row = self.scroller.line = 0
        self.put_cursor(NOWHERE)

    def stick(self) -> None:
        """Show the last line, without a word to anyone."""
        self.scroller.row, self.scroller.line = self.scroller.last(self.viewport)
        self.keep_cursor_on_screen()
        self.redraw_changed()

    def line_of_focus(self) -> int | None:
        """The line of the screen on which the row of the cursor begins."""
        row = self.cursor_row()
        return None if row is None else self.scroller.screen_line(row, self.block(row).first, self.viewport)

    def first_seen(self) -> Cursor:
        """The cursor on the first message on the screen, or on the first row where there is none."""
        if self._maker is None:
            return NOWHERE
        rows, seen = self._maker.rows, self.rows_on_screen()
        messages = [row for row in seen if rows.kind(row) is RowKind.MESSAGE] or seen
        return cursor_at(rows, messages[0]) if messages else NOWHERE

    def _number_from(self, row: int, step: int) -> int:
        if self._maker is None:
            return 0
        rows = self._maker.rows
        while 0 <= row < len(rows):
            if rows.kind(row) is RowKind.MESSAGE:
                return rows.value(row)
            row += step
        return 0

    def neighbour(self, step: int) -> int:
        """The shown message after the cursor, or before it; 0 where there is none."""
        row = self.cursor_row()
        return self.first_seen().message if row is None else self._number_from(row + step, step)

    def _moved(self, *, by_person: bool = True) -> None:
        self.refresh()
        self.post_message(self.Moved(self, by_person=by_person))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as it may be copied: bodies as they are, without gutters and without wrapping."""
        if self._maker is None:
            return None
        return sanitize_copy(selected_text(selection, self.block, self._count(), LINES_A_ROW)), "\n"

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
            if self._count():
                self.focus_on_row(self.minimap.row_at(event.y, self.viewport, self._count()), above=0)
            return
        found = self._line_at(event.y)
        if found is None:
            return
        row, line, block = found
        content = block.lines[line]
        assert self._maker is not None
        self.put_cursor(cursor_at(self._maker.rows, row))
        self.keep_cursor_on_screen()
        if block.number and (content.folds or content.link):
            self.post_message(self.Clicked(content.link or block.number, folds=content.folds))
        self._moved()

    def on_resize(self, event: events.Resize) -> None:
        """Another width: the screen makes the blocks anew."""
        self.scroller.settle(self.viewport)
