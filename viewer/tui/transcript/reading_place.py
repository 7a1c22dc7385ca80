"""Reading place: the text at the top of the screen, which stays there when it is laid out again."""

from __future__ import annotations

from msgspec import Struct

from viewer.tui.transcript.blocks import Blocks
from viewer.tui.transcript.scroller import Scroller


class TextPlace(Struct, frozen=True):
    """A place in a row's text, which stays the same when the text is laid out again."""

    row: int
    text: str | None
    """The whole text; None if it is not laid out yet."""
    offset: int
    above: int = 0
    """The number of lines between the top of the screen and the line with this offset."""


class ReadingPlace:
    """Finds the text at the top, and scrolls back to it, perhaps only after a long body has been laid out."""

    def __init__(self, blocks: Blocks, scroller: Scroller) -> None:
        self._blocks = blocks
        self._scroller = scroller
        self._awaited: TextPlace | None = None
        """The text to return to once its body is laid out, if the view has not moved since."""
        self._moves = 0

    @property
    def top(self) -> TextPlace | None:
        """The text at the top, or the awaited text; None above the first line of a text."""
        if self._awaited is not None and self._moves == self._scroller.moves:
            return self._awaited
        row, line = self._scroller.row, self._scroller.line
        block = self._blocks.known(row)
        if block is None or line <= block.first:
            return None
        shown = next((each.row for each in block.lines[line:] if each.row is not None), None)
        return None if shown is None else TextPlace(row, block.whole_text, block.body_offset(shown.start))

    def restore(self, place: TextPlace | None, viewport: int) -> None:
        """Scroll to this text, or wait until it has been laid out."""
        line = None if place is None else self._line_of(place)
        if place is not None and line is not None:
            self._scroller.place_again(place.row, line, place.above, viewport)
            self._wait_for(None)
        else:
            self._scroller.settle(viewport)
            self._wait_for(place)

    def wait_for(self, row: int, offset: int, above: int) -> None:
        """Wait until this offset of a body has been laid out, then scroll to it."""
        self._wait_for(TextPlace(row, None, offset, above))

    def _wait_for(self, place: TextPlace | None) -> None:
        self._awaited, self._moves = place, self._scroller.moves

    def _line_of(self, place: TextPlace) -> int | None:
        """Return the line of the row that now shows this text, or None if the row does not show it."""
        block = self._blocks.at(place.row) if place.row < self._blocks.count else None
        if block is None or place.text not in (None, block.whole_text) or not block.has_offset(place.offset):
            return None
        return block.line_of(block.text_offset(place.offset))
