"""Merged view: the messages of several files, ordered by time, each with its file's letter."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Vertical
from textual.screen import Screen

from viewer.document.backend import load_backend
from viewer.document.rows import RowKind
from viewer.model.visibility import Level
from viewer.render.blocks.merged import GUTTER, MergedMaker
from viewer.render.page import BlockMaker
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Style, Styled, trusted
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.bars.title import TitleBar
from viewer.tui.cursor import Cursor, cursor_at
from viewer.tui.display_state import DisplayState
from viewer.tui.files.keys import merged_actions
from viewer.tui.host import Notice, PromptKind
from viewer.tui.keys import bindings, by_id, is_digit
from viewer.tui.main.messages import Ask, Leave, OpenAt, ThemeWanted
from viewer.tui.main.program import TWICE_SECONDS
from viewer.tui.main.read_worker import CHECK_SECONDS
from viewer.tui.main.view import STRICT
from viewer.tui.merged.captions import copy_at, place_at, status_facts, title_facts
from viewer.tui.merged.search import MergedSearch
from viewer.tui.merged.sources import MergedSources
from viewer.tui.settings.settings import Settings
from viewer.tui.startup import Opener, is_stream
from viewer.tui.terminal.clipboard import copy, forget
from viewer.tui.terminal.paint import Painter, forget_widths
from viewer.tui.transcript.transcript import Transcript

QUIET_SECONDS = 0.1
"""Seconds between checks of the inputs if nothing has arrived."""
DRAW_SECONDS = 0.1
"""The minimum number of seconds between redraws while the inputs are being read. The interval is longer if drawing is
slow."""
SEARCH_SECONDS = 0.01
_MOST_COUNTED = 9999
_PREFIXES = ("search",)


class MergedScreen(Screen[None]):
    """Shows several files as one. A file opened from here has its own screen, with all keys."""

    AUTO_FOCUS = "#transcript"
    DEFAULT_CSS = "MergedScreen { layout: vertical; }"

    def __init__(
        self,
        opener: Opener,
        paths: Sequence[str],
        state: DisplayState,
        stalled_after: float,
        painter: Painter,
        settings: Settings,
        ask: Ask,
        *,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        self._ask = ask
        self.sources = MergedSources(opener, paths, stalled_after, state.audience)
        self.state = state
        self.printing = printing = Style(color=True, ascii=ascii_only, wrapped=True)
        self.actions = merged_actions(settings.actions, settings.scope)
        self.is_busy = True
        """True until all inputs have been read once."""
        self._settings = settings
        self._painter = painter
        self.search: MergedSearch | None = None
        self._at_end = any(each.is_followed for each in self.sources.sources)
        """True if the view stays at the end."""
        self._is_closed = False
        self._count = ""
        self._interrupted_at = 0.0
        self._title = TitleBar(painter, printing)
        self.transcript = Transcript(painter, printing.signs, id="transcript")
        self._status = StatusLine(painter, printing)
        self.prompt = Prompt(self._status.show_search, printing)
        self._footer = KeyFooter(painter, printing, actions=self.actions)
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)
        self._prefixes = {key: id for id in _PREFIXES for key in by_id(id, self.actions).keys}

    def compose(self) -> ComposeResult:
        """Yield a title, the messages, the status row, and the keys."""
        yield self._title
        yield self.transcript
        yield Vertical(self.prompt, self._status, id="status-row")
        yield self._footer

    def on_mount(self) -> None:
        """Start reading."""
        self.set_class(self.printing.ascii, "-ascii")
        self._footer.show(FooterView.MERGED)
        self.prompt.close()
        self._show()
        self.run_worker(self._read(), group="tail")

    def on_unmount(self) -> None:
        self._is_closed = True
        if self.search is not None:
            self.search.close()
        self.sources.close()

    def on_resize(self) -> None:
        """Lay out the messages for the new width."""
        self.call_after_refresh(self._show)

    # Reading.

    async def _read(self) -> None:
        """Read all inputs in turn, until the screen is closed."""
        changed: set[int] = set()
        drawn_at, spent = 0.0, 0.0
        while not self._is_closed:
            is_more = False
            for place, source in enumerate(self.sources.sources):
                if source.document.needs_backend:
                    await asyncio.to_thread(load_backend)  # slow only the first time, because it imports modules
                source.check_for_rewrite()
                grew, more = self.sources.step(place)
                is_more |= more
                changed |= {place} if grew else set()
                await asyncio.sleep(0)
            now = time.monotonic()
            if changed and (not is_more or now - drawn_at > max(DRAW_SECONDS, 4 * spent)):
                self._grow(changed)
                changed, drawn_at = set(), time.monotonic()
                spent = drawn_at - now
            if not is_more:
                self.sources.end_round()
                self.is_busy = False
                self._draw_bars()
            is_quiet = not any(each.is_followed for each in self.sources.sources)
            await asyncio.sleep(0 if is_more else CHECK_SECONDS if is_quiet else QUIET_SECONDS)

    def _grow(self, changed: set[int]) -> None:
        """Add the new rows of these inputs, and keep the scroll position or stay at the end."""
        if not self.is_attached:
            return
        above = self.transcript.line_of_cursor
        self.sources.extend(changed)
        if self.search is not None:
            self.search = MergedSearch(self.sources, self.search.typed)
            self._find()
        self._show(above)

    # Drawing.

    def _show(self, above: int | None = None) -> None:
        """Draw the rows. Keep the view at its end or, if it is not there, the cursor `above` lines below the top."""
        if not self.is_attached or self._is_closed:
            return
        pane, rows = self.transcript, self.sources.rows
        signs, wrap = self.printing.signs, self._settings.wrap
        width = pane.size.width
        makers = [
            BlockMaker(
                *(each.projection, each.rows, width, each.facts(partial(self._spans, place)), signs),
                wrap=wrap,
                gutter=GUTTER,
            )
            for place, each in enumerate(self.sources.sources)
        ]
        pane.show_notes([] if len(rows) else [trusted(self._why_empty())])
        has_cursor = pane.cursor.is_set
        pane.show(MergedMaker(rows, makers))
        if self._at_end:
            self._go_to_end()
        elif has_cursor and above is not None:
            pane.go_to_cursor(pane.cursor, above=above)
        elif len(rows) and not has_cursor:
            pane.put_cursor(pane.first_visible())
        pane.redraw_changed()
        self._draw_bars()

    def _spans(self, place: int, number: int) -> Sequence[Styled]:
        return self.search.spans(place, number) if self.search is not None else ()

    def _why_empty(self) -> str:
        if self.is_busy:
            return "Reading…"
        return "Nothing to show in the safe view." if not self.state.debug else "These files have no messages yet."

    def _draw_bars(self) -> None:
        """Draw the title and the status row."""
        self._title.show(title_facts(self.sources, self.state, at_end=self._at_end, is_busy=self.is_busy))
        self._status.show(status_facts(self.sources, self.transcript.cursor))

    def on_transcript_moved(self, event: Transcript.Moved) -> None:
        """From now on, stay at the end only if the operator has moved to the last message."""
        self._at_end = self.transcript.is_at_end and self._is_last
        self._draw_bars()

    @property
    def _is_last(self) -> bool:
        """True if the cursor is on the last message, or nowhere."""
        row, rows = self.transcript.cursor_row, self.sources.rows
        return row is None or all(rows.kind(each) is not RowKind.MESSAGE for each in range(row + 1, len(rows)))

    def on_transcript_clicked(self, event: Transcript.Clicked) -> None:
        if event.folds:
            self._fold(None)

    # Keys.

    def on_key(self, event: events.Key) -> None:
        """Clear the notice, and handle prefix keys (`/`, digits) immediately so that the keys that follow reach the
        prompt."""
        if self._status.notice:
            self._status.clear_notice()
        if self._handle_key(event):
            event.stop().prevent_default()

    def _handle_key(self, event: events.Key) -> bool:
        if self.prompt.is_asking:
            return self.prompt.take_key(event)
        if is_digit(event.key) and (self._count or event.key != "0"):
            self._count = str(min(int(self._count + event.key), _MOST_COUNTED))
            return True
        prefix = self._prefixes.get(event.key)
        if prefix:
            self.action_do(prefix)
        return prefix is not None

    def action_do(self, id: str) -> None:
        """Call the target of an action, or report that this view does not offer it. This is the only dispatcher."""
        action = by_id(id, self.actions)
        if action.refusal:
            self.action_refuse(action.refusal)
        else:
            getattr(self, action.target)()
        self._count = ""

    def action_refuse(self, sentence: str) -> None:
        """Report that this view does not offer the action of the key."""
        self._notify(sentence)

    async def on_action_chosen(self, event: ActionChosen) -> None:
        event.stop()
        if any(each.id == event.action for each in self.actions):
            await event.run_on(self)

    def _notify(self, sentence: str, kind: Notice = Notice.NOTE) -> None:
        self._status.show_notice(sentence, kind)

    @property
    def _times(self) -> int:
        return int(self._count or 1)

    def line_down(self) -> None:
        self.transcript.move(self._times)

    def line_up(self) -> None:
        self.transcript.move(-self._times)

    def half_page_down(self) -> None:
        self.transcript.move(self.transcript.view_height // 2 * self._times)

    def half_page_up(self) -> None:
        self.transcript.move(-(self.transcript.view_height // 2) * self._times)

    def page_down(self) -> None:
        self.transcript.move((self.transcript.view_height - 1) * self._times)

    def page_up(self) -> None:
        self.transcript.move(-(self.transcript.view_height - 1) * self._times)

    def next_message(self) -> None:
        self._step(1)

    def previous_message(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        for _ in range(self._times):
            cursor = self.transcript.neighbor(step)
            if cursor.is_set:
                self.transcript.go_to_cursor(cursor)

    def top(self) -> None:
        rows = self.sources.rows
        if len(rows):
            self.transcript.go_to_cursor(cursor_at(rows, 0), above=0)

    def bottom(self) -> None:
        """Go to the end, and stay there while the files grow."""
        self._at_end = True
        self._go_to_end()
        self._draw_bars()

    def _go_to_end(self) -> None:
        rows = self.sources.rows
        last = next((row for row in range(len(rows) - 1, -1, -1) if rows.kind(row) is RowKind.MESSAGE), len(rows) - 1)
        if last >= 0:
            self.transcript.put_cursor(cursor_at(rows, last))
        self.transcript.stick_to_end()

    def open_row(self) -> None:
        """Open the file of the message under the cursor, at this message. The file opens at the current level; on
        return, the merged view adopts the file's level."""
        cursor = self.transcript.cursor
        if not cursor.is_set or not len(self.sources.rows):
            return
        path, place = place_at(self.sources, cursor)
        if is_stream(path):
            self._notify("A pipe can be read only once.")
            return
        self._ask(OpenAt(path, place, self.state))
        self.set_level(Level.SAFE)

    def unfold(self) -> None:
        self._fold(True)

    def fold(self) -> None:
        self._fold(False)

    def _fold(self, is_open: bool | None) -> None:
        """Unfold or fold the message under the cursor; if `is_open` is None, toggle it."""
        number = self.transcript.cursor.message
        if not number:
            return
        place, own = self.sources.rows.message_of(number)
        folds = self.sources.sources[place].folds
        folds[own] = not folds.get(own, False) if is_open is None else is_open
        self._show(self.transcript.line_of_cursor)

    def yank(self) -> None:
        """Copy the text of the message under the cursor."""
        copied = copy_at(self.sources, self.transcript.cursor)
        if isinstance(copied, str):
            self._notify(copied)
            return
        copy(self.app, copied.text)
        self._notify(copied.notice, Notice.DONE)

    # The level.

    def toggle_debug(self) -> None:
        """Switch between the safe view and the debug view."""
        self.set_level(Level.SAFE if self.state.debug else Level.DEBUG)

    def toggle_brief(self) -> None:
        """Switch between the brief view, with one line per call, and the safe view."""
        self.set_level(Level.SAFE if self.state.level == Level.BRIEF.value else Level.BRIEF)

    def set_level(self, level: Level) -> None:
        """Show all files at this level. A lower level discards everything that only the higher one showed."""
        if self.state.level == level.value:
            return
        if self.state.strict or self.state.sealed:
            self._notify(STRICT if self.state.strict else self._settings.scope.refusal)
            return
        before, pane = self.state, self.transcript
        views = {Level.SAFE: before.closed, Level.BRIEF: before.listed, Level.DEBUG: before.opened}
        after, number, above = views[level](), pane.cursor.number, pane.line_of_cursor
        self._end_search()
        if after.reveals_less(before):
            self._forget_revealed()
        self.state = after
        self.sources.show(after.audience)
        pane.put_cursor(self._near(number) if number else Cursor())
        self._show(above)

    def _near(self, number: int) -> Cursor:
        """Return a cursor on a message, or on the row that hides it."""
        rows = self.sources.rows
        return cursor_at(rows, rows.row_of(number), number) if len(rows) else Cursor()

    def _forget_revealed(self) -> None:
        """Drop all text of the higher level."""
        self.transcript.clear()
        self.prompt.forget()
        self._status.clear_notice()
        self._status.show(StatusFacts())
        self.clear_selection()
        forget(self.app)
        forget_widths()
        self.call_after_refresh(forget_widths)

    # The search.

    def ask_search(self) -> None:
        """Ask for text to find in all files."""
        self.prompt.ask(PromptKind.SEARCH)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.set_focus(self.transcript)
        self._end_search()
        if not event.text:
            return
        self.search = MergedSearch(self.sources, event.text)
        self.prompt.rest(PromptKind.SEARCH, event.text, "searching")
        self._find(goes=True)

    def on_prompt_cancelled(self) -> None:
        self.set_focus(self.transcript)

    def _find(self, *, goes: bool = False) -> None:
        assert self.search is not None
        self.run_worker(self._run_search(self.search, goes), group="search", exclusive=True)

    async def _run_search(self, search: MergedSearch, goes: bool) -> None:
        while search.step(SEARCH_SECONDS):
            await asyncio.sleep(0)
        if search is not self.search:
            return
        if search.fault:
            self._notify(search.fault, Notice.WARNING)
        total = search.total
        none = "no matches" if self.state.debug else "no matches in what the user saw"
        self.prompt.note(none if not total else "1 match" if total == 1 else f"{total:,} matches")
        self.transcript.redraw()
        if goes:
            self._go_to_match((self.transcript.cursor_row or 0) - 1, 1)

    def next_match(self) -> None:
        self._go_on(1)

    def previous_match(self) -> None:
        self._go_on(-1)

    def _go_on(self, step: int) -> None:
        if self.search is None:
            self._notify(f"No search yet. Press {by_id('search', self.actions).shown_key} to start one.")
        else:
            self._go_to_match(self.transcript.cursor_row or 0, step)

    def _go_to_match(self, here: int, step: int) -> None:
        assert self.search is not None
        row = self.search.next_row(here, step)
        if row is None:
            self._notify(f'No matches for "{sanitize_line(self.search.query.text, 60)}".')
            return
        self._at_end = False
        self.transcript.go_to_cursor(cursor_at(self.sources.rows, row))

    def clear(self) -> None:
        """End the search."""
        self._end_search()
        self.transcript.redraw()

    def _end_search(self) -> None:
        if self.search is not None:
            self.search.close()
            self.search = None
            self.prompt.close()

    # The program.

    def choose_theme(self) -> None:
        self.post_message(ThemeWanted())

    def open_palette(self) -> None:
        """Show the view's actions and run the chosen one."""
        from viewer.tui.dialogs.palette import PaletteScreen
        from viewer.tui.palette import Entry, action_entries

        def chosen(entry: Entry | None) -> None:
            if entry is not None:
                self.action_do(entry.id)

        entries = [entry for entry in action_entries(self.actions) if entry.id != "palette"]
        self.app.push_screen(PaletteScreen(self._painter, self.printing, entries, ()), chosen)

    def open_help(self) -> None:
        from viewer.tui.dialogs.help import HelpScreen

        self.app.push_screen(HelpScreen(self._painter, self.printing, self.actions, is_short=False))

    def suspend(self) -> None:
        self.app.action_suspend_process()

    def leave(self) -> None:
        """Leave the merged view, which ends the app."""
        self._ask(Leave())

    def quit_twice(self) -> None:
        """Copy the selection; without one, quit at the second press."""
        selected = self.get_selected_text()
        if selected:
            copy(self.app, selected)
            self._notify("Copied the selection.", Notice.DONE)
            return
        if time.monotonic() - self._interrupted_at < TWICE_SECONDS:
            self.app.exit(130, 130)
        self._interrupted_at = time.monotonic()
        self._notify(f"Press {by_id('copy_or_quit', self.actions).shown_key} again to quit.")
