"""Presenter: draws the session. Only the presenter passes data to widgets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from textual.css.scalar import Scalar
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from viewer.document.rows import RowKind, Rows
from viewer.model.visibility import Pane
from viewer.render.blocks.block import BlockFacts, RowProblems
from viewer.render.blocks.sides import SideMaker
from viewer.render.layout import LayoutRequest, Layouts, lay_out_body
from viewer.render.page import BlockMaker
from viewer.render.sanitize import SafeText
from viewer.render.style import Style, Styled, StyleRole, trusted
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.control.next_views import NextViews
from viewer.tui.control.panes import PaneController
from viewer.tui.control.problems import ProblemController
from viewer.tui.host import Host
from viewer.tui.main.captions import empty_notes, footer_view, status_facts, title_facts
from viewer.tui.main.follow_worker import FollowWorker
from viewer.tui.main.navigator import Navigator, Standing
from viewer.tui.main.search import SearchController
from viewer.tui.main.widgets import Widgets
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.session import Changed, Session
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.paint import forget_widths

MOST_MARKED = 10_000
"""The approximate maximum number of rows with matches to mark on the minimap."""


class Presenter:
    """Draws only the parts that the flags in a change select."""

    def __init__(
        self,
        session: Session,
        widgets: Widgets,
        screen: Screen[None],
        host: Host,
        settings: Settings,
        printing: Style,
        navigator: Navigator,
        problems: ProblemController,
        search: SearchController,
        follow: FollowWorker,
        panes: PaneController,
    ) -> None:
        self.drawn_standing: Standing | None = None
        """The cursor and scroll position at the last redraw of the focus."""
        self._session = session
        self._widgets = widgets
        self._screen = screen
        self._host = host
        self._settings = settings
        self._printing = printing
        self._navigator = navigator
        self._problems = problems
        self._search = search
        self._follow = follow
        self._panes = panes
        self._next_views = NextViews(session, screen)
        self._layouts: Layouts | None = None
        self._facts = BlockFacts()
        self._fitted = (Size(), Size(), False)
        """The result of `_fit` when the blocks were built."""

    def draw(self, changed: Changed) -> None:
        """Draw what changed, the conversation first. The caller wraps this in one batch of updates."""
        if Changed.DOCUMENT in changed:
            self._layouts = None
            self._widgets.outline.forget_reading()
        if Changed.LAYOUT in changed:
            self._draw_layout()
        self._draw_transcript(changed)
        self._draw_lists(changed)
        if Changed.ROWS in changed and self._is_settled():
            self._next_views.prepare()
        if Changed.KEYS in changed:
            self._draw_keys()
        if Changed.FOCUS in changed:
            self._draw_focus()
        if changed & (Changed.FOCUS | Changed.TITLE):
            self._draw_title()

    def forget_revealed(self) -> None:
        """Drop all text of the debug view."""
        widgets = self._widgets
        for pane in (widgets.transcript, widgets.behind):
            pane.clear()
        bottom = widgets.bottom
        for panel in (widgets.inspector, widgets.outline, bottom.problems, bottom.calls, bottom.timeline):
            panel.clear()
        self._facts, self._layouts = BlockFacts(), None
        widgets.prompt.forget()
        widgets.status.clear_notice()
        widgets.status.show(StatusFacts())
        forget_widths()
        self._host.call_after_refresh(forget_widths)

    # The conversation.

    def _draw_transcript(self, changed: Changed) -> None:
        transcript = self._widgets.transcript
        if Changed.ROWS in changed or (Changed.WIDTH in changed and not self.is_fitted):
            self._draw_rows()
        elif Changed.GROWN in changed:
            self._facts.update_growing(self._follow.growing)
            self._change_from(self._session.grown_from)
        if Changed.MATCHES in changed:
            self._draw_minimap()
            self._change_from(self._search.changed_from)
        if Changed.BLOCKS in changed:
            transcript.redraw()
            self._widgets.behind.redraw()
        if Changed.MARKS in changed:
            for pane in (transcript, self._widgets.behind):
                pane.show_marks(self._session.marks)
                pane.refresh()
            self._draw_minimap()
        if Changed.NOTES in changed:
            has_rows = len(self._session.rows) > 0
            transcript.show_notes([] if has_rows else self._empty_notes())
            transcript.redraw_changed()

    def _empty_notes(self) -> list[SafeText]:
        keys = self._host.key_of("filter"), self._host.key_of("clear")
        return empty_notes(self._session, self._follow.title, self._printing.signs, keys)

    def _change_from(self, row: int) -> None:
        for pane in (self._widgets.transcript, self._widgets.behind):
            pane.changed_from(row)

    @property
    def is_fitted(self) -> bool:
        """True if the blocks were built for the sizes that the panes have now."""
        return self._fit() == self._fitted

    def _fit(self) -> tuple[Size, Size, bool]:
        """Return the state that blocks depend on: the sizes of the conversation and the side pane, and whether both
        show rows."""
        widgets, display = self._widgets, self._session.display
        has_sides = display.debug and display.side_panes and self._host.is_roomy
        return widgets.transcript.area.size, widgets.behind.size, has_sides

    def _draw_rows(self) -> None:
        """Rebuild all blocks of the conversation and the side pane."""
        session, transcript = self._session, self._widgets.transcript
        self._fitted = self._fit()
        self._layouts = self._layouts or Layouts(self._request_layout)
        self._facts = self._make_facts(session.rows)
        is_empty = not len(session.rows) if session.filtered_by else not session.rows.shown_count
        transcript.show_notes(self._empty_notes() if is_empty else [])
        transcript.show_marks(session.marks)
        self._draw_minimap()
        behind = self._widgets.behind
        here = self._make_blocks(transcript.area.size.width)
        if not self._fitted[-1] or not behind.size.width:  # the layout of a newly opened pane triggers another redraw
            behind.clear()
            transcript.show(here)
            return
        there = self._make_blocks(behind.size.width)
        transcript.show(SideMaker(here, there, self._is_said))
        behind.show_marks(session.marks)
        behind.show(SideMaker(there, here, lambda row: not self._is_said(row)))

    def _is_said(self, row: int) -> bool:
        """True if the row belongs to the conversation, and not to the pane for thoughts and calls."""
        rows = self._session.rows
        kind = rows.kind(row)
        if kind is not RowKind.MESSAGE:
            return kind is not RowKind.AGENT
        return self._session.projection.pane_of(rows.value(row)) is Pane.CONVERSATION

    def _make_blocks(self, width: int) -> BlockMaker:
        session = self._session
        signs, wrap = self._printing.signs, self._settings.wrap
        raw, unwrapped = session.display.raw, not session.wrapped
        return BlockMaker(
            session.projection, session.rows, width, self._facts, signs, raw=raw, wrap=wrap, unwrapped=unwrapped
        )

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
            opens_thoughts=session.display.side_panes,
            layouts=self._layouts or Layouts(),
            live=self._follow.is_live,
            growing=self._follow.growing,
            markdown=self._settings.markdown,
            rendered=self._settings.markdown if session.markdown is None else session.markdown,
            problems_key=self._host.key_of("problems"),
            times=session.times,
            usages=session.usages if session.display.usage else None,
        )

    def _fault_spans(self, number: int) -> Sequence[Styled]:
        """Return the spans of the diagnostics in a body; none in the safe view."""
        session = self._session
        if not session.display.debug or not len(session.rows):
            return ()
        own = [one for one in session.diagnostics.of(number) if not one.hidden]
        return [
            Styled(span[0], span[1], StyleRole.BAD_SPAN if severity == "error" else StyleRole.NOTED_SPAN)
            for span, severity in session.projection.fault_places(number, own)
        ]

    def _request_layout(self, number: int, request: LayoutRequest) -> None:
        """Lay out a long body in a thread so that keys stay responsive."""
        self._host.start_worker(partial(self._lay_out, number, request), "layout")

    async def _lay_out(self, number: int, request: LayoutRequest) -> None:
        layouts = self._layouts
        layout = await asyncio.to_thread(lay_out_body, request)
        if layouts is None or layouts is not self._layouts or not layouts.put(number, request, layout):
            return
        for pane in (self._widgets.transcript, self._widgets.behind):
            pane.redraw_row(number)
        self._host.redraw(Changed.FOCUS)

    def _draw_minimap(self) -> None:
        """Draw errors, warnings, matches, and bookmarks in the scrollbar."""
        rows = self._session.rows
        marks = [(rows.row_of(number), StyleRole.BOOKMARK) for number in self._session.marks]
        if self._search.searcher:
            marks += [(row, StyleRole.MATCH) for row in self._search.searcher.matches.spread(MOST_MARKED)]
        self._widgets.transcript.minimap.show(marks, self._facts.problems)

    # The panes.

    def prepare_conversation(self) -> None:
        """Set the border and the expected size of the conversation before it is mounted."""
        panes, widgets = self._panes, self._widgets
        size = panes.transcript_size
        edged_width = size[0] + 2 if size is not None and panes.has_border else 0
        widgets.conversation.show_border(panes.has_border, edged_width)
        widgets.conversation.mark_focus(panes.focused is Panel.TRANSCRIPT)
        widgets.transcript.area.expect(size)

    def _draw_layout(self) -> None:
        """Show the visible panes at their sizes, and move the focus to the chosen pane."""
        panes, widgets, host = self._panes, self._widgets, self._host
        visible, roomy = panes.visible, host.is_roomy
        debug = self._session.display.debug
        self._screen.set_class(not roomy, "-narrow")
        self.prepare_conversation()
        for panel, frame in widgets.frames.items():
            if panel in visible:
                widgets.prepare(panel)
            _set_display(frame, panel in visible)
            frame.mark_focus(panel is panes.focused)
        widgets.bottom.open_tab(panes.tab, has_calls=debug)
        is_sheet = not roomy and Panel.TRANSCRIPT in visible
        rows = panes.bottom_rows
        _set_size(widgets.bottom, height=rows if roomy or is_sheet else None)
        _set_size(widgets.outline, width=panes.width_of(Panel.OUTLINE) if roomy else None)
        _set_size(widgets.inspector, width=panes.width_of(Panel.INSPECTOR) if roomy else None,
                  height=rows if is_sheet else None)  # fmt: skip
        target = widgets.target_of(panes.focused)
        if target.is_attached and not widgets.prompt.is_asking:
            self._screen.set_focus(target)

    def _draw_lists(self, changed: Changed) -> None:
        session, widgets, follow = self._session, self._widgets, self._follow
        bottom = widgets.bottom
        focus = self._navigator.cursor.number if changed & (Changed.LISTS | Changed.CALLS) else 0
        if Changed.LISTS in changed:
            self._draw_outline(focus, has_grown=Changed.GROWN in changed)
        if Changed.PROBLEMS in changed:
            bottom.problems.show(
                session.diagnostics,
                safe=not session.display.debug,
                pending=follow.pending_message,
                checking=not session.document.is_checked,
                projection=session.projection,
                calls=session.calls if session.display.debug else None,
            )
        if Changed.PENDING in changed:
            bottom.problems.show_pending(follow.pending_message)
        if Changed.SELECTION in changed and self._problems.selected is not None:
            bottom.problems.select(self._problems.selected)
        if Changed.CALLS in changed:
            bottom.calls.show(
                *(session.calls, focus, session.projection),
                problems=session.diagnostics,
                usages=session.usages,
                shows_cost=session.display.usage,
            )
        if changed & (Changed.LISTS | Changed.CALLS):
            if bottom.display and bottom.tab is BottomTab.TIMELINE:
                bottom.timeline.show(session.projection, session.rows, session.calls, focus)
            else:
                bottom.timeline.clear()
        if Changed.TAB in changed:
            widgets.inspector.open_tab(self._panes.inspector_tab)
        if changed & (Changed.LISTS | Changed.CALLS | Changed.PROBLEMS):
            bottom.draw_tabs()

    def _draw_outline(self, focus: int, *, has_grown: bool) -> None:
        """Draw the outline. A closed outline stays empty, because computing it takes time."""
        session, outline, live = self._session, self._widgets.outline, self._follow.is_live
        if has_grown:
            outline.grow(session.grown_from, focus, calls=session.calls, problems=session.diagnostics, live=live)
        elif outline.display:
            outline.show(
                *(session.projection, session.rows, focus),
                calls=session.calls,
                problems=session.diagnostics,
                usages=session.usages if session.display.usage else None,
                leak_scores=session.leak_scores,
                live=live,
                is_settled=self._is_settled,
                all_rows=session.all_rows,
            )
        else:
            outline.clear()

    def _is_settled(self) -> bool:
        """True once no row or line can change any more."""
        return not self._follow.is_live and self._session.document.is_complete

    # The bars.

    def _draw_keys(self) -> None:
        self._widgets.footer.show(footer_view(self._session, self._panes))

    def _draw_title(self) -> None:
        session, widgets = self._session, self._widgets
        cursor = self._navigator.cursor
        facts = title_facts(session, cursor, self._follow.title)
        widgets.title.show(facts)
        where = f"turn {facts.turn[0]:,} of {facts.turn[1]:,}" if facts.turn is not None else ""
        has_side = session.display.side_panes
        widgets.conversation.caption(trusted("Conversation" if has_side else "Transcript"), trusted(where))
        chosen = self._problems.selected
        explains = chosen is not None and self._panes.focused in (Panel.TRANSCRIPT, Panel.SIDE)
        key_of = self._host.key_of
        keys = key_of("next_error"), key_of("open") if explains else "", key_of("bottom")
        widgets.status.show(status_facts(session, cursor, chosen, self._follow.new_messages, keys))

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
        widgets.bottom.problems.focus_on(here)
        widgets.bottom.calls.focus_on(here)
        widgets.bottom.timeline.focus_on(here)
        widgets.bottom.draw_tabs()
        if session.display.debug and widgets.inspector.display and number:
            widgets.inspector.show(
                *(session.projection, number),
                calls=session.calls,
                problems=session.diagnostics,
                usages=session.usages,
                size=session.document.size,
            )
        if widgets.side.display:
            widgets.behind.follow(widgets.transcript.place, widgets.transcript.cursor)
            widgets.behind.show_partners(session.partners(number))


def _set_display(widget: Widget, is_shown: bool) -> None:
    if widget.display != is_shown:
        widget.display = is_shown


def _set_size(widget: Widget, *, width: int | None = None, height: int | None = None) -> None:
    """Set the size of a pane only if it differs from the current one, because each change causes a layout."""
    wanted = (Scalar.from_number(width) if width else None), (Scalar.from_number(height) if height else None)
    if (widget.styles.inline.width, widget.styles.inline.height) != wanted:
        widget.styles.width, widget.styles.height = wanted
