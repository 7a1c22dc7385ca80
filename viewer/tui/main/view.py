"""View controller: switches the level, channels, raw bytes, Markdown, and folds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from viewer.document.rows import RowKind
from viewer.model.visibility import Level, Reveal
from viewer.render.blocks.json_rows import ALL_NODES
from viewer.render.blocks.times import Times
from viewer.tui.control.panes import PaneController
from viewer.tui.control.problems import ProblemController
from viewer.tui.cursor import Cursor
from viewer.tui.display_state import DisplayState
from viewer.tui.host import Host
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.main.export import ExportController
from viewer.tui.main.filter import FilterController
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.search import SearchController
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.panes.panel import Panel
from viewer.tui.session import Changed, Session
from viewer.tui.settings.settings import Settings

ARROWS = {"left": -8, "right": 8}
"""The keys that scroll unwrapped lines, with the number of columns per step."""
STRICT = "This view is strict: restart without --strict-safe."
"""The notice for a key that would change a strict view's level."""

_TIMES = {
    Times.OFF: "Times: off.",
    Times.RELATIVE: "Times: since the first message.",
    Times.CLOCK: "Times: time of day in UTC.",
}


class ViewController:
    """Changes the display state and the folds. It has no state of its own."""

    def __init__(
        self,
        session: Session,
        host: Host,
        settings: Settings,
        navigator: Navigator,
        problems: ProblemController,
        panes: PaneController,
        search: SearchController,
        filter: FilterController,
        export: ExportController,
        stick: StickToEnd,
    ) -> None:
        self._session = session
        self._host = host
        self._settings = settings
        self._panes = panes
        self._navigator = navigator
        self._problems = problems
        self._search = search
        self._filter = filter
        self._export = export
        self._stick = stick

    # The audience.

    def toggle_debug(self) -> None:
        """Switch between the safe view and the debug view."""
        self.set_level(Level.SAFE if self._session.display.debug else Level.DEBUG)

    def toggle_brief(self) -> None:
        """Switch between the brief view and the safe view."""
        is_brief = self._session.display.level == Level.BRIEF.value
        self.set_level(Level.SAFE if is_brief else Level.BRIEF)

    def set_level(self, level: Level) -> None:
        """Show a view of this level in its initial state."""
        display = self._session.display
        if display.level == level.value:
            return
        if display.sealed:
            self._host.notify(self._settings.scope.refusal)
            return
        if display.strict:
            self._host.notify(STRICT)
            return
        views = {Level.SAFE: display.closed, Level.BRIEF: display.listed, Level.DEBUG: display.opened}
        self._panes.arrange(debug=level is Level.DEBUG)
        self.apply(views[level]())
        self._panes.fit_after_layout()

    def toggle_analysis(self) -> None:
        self._toggle(Reveal.ANALYSIS, "Thoughts")

    def toggle_commentary(self) -> None:
        self._toggle(Reveal.COMMENTARY, "Commentary")

    def toggle_tools(self) -> None:
        self._toggle(Reveal.TOOL, "Tools")

    def toggle_system(self) -> None:
        self._toggle(Reveal.SYSTEM, "System and developer")

    def _toggle(self, channel: Reveal, name: str) -> None:
        self.apply(self._session.display.toggled(channel))
        channels = self._session.display.channels
        words = f"{name}: {'shown' if channel in channels else 'hidden'}."
        if channel is Reveal.TOOL and Reveal.COMMENTARY in channels and channel not in channels:
            words = f"{name}: results hidden. To hide their calls as well, press {self._host.key_of('commentary')}."
        self._host.notify(words)

    def toggle_raw(self) -> None:
        """Switch between the exact bytes and the bodies of messages."""
        self.apply(replace(self._session.display, raw=not self._session.display.raw))

    def toggle_usage(self) -> None:
        """Show or hide tokens and cost in the outline, in the calls, and between turns."""
        self.show_usage(not self._session.display.usage)

    def show_usage(self, is_shown: bool) -> None:
        """Show or hide tokens and cost."""
        session = self._session
        if not session.display.debug:
            self._host.notify(DEBUG_ONLY)
        elif session.usages is None or session.usages.total() is None:
            self._host.notify("This transcript contains no token usage.")
        else:
            self._lay_out_again(lambda: session.show_usage(is_shown))
            self._host.notify(f"Tokens and cost: {'shown' if is_shown else 'hidden'}.")

    def next_times(self) -> None:
        """Switch to the next way of showing times."""
        self.show_times(self._session.times.next)

    def show_times(self, times: Times) -> None:
        """Set how message times are shown, and show a notification."""
        self._lay_out_again(lambda: self._session.show_times(times))
        self._host.notify(_TIMES[times])

    def toggle_markdown(self) -> None:
        """Switch between rendered Markdown and its source."""
        self.render_markdown(not self.renders_markdown)

    @property
    def renders_markdown(self) -> bool:
        """True if Markdown is rendered; otherwise its source is shown."""
        chosen = self._session.markdown
        return self._settings.markdown if chosen is None else chosen

    def render_markdown(self, is_rendered: bool) -> None:
        """Render Markdown, or show its source."""
        self._lay_out_again(lambda: self._session.render_markdown(is_rendered))

    def toggle_wrap(self) -> None:
        """Switch between wrapped and unwrapped lines."""
        self.wrap_lines(not self._session.wrapped)

    def wrap_lines(self, is_wrapped: bool) -> None:
        """Wrap long lines, or show them unwrapped and scroll sideways."""
        self._lay_out_again(lambda: self._session.wrap_lines(is_wrapped))
        self._host.viewport.scroll_sideways(None)
        words = (
            "Long lines are wrapped." if is_wrapped else "Long lines are not wrapped. The arrow keys scroll sideways."
        )
        self._host.notify(words)

    def take_arrow(self, key: str) -> bool:
        """Scroll sideways with an arrow key if lines are unwrapped. Return True if the key was used."""
        if self._session.wrapped or self._panes.focused is not Panel.TRANSCRIPT:
            return False
        self._host.viewport.scroll_sideways(ARROWS[key])
        return True

    def _lay_out_again(self, change: Callable[[], Changed]) -> None:
        """Make a change that lays out all bodies again. The message under the cursor keeps its screen line; if it
        begins above the screen, the text at the top stays there."""
        viewport = self._host.viewport
        above = viewport.line_of_cursor
        self._host.redraw(change())
        if viewport.cursor_row is not None and (
            above is not None or viewport.cursor_row not in viewport.rows_on_screen
        ):
            viewport.go_to_cursor(self._navigator.cursor, above=above)
        self._host.redraw(Changed.FOCUS)

    def apply(self, display: DisplayState) -> None:
        """Apply a display state. For a new audience, repeat the search and the filter. Both end if the new level is
        lower, and a filter also ends if the new level does not allow it."""
        with self._stick.kept():
            if self._filter.is_wanted and not display.reveals_less(self._session.display):
                self._filter.repeat_after(partial(self._apply, display))
            elif self._filter.is_wanted or display.audience != self._session.display.audience:
                self._apply_to_audience(display)
            else:
                self._apply(display)
        self._export.repeat_question()

    def _apply_to_audience(self, display: DisplayState) -> None:
        before = self._session.display
        self._filter.forget()
        query, matches = self._search.drop_matches()
        self._apply(display)
        if query is not None and not display.reveals_less(before):
            is_first = display.debug and not before.debug
            self._search.search_audience(query, matches if is_first else None)

    def _apply(self, display: DisplayState) -> None:
        """Apply the display state and keep the focused message on its screen line."""
        viewport = self._host.viewport
        above, cursor = viewport.line_of_cursor, self._navigator.cursor
        if display.reveals_less(self._session.display):
            self._search.end()
            self._problems.select(None)
            self._navigator.forget_places(self._session.display.level)
            self._host.forget_revealed()
        is_level = display.level != self._session.display.level
        changed = self._session.apply(display)
        cursor = self._navigator.cursor_in_view(cursor)
        if cursor.is_set:
            viewport.hold_cursor(cursor, above)
        else:
            viewport.put_cursor(cursor)
        self._host.redraw(changed | (Changed.LAYOUT if is_level else Changed.NOTHING))

    # Escape.

    def clear(self) -> None:
        """Forget the count, and do the first of these that applies: stop an export, return to the transcript, end the
        search, end the filter, leave the sub-agent."""
        self._navigator.forget_count()
        self.close_top()

    def close_top(self) -> bool:
        """Do the first step of `clear` that applies. Return True if there was one."""
        if self._export.stop() or self._panes.leave():
            return True
        if self._search.searcher and not self._filter.is_active:
            self._search.end()
            self._host.redraw(Changed.BLOCKS | Changed.MATCHES | Changed.FOCUS)
            return True
        if self._filter.is_active:
            self._end_filter()
            return True
        if self._session.agent:
            self._show_agent(0)
            return True
        return False

    def _end_filter(self) -> None:
        """Show all messages again. The message under the cursor keeps its screen line."""
        viewport, cursor = self._host.viewport, self._navigator.cursor
        above = viewport.line_of_cursor
        self._search.end()
        self._filter.clear()
        if cursor.is_set:
            viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)
        self._host.redraw(Changed.BLOCKS | Changed.MATCHES | Changed.FOCUS)

    # Folds.

    def open(self) -> None:
        """Explain the problem of the last jump, or fold or unfold the focused message."""
        problem = self._problems.selected
        if problem is not None:
            self._problems.select(None)
            self._panes.explain(problem)
        else:
            self.open_message()

    def open_message(self) -> None:
        """Fold or unfold the message under the cursor, the value there, or the row that folds messages."""
        number = self._navigator.focused_number
        if self._host.viewport.is_node_open() is not None:
            self.turn_node(number, self._navigator.cursor.node)
        elif number:
            unfolded = not self._session.is_unfolded(number)
            self._refold(number, self._session.fold(number, unfolded))
        else:
            self._open_folded()

    def _open_folded(self) -> None:
        """Unfold the branch under the cursor, or show the sub-agent's transcript there. For hidden messages, report the
        keys that show them."""
        row = self._navigator.cursor_row
        kind = self._session.folded_at(row)
        if row is None or kind is None:
            self._explain_hidden(row)
            return
        number = self._session.rows.last_number(row) - self._session.rows.value(row) + 1
        if kind is RowKind.BRANCH:
            self._redraw_branch(self._session.fold_branch(number, True), number)
        else:
            self._show_agent(number)
            self._host.notify(f"{self._host.key_of('parent')} goes back.")

    def _explain_hidden(self, row: int | None) -> None:
        """Report which keys show the hidden messages under the cursor."""
        display, host = self._session.display, self._host
        if row is None or self._session.rows.kind(row) not in (RowKind.HIDDEN, RowKind.CALL):
            return
        if display.debug:
            *others, last = (host.key_of(id) for id in ("analysis", "commentary", "tools", "system"))
            host.notify(f"Press {', '.join(others)}, or {last} to show more messages.")
        else:
            host.notify(self._settings.scope.refusal if display.sealed else DEBUG_ONLY)

    def _redraw_branch(self, changed: Changed, number: int) -> None:
        """Draw new rows. The message, or the row that folds it, keeps its screen line."""
        above = self._host.viewport.line_of_cursor
        self._redraw_rows(changed)
        row = self._session.rows.row_holding(number)
        if row is not None:
            folded = self._session.folded_at(row) is not None
            shown = number if folded else self._session.nearest_shown(number)
            self._navigator.focus_row(self._session.rows.row_of(shown), above=above)
        self._host.redraw(Changed.FOCUS)

    def _redraw_rows(self, changed: Changed) -> None:
        """Draw new rows for the same audience and search them again."""
        self._host.redraw(changed)
        if self._search.searcher is not None:
            self._search.repeat()

    def _show_agent(self, number: int) -> None:
        """Show the transcript of a message's sub-agent; 0 shows the main transcript."""
        viewport, before = self._host.viewport, self._session.agent
        self._filter.clear()
        self._redraw_rows(self._session.open_agent(number))
        viewport.go_back()
        if number:
            self._navigator.focus_message(self._session.nearest_shown(number))
        else:
            self._navigator.show_message(before)
        self._host.redraw(Changed.FOCUS)

    def leave_open_agent(self) -> None:
        """Return to the main transcript if a sub-agent's transcript is open."""
        if self._session.agent:
            self._show_agent(0)

    def open_agent(self) -> None:
        """Open the transcript of the sub-agent under the cursor, at the message that the jump led to."""
        row, number = self._navigator.cursor_row, self._navigator.cursor.number
        if row is not None and self._session.folded_at(row) is RowKind.AGENT:
            self._show_agent(number)

    def leave_agent(self) -> None:
        """Return from a sub-agent's transcript to where it was opened."""
        if self._session.agent:
            self._show_agent(0)
        else:
            self._host.notify("This is the main transcript.")

    def unfold_branches(self) -> None:
        """Unfold superseded branches so that a search finds their text."""
        changed, cursor = self._session.unfold_branches(), self._navigator.cursor
        if changed:
            above = self._host.viewport.line_of_cursor
            self._host.redraw(changed)
            self._host.viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)
            self._host.redraw(Changed.FOCUS)

    def fold(self) -> None:
        """Fold the message; if it is already folded, fold the branch that contains it."""
        number, node = self._navigator.focused_number, self._host.viewport.is_node_open()
        if node is not None:
            self.turn_node(number, self._navigator.cursor.node) if node else self._leave_node(number)
            return
        branch = self._session.projection.branch_of(number) if number else None
        is_open = branch is not None and any(branch[0] <= each <= branch[1] for each in self._session.unfolded)
        if is_open and self._session.folds.get(number) is False:
            self._redraw_branch(self._session.fold_branch(number, False), number)
        else:
            self._refold(number, self._session.fold_less(number))

    def unfold(self) -> None:
        """Unfold the message, open its next level, or unfold the folded row."""
        number, node = self._navigator.focused_number, self._host.viewport.is_node_open()
        if node is not None:
            self.turn_node(number, self._navigator.cursor.node) if not node else None
        elif number:
            self._refold(number, self._session.unfold_more(number))
        else:
            self._open_folded()

    def unfold_tree(self) -> None:
        """Open all nodes of the message."""
        number = self._navigator.focused_number
        if number:
            self._refold(number, self._session.unfold_more(number, ALL_NODES))

    def turn_node(self, number: int, node: int) -> None:
        """Fold or unfold one value of a message, and put the cursor on it."""
        self._host.redraw(self._session.turn_node(number, node))
        self._host.viewport.go_to_cursor(Cursor(number, node=node))
        self._host.redraw(Changed.FOCUS)

    def _leave_node(self, number: int) -> None:
        """Put the cursor on the card itself."""
        self._navigator.focus_message(number)
        self._host.redraw(Changed.FOCUS)

    def _refold(self, number: int, changed: Changed) -> None:
        if number:
            above = self._host.viewport.line_of_cursor
            self._host.redraw(changed)
            self._navigator.focus_message(number, above=above)
            self._host.redraw(Changed.FOCUS)

    def toggle_all_folds(self) -> None:
        """Reset all folds; if there are none, unfold everything."""
        viewport, cursor = self._host.viewport, self._navigator.cursor
        above = viewport.line_of_cursor
        self._redraw_rows(self._session.toggle_all_folds())
        viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)
        self._host.redraw(Changed.FOCUS)
