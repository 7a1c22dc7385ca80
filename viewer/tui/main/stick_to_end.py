"""Whether the view stays at the end of what grows: it yields when the person goes elsewhere, and to nothing else."""

from __future__ import annotations

from viewer.document.rows import RowKind, Rows
from viewer.tui.cursor import Cursor
from viewer.tui.transcript.transcript import Transcript

Place = tuple[int, int, Cursor]
"""The row and line at the top, and the cursor."""


class StickToEnd:
    """Remembers how it left the view; where the view stands otherwise later, it was the person."""

    def __init__(self, transcript: Transcript) -> None:
        self.holds = False
        """The view stays at the end."""
        self._transcript = transcript
        self._left: Place | None = None
        self._size: object = None

    def put(self, rows: Rows) -> None:
        """Show the end, with the focus on the last message, and stay there."""
        self.holds = True
        self._transcript.focus_number = last_message(rows)
        self._transcript.stick()
        self.keep()

    def release(self) -> None:
        """Stay here, until the person goes to the end."""
        self.holds = False
        self.keep()

    def judge(self, rows: Rows) -> None:
        """Stay at the end if that is where the view stands."""
        self.holds = self._is_at_end(rows)
        self.keep()

    def keep(self) -> None:
        """The view is as we want it."""
        self._left, self._size = self._place, self._transcript.size

    def look(self, rows: Rows) -> bool:
        """Look whether the person has gone elsewhere, or come back to the end; whether that is other than before."""
        if self._size != self._transcript.size:
            return False  # the view was not moved, it has another size
        before = self.holds
        if self._left != self._place:
            self.holds = self._is_at_end(rows)
            self.keep()
        return self.holds != before

    @property
    def _place(self) -> Place:
        transcript = self._transcript
        return transcript.scroller.row, transcript.scroller.line, transcript.cursor

    def _is_at_end(self, rows: Rows) -> bool:
        """The last line is seen, and no message before the last one was chosen."""
        transcript = self._transcript
        if not transcript.scroller.at_end(transcript.viewport):
            return False
        chosen = transcript.focus_number
        return chosen in (0, last_message(rows)) or transcript.is_carried or transcript.line_of_focus() is None


def last_message(rows: Rows) -> int:
    """The number of the last message that is shown; 0 where there is none."""
    for row in range(len(rows) - 1, -1, -1):
        if rows.kind(row) is RowKind.MESSAGE:
            return rows.value(row)
    return 0
