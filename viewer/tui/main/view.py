"""View controller: safe or debug view, channels, raw bytes, open panes, and folds."""

from __future__ import annotations

from enum import Enum
from functools import partial

from msgspec.structs import replace

from viewer.document.rows import RowKind
from viewer.document.values import ShownDiagnostic
from viewer.model.visibility import Reveal
from viewer.render.blocks.json_rows import ALL_NODES
from viewer.rules import RULES
from viewer.tui.display_state import DisplayState
from viewer.tui.host import Host
from viewer.tui.main.export import ExportController
from viewer.tui.main.filter import FilterController
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.search import SearchController
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.panes.inspector_lines import Tab
from viewer.tui.session import Changed, Session
from viewer.tui.settings.settings import Settings


class Panel(Enum):
    """A pane that opens and closes."""

    OUTLINE = "outline"
    INSPECTOR = "inspector"
    PROBLEMS = "problems"
    CALLS = "calls"


class ViewController:
    """Owns which panes are open, and the tab of the inspector."""

    def __init__(
        self,
        session: Session,
        host: Host,
        settings: Settings,
        navigator: Navigator,
        search: SearchController,
        filter: FilterController,
        export: ExportController,
        stick: StickToEnd,
    ) -> None:
        self.open_panes: frozenset[Panel] = frozenset()
        self.inspector_tab = Tab.HEADER
        self._session = session
        self._host = host
        self._settings = settings
        self._navigator = navigator
        self._search = search
        self._filter = filter
        self._export = export
        self._stick = stick
        self._held_line: int | None = None
        """The screen line of the focused message before a change of size."""

    # The audience.

    def toggle_debug(self) -> None:
        """Switch between the safe view and the debug view."""
        display = self._session.display
        if display.debug:
            self.open_panes -= {Panel.OUTLINE}  # an open outline would be made for the safe view first
            self._host.redraw(Changed.LAYOUT)
        self.apply(display.closed() if display.debug else display.opened())
        self.lay_out()

    def toggle_analysis(self) -> None:
        self._toggle(Reveal.ANALYSIS)

    def toggle_commentary(self) -> None:
        self._toggle(Reveal.COMMENTARY)

    def toggle_tools(self) -> None:
        self._toggle(Reveal.TOOL)

    def toggle_system(self) -> None:
        self._toggle(Reveal.SYSTEM)

    def _toggle(self, channel: Reveal) -> None:
        self.apply(self._session.display.toggled(channel))

    def toggle_side_panes(self) -> None:
        """Show reasoning inline, or in panes next to the conversation."""
        display = self._session.display
        if not self._host.is_roomy and not display.side_panes:
            self._host.notify("Side panes need 100 columns.")
            return
        self.apply(replace(display, side_panes=not display.side_panes))
        self.lay_out()

    def toggle_raw(self) -> None:
        """Show the exact bytes, or the bodies."""
        self.apply(replace(self._session.display, raw=not self._session.display.raw))

    def toggle_markdown(self) -> None:
        """Render Markdown, or show its source."""
        session, viewport = self._session, self._host.viewport
        above = viewport.line_of_cursor
        is_rendered = self._settings.markdown if session.markdown is None else session.markdown
        self._host.redraw(session.render_markdown(not is_rendered))
        if viewport.cursor_row is not None:
            viewport.go_to_cursor(self._navigator.cursor, above=above)
        self._host.redraw(Changed.FOCUS)

    def apply(self, display: DisplayState) -> None:
        """Use another display. Another audience ends the filter and repeats the search."""
        with self._stick.kept():
            if self._filter.is_active or display.audience != self._session.display.audience:
                self._apply_to_audience(display)
            else:
                self._apply(display)
        self._export.repeat_question()

    def _apply_to_audience(self, display: DisplayState) -> None:
        was_safe = not self._session.display.debug
        self._filter.forget()
        query, matches = self._search.drop_matches()
        self._apply(display)
        if query is not None and (was_safe or display.debug):
            self._search.search_audience(query, matches if was_safe and display.debug else None)

    def _apply(self, display: DisplayState) -> None:
        """The focused message keeps its line on the screen."""
        viewport = self._host.viewport
        above, cursor = viewport.line_of_cursor, self._navigator.cursor
        if self._session.display.debug and not display.debug:
            self._search.end()
            self._navigator.select_problem(None)
            self._host.forget_revealed()
        changed = self._session.apply(display)
        cursor = self._navigator.cursor_in_view(cursor)
        viewport.put_cursor(cursor)
        self._host.redraw(changed)
        if cursor.is_set:
            viewport.go_to_cursor(cursor, above=above)
            self._host.redraw(Changed.FOCUS)

    # Panes.

    def lay_out(self) -> None:
        """Open the panes of the view, as far as there is room."""
        display, settings, is_roomy = self._session.display, self._settings, self._host.is_roomy
        has_columns = is_roomy and display.debug and not display.side_panes
        has_lines = is_roomy and display.debug and self._host.is_tall
        panes = {
            Panel.OUTLINE: has_columns and settings.outline.is_open,
            Panel.INSPECTOR: has_columns and settings.inspector.is_open,
            Panel.PROBLEMS: has_lines and settings.problems.is_open,
        }
        self.open_panes = frozenset(pane for pane, is_open in panes.items() if is_open)
        self._host.redraw(Changed.LAYOUT | Changed.LISTS)
        self._host.call_after_refresh(self.fit)

    def fit(self, *, whole: bool = False) -> None:
        """Make the blocks for the present width. The row of the cursor stays visible, with `whole` completely."""
        with self._stick.kept():
            viewport = self._host.viewport
            self._host.redraw(Changed.ROWS)
            if whole or viewport.cursor_row not in (None, *viewport.rows_on_screen):
                viewport.go_to_cursor(viewport.cursor)
            self._host.redraw(Changed.FOCUS)

    def hold_line(self) -> None:
        """Before a change of size, remember the screen line of the focused message."""
        if self._held_line is None:
            self._held_line = self._host.viewport.line_of_cursor

    def fit_to_size(self) -> None:
        """Make the blocks for a new size. The row of the cursor stays on the screen."""
        above, self._held_line = self._held_line, None
        self.fit()
        if above is not None:
            viewport = self._host.viewport
            viewport.go_to_cursor(self._navigator.cursor, above=min(above, viewport.view_height // 2))
            self._host.redraw(Changed.FOCUS)

    def toggle_outline(self) -> None:
        self._toggle_pane(Panel.OUTLINE, Changed.LISTS)

    def toggle_inspector(self) -> None:
        self._toggle_pane(Panel.INSPECTOR)

    def toggle_problems(self) -> None:
        self._toggle_pane(Panel.PROBLEMS)

    def toggle_calls(self) -> None:
        self._toggle_pane(Panel.CALLS)

    def _toggle_pane(self, pane: Panel, changed: Changed = Changed.NOTHING) -> None:
        self.open_panes ^= {pane}
        self._host.redraw(Changed.LAYOUT | changed)
        self._host.call_after_refresh(partial(self.fit, whole=True))

    def close_top(self) -> bool:
        """Stop an export, end search and filter, or close a pane; True if there was one."""
        if self._export.stop():
            return True
        if self._filter.is_active or self._search.searcher or self._host.prompt.is_asking:
            self._search.end()
            self._filter.clear()
            self._host.redraw(Changed.BLOCKS | Changed.MATCHES)
            return True
        if self._session.agent:
            self._show_agent(0)
            return True
        return self._close_pane()

    def _close_pane(self) -> bool:
        """Close the top pane that the layout did not open; True if there was one."""
        keeps_open = self._host.is_roomy and self._session.display.debug
        for pane in (Panel.CALLS, Panel.PROBLEMS, Panel.INSPECTOR):
            if pane in self.open_panes and (pane is Panel.CALLS or not keeps_open):
                self.open_panes -= {pane}
                self._host.redraw(Changed.LAYOUT)
                self._host.call_after_refresh(self.fit)
                return True
        return False

    def next_tab(self) -> None:
        """Show the next tab of the inspector."""
        self._open_tab(self.inspector_tab.next(1))

    def select_tab(self, tab: Tab) -> None:
        """Remember the tab that a click opened."""
        self.inspector_tab = tab

    def _open_tab(self, tab: Tab) -> None:
        self.inspector_tab = tab
        self._host.redraw(Changed.TAB)

    # Folds.

    def open(self) -> None:
        """Explain the problem of the last jump, or unfold or fold the focused message."""
        problem = self._navigator.selected_problem
        if problem is not None:
            self._navigator.select_problem(None)
            self._explain(problem)
            return
        number = self._navigator.focused_number
        if number:
            unfolded = not self._session.folds.get(self._session.card_of(number), False)
            self._refold(number, self._session.fold(number, unfolded))
        else:
            self._open_folded()

    def _explain(self, problem: ShownDiagnostic) -> None:
        """Explain a problem: in the inspector, or in one sentence in the safe view."""
        rule = RULES[problem.code]
        if not self._session.display.debug:
            self._host.notify(f"{problem.code}: {rule.safe} ({rule.section})")
            return
        self.open_panes |= {Panel.INSPECTOR}
        self._host.redraw(Changed.LAYOUT)
        self._open_tab(Tab.PROBLEMS)
        self._host.call_after_refresh(self.fit)

    def _open_folded(self) -> None:
        """Unfold the branch under the cursor, or open the transcript of the sub-agent."""
        row = self._navigator.cursor_row
        kind = self._session.folded_at(row)
        if row is None or kind is None:
            return
        number = self._session.rows.last_number(row) - self._session.rows.value(row) + 1
        if kind is RowKind.BRANCH:
            self._redraw_branch(self._session.fold_branch(number, True), number)
        else:
            self._show_agent(number)
            self._host.notify(f"{self._host.key_of('parent')} goes back.")

    def _redraw_branch(self, changed: Changed, number: int) -> None:
        """Draw other rows. The message, or the row that folds it, stays on its line of the screen."""
        above = self._host.viewport.line_of_cursor
        self._redraw_rows(changed)
        row = self._session.rows.row_holding(number)
        if row is not None:
            folded = self._session.folded_at(row) is not None
            shown = number if folded else self._session.nearest_shown(number)
            self._navigator.focus_row(self._session.rows.row_of(shown), above=above)
        self._host.redraw(Changed.FOCUS)

    def _redraw_rows(self, changed: Changed) -> None:
        """Draw other rows of the same audience, and search them again."""
        self._host.redraw(changed)
        if self._search.searcher is not None:
            self._search.repeat()

    def _show_agent(self, number: int) -> None:
        """Show the transcript of the sub-agent of a message, or with 0 the whole transcript."""
        viewport, before = self._host.viewport, self._session.agent
        self._filter.clear()
        self._redraw_rows(self._session.open_agent(number))
        viewport.go_back()
        if number:
            self._navigator.focus_message(self._session.nearest_shown(number))
        else:
            self._navigator.show_message(before)
        self._host.redraw(Changed.FOCUS)

    def leave_agent(self) -> None:
        """Return from the transcript of a sub-agent to its place."""
        if self._session.agent:
            self._show_agent(0)
        else:
            self._host.notify("This is the main transcript.")

    def unfold_branches(self) -> None:
        """Unfold what a search is to find."""
        changed, cursor = self._session.unfold_branches(), self._navigator.cursor
        if changed:
            above = self._host.viewport.line_of_cursor
            self._host.redraw(changed)
            self._host.viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)
            self._host.redraw(Changed.FOCUS)

    def fold(self) -> None:
        """Fold the message; the second time, the branch that it is on."""
        number = self._navigator.focused_number
        branch = self._session.projection.branch_of(number) if number else None
        is_open = branch is not None and any(branch[0] <= each <= branch[1] for each in self._session.unfolded)
        if is_open and self._session.folds.get(number) is False:
            self._redraw_branch(self._session.fold_branch(number, False), number)
        else:
            self._refold(number, self._session.fold_less(number))

    def unfold(self) -> None:
        """Unfold the message, open its next level, or unfold what is folded here."""
        number = self._navigator.focused_number
        if number:
            self._refold(number, self._session.unfold_more(number))
        else:
            self._open_folded()

    def unfold_tree(self) -> None:
        """Open all nodes of the message."""
        number = self._navigator.focused_number
        if number:
            self._refold(number, self._session.unfold_more(number, ALL_NODES))

    def turn_node(self, number: int, node: int) -> None:
        """Fold or unfold one value of a message."""
        self._refold(number, self._session.turn_node(number, node))

    def _refold(self, number: int, changed: Changed) -> None:
        if number:
            above = self._host.viewport.line_of_cursor
            self._host.redraw(changed)
            self._navigator.focus_message(number, above=above)
            self._host.redraw(Changed.FOCUS)

    def toggle_all_folds(self) -> None:
        """Fold all messages; without folds, unfold all."""
        viewport, cursor = self._host.viewport, self._navigator.cursor
        above = viewport.line_of_cursor
        self._redraw_rows(self._session.toggle_all_folds())
        viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)
        self._host.redraw(Changed.FOCUS)
