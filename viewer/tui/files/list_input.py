"""Input of a list screen: the typed count, the keys that open the prompt, the search or filter typed there, and the
palette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from textual import events
from textual.screen import Screen

from viewer.render.style import Style
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.host import PromptKind
from viewer.tui.keys import Action, by_id, is_digit
from viewer.tui.panes.line_list import LineList

MOST_COUNTED = 9999
_PROMPTS = ("search", "filter")


class FilteredRows(Protocol):
    """The rows of a list, limited to what a search or a filter finds."""

    @property
    def filter(self) -> str:
        """The words of the filter; empty if there is no filter."""
        ...

    def filter_by(self, words: str) -> None:
        """Show only the rows with these words in their titles."""
        ...

    def search_for(self, typed: str) -> None:
        """Show only the rows with matches in their text."""
        ...


class ListInput:
    """Owns the typed count of a list screen, and the prompt in its status row."""

    def __init__(
        self,
        screen: Screen[Any],
        rows: FilteredRows,
        listing: LineList,
        status: StatusLine,
        printing: Style,
        actions: Sequence[Action],
    ) -> None:
        """The targets of `actions` are methods of the screen."""
        self.prompt = Prompt(status.show_search, printing)
        self._screen = screen
        self._rows = rows
        self._list = listing
        self._status = status
        self._printing = printing
        self._actions = actions
        self._typed = ""
        self._prefixes = {key: id for id in _PROMPTS for key in by_id(id, actions).keys}

    @property
    def count(self) -> int | None:
        """The count that was typed before a key; None if there is none."""
        return int(self._typed) if self._typed else None

    @property
    def times(self) -> int:
        """How many times to repeat the key's action."""
        return self.count or 1

    def take_key(self, event: events.Key) -> None:
        """Clear the notice, and handle prefix keys (`/`, `&`, digits) immediately so that the keys that follow reach
        the prompt."""
        if self._status.notice:
            self._status.clear_notice()
        if self._takes(event):
            event.stop().prevent_default()

    def _takes(self, event: events.Key) -> bool:
        if self.prompt.is_asking:
            return self.prompt.take_key(event)
        if is_digit(event.key) and (self._typed or event.key != "0"):
            self._typed = str(min(int(self._typed + event.key), MOST_COUNTED))
            return True
        prefix = self._prefixes.get(event.key)
        if prefix:
            self.perform(prefix)
        return prefix is not None

    def perform(self, id: str) -> None:
        """Call the target of an action, or report that this view does not offer it. This is the only dispatcher."""
        action = by_id(id, self._actions)
        if action.refusal:
            self._status.show_notice(action.refusal)
        else:
            getattr(self._screen, action.target)()
        self._typed = ""

    def ask(self, kind: PromptKind) -> None:
        """Ask for text to find, or for words by which to filter titles."""
        self.prompt.ask(kind, self._rows.filter if kind is PromptKind.ROWS else "")

    def submit(self, event: Prompt.Submitted) -> None:
        """Search or filter, and return to the list."""
        self.return_to_list()
        if event.kind is PromptKind.SEARCH:
            self._rows.search_for(event.text)
        else:
            self._rows.filter_by(event.text)

    def return_to_list(self) -> None:
        """Return the focus to the list."""
        self._screen.set_focus(self._list)

    def rest(self, search: str) -> None:
        """Show the search, or else the filter, in the status row."""
        if search:
            self.prompt.rest(PromptKind.SEARCH, search)
        elif self._rows.filter:
            self.prompt.rest(PromptKind.ROWS, self._rows.filter)
        else:
            self.prompt.close()

    def open_palette(self) -> None:
        """Show the list's actions and run the chosen one."""
        from viewer.tui.dialogs.palette import PaletteScreen
        from viewer.tui.palette import Entry, action_entries

        def chosen(entry: Entry | None) -> None:
            if entry is not None:
                self.perform(entry.id)

        entries = [entry for entry in action_entries(self._actions) if entry.id != "palette"]
        self._screen.app.push_screen(PaletteScreen(self._list.painter, self._printing, entries, ()), chosen)

    def open_help(self) -> None:
        """Show the list's keys."""
        from viewer.tui.dialogs.help import HelpScreen

        self._screen.app.push_screen(HelpScreen(self._list.painter, self._printing, self._actions, is_short=False))
