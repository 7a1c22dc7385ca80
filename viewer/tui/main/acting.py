"""What the person does with the view: channels and panes, folds, copies, files, help, leaving."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from textual.widget import Widget

from viewer.document.values import ShownDiagnostic
from viewer.model.visibility import Reveal
from viewer.rules import RULES
from viewer.tui.bars.status import Notice
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.main.copy import Copying
from viewer.tui.main.parts import LeaveWanted, ThemeWanted
from viewer.tui.panes.inspector_lines import Tab
from viewer.tui.terminal.clipboard import copy

TWICE_SECONDS = 2.0


class Acting(Copying):
    """Actions on the view, the message that has the focus, and the program."""

    _interrupted = 0.0

    def only_in_debug(self) -> bool:
        """Say so in the safe view; whether that is where we are not."""
        if not self.state.debug:
            self.say(DEBUG_ONLY)
        return self.state.debug

    def action_debug(self) -> None:
        """From the safe view to the debug view and back."""
        leaves = self.state.debug
        if leaves:
            self.outline.display = False  # or it would be made for the safe view first
        self.change(self.state.closed() if leaves else self.state.opened())
        self.lay_out()

    def action_analysis(self) -> None:
        self._toggle(Reveal.ANALYSIS)

    def action_commentary(self) -> None:
        self._toggle(Reveal.COMMENTARY)

    def action_tools(self) -> None:
        self._toggle(Reveal.TOOL)

    def action_system(self) -> None:
        self._toggle(Reveal.SYSTEM)

    def _toggle(self, channel: Reveal) -> None:
        if self.only_in_debug():
            self.change(self.state.toggled(channel))

    def action_side_panes(self) -> None:
        """Thoughts inline, or in panes beside the conversation."""
        if self.only_in_debug():
            if not self.is_roomy and not self.state.side_panes:
                self.say("side panes need 100 columns")
                return
            self.change(replace(self.state, side_panes=not self.state.side_panes))
            self.lay_out()

    def action_raw(self) -> None:
        """The exact bytes and back."""
        if self.only_in_debug():
            self.change(replace(self.state, raw=not self.state.raw))

    def lay_out(self) -> None:
        """Open the panes that belong to the view, as far as there is room."""
        roomy = self.is_roomy
        panels = roomy and self.state.debug and not self.state.side_panes
        self.outline.display = panels and self.settings.outline.is_open
        self.inspector.display = panels and self.settings.inspector.is_open
        room = roomy and self.state.debug and self.size.height >= 30
        self.problems.display = room and self.settings.problems.is_open
        self.calls.display = False
        self.show_outline()
        self.call_after_refresh(self.fit)

    def fit(self, *, whole: bool = False) -> None:
        """Make blocks for the present width; the row of the cursor stays on the screen, all of it if asked for."""
        self.show_transcripts()
        if whole or self.transcript.cursor_row() not in (None, *self.transcript.rows_on_screen()):
            self.transcript.go_to_cursor(self.transcript.cursor)
        self.moved()

    def _switch(self, pane: Widget) -> None:
        """Open a pane, or close it."""
        pane.display = not pane.display
        self.call_after_refresh(partial(self.fit, whole=True))

    def action_outline(self) -> None:
        self._switch(self.outline)
        self.show_outline()

    def action_inspector(self) -> None:
        if self.only_in_debug():
            self._switch(self.inspector)

    def action_next_tab(self) -> None:
        if self.only_in_debug():
            self.inspector.next_tab()

    def action_problems(self) -> None:
        self._switch(self.problems)

    def action_calls(self) -> None:
        if self.only_in_debug():
            self._switch(self.calls)

    def action_open(self) -> None:
        """Explain the problem that was just gone to, else unfold or fold the focused message."""
        if self.pointed is not None:
            self._explain(self.pointed)
            return
        number = self.focused_number
        if number:
            self._fold(number, not self.facts.folds.get(number, False))

    def _explain(self, found: ShownDiagnostic) -> None:
        """What the problem means and what to do: in the inspector, or in the safe view in a sentence."""
        self.pointed = None
        rule = RULES[found.code]
        if not self.state.debug:
            self.say(f"{found.code}: {rule.safe} ({rule.section})")
            return
        self.inspector.display = True
        self.inspector.open_tab(Tab.PROBLEMS)
        self.call_after_refresh(self.fit)

    def action_fold(self) -> None:
        self._fold(self.focused_number, False)

    def action_unfold(self) -> None:
        self._fold(self.focused_number, True)

    def _fold(self, number: int, unfolded: bool) -> None:
        if number:
            above = self.transcript.line_of_focus()
            self.facts.folds[number] = unfolded
            self.transcript.redraw()
            self.focus_message(number, above=above)
            self.moved()

    def action_fold_all(self) -> None:
        """Forget what was unfolded; again: unfold what is on the screen."""
        above, cursor = self.transcript.line_of_focus(), self.cursor
        if self.facts.folds:
            self.facts.folds.clear()
        else:
            rows = self.view.rows
            self.facts.folds.update({rows.value(row): True for row in range(len(rows)) if rows.label(row)})
        self.transcript.redraw()
        self.transcript.go_to_cursor(cursor, above=above)
        self.moved()

    def action_edit(self) -> None:
        """The person's editor at the line of the focused message."""
        from viewer.tui.terminal.editor import edit

        if self.only_in_debug():
            shown = self.view.projection.message(self.focused_number) if self.focused_number else None
            line = shown.line if shown else None
            problem = edit(self.app, self.state.audience, self.document.name, line)
            if problem:
                self.say(problem, Notice.WARNING)

    def action_help(self) -> None:
        from viewer.tui.dialogs.help import HelpScreen

        self.app.push_screen(HelpScreen(self.painter, self.printing, self.actions))

    def action_theme(self) -> None:
        """Choose other colours."""
        self.post_message(ThemeWanted())

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_suspend(self) -> None:
        self.app.action_suspend_process()

    def action_clear(self) -> None:
        """Close what is open on top."""
        self.close_top()

    def action_leave(self) -> None:
        """Close what is open; with nothing open, quit."""
        if not self.close_top():
            self.post_message(LeaveWanted())

    def close_top(self) -> bool:
        """Stop an export, close the search, or a pane that was opened; whether there was one."""
        if self.stop_export():
            return True
        if self.view_is_filtered() or self.searcher or self.prompt.is_asking:
            self.end_search()
            self.unfilter()
            self.transcript.redraw()
            self.show_minimap()
            return True
        for pane in (self.calls, self.problems, self.inspector):
            if pane.display and not (self.is_roomy and self.state.debug and pane is not self.calls):
                pane.display = False
                self.call_after_refresh(self.fit)
                return True
        return False

    def view_is_filtered(self) -> bool:
        """Whether only matching messages are shown."""
        raise NotImplementedError

    def unfilter(self) -> None:
        """Show all messages again."""
        raise NotImplementedError

    def action_copy_or_quit(self) -> None:
        """Copy the selection; with none, a second press quits."""
        selected = self.get_selected_text()
        if selected:
            copy(self.app, selected)
            self.say("copied the selection", Notice.DONE)
            return
        if time.monotonic() - self._interrupted < TWICE_SECONDS:
            self.app.exit(130, 130)
        self._interrupted = time.monotonic()
        self.say(f"{self.key_of('copy_or_quit')} again quits")
