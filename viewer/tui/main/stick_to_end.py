"""Auto-scroll: keep the viewport at the end of growing rows until the operator scrolls away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from viewer.document.rows import RowKind, Rows
from viewer.tui.cursor import Cursor
from viewer.tui.host import Host, ScreenPlace
from viewer.tui.main.follow import Effect, FollowMachine, Reading, Signal
from viewer.tui.session import Changed, Session


class StickToEnd:
    """Records the viewport whenever this class scrolls it. If the viewport differs later, the operator has scrolled."""

    def __init__(self, session: Session, host: Host, machine: FollowMachine) -> None:
        self.left_at = 0
        """The number of messages when the view left the end."""
        self._session = session
        self._host = host
        self._machine = machine
        self._last_viewport: tuple[ScreenPlace, Cursor] | None = None
        self._last_size: object = None

    @property
    def is_sticky(self) -> bool:
        """True if the view stays at the end."""
        return self._machine.status.is_sticky

    def go_to_end(self) -> None:
        """If the rows can grow, show the end and stay there."""
        if self._machine.status.reading is Reading.LIVE:
            self._send(Signal.GO_TO_END)
            self.stay_at_end()

    def stay_at_end(self) -> None:
        """Show the end again if the view is sticky."""
        if self.is_sticky:
            self._scroll_to_end()

    def leave_end(self) -> None:
        """Stop sticking to the end until the operator scrolls back to it."""
        self._send(Signal.LEAVE_END)
        self.left_at = self._session.message_total
        self._record()

    def update(self) -> None:
        """Stick to the end if it is visible now; otherwise, stop sticking to it."""
        self._send(Signal.SCROLLED_TO_END if self._is_at_end() else Signal.LEAVE_END)
        self.left_at = self._session.message_total
        self._record()

    def check_user_scrolled(self) -> None:
        """Stop sticking to the end if the operator scrolled up, and resume if the operator scrolled back."""
        if self._machine.status.reading is not Reading.LIVE:
            return
        if self._last_size != self._host.viewport.area.size:
            self._record()  # a resize moves the viewport too
        elif self._last_viewport != self._viewport:
            self._send(Signal.SCROLLED_TO_END if self._is_at_end() else Signal.SCROLLED_UP)
            self._record()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Context manager: if the view was sticky before, show the end again after the changes."""
        was_sticky = self.is_sticky
        yield
        if was_sticky:
            self.go_to_end()
            self._host.redraw(Changed.FOCUS)

    def _send(self, signal: Signal) -> None:
        for effect in self._machine.signal(signal):
            if effect is Effect.COUNT_NEW_MESSAGES:
                self.left_at = self._session.message_total
            elif effect is Effect.SCROLL_TO_END:
                self._scroll_to_end()

    def _scroll_to_end(self) -> None:
        """Show the end with the cursor on the last message."""
        self._host.viewport.put_cursor(Cursor(last_message(self._session.rows)))
        self._host.viewport.stick_to_end()
        self._record()

    def _record(self) -> None:
        self._last_viewport, self._last_size = self._viewport, self._host.viewport.area.size

    @property
    def _viewport(self) -> tuple[ScreenPlace, Cursor]:
        return self._host.viewport.place, self._host.viewport.cursor

    def _is_at_end(self) -> bool:
        """True if the last line is visible, unless the operator put the cursor on an earlier message."""
        viewport = self._host.viewport
        if not viewport.is_at_end:
            return False
        selected = viewport.cursor.message
        is_last = selected in (0, last_message(self._session.rows))
        return is_last or viewport.is_carried or viewport.line_of_cursor is None


def last_message(rows: Rows) -> int:
    """Return the number of the last shown message, or 0 if there is none."""
    for row in range(len(rows) - 1, -1, -1):
        if rows.kind(row) is RowKind.MESSAGE:
            return rows.value(row)
    return 0
