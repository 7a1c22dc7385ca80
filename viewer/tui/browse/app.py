"""Browse the tables of a scan: a table with three levels, a filter, sorting, and ready-made queries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.filter import LineFilter, Monochrome, NoColor
from textual.widgets import DataTable, Input, Static

from viewer.corpus.browse import PAGE, Browser, Kind, Listing, Page, Place
from viewer.document.filter.grammar import parse
from viewer.document.filter.tree import FilterError
from viewer.errors import ViewerError
from viewer.render.crash import report_crash
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import trusted
from viewer.render.title import LEVELS
from viewer.render.width import cells, cut
from viewer.signals import TerminalGuard
from viewer.tui.crash_handler import fault_of, handle_faults, handle_signals
from viewer.tui.settings.settings import Settings, theme_in_force
from viewer.tui.terminal.driver import resilient
from viewer.tui.terminal.output_guard import OutputGuard
from viewer.tui.themes.switcher import ThemeSwitcher

KEYS = (
    ("enter", "open", "enter", "Open"),
    ("s", "sort", "s", "Sort"),
    ("ampersand", "filter", "&", "Filter"),
    ("at", "queries", "@", "Queries"),
    ("left_square_bracket", "previous_page", "", ""),
    ("right_square_bracket", "next_page", "[ ]", "Previous, next page"),
    ("q,escape", "leave", "q", "Back"),
)
"""Textual's key names, the action, and the key and label in the footer, which are empty if it has no entry."""
_LONGEST_CELL = 120
_LONGEST_PATH = 4096
_LEAST_PATH = 24
"""The minimum width available to a path, in cells."""


class BrowseApp(App[int], inherit_bindings=False):
    """Shows the lists of a `Browser`. After it exits, `chosen` is the place to open, if any."""

    TITLE = "ocmlview"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = [Binding(keys, action, show=False) for keys, action, _, _ in KEYS]
    CSS = """
    Screen { background: $background; color: $foreground; }
    #head { height: 1; background: $surface; padding: 0 1; }
    #rows { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    #status { height: auto; max-height: 3; padding: 0 1; }
    #filter { height: 1; border: none; padding: 0 1; display: none; }
    #keys { height: 1; background: $surface; padding: 0 1; }
    #head, #keys { text-wrap: nowrap; }
    """

    def __init__(
        self, browser: Browser, settings: Settings | None = None, *, name: str = "", guard: TerminalGuard | None = None
    ) -> None:
        super().__init__()
        self.browser = browser
        self._corpus = sanitize_line(name)
        self._settings = settings or Settings()
        self._page = Page((), (), 0, 0)
        self._output_guard = OutputGuard()
        self._guard = guard
        self.animation_level = "none"
        self.chosen: Place | None = None
        self.crash: tuple[type[BaseException], Any] | None = None
        if guard is not None:
            self.driver_class = resilient(self.driver_class)
        theme = theme_in_force(self._settings).value
        self.themes = ThemeSwitcher(self, theme, self._settings.theme_folders, notify=self.say, redraw=self._redraw)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Use the output guard and drop Textual's NO_COLOR filters: a theme without colors replaces them."""
        filters = (each for each in super().get_line_filters() if not isinstance(each, Monochrome | NoColor))
        return [*filters, self._output_guard]

    def compose(self) -> ComposeResult:
        """Yield the widgets of the screen."""
        yield Static(id="head", markup=False)
        yield DataTable(id="rows", cursor_type="cell")
        yield Static(id="status", markup=False)
        yield Input(id="filter", placeholder="role:assistant state:failed …")
        yield Static("  ".join(f"{key} {words}" for *_, key, words in KEYS if key), id="keys", markup=False)

    def on_load(self) -> None:
        """Install the handlers before the app sets up the terminal."""
        if self._guard is not None:
            handle_signals(self, self._guard)
            handle_faults(self)

    def on_mount(self) -> None:
        """Focus the table and read the first page."""
        self.rows.focus()
        self.call_after_refresh(self.load)

    @property
    def rows(self) -> DataTable[Text]:
        """The widget that shows the rows."""
        return self.query_one("#rows", DataTable)

    def say(self, sentence: str) -> None:
        """Show a sentence above the keys."""
        self.query_one("#status", Static).update(Text(sanitize_line(sentence)))

    def _redraw(self) -> None:
        self.screen.refresh()

    # Reading.

    async def load(self) -> None:
        """Read the current page of the list and draw it. If that fails, show why, and return to the previous list.

        Keys wait until then: they refer to the new list, and only one thread may use the database at a time."""
        browser = self.browser
        try:
            page = await asyncio.to_thread(browser.page)
        except ViewerError as error:
            if len(browser.stack) > 1:
                browser.stack.pop()
            self.say(_sentence(error))
            return
        self._page = page
        self._draw(await asyncio.to_thread(browser.shown, page))

    def _draw(self, page: Page) -> None:
        listing, table = self.browser.listing, self.rows
        table.clear(columns=True)
        for name in page.columns:
            arrow = (" ▼" if listing.is_descending else " ▲") if name == listing.sort else ""
            table.add_column(Text(sanitize_line(name) + arrow), key=name)
        longest = max(_LEAST_PATH, self.size.width - 12 * len(page.columns))
        for row in page.rows:
            table.add_row(
                *(
                    _path(value, longest) if name == "path" else _cell(value)
                    for name, value in zip(page.columns, row, strict=True)
                )
            )
        if page.rows:
            at, column = listing.cursor
            table.move_cursor(row=min(at, len(page.rows) - 1), column=min(column, len(page.columns) - 1))
        self._draw_head()
        self.say(self.browser.take_notice() or self._count(page))

    def on_resize(self) -> None:
        """Keep the level at the right edge."""
        self._draw_head()

    def _draw_head(self) -> None:
        """Show the place and, at the right end, the level of the tables."""
        level = self.browser.level.value
        badge = trusted(f"[{level.upper()}]")
        room = max(self.size.width - len(badge) - 3, 0)
        place = cut(sanitize_line(self._place()), room, trusted("…"))
        head = Text(place + " " * (room - cells(place) + 1))
        head.append(badge, self.themes.painter.style(LEVELS[level]))
        self.query_one("#head", Static).update(head)

    def _place(self) -> str:
        names = []
        for listing in self.browser.stack:
            of_files = listing.name or "all files"
            names.append({Kind.FILES: of_files, Kind.ANSWER: f"@{listing.name}"}.get(listing.kind, listing.kind.value))
        place = " › ".join([self._corpus, *names] if self._corpus else names)
        where = f"   & {sanitize_line(self.browser.where)}" if self.browser.where else ""
        return f"{place}{where}"

    @staticmethod
    def _count(page: Page) -> str:
        if not page.count:
            return "Nothing matches."
        last = page.first + len(page.rows)
        return (
            f"{page.count:,} rows" if page.count <= PAGE else f"rows {page.first + 1:,} to {last:,} of {page.count:,}"
        )

    def _remember(self) -> None:
        self.browser.remember(self.rows.cursor_row, self.rows.cursor_column)

    # Keys.

    async def action_open(self) -> None:
        """Open the list that the row under the cursor leads to, or leave the browser to open a message."""
        self._remember()
        if not self._page.rows:
            return
        try:
            place = self.browser.place_of(self._page, self.rows.cursor_row)
        except ViewerError as error:
            self.say(_sentence(error))
            return
        if isinstance(place, Listing):
            self.browser.stack.append(place)
            await self.load()
        else:
            self.chosen = place
            self.exit(0)

    async def on_data_table_cell_selected(self) -> None:
        """Open the row after enter or a second click."""
        await self.action_open()

    async def action_leave(self) -> None:
        """Close the filter prompt, or else return to the previous list. Leaving the first list ends the app."""
        prompt = self.query_one("#filter", Input)
        if prompt.display:
            self._close_prompt()
        elif len(self.browser.stack) > 1:
            self.browser.stack.pop()
            await self.load()
        else:
            self.exit(0)

    async def action_sort(self) -> None:
        """Sort by the column under the cursor, or reverse the order if it is already sorted by that column."""
        listing, columns = self.browser.listing, self.browser.shown(self._page).columns
        name = columns[self.rows.cursor_column] if columns else ""
        if name not in self._page.columns or listing.kind is Kind.QUERIES:
            self.say("This column cannot be sorted.")
            return
        self.browser.sort_by(name, self.rows.cursor_column)
        await self.load()

    async def action_next_page(self) -> None:
        """Show the next page."""
        await self._turn(PAGE)

    async def action_previous_page(self) -> None:
        """Show the previous page."""
        await self._turn(-PAGE)

    async def _turn(self, by: int) -> None:
        self._remember()
        if self.browser.turn(by, self._page.count):
            await self.load()

    async def action_queries(self) -> None:
        """List the ready-made queries."""
        self._remember()
        if self.browser.listing.kind is not Kind.QUERIES:
            self.browser.stack.append(Listing(Kind.QUERIES))
            await self.load()

    # The filter.

    def action_filter(self) -> None:
        """Ask for a filter."""
        prompt = self.query_one("#filter", Input)
        prompt.clear()
        prompt.insert_text_at_cursor(self.browser.where)
        prompt.display = True
        prompt.focus()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Apply the filter. If it is invalid, keep it in the prompt."""
        try:
            self.browser.filter_by(parse(event.value) if event.value.strip() else None)
        except ViewerError as error:
            self.say(_sentence(error))
            return
        self._close_prompt()
        await self.load()

    def _close_prompt(self) -> None:
        self.query_one("#filter", Input).display = False
        self.rows.focus()

    def _handle_exception(self, error: Exception) -> None:
        """End the app and report a crash without any text of a transcript."""
        fault = fault_of(error)
        self.crash = type(fault), fault.__traceback__
        self.exit(return_code=70)


def run_browser(browser: Browser, settings: Settings, name: str) -> Place | int:
    """Run the browser. Return the place to open, or the exit code."""
    guard = TerminalGuard()
    app = BrowseApp(browser, settings, name=name, guard=guard)
    with guard:
        try:
            code = app.run()
        finally:
            guard.detach()
    if app.crash is not None:
        return report_crash(*app.crash)
    return app.chosen or code or app.return_code or 0


def _path(value: object, longest: int) -> Text:
    """Return a path, cut at the start: its end differs most from file to file."""
    text = sanitize_line(str(value), _LONGEST_PATH)
    while cells(text) > longest:
        text = SafeText("…" + text[2:])
    return Text(text)


def _cell(value: object) -> Text:
    if value is None:
        return Text("")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Text(f"{value:,}", justify="right")
    return Text(sanitize_line(str(value), _LONGEST_CELL))


def _sentence(error: ViewerError) -> str:
    text = error.sentence if isinstance(error, FilterError) else str(error)
    return f"{text[:1].upper()}{text[1:]}."
