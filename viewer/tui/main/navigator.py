"""Navigator: moves the cursor by line, page, message, turn, call, and mark, and to typed positions."""

from __future__ import annotations

from viewer.document.rows import RowKind
from viewer.tui.cursor import NOWHERE, Cursor, cursor_at
from viewer.tui.go_to import Place, Target, parse, resolve, row_of_transcript
from viewer.tui.host import Host, ScreenPlace
from viewer.tui.jump_list import JumpList, JumpPlace
from viewer.tui.keys import is_digit
from viewer.tui.main.stick_to_end import StickToEnd, last_message
from viewer.tui.marks import next_mark, previous_mark
from viewer.tui.session import Changed, Session

LONGEST_COUNT = 4
"""The maximum number of digits of a count."""

Standing = tuple[Cursor, ScreenPlace]
_NOT_AT_END: Standing = (Cursor(-1), (0, 0))


class Navigator:
    """Owns the count and the jump list. The viewport owns the cursor and the scroll position."""

    def __init__(self, session: Session, host: Host, stick: StickToEnd) -> None:
        self.count = ""
        """Digits typed before a key: `5j`, `12G`."""
        self._session = session
        self._host = host
        self._stick = stick
        self._end: Standing = _NOT_AT_END
        self._end_moves = 0
        """How many moves there had been after the operator went to the end."""
        self._jumps = JumpList()

    # Jumps.

    def leave_place(self) -> None:
        """Remember the current place before a jump."""
        place = self._place
        if place is not None:
            self._jumps.leave(place)

    def jump_back(self) -> None:
        """Go back to the place where the last jump started."""
        place = self._place
        self._return_to(self._jumps.back(place) if place is not None else None, "No earlier position.")

    def jump_forward(self) -> None:
        """Undo the last `jump_back`."""
        place = self._place
        self._return_to(self._jumps.forward(place) if place is not None else None, "No later position.")

    def forget_places(self, level: str = "") -> None:
        """Forget the places of one level, or of all levels."""
        if level:
            self._jumps.forget(level)
        else:
            self._jumps.clear()

    @property
    def _place(self) -> JumpPlace | None:
        rows, viewport = self._session.rows, self._host.viewport
        if not len(rows):
            return None
        row, line = viewport.place
        return JumpPlace(self.cursor, cursor_at(rows, min(row, len(rows) - 1)), line, self._session.display.level)

    def _return_to(self, place: JumpPlace | None, otherwise: str) -> None:
        if place is None:
            self._host.notify(otherwise)
            return
        rows, viewport = self._session.rows, self._host.viewport
        top = place.top.row(rows)
        viewport.put_cursor(self.cursor_in_view(place.cursor))
        if top is not None and place.top.is_at(rows, top):
            viewport.go_to_row(top, place.line)
            viewport.put_cursor(self.cursor_in_view(place.cursor))
        viewport.go_to_cursor(viewport.cursor) if viewport.line_of_cursor is None else None
        self._host.redraw(Changed.FOCUS)

    # The cursor.

    @property
    def cursor(self) -> Cursor:
        """The cursor or, while it is unset, a cursor on the first visible message or stray text."""
        if not len(self._session.rows):
            return NOWHERE
        known = self._host.viewport.cursor
        if known.is_set:
            return known
        first = self._host.viewport.first_visible()
        return first if first.message or first.kind is RowKind.STRAY else NOWHERE

    @property
    def focused_number(self) -> int:
        """The message under the cursor; 0 if the cursor is on something else."""
        return self.cursor.message

    @property
    def cursor_row(self) -> int | None:
        """The row of the cursor; None if there are no rows."""
        return self.cursor.row(self._session.rows)

    @property
    def standing(self) -> Standing:
        """The cursor and the scroll position."""
        return self.cursor, self._host.viewport.place

    def focus_message(self, number: int, *, above: int | None = None) -> None:
        """Put the cursor on a message."""
        if number:
            self._host.viewport.go_to_cursor(Cursor(number), above=above)

    def show_message(self, number: int) -> None:
        """Go to a message, the row that folds it, or the nearest shown message."""
        self.leave_place()
        row = self._session.rows.row_holding(number)
        if row is not None and self._session.is_place(row):
            self.focus_row(row, number)
        else:
            self.focus_message(self._session.nearest_shown(number))
        self._host.redraw(Changed.FOCUS)

    def show_row(self, row: int, number: int = 0) -> None:
        """Go to a row of any kind. `number` selects one of the messages that it hides."""
        self.focus_row(row, number)
        self._host.redraw(Changed.FOCUS)

    def follow_list(self, number: int) -> None:
        """Show the message under the cursor of a list, or the row that hides it. This is not a jump."""
        row = self._session.rows.row_holding(number)
        if row is None:
            self.focus_message(self._session.nearest_shown(number))
            self._host.redraw(Changed.FOCUS)
        else:
            self.show_row(row, number)

    def cursor_in_view(self, cursor: Cursor) -> Cursor:
        """Return the cursor on the same content in the current rows, or on the nearest shown message."""
        rows = self._session.rows
        row = cursor.row(rows)
        if row is None or cursor.is_at(rows, row):
            return cursor if row is not None else NOWHERE
        holding = rows.row_holding(cursor.number)
        if holding is not None and rows.kind(holding) is RowKind.CALL:
            return cursor_at(rows, holding, cursor.number)
        return Cursor(self._session.nearest_shown(cursor.number))

    def focus_row(self, row: int, number: int = 0, *, above: int | None = None) -> None:
        """Put the cursor on a row of any kind."""
        self._host.viewport.go_to_cursor(cursor_at(self._session.rows, row, number), above=above)

    # The count.

    def type_digit(self, typed: str) -> bool:
        """Add a digit to the count, unless it is full, and show the keys that use it. Return False for a leading 0 and
        for other keys."""
        if not is_digit(typed) or (typed == "0" and not self.count):
            return False
        if len(self.count) < LONGEST_COUNT:
            self.count += typed
        key = self._host.key_of
        lines, messages = f"{key('line_down')} {key('line_up')}", f"{key('next_message')} {key('previous_message')}"
        words = f"{lines} lines · {messages} messages · {key('bottom')} message · {key('next_pane')} pane"
        self._host.notify(f"{self.count}  {words}", aside=f"{key('clear')} cancels")
        return True

    def forget_count(self) -> None:
        """Forget the digits."""
        self.count = ""

    def typed_count(self) -> int | None:
        """Return the count and forget its digits. Return None if there are none."""
        typed, self.count = self.count, ""
        if typed:
            self._host.clear_notice()
        return int(typed) if typed else None

    def take_count(self) -> int:
        """Return the count and forget its digits. Return 1 if there are none."""
        return self.typed_count() or 1

    # Lines and pages.

    def line_down(self) -> None:
        self._host.viewport.move(self.take_count())

    def line_up(self) -> None:
        self._host.viewport.move(-self.take_count())

    def half_page_down(self) -> None:
        self._page(0.5)

    def half_page_up(self) -> None:
        self._page(-0.5)

    def page_down(self) -> None:
        self._page(1)

    def page_up(self) -> None:
        self._page(-1)

    def _page(self, share: float) -> None:
        """Scroll by this share of a page, and move the cursor to the first visible message."""
        viewport = self._host.viewport
        height = viewport.view_height - (1 if abs(share) == 1 else 0)
        viewport.move(int(share * height) * self.take_count())
        viewport.put_cursor(viewport.first_visible())
        if share > 0 and viewport.is_at_end:
            self._stick.go_to_end()
        self._host.redraw(Changed.FOCUS)

    def top(self) -> None:
        """Go to the beginning."""
        self.forget_count()
        self.leave_place()
        self._host.viewport.go_to_row(0)
        self._host.viewport.put_cursor(self._host.viewport.first_visible())
        self._host.redraw(Changed.FOCUS)

    def bottom(self) -> None:
        """Go to the end, or to the message whose number was typed."""
        if self.count:
            typed, self.count = self.count, ""
            self.go_to(typed)
            return
        self.go_to_end()

    def go_to_end(self) -> None:
        """Show the end, with the cursor on the last message. While the input is still being read, the end may move."""
        self.leave_place()
        self._host.viewport.put_cursor(Cursor(last_message(self._session.rows)))
        self._host.viewport.go_to_end()
        self._stick.go_to_end()
        self._host.redraw(Changed.FOCUS)
        self._end = _NOT_AT_END if self._session.document.is_read else self.standing
        self._end_moves = self._host.viewport.moves

    @property
    def waits_for_end(self) -> bool:
        """True if the operator went to the end before it had been read, and has not moved since."""
        cursor, place = self.standing
        is_in_place = self._end_moves == self._host.viewport.moves or self._end[1] == place
        return self._end[0] == cursor and is_in_place

    def stop_waiting(self) -> None:
        """Cancel a jump to the end that waits until the end has been read."""
        self._end = _NOT_AT_END

    # Messages, turns, transcripts.

    def next_message(self) -> None:
        self._step(1)

    def previous_message(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        """Go to the next or previous value of an open card. With a count, or if there is no such value, go to the next
        or previous message."""
        viewport, has_moved = self._host.viewport, False
        node = NOWHERE if self.count else viewport.neighboring_node(step)
        if node.is_set:
            viewport.go_to_cursor(node)
            self._host.redraw(Changed.FOCUS)
            return
        for _ in range(self.take_count()):
            cursor = viewport.neighbor(step)
            if not cursor.is_set:
                break
            viewport.put_cursor(cursor)
            has_moved = True
        if has_moved:
            viewport.go_to_cursor(viewport.cursor)
            self._host.redraw(Changed.FOCUS)

    def next_turn(self) -> None:
        self._turn(1)

    def previous_turn(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        """Go to the first message of the next or previous turn."""
        here, target = self.cursor_row, None
        for _ in range(self.take_count()):
            here = self._row_of_another_turn(here, step)
            if here is None:
                break
            target = here
        if target is not None:
            self.leave_place()
            self.focus_message(self._session.rows.value(target), above=0)
            self._host.redraw(Changed.FOCUS)

    def _row_of_another_turn(self, row: int | None, step: int) -> int | None:
        """Return the first row of the next or previous turn, or None if there is none."""
        if row is None:
            return None
        rows, here = self._session.rows, self._turn_at(row)
        while 0 <= row + step < len(rows):
            row += step
            if rows.kind(row) is RowKind.MESSAGE and self._turn_at(row) != here:
                return self._first_of_turn(row)
        return None

    def _turn_at(self, row: int) -> tuple[int, int]:
        """Return the transcript and the turn of a row. Hidden rows belong to the turn before them."""
        rows = self._session.rows
        transcript = rows.transcript(row)
        while row >= 0 and rows.transcript(row) == transcript:
            if rows.kind(row) is RowKind.MESSAGE:
                return transcript, rows.turn(row)
            row -= 1
        return transcript, 0

    def _first_of_turn(self, row: int) -> int:
        rows = self._session.rows
        turn, first = (rows.transcript(row), rows.turn(row)), row
        while row > 0 and rows.transcript(row - 1) == turn[0]:
            row -= 1
            if rows.kind(row) is RowKind.MESSAGE:
                if rows.turn(row) != turn[1]:
                    break
                first = row
        return first

    def next_transcript(self) -> None:
        self._transcript(1)

    def previous_transcript(self) -> None:
        self._transcript(-1)

    def _transcript(self, step: int) -> None:
        """Go to the first row of the next or previous transcript."""
        rows, here = self._session.rows, self.cursor_row
        target = None
        for _ in range(min(self.take_count(), len(rows))):
            now = rows.rows_of_transcript(rows.transcript(here or 0))
            if (step > 0 and now.stop >= len(rows)) or (step < 0 and now.start == 0):
                break
            target = here = now.stop if step > 0 else rows.rows_of_transcript(rows.transcript(now.start - 1)).start
        if target is not None:
            self.leave_place()
            self._show_transcript(target)
        else:
            which = ("next", "last") if step > 0 else ("previous", "first")
            self._host.notify(f"No {which[0]} transcript: this is the {which[1]} one.")

    def _show_transcript(self, row: int) -> None:
        """Scroll the boundary to the top and put the cursor on the first visible message below it."""
        rows, viewport = self._session.rows, self._host.viewport
        self.focus_row(row, above=0)
        viewport.go_to_row(row)
        own = range(row, rows.rows_of_transcript(rows.transcript(row)).stop)
        message = next((each for each in own if rows.kind(each) is RowKind.MESSAGE), None)
        if message is not None and message in viewport.rows_on_screen:
            viewport.put_cursor(cursor_at(rows, message))
        self._host.redraw(Changed.FOCUS)

    # Typed positions.

    def go_to(self, typed: str) -> None:
        """Go to a typed position."""
        self.leave_place()
        target = parse(typed)
        rows, here = self._session.rows, self.cursor_row or 0
        if isinstance(target, Target) and target.place is Place.TRANSCRIPT and len(rows):
            row = row_of_transcript(target.value, rows)
            self._host.notify(row) if isinstance(row, str) else self._show_transcript(row)
            return
        if isinstance(target, Target) and target.place is Place.TURN:
            self._host.redraw(self._session.unfold_branches())
            rows = self._session.rows
        found = target if isinstance(target, str) else resolve(target, self._session.projection, rows, here)
        if isinstance(found, str):
            self._host.notify(found)
            return
        asked = target.value if isinstance(target, Target) and target.place is Place.MESSAGE else 0
        hides = not self._session.display.audience.strict and rows.row_holding(asked) is not None
        self._show_found(asked if hides else found, hides=hides)

    def _show_found(self, number: int, *, hides: bool = False) -> None:
        """Put the cursor on a message, on the row that folds it or, with `hides`, on the row that hides it, in the
        upper part of the screen."""
        row, above = self._session.rows.row_holding(number), self._host.viewport.view_height // 4
        if row is not None and (hides or self._session.is_place(row)):
            self.focus_row(row, number, above=above)
        else:
            self.focus_message(number, above=above)
        self._host.redraw(Changed.FOCUS)

    def resume(self, number: int) -> None:
        """Return to the message where an earlier session ended, or to the nearest shown one, unless the operator has
        already acted or the input has become shorter."""
        viewport, session = self._host.viewport, self._session
        nearest = session.nearest_shown(number) if number <= session.document.message_count else 0
        if nearest and viewport.place == (0, 0) and not viewport.cursor.is_set:
            self._show_found(nearest)
            self._host.notify(f"Continued where you left off. {self._host.key_of('top')} goes to the top.")

    @property
    def left_at(self) -> int:
        """The message at which to resume later; 0 while the beginning is on the screen."""
        return self.cursor.number if self._host.viewport.place != (0, 0) else 0

    # Calls.

    def partner(self) -> None:
        """Go from a call to its reply, or back."""
        self._in_call(wrap=True, step=1)

    def next_in_call(self) -> None:
        self._in_call(wrap=False, step=1)

    def previous_in_call(self) -> None:
        self._in_call(wrap=False, step=-1)

    def _in_call(self, *, wrap: bool, step: int) -> None:
        number = self.focused_number
        ends = sorted({end for call in self._session.calls.of(number) for end in (call.call, call.reply) if end})
        others = [end for end in ends if end != number]
        beyond = [end for end in others if (end - number) * step > 0]
        count = self.take_count()
        if not (others if wrap else beyond):
            self._host.notify("This call has no other message." if ends else "No call here.")
            return
        self.leave_place()
        places = (beyond or others)[:: 1 if step > 0 else -1]
        self.focus_message(places[min(count, len(places)) - 1])
        self._host.redraw(Changed.FOCUS)

    # Marks.

    def mark(self) -> None:
        """Mark or unmark the focused message."""
        if self.focused_number:
            self._host.redraw(self._session.toggle_mark(self.focused_number))
        else:
            self._host.notify("Nothing to mark here.")

    def next_mark(self) -> None:
        self._mark(1)

    def previous_mark(self) -> None:
        self._mark(-1)

    def _mark(self, step: int) -> None:
        marks, number, is_wrapped = self._session.marks, self.cursor.number, False
        for _ in range(min(self.take_count(), max(1, len(marks)))):
            find = next_mark if step > 0 else previous_mark
            found = find(marks, number, self._session.rows)
            if found is None:
                self._host.notify(f"No marks yet. Press {self._host.key_of('mark')} to set one.")
                return
            is_wrapped = is_wrapped or (found - number) * step <= 0
            number = found
        self.leave_place()
        self.focus_message(number)
        self._host.redraw(Changed.FOCUS)
        if is_wrapped:
            self.notify_wrapped(step)

    def notify_wrapped(self, step: int) -> None:
        """Report that a jump wrapped around."""
        self._host.notify("Continued from the top." if step > 0 else "Continued from the bottom.")
