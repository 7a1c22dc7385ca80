"""Moving: lines, pages, messages, turns, places, problems, calls, marks."""

from __future__ import annotations

from viewer.document.rows import RowKind
from viewer.tui.bars.prompt import PromptKind
from viewer.tui.cursor import Cursor, cursor_at
from viewer.tui.go_to import Place, Target, parse, resolve, row_of_transcript
from viewer.tui.main.linking import Linking
from viewer.tui.main.stick_to_end import last_message


class Moving(Linking):
    """Actions that go somewhere."""

    def action_line_down(self) -> None:
        """One line down."""
        self.transcript.move(self.take_count())

    def action_line_up(self) -> None:
        self.transcript.move(-self.take_count())

    def action_half_page_down(self) -> None:
        self._page(0.5)

    def action_half_page_up(self) -> None:
        self._page(-0.5)

    def action_page_down(self) -> None:
        self._page(1)

    def action_page_up(self) -> None:
        self._page(-1)

    def _page(self, share: float) -> None:
        """The cursor moves with the page."""
        viewport = self.transcript.viewport
        self.transcript.move(int(share * (viewport - (1 if abs(share) == 1 else 0))) * self.take_count())
        self.transcript.put_cursor(self.transcript.first_seen())
        if share > 0 and self.transcript.scroller.at_end(viewport):
            self.reached_end()
        self.moved()

    def action_top(self) -> None:
        """To the beginning."""
        self.count = ""
        self.transcript.go_to_row(0)
        self.transcript.put_cursor(self.transcript.first_seen())
        self.moved()

    def action_bottom(self) -> None:
        """To the end, or with digits before it to that message."""
        if self.count:
            typed, self.count = self.count, ""
            self.go_to(typed)
            return
        self.go_to_end()
        self.went_to_end()

    def go_to_end(self) -> None:
        """Show the end, with the focus on the last message."""
        self.transcript.focus_number = last_message(self.view.rows)
        self.transcript.go_to_end()
        self.moved()

    def action_next_message(self) -> None:
        self._step(1)

    def action_previous_message(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        gone = False
        for _ in range(self.take_count()):
            number = self.transcript.neighbour(step)
            if not number:
                break
            self.transcript.put_cursor(Cursor(number))
            gone = True
        if gone:
            self.focus_message(self.transcript.focus_number)
            self.moved()

    def action_next_turn(self) -> None:
        self._turn(1)

    def action_previous_turn(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        """To the first message of another turn."""
        here, target = self.cursor_row, None
        for _ in range(self.take_count()):
            here = self._row_of_another_turn(here, step)
            if here is None:
                break
            target = here
        if target is not None:
            self.focus_message(self.view.rows.value(target), above=0)
            self.moved()

    def action_next_transcript(self) -> None:
        self._transcript(1)

    def action_previous_transcript(self) -> None:
        self._transcript(-1)

    def _transcript(self, step: int) -> None:
        """To the first row of another transcript."""
        rows, here = self.view.rows, self.cursor_row
        target = None
        for _ in range(min(self.take_count(), len(rows))):
            now = rows.rows_of_transcript(rows.transcript(here or 0))
            if (step > 0 and now.stop >= len(rows)) or (step < 0 and now.start == 0):
                break
            target = here = now.stop if step > 0 else rows.rows_of_transcript(rows.transcript(now.start - 1)).start
        if target is not None:
            self._show_transcript(target)
        else:
            which = ("next", "last") if step > 0 else ("previous", "first")
            self.say(f"No {which[0]} transcript: this is the {which[1]} one.")

    def _show_transcript(self, row: int) -> None:
        """Put the boundary at the top and the cursor on the first message below it that is on the screen."""
        rows = self.view.rows
        self.focus_row(row, above=0)
        self.transcript.go_to_row(row)
        mine = range(row, rows.rows_of_transcript(rows.transcript(row)).stop)
        first = (near for near in mine if rows.kind(near) is RowKind.MESSAGE)
        message = next(first, None)
        if message is not None and message in self.transcript.rows_on_screen():
            self.transcript.put_cursor(cursor_at(rows, message))
        self.moved()

    def _row_of_another_turn(self, row: int | None, step: int) -> int | None:
        """The first row of the next turn, or of the one before."""
        if row is None:
            return None
        rows, here = self.view.rows, self._turn_at(row)
        while 0 <= row + step < len(rows):
            row += step
            if rows.kind(row) is RowKind.MESSAGE and self._turn_at(row) != here:
                return self._first_of_turn(row)
        return None

    def _turn_at(self, row: int) -> tuple[int, int]:
        """The transcript and the turn that a row belongs to; hidden rows belong to the turn before them."""
        rows, transcript = self.view.rows, self.view.rows.transcript(row)
        while row >= 0 and rows.transcript(row) == transcript:
            if rows.kind(row) is RowKind.MESSAGE:
                return transcript, rows.turn(row)
            row -= 1
        return transcript, 0

    def _first_of_turn(self, row: int) -> int:
        rows = self.view.rows
        turn, first = (rows.transcript(row), rows.turn(row)), row
        while row > 0 and rows.transcript(row - 1) == turn[0]:
            row -= 1
            if rows.kind(row) is RowKind.MESSAGE:
                if rows.turn(row) != turn[1]:
                    break
                first = row
        return first

    def action_goto(self) -> None:
        """Ask where to go."""
        self.prompt.ask(PromptKind.GOTO)

    def go_to(self, typed: str) -> None:
        """Go to what was typed after `:`."""
        target = parse(typed)
        rows, here = self.view.rows, self.cursor_row or 0
        if isinstance(target, Target) and target.place is Place.TRANSCRIPT and len(rows):
            row = row_of_transcript(target.value, rows)
            self.say(row) if isinstance(row, str) else self._show_transcript(row)
            return
        found = target if isinstance(target, str) else resolve(target, self.view.projection, rows, here)
        if isinstance(found, str):
            self.say(found)
            return
        self.focus_message(found, above=self.transcript.viewport // 4)
        self.moved()

    def action_next_error(self) -> None:
        self._problem("error", 1)

    def action_previous_error(self) -> None:
        self._problem("error", -1)

    def action_next_warning(self) -> None:
        self._problem("warning", 1)

    def action_previous_warning(self) -> None:
        self._problem("warning", -1)

    def _problem(self, severity: str, step: int) -> None:
        """The next row with such a problem; after the last comes the first."""
        problems, here, is_wrapped = self.facts.problems, self.cursor_row, False
        row = -1 if here is None else here
        for _ in range(min(self.take_count(), max(1, len(self.view.rows)))):
            found = problems.next(severity, row, step) if problems is not None else None
            if problems is None or found is None:
                self.say(f"no {severity}s")
                return
            is_wrapped = is_wrapped or (found - row) * step <= 0
            row = found
        assert problems is not None
        self.pointed = next(one for one in problems.of(row) if one.severity == severity)
        self.problems.point_at(self.pointed)
        self.show_row(row, self.pointed.message or 0)
        if is_wrapped:
            self.say_wrapped(step)

    def show_row(self, row: int, number: int = 0) -> None:
        """Put the cursor on a row, whatever it holds; `number` chooses one of the messages that it hides."""
        self.focus_row(row, number)
        self.moved()
