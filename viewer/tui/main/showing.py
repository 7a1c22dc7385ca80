"""What the main screen shows: the view made for the state, and every pane kept in step with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from viewer.document.panes import Pane
from viewer.document.rows import RowKind, Rows
from viewer.render.layout import LayoutRequest, Layouts, lay_out_body
from viewer.render.markdown import Styled
from viewer.render.page import BlockFacts, BlockMaker, RowProblems
from viewer.render.style import StyleRole
from viewer.tui.bars.problem_line import ProblemLine
from viewer.tui.cursor import NOWHERE, Cursor, cursor_at
from viewer.tui.display_state import DisplayState
from viewer.tui.main.titling import Titling
from viewer.tui.terminal.clipboard import forget
from viewer.tui.terminal.paint import forget_widths

_LANES = (Pane.ANALYSIS, Pane.COMMENTARY)
Standing = tuple[Cursor, int, int]
_NOT_AT_END: Standing = (Cursor(-1), 0, 0)


class Showing(Titling):
    """Draws the state; nothing else decides what is on the screen."""

    def change(self, state: DisplayState) -> None:
        """Look at the document in another way; the focused message keeps its line on the screen."""
        above, cursor = self.transcript.line_of_focus(), self.cursor
        leaves_debug = self.state.debug and not state.debug
        self.state, rows = state, self.view.rows
        self.rows_at_hand = (rows, *self.rows_at_hand)
        if leaves_debug:
            self.forget_revealed()
        self.view = self.look()
        self.rows_at_hand = (rows,)
        cursor = self.cursor_in_view(cursor)
        self.transcript.put_cursor(cursor)
        self.show_view()
        if cursor.is_set:
            self.transcript.go_to_cursor(cursor, above=above)
            self.moved()

    def forget_revealed(self) -> None:
        """Drop every text that the debug view held, in widgets, caches and the clipboard's copy of the app."""
        for pane in (self.transcript, *self.sides):
            pane.clear()
        for panel in (self.inspector, self.outline, self.problems, self.calls):
            panel.clear()
        self.strip.clear()
        self.facts, self._layouts = BlockFacts(), None
        self.end_search()
        self.prompt.forget()
        self.clear_selection()
        self.status.hush()
        self.query_one(ProblemLine).show(())
        forget(self.app)
        forget_widths()
        self.call_after_refresh(forget_widths)

    def end_search(self) -> None:
        """No search any more."""
        if self.searcher:
            self.searcher.close()
        self.searcher = self.hit = None
        self.prompt.close()

    def cursor_in_view(self, cursor: Cursor) -> Cursor:
        """The same place in the present view; where that does not show it, the nearest shown message."""
        row = cursor.row(self.view.rows)
        if row is None or cursor.is_at(self.view.rows, row):
            return cursor if row is not None else NOWHERE
        return Cursor(self.nearest_shown(cursor.number))

    def nearest_shown(self, number: int) -> int:
        """This message, or the next shown one, or the one before; 0 where nothing is shown."""
        rows = self.view.rows
        if not len(rows):
            return 0
        row = rows.row_of(number)
        after = range(row, len(rows))
        before = range(row - 1, -1, -1)
        for candidate in (*after[:10_000], *before[:10_000]):
            if rows.kind(candidate) is RowKind.MESSAGE:
                return rows.value(candidate)
        return 0

    def show_view(self, changed: int | None = None) -> None:
        """Draw everything for the present state: anew, or where the same rows have grown from one on."""
        self.set_class(self.state.debug, "-debug")
        self.facts = self.make_facts(self.view.rows)
        self.show_transcripts()
        view, focus = self.view, self.cursor.number
        if changed is None:
            self.show_outline()
        else:
            live = self.lives()
            self.outline.grew(changed, focus, calls=view.calls, problems=view.diagnostics, live=live)
        checking = not self.document.is_checked
        self.problems.show(view.diagnostics, safe=not self.state.debug, pending=self.pending(), checking=checking)
        self.calls.show(view.calls, focus)
        self.strip.show(view.projection, view.rows, focus)
        self.status.show(self.state.debug, self.state.strict, self.document.note)
        self.footer.show(self.state.debug)
        self.stay_at_end()
        self.moved()

    def grow_panes(self, changed: int) -> None:
        """Draw the rows from `changed` on in the panes that list messages, so that all panes show one snapshot."""
        view, focus = self.view, self.focused_number
        self.outline.grew(changed, focus, calls=view.calls, problems=view.diagnostics, live=self.lives())
        self.strip.show(view.projection, view.rows, focus)

    def show_outline(self) -> None:
        """The outline is made only where it is open."""
        view = self.view
        if self.outline.display:
            focus = self.cursor.number
            live = self.lives()
            self.outline.show(view.projection, view.rows, focus, calls=view.calls, problems=view.diagnostics, live=live)
        else:
            self.outline.clear()

    def make_facts(self, rows: Rows) -> BlockFacts:
        """Calls and diagnostics by the rows that tell of them."""
        facts = BlockFacts(self.view.calls, hits=self.hit_spans, faults=self.fault_spans, folds=self.facts.folds)
        facts.layouts = self._layouts = self._layouts or Layouts(self._lay_out)
        facts.growing, facts.live = self.growing(), self.lives()
        facts.markdown = self.settings.markdown
        facts.problems_key = self.key_of("problems")
        facts.problems = RowProblems(rows, self.view.diagnostics)
        return facts

    _layouts: Layouts | None = None

    def _lay_out(self, number: int, request: LayoutRequest) -> None:
        """Lay out a long body in a thread, so that keys do not wait for it."""
        self.work(partial(self._lay_out_body, number, request), "layout")

    async def _lay_out_body(self, number: int, request: LayoutRequest) -> None:
        layouts = self._layouts
        layout = await asyncio.to_thread(lay_out_body, request)
        if layouts is None or layouts is not self._layouts or not layouts.put(number, request, layout):
            return
        for pane in (self.transcript, *self.sides):
            pane.redraw_row(number)
        self.moved()

    def show_transcripts(self) -> None:
        """The conversation, and beside it the panes for thoughts where they are asked for."""
        if self.facts.problems is None or self.facts.problems.rows is not self.view.rows:
            self.facts = self.make_facts(self.view.rows)  # the view has become another one since
        beside = self.state.debug and self.state.side_panes and self.is_roomy
        lane = Pane.CONVERSATION if beside else None
        rows = self.view.projection.rows(lane) if beside else self.view.rows
        self.transcript.notes = [] if rows.shown_count else self.nothing_shown()
        self.transcript.marks = self.state.marks
        self.show_minimap()
        self.transcript.show(self._maker(self.transcript.text_width, rows))
        for pane, side in zip(self.sides, _LANES, strict=True):
            pane.display = beside
            if beside:
                pane.show(self._maker(pane.text_width, self.view.projection.rows(side)))
            else:
                pane.clear()

    def _maker(self, width: int, rows: Rows) -> BlockMaker:
        facts = self.facts if rows is self.view.rows else self.make_facts(rows)
        width = min(width, self.settings.wrap or width)
        return BlockMaker(self.view.projection, rows, width, facts, self.signs, self.is_roomy, self.state.raw)

    def show_minimap(self) -> None:
        """Errors, warnings, hits and marks on the scrollbar."""
        rows = self.view.rows
        marks = [(rows.row_of(number), StyleRole.BOOKMARK) for number in self.state.marks]
        if self.searcher:
            marks += [(row, StyleRole.MATCH) for row in self.searcher.hits.spread(10_000)]
        self.transcript.minimap.signs = self.signs
        self.transcript.minimap.show(marks, self.facts.problems)

    def hit_spans(self, number: int) -> Sequence[Styled]:
        """Where the search found something in a message."""
        if self.searcher is None or not len(self.view.rows):
            return ()
        hits = self.searcher.hits.in_row(self.view.rows.row_of(number))
        return [
            Styled(hit.start, hit.end, StyleRole.THIS_MATCH if hit == self.hit else StyleRole.MATCH) for hit in hits
        ]

    def fault_spans(self, number: int) -> Sequence[Styled]:
        """Where diagnostics of a message stand in its body."""
        if not self.state.debug or not len(self.view.rows):
            return ()
        mine = [one for one in self.view.diagnostics.of(number) if not one.hidden]
        places = self.view.projection.fault_places(number, mine)
        return [
            Styled(span[0], span[1], StyleRole.BAD_SPAN if severity == "error" else StyleRole.NOTED_SPAN)
            for span, severity in places
        ]

    def focus_message(self, number: int, *, above: int | None = None) -> None:
        """Give a message the focus, wherever it is shown."""
        if number:
            self.transcript.focus_on(number, above=above)

    def focus_row(self, row: int, number: int = 0, *, above: int | None = None) -> None:
        """Put the cursor on a row of the view; `number` chooses one of the messages that it hides."""
        self.transcript.go_to_cursor(cursor_at(self.view.rows, row, number), above=above)

    def moved(self) -> None:
        """The cursor or the place changed: the other panes follow."""
        self.transcript.keep_cursor_on_screen()
        number, here = self.focused_number, self.cursor.number
        self._stood = self._standing
        partners = self._partners(number)
        if partners != self.transcript.partners:
            self.transcript.partners = partners
            self.transcript.refresh()
        self.outline.focus_on(here)
        self.strip.focus_on(here)
        self.calls.focus_on(here)
        if self.state.debug and self.inspector.display and number:
            self.inspector.show(self.view.projection, number, calls=self.view.calls, problems=self.view.diagnostics)
        for pane in self.sides:
            if pane.display and here:
                pane.stand_beside(self.cursor, self.transcript.line_of_focus())
        self.show_title()

    def moved_again(self) -> None:
        """The same, where it has not been done by the action that moved."""
        if self._stood != self._standing:
            self.moved()

    _stood: Standing = (NOWHERE, 0, 0)
    _end_stood_at: Standing = _NOT_AT_END

    def went_to_end(self) -> None:
        """The end was asked for: while more is being read, that is not the one that stands there now."""
        self._end_stood_at = _NOT_AT_END if self.document.is_read else self._standing

    def still_wants_end(self) -> bool:
        """Whether the person went to the end, and nowhere else since."""
        return self._end_stood_at == self._standing

    @property
    def _standing(self) -> Standing:
        """The cursor, and the place of the first line on the screen."""
        scroller = self.transcript.scroller
        return self.cursor, scroller.row, scroller.line

    def _partners(self, number: int) -> frozenset[int]:
        ends = {end for call in self.facts.calls.of(number) for end in (call.call, call.reply)}
        return frozenset(end for end in ends if end is not None and end != number)
