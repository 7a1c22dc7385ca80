"""Presenter: draws the session on the widgets. No other code gives data to widgets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from textual.screen import Screen

from viewer.document.rows import Rows
from viewer.model.visibility import Pane
from viewer.render.blocks.block import BlockFacts, RowProblems
from viewer.render.layout import LayoutRequest, Layouts, lay_out_body
from viewer.render.page import BlockMaker
from viewer.render.style import Style, Styled, StyleRole
from viewer.tui.host import Host
from viewer.tui.keys import after_yank
from viewer.tui.main.captions import empty_notes, title_facts, toggle_facts
from viewer.tui.main.copy import CopyController
from viewer.tui.main.follow_worker import FollowWorker
from viewer.tui.main.navigator import Navigator, Standing
from viewer.tui.main.search import SearchController
from viewer.tui.main.view import ViewController
from viewer.tui.main.widgets import Widgets
from viewer.tui.panes.strip import letters_around, strip_line
from viewer.tui.session import Changed, Session
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.paint import forget_widths

_SIDE_PANES = (Pane.ANALYSIS, Pane.COMMENTARY)
MOST_MARKED = 10_000
"""Rows with matches that the minimap shows."""


class Presenter:
    """Draws only what the flags name."""

    def __init__(
        self,
        session: Session,
        widgets: Widgets,
        screen: Screen[None],
        host: Host,
        settings: Settings,
        printing: Style,
        *,
        navigator: Navigator,
        view: ViewController,
        search: SearchController,
        copy: CopyController,
        follow: FollowWorker,
    ) -> None:
        self.drawn_standing: Standing | None = None
        """The cursor and the place at the last redraw of the focus."""
        self._session = session
        self._widgets = widgets
        self._screen = screen
        self._host = host
        self._settings = settings
        self._printing = printing
        self._navigator = navigator
        self._view = view
        self._search = search
        self._copy = copy
        self._follow = follow
        self._layouts: Layouts | None = None
        self._facts = BlockFacts()

    def draw(self, changed: Changed) -> None:
        """Draw what changed, the conversation first. The caller encloses this in one batch of updates."""
        if Changed.DOCUMENT in changed:
            self._layouts = None
        if Changed.LAYOUT in changed:
            self._draw_layout()
        if Changed.STATUS in changed:
            self._screen.set_class(self._session.display.debug, "-debug")
        self._draw_transcript(changed)
        self._draw_lists(changed)
        if Changed.STATUS in changed:
            self._draw_status()
        if Changed.KEYS in changed:
            self._draw_keys()
        if Changed.FOCUS in changed:
            self._draw_focus()
        if changed & (Changed.FOCUS | Changed.TITLE):
            self._draw_title()

    def forget_revealed(self) -> None:
        """Drop every text of the debug view."""
        widgets = self._widgets
        for pane in (widgets.transcript, *widgets.sides):
            pane.clear()
        for panel in (widgets.inspector, widgets.outline, widgets.problems, widgets.calls, widgets.strip):
            panel.clear()
        self._facts, self._layouts = BlockFacts(), None
        widgets.prompt.forget()
        widgets.status.clear_notice()
        widgets.problem_line.show(())
        forget_widths()
        self._host.call_after_refresh(forget_widths)

    # The conversation.

    def _draw_transcript(self, changed: Changed) -> None:
        transcript = self._widgets.transcript
        if Changed.ROWS in changed:
            self._draw_rows()
        elif Changed.GROWN in changed:
            self._facts.update_growing(self._follow.growing)
            transcript.changed_from(self._session.grown_from)
        if Changed.MATCHES in changed:
            self._draw_minimap()
            transcript.changed_from(self._search.changed_from)
        if Changed.BLOCKS in changed:
            transcript.redraw()
        if Changed.MARKS in changed:
            transcript.show_marks(self._session.marks)
            self._draw_minimap()
            transcript.refresh()
        if Changed.NOTES in changed:
            has_rows = len(self._session.rows) > 0
            transcript.show_notes([] if has_rows else empty_notes(self._session, self._follow.title))
            transcript.redraw_changed()

    def _draw_rows(self) -> None:
        """Make all blocks: of the conversation, and of the side panes."""
        session, transcript, display = self._session, self._widgets.transcript, self._session.display
        self._layouts = self._layouts or Layouts(self._request_layout)
        self._facts = self._make_facts(session.rows)
        has_sides = display.debug and display.side_panes and self._host.is_roomy
        rows = session.rows_of_pane(Pane.CONVERSATION) if has_sides else session.rows
        transcript.show_notes([] if rows.shown_count else empty_notes(session, self._follow.title))
        transcript.show_marks(session.marks)
        self._draw_minimap()
        transcript.show(self._make_blocks(transcript.size.width, rows))
        for widget, pane in zip(self._widgets.sides, _SIDE_PANES, strict=True):
            widget.display = has_sides
            if has_sides:
                widget.show(self._make_blocks(widget.size.width, session.rows_of_pane(pane)))
            else:
                widget.clear()

    def _make_blocks(self, width: int, rows: Rows) -> BlockMaker:
        session = self._session
        facts = self._facts if rows is session.rows else self._make_facts(rows)
        signs, wrap = self._printing.signs, self._settings.wrap
        return BlockMaker(session.projection, rows, width, facts, signs, raw=session.display.raw, wrap=wrap)

    def _make_facts(self, rows: Rows) -> BlockFacts:
        session = self._session
        return BlockFacts(
            session.calls,
            RowProblems(rows, session.diagnostics),
            matches=self._search.match_spans,
            faults=self._fault_spans,
            folds=session.folds,
            depths=session.depths,
            turned=session.turned,
            layouts=self._layouts or Layouts(),
            live=self._follow.is_live,
            growing=self._follow.growing,
            markdown=self._settings.markdown,
            rendered=self._settings.markdown if session.markdown is None else session.markdown,
            problems_key=self._host.key_of("problems"),
        )

    def _fault_spans(self, number: int) -> Sequence[Styled]:
        """The spans of diagnostics in the body of a message."""
        session = self._session
        if not session.display.debug or not len(session.rows):
            return ()
        own = [one for one in session.diagnostics.of(number) if not one.hidden]
        return [
            Styled(span[0], span[1], StyleRole.BAD_SPAN if severity == "error" else StyleRole.NOTED_SPAN)
            for span, severity in session.projection.fault_places(number, own)
        ]

    def _request_layout(self, number: int, request: LayoutRequest) -> None:
        """Lay out a long body in a thread, so that keys do not wait."""
        self._host.start_worker(partial(self._lay_out, number, request), "layout")

    async def _lay_out(self, number: int, request: LayoutRequest) -> None:
        layouts = self._layouts
        layout = await asyncio.to_thread(lay_out_body, request)
        if layouts is None or layouts is not self._layouts or not layouts.put(number, request, layout):
            return
        for pane in (self._widgets.transcript, *self._widgets.sides):
            pane.redraw_row(number)
        self._host.redraw(Changed.FOCUS)

    def _draw_minimap(self) -> None:
        """Errors, warnings, matches and bookmarks next to the scrollbar."""
        rows = self._session.rows
        marks = [(rows.row_of(number), StyleRole.BOOKMARK) for number in self._session.marks]
        if self._search.searcher:
            marks += [(row, StyleRole.MATCH) for row in self._search.searcher.matches.spread(MOST_MARKED)]
        self._widgets.transcript.minimap.show(marks, self._facts.problems)

    # The panes.

    def _draw_layout(self) -> None:
        for panel, widget in self._widgets.panels.items():
            widget.display = panel in self._view.open_panes

    def _draw_lists(self, changed: Changed) -> None:
        session, widgets, follow = self._session, self._widgets, self._follow
        focus = self._navigator.cursor.number if changed & (Changed.LISTS | Changed.CALLS) else 0
        if Changed.LISTS in changed:
            self._draw_outline(focus, has_grown=Changed.GROWN in changed)
        if Changed.PROBLEMS in changed:
            widgets.problems.show(
                session.diagnostics,
                safe=not session.display.debug,
                pending=follow.pending_message,
                checking=not session.document.is_checked,
            )
        if Changed.PENDING in changed:
            widgets.problems.show_pending(follow.pending_message)
        if Changed.SELECTION in changed and self._navigator.selected_problem is not None:
            widgets.problems.select(self._navigator.selected_problem)
        if Changed.CALLS in changed:
            widgets.calls.show(session.calls, focus)
        if Changed.LISTS in changed:
            widgets.strip.show(session.projection, session.rows, focus)
        if Changed.TAB in changed:
            widgets.inspector.open_tab(self._view.inspector_tab)

    def _draw_outline(self, focus: int, *, has_grown: bool) -> None:
        """A closed outline is empty, because making one takes time."""
        session, outline, live = self._session, self._widgets.outline, self._follow.is_live
        if has_grown:
            outline.grow(session.grown_from, focus, calls=session.calls, problems=session.diagnostics, live=live)
        elif outline.display:
            calls, problems = session.calls, session.diagnostics
            outline.show(session.projection, session.rows, focus, calls=calls, problems=problems, live=live)
        else:
            outline.clear()

    # The bars.

    def _draw_status(self) -> None:
        display = self._session.display
        self._widgets.status.show(display.debug, display.strict, self._session.document.note)

    def _draw_keys(self) -> None:
        footer = self._widgets.footer
        footer.show(self._session.display.debug)
        if self._copy.pending_yank:
            choices = [(key, each.label.removeprefix("Copy "), each.id) for key, each in after_yank().items()]
            footer.show_prefix("copy", choices)

    def _draw_title(self) -> None:
        session, widgets = self._session, self._widgets
        cursor, width = self._navigator.cursor, self._screen.size.width
        widgets.title.show(title_facts(session, cursor, self._follow.title))
        room = width // 2 - 4
        letters = letters_around(session.projection, session.rows, cursor.number, room, self._printing)
        widgets.problem_line.show(widgets.problems.one_line(width))
        widgets.toggles.show(toggle_facts(session, strip_line(letters, cursor.number, titled=False)))

    # The focus.

    def _draw_focus(self) -> None:
        """Show the cursor in all panes."""
        session, widgets = self._session, self._widgets
        widgets.transcript.keep_cursor_on_screen()
        cursor = self._navigator.cursor
        number, here = cursor.message, cursor.number
        self.drawn_standing = self._navigator.standing
        widgets.transcript.show_partners(session.partners(number))
        widgets.outline.focus_on(here)
        widgets.strip.focus_on(here)
        widgets.calls.focus_on(here)
        if session.display.debug and widgets.inspector.display and number:
            calls, problems = session.calls, session.diagnostics
            widgets.inspector.show(session.projection, number, calls=calls, problems=problems)
        for pane in widgets.sides:
            if pane.display and here:
                pane.align(cursor, widgets.transcript.line_of_cursor)
            if self._follow.is_sticky:
                pane.stick_to_end()
