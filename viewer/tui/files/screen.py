"""File list screen: handles keys and prompts, and draws the list. Its reader reads visible files first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Vertical

from viewer.render.number_format import counted
from viewer.render.sanitize import sanitize_copy
from viewer.render.style import Line, Style
from viewer.render.title import FollowState
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.files.catalog import Catalog
from viewer.tui.files.keys import list_actions
from viewer.tui.files.lines import (
    PREVIEW,
    RowFacts,
    columns_of,
    empty_line,
    entry_line,
    group_line,
    heading,
    preview_lines,
    title_line,
)
from viewer.tui.files.list_input import ListInput
from viewer.tui.files.listing import Entry
from viewer.tui.files.reader import FilesReader
from viewer.tui.host import Notice, PromptKind
from viewer.tui.keys import ACTIONS, Action, Scope, bindings, by_id
from viewer.tui.main.follow import FollowTitle
from viewer.tui.main.messages import ThemeWanted
from viewer.tui.main.program import TWICE_SECONDS
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.settings.places import tilde
from viewer.tui.terminal.clipboard import copy
from viewer.tui.terminal.paint import Painter

SECONDS_BETWEEN_DRAWS = 0.1
SECONDS_BETWEEN_LISTINGS = 2.0
MOST_PREVIEWED = 7
"""The maximum number of lines of the preview, including its rule."""


class Choice(Struct, frozen=True):
    """The file to open, and all files in list order, for the keys that go to the next and previous file."""

    path: str
    order: tuple[str, ...]
    known: tuple[str, ...] | None = None
    """All files of the folder, regardless of the filter; None if the folder is not completely listed."""
    search: str = ""
    """The search in all files, to repeat in this file."""
    follows: bool = False


class FilesScreen(DismissOnce[Choice | None]):
    """The file list; returns a choice, or None."""

    AUTO_FOCUS = "#files-list"
    DEFAULT_CSS = """
    FilesScreen { layout: vertical; }
    FilesScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    FilesScreen > #files-preview { display: none; }
    """

    def __init__(
        self,
        painter: Painter,
        catalog: Catalog,
        printing: Style | None = None,
        actions: Sequence[Action] = ACTIONS,
        *,
        compare: Callable[[str, str], None] = lambda one, other: None,
        state_of: Callable[[str], FollowTitle | None] | None = None,
        clock: Callable[[], float] = time.time,
        opens_newest: bool = False,
        notice: str = "",
        scope: Scope = Scope.ALL,
        opens: str = "",
    ) -> None:
        """With `opens_newest`, choose the newest file once the folder is listed; with `opens`, choose the file with
        this path once it is found. `state_of` returns the state of a followed input."""
        super().__init__()
        self.catalog = catalog
        self.actions = list_actions(actions, scope)
        self._printing = printing or Style()
        self._compare = compare
        self._state_of = state_of
        self._clock = clock
        self._opens_newest = opens_newest
        self._opens = opens
        self._first_notice = notice
        self._is_changed = False
        """True if new details must be drawn."""
        self._interrupted_at = 0.0
        self._title = HeadLine(painter, id="title")
        self._heads = HeadLine(painter, id="files-heads")
        self._list = LineList(painter, focusable=True, id="files-list")
        self._preview = HeadLine(painter, id="files-preview")
        self._status = StatusLine(painter, self._printing)
        self._input = ListInput(self, catalog, self._list, self._status, self._printing, self.actions)
        self._footer = KeyFooter(painter, self._printing, actions=self.actions)
        self._reader = FilesReader(
            catalog,
            self._see,
            partial(self.run_worker, group="files"),
            arranged=self._show,
            listed=self._listed,
            learned=self._learned,
            finished=self._draw,
        )
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)

    def compose(self) -> ComposeResult:
        """Yield a title, the column titles, the files, a preview, the status row, and the keys."""
        yield self._title
        yield self._heads
        yield self._list
        yield self._preview
        yield Vertical(self._input.prompt, self._status, id="status-row")
        yield self._footer

    def on_mount(self) -> None:
        """Set up the screen and start listing."""
        self.set_class(self._printing.ascii, "-ascii")
        self._footer.show(FooterView.FILES)
        self._title.show(self._title_lines)
        self._heads.show(lambda width: [heading(self.catalog, width, self._printing)])
        self._preview.show(self._preview_lines)
        self._show()
        self._rest_prompt()
        if self._first_notice:
            self._notify(self._first_notice, Notice.WARNING)
        self.set_interval(SECONDS_BETWEEN_DRAWS, self._tick)
        if self.catalog.listing.repeats:
            self.set_interval(SECONDS_BETWEEN_LISTINGS, self._reader.list_again)
        self._reader.load()

    def on_unmount(self) -> None:
        self._reader.close()

    def on_resize(self) -> None:
        """Show the preview if there is room for it."""
        width, height = self.size
        lines = min(MOST_PREVIEWED, height // 4) if width >= PREVIEW else 0
        self._preview.styles.display = "block" if lines > 1 else "none"
        self._preview.styles.height = max(lines, 1)
        self.call_after_refresh(self._reader.load)

    # The interface for the reader.

    def _see(self) -> tuple[Entry, ...]:
        """Return the visible files, the one under the cursor first."""
        top = self._list.scroll_offset.y
        rows = self.catalog.rows[top : top + max(self._list.size.height, 1)]
        here = [row for row in self.catalog.rows[self._list.cursor : self._list.cursor + 1] if isinstance(row, Entry)]
        return (*here, *(row for row in rows if isinstance(row, Entry) and row not in here))

    def _listed(self) -> None:
        """Open the newest or the requested file, if either is wanted, as soon as it is listed."""
        newest = self.catalog.newest if self._opens_newest and self.catalog.listing.is_listed else None
        listed = self.catalog.listing.entries if self._opens else ()
        wanted = next((each for each in listed if each.path == self._opens), None)
        if newest is not None:
            self._choose(newest, follows=True)
        elif wanted is not None:
            self._choose(wanted)

    def _learned(self) -> None:
        catalog = self.catalog
        if catalog.search or catalog.filter or catalog.sort.needs_facts:
            self._reader.note_stale()
        self._is_changed = True

    def _tick(self) -> None:
        """Draw what changed and read files that have become visible."""
        self._draw()
        self._reader.note_visible()
        if self._reader.is_urgent:
            self._reader.load()
        if any(self._state(entry) for entry in self._reader.visible):
            self._list.refresh()
            self._title.refresh()

    # Drawing.

    def _draw(self) -> None:
        """Draw new details."""
        if self._is_changed:
            self._list.refresh()
            self._preview.refresh()
        self._is_changed = False

    def _arrange(self) -> None:
        self.catalog.arrange()
        self._show()

    def _show(self) -> None:
        """Draw the list, and keep the cursor on its file."""
        rows = self.catalog.rows
        self._list.show(max(1, len(rows)), self._line, self.catalog.row if rows else -1)
        self._title.refresh()
        self._heads.refresh()
        self._moved()

    def _moved(self) -> None:
        """Draw what depends on the cursor."""
        entry, total = self._entry, len(self.catalog.entries)
        place = self.catalog.number(self._list.cursor) if entry else 0
        self._status.show(
            StatusFacts(name=tilde(Path(entry.path)) if entry else "", place=f"{place:,} of {total:,}" if place else "")
        )
        self._preview.refresh()
        self._note_search()

    def _note_search(self) -> None:
        catalog = self.catalog
        if catalog.search:
            if catalog.fault:
                self._notify(catalog.fault, Notice.WARNING)
            count, files, left = catalog.searched
            total = len(catalog.listing.entries)
            words = f"{counted(count, 'match', 'matches')} in {files:,} of {counted(total, 'file')}"
            words += f", {left:,} to search" if left else f", {catalog.too_large:,} too large" * bool(catalog.too_large)
            self._input.prompt.note(words)
        elif catalog.filter:
            self._input.prompt.note(f"{len(catalog.entries):,} of {len(catalog.listing.entries):,}")

    def _line(self, row: int, width: int) -> Line:
        if not self.catalog.rows:
            return empty_line(self.catalog, self._printing)
        entry = self.catalog.rows[row]
        if isinstance(entry, str):
            return group_line(entry, width, self._printing)
        columns = columns_of(self.catalog, width)
        facts = self._row_facts(entry, is_cursor=row == self._list.cursor)
        return entry_line(entry, facts, columns, self._clock(), width, self._printing)

    def _state(self, entry: Entry) -> FollowTitle | None:
        return self._state_of(entry.path) if self._state_of is not None else None

    def _row_facts(self, entry: Entry, *, is_cursor: bool = False) -> RowFacts:
        catalog, is_marked = self.catalog, entry.path in self.catalog.marked
        return RowFacts(catalog.facts(entry), catalog.hit(entry), self._state(entry), is_cursor, is_marked)

    def _title_lines(self, width: int) -> list[Line]:
        entries = self.catalog.listing.entries if self._state_of is not None else ()
        states = map(self._state, entries)
        live = sum(state is not None and state.state is FollowState.LIVE for state in states)
        return [title_line(self.catalog, live, width, self._printing)]

    def _preview_lines(self, width: int) -> list[Line]:
        entry = self._entry
        facts = self._row_facts(entry) if entry else RowFacts()
        return preview_lines(entry, facts, self._preview.size.height, width, self._printing)

    def _notify(self, sentence: str, kind: Notice = Notice.NOTE) -> None:
        self._status.show_notice(sentence, kind)

    @property
    def _entry(self) -> Entry | None:
        """The file under the cursor."""
        rows, cursor = self.catalog.rows, self._list.cursor
        row = rows[cursor] if 0 <= cursor < len(rows) else None
        return row if isinstance(row, Entry) else None

    # Keys.

    def on_key(self, event: events.Key) -> None:
        self._input.take_key(event)

    def action_do(self, id: str) -> None:
        self._input.perform(id)

    def action_refuse(self, sentence: str) -> None:
        """Report that this view does not offer the action of the key."""
        self._notify(sentence)

    async def on_action_chosen(self, event: ActionChosen) -> None:
        await event.run_on(self)

    def line_down(self) -> None:
        self._move(self._input.times)

    def line_up(self) -> None:
        self._move(-self._input.times)

    def half_page_down(self) -> None:
        self._move(self._page // 2 * self._input.times)

    def half_page_up(self) -> None:
        self._move(-(self._page // 2) * self._input.times)

    def page_down(self) -> None:
        self._move(self._page * self._input.times)

    def page_up(self) -> None:
        self._move(-self._page * self._input.times)

    def top(self) -> None:
        self._move(-len(self.catalog.rows))

    def bottom(self) -> None:
        """Go to the last file, or to the file whose number was typed."""
        entries = self.catalog.entries
        if entries:
            at = self._input.count or len(entries)
            self._go_to(self.catalog.rows.index(entries[min(at, len(entries)) - 1]))

    @property
    def _page(self) -> int:
        return max(2, self._list.size.height - 1)

    def _move(self, rows: int) -> None:
        """Move by this many rows, skipping rules."""
        shown = self.catalog.rows
        step = 1 if rows > 0 else -1
        target = max(0, min(self._list.cursor + rows, len(shown) - 1))
        while 0 <= target < len(shown) and isinstance(shown[target], str):
            target += step
        if 0 <= target < len(shown):
            self._go_to(target)

    def _go_to(self, row: int) -> None:
        self._list.move_to(row)
        entry = self._entry
        if entry is not None:
            self.catalog.put_cursor(entry.path)
        self._moved()

    def open_row(self) -> None:
        """Open the file under the cursor."""
        if self._entry is not None:
            self._choose(self._entry)

    def follow_newest(self) -> None:
        """Open the newest file and follow it."""
        newest = self.catalog.newest
        if newest is None:
            self._notify("There is no transcript yet.")
        else:
            self._choose(newest, follows=True)

    def _choose(self, entry: Entry, *, follows: bool = False) -> None:
        self._opens_newest, self._opens = False, ""
        if entry.reason:
            self._notify(f"{entry.name}: {entry.reason}", Notice.WARNING)
            return
        catalog = self.catalog
        catalog.put_cursor(entry.path)
        known = tuple(each.path for each in catalog.listing.entries) if catalog.listing.is_listed else None
        order = catalog.paths()
        order = order if entry.path in order else (entry.path, *order)
        self.dismiss(Choice(entry.path, order, known, catalog.search.typed if catalog.search else "", follows))

    def ask_search(self) -> None:
        """Ask for text to find in all files."""
        self._input.ask(PromptKind.SEARCH)

    def ask_filter(self) -> None:
        """Ask for words to find in titles or names."""
        self._input.ask(PromptKind.ROWS)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Apply the submitted search or filter."""
        self._input.submit(event)
        self._rest_prompt()
        self._arrange()
        self._reader.load()

    def on_prompt_cancelled(self) -> None:
        self._input.return_to_list()

    def _rest_prompt(self) -> None:
        self._input.rest(self.catalog.search.typed if self.catalog.search else "")

    def clear(self) -> None:
        """End the search, or else the filter, or else remove all marks. This never leaves the list."""
        if self.catalog.search:
            self.catalog.search_for("")
        elif self.catalog.filter:
            self.catalog.filter_by("")
        elif self.catalog.marked:
            self.catalog.clear_marks()
        else:
            self._notify(f"Press {by_id('leave', self.actions).shown_key} to quit.")
            return
        self._rest_prompt()
        self._arrange()
        self._reader.load()

    def sort(self) -> None:
        """Switch to the next sort order."""
        self.catalog.next_sort()
        self._arrange()
        self._reader.load()

    def compare(self) -> None:
        """Mark or unmark the file under the cursor. Once two files are marked, compare them."""
        entry = self._entry
        if entry is None or entry.reason:
            return
        self.catalog.toggle_mark(entry.path)
        marked = self.catalog.marked
        if len(marked) == 2:
            self.catalog.clear_marks()
            self._compare(*marked)
        elif marked:
            key = by_id("compare_files", self.actions).shown_key
            self._notify(f"Press {key} on another file to compare it with this one.")
        self._list.refresh()

    def copy_path(self) -> None:
        """Copy the path of the file under the cursor."""
        if self._entry is not None:
            copy(self.app, sanitize_copy(self._entry.path))
            self._notify("Copied the path.", Notice.DONE)

    def choose_theme(self) -> None:
        self.post_message(ThemeWanted())

    def open_palette(self) -> None:
        self._input.open_palette()

    def open_help(self) -> None:
        self._input.open_help()

    def suspend(self) -> None:
        self.app.action_suspend_process()

    def leave(self) -> None:
        """Leave the list."""
        self.dismiss(None)

    def quit_twice(self) -> None:
        """Quit on the second press; on the first, show a notice."""
        if time.monotonic() - self._interrupted_at < TWICE_SECONDS:
            self.app.exit(130, 130)
        self._interrupted_at = time.monotonic()
        self._notify(f"Press {by_id('copy_or_quit', self.actions).shown_key} again to quit.")

    # The mouse.

    @on(LineList.Moved)
    def _clicked(self, event: LineList.Moved) -> None:
        event.stop()
        self._go_to(event.row)

    @on(LineList.Chosen)
    def _clicked_twice(self, event: LineList.Chosen) -> None:
        event.stop()
        self.open_row()
