"""Moving: lines, pages, messages, turns, places, problems, calls, marks."""

from __future__ import annotations

from viewer.sources.rows import RowKind
from viewer.tui.go_to import parse, resolve
from viewer.tui.screens.linking import Linking
from viewer.tui.widgets.prompt import PromptKind


class Moving(Linking):
    """Actions that go somewhere."""

    def action_line_down(self) -> None:
        """One line down, or the next row of the list that is open on top."""
        self.transcript.move(1)

    def action_line_up(self) -> None:
        self.transcript.move(-1)

    def action_half_page_down(self) -> None:
        self._page(0.5)

    def action_half_page_up(self) -> None:
        self._page(-0.5)

    def action_page_down(self) -> None:
        self._page(1)

    def action_page_up(self) -> None:
        self._page(-1)

    def _page(self, share: float) -> None:
        """The focus moves with the page."""
        viewport = self.transcript.viewport
        self.transcript.move(int(share * (viewport - (1 if abs(share) == 1 else 0))))
        self.transcript.focus_number = self.transcript.first_seen()
        if share > 0 and self.transcript.scroller.at_end(viewport):
            self.reached_end()
        self.moved()

    def action_top(self) -> None:
        """To the beginning."""
        self.count = ""
        self.transcript.go_to_row(0)
        self.transcript.focus_number = self.transcript.first_seen()
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
        self.transcript.go_to_end()
        rows = self.view.rows
        for row in range(len(rows) - 1, -1, -1):
            if rows.kind(row) is RowKind.MESSAGE:
                self.transcript.focus_number = rows.value(row)
                break
        self.moved()

    def action_next_message(self) -> None:
        self._step(1)

    def action_previous_message(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        number = self.transcript.neighbour(self.transcript.focus_number, step)
        if number:
            self.focus_message(number)
            self.moved()

    def action_next_turn(self) -> None:
        self._turn(1)

    def action_previous_turn(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        """To the first message of another turn."""
        number, rows = self.focused_number, self.view.rows
        if not number or not len(rows):
            return
        row = rows.row_of(number)
        turn, transcript = rows.turn(row), self._transcript_of(row)
        while 0 <= row + step < len(rows):
            row += step
            if rows.kind(row) is RowKind.MESSAGE and (rows.turn(row), self._transcript_of(row)) != (turn, transcript):
                self.focus_message(self._first_of_turn(row), above=0)
                self.moved()
                return

    def _transcript_of(self, row: int) -> int:
        return self.document.index.transcript(self.view.rows.last_number(row))

    def _first_of_turn(self, row: int) -> int:
        rows = self.view.rows
        turn, first = rows.turn(row), row
        while row > 0:
            row -= 1
            if rows.kind(row) is RowKind.MESSAGE:
                if rows.turn(row) != turn:
                    break
                first = row
        return rows.value(first)

    def action_goto(self) -> None:
        """Ask where to go."""
        self.prompt.ask(PromptKind.GOTO)

    def go_to(self, typed: str) -> None:
        """Go to what was typed after `:`."""
        target = parse(typed)
        found = target if isinstance(target, str) else resolve(target, self.view.projection, self.view.rows)
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
        """The next row with such a problem, round at the ends."""
        problems = self.facts.problems
        row = problems.next(severity, self._problem_row(), step) if problems is not None else None
        if problems is None or row is None:
            self.say(f"no {severity}s")
            return
        self.pointed = next(one for one in problems.of(row) if one.severity == severity)
        self.problems.point_at(self.pointed)
        self._show_row(row)

    def _problem_row(self) -> int:
        """The row that the last jump went to, or that of the focus."""
        number = self.focused_number
        row, problems = self.transcript.scroller.row, self.facts.problems
        if self._row_only and problems is not None and row < len(self.view.rows) and problems.of(row):
            return row
        return self.view.rows.row_of(number) if number else -1

    _row_only = False
    """The last jump went to a row without a message of its own."""

    def _show_row(self, row: int) -> None:
        rows = self.view.rows
        self._row_only = rows.kind(row) is not RowKind.MESSAGE
        if self._row_only:
            self.transcript.go_to_row(row)
        else:
            self.focus_message(rows.value(row))
        self.moved()
