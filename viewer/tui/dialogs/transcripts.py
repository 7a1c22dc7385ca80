"""Transcript list: choose one of the transcripts of a file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Vertical
from textual.worker import Worker

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.blocks.block import RowProblems
from viewer.render.number_format import counted
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import screen_title
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.dialogs.transcript_rows import TranscriptRows
from viewer.tui.files.keys import transcript_actions
from viewer.tui.files.list_input import ListInput
from viewer.tui.host import Notice, PromptKind
from viewer.tui.keys import Action, bindings
from viewer.tui.panes.columns import padded
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

MANY = 8
"""The number of transcripts beyond which a file opens as a list."""
_NUMBER, _MESSAGES, _PROBLEMS = 8, 10, 12
_WITH_ALL = 60
_MOST_COUNTED = 1000
"""The maximum number of problems to count per transcript."""

_SLICE = 0.02
"""How many seconds to search before handling keys."""


class TranscriptChoice(Struct, frozen=True):
    """The transcript to go to."""

    label: int
    """The printed number of the transcript, which counts only what this audience sees."""
    search: str = ""
    """The search that narrowed the list, to be repeated in the view; empty if there was none."""


class TranscriptsScreen(DismissOnce[TranscriptChoice | None]):
    """Transcript list; returns a choice, or None."""

    AUTO_FOCUS = "#transcripts-list"

    DEFAULT_CSS = """
    TranscriptsScreen { layout: vertical; }
    TranscriptsScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        name: str,
        projection: Projection,
        problems: RowProblems,
        here: int,
        *,
        actions: Sequence[Action],
    ) -> None:
        """`here` is the number of the transcript under the cursor, `actions` the actions of the main screen."""
        super().__init__()
        self.actions = transcript_actions(actions)
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)
        self._painter = painter
        self._printing = printing
        self._file = name
        self._projection = projection
        self._problems = problems
        self._here = here
        self._shown = TranscriptRows(projection, problems.rows)
        self._title_line = HeadLine(painter, id="transcripts-title", classes="-bar")
        self._heads_line = HeadLine(painter, id="transcripts-heads")
        self._list = LineList(painter, focusable=True, id="transcripts-list")
        self._status = StatusLine(painter, printing)
        self._input = ListInput(self, self._shown, self._list, self._status, printing, self.actions)
        self._footer = KeyFooter(painter, printing, actions=self.actions)

    @property
    def _rows(self) -> Rows:
        return self._problems.rows

    def compose(self) -> ComposeResult:
        """Yield a title, the column titles, the transcripts, the status row, and the keys."""
        yield self._title_line
        yield self._heads_line
        yield self._list
        yield Vertical(self._input.prompt, self._status, id="status-row")
        yield self._footer

    def on_mount(self) -> None:
        self._title_line.show(self._title)
        self._heads_line.show(lambda width: [self._heads(width)])
        self._footer.show(FooterView.TRANSCRIPTS)
        self._input.rest("")
        self._show()

    def on_unmount(self) -> None:
        self._shown.close()

    def on_key(self, event: events.Key) -> None:
        self._input.take_key(event)

    def _show(self) -> None:
        """Draw the list, with the cursor on the current transcript or on the first one after it."""
        shown = self._shown
        self._list.show(max(1, len(shown)), self._line, shown.row_of(self._here) if len(shown) else -1)
        self._moved()

    def _moved(self) -> None:
        shown, cursor = self._shown, self._list.cursor
        if 0 <= cursor < len(shown):
            self._here = shown.label(cursor)
        self._status.show(StatusFacts(place=f"{cursor + 1:,} of {len(shown):,}" if len(shown) else ""))

    def ask_search(self) -> None:
        """Ask for text to find in all transcripts."""
        self._input.ask(PromptKind.SEARCH)

    def ask_filter(self) -> None:
        """Ask for words to find in the titles."""
        self._input.ask(PromptKind.ROWS)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Apply the submitted search or filter."""
        self._input.submit(event)
        self._look()

    def on_prompt_cancelled(self) -> None:
        self._input.return_to_list()

    def clear(self) -> None:
        """End the search or the filter; if there is none, close the list."""
        if self._shown.search or self._shown.filter:
            self._shown.filter_by("")
            self._look()
        else:
            self.leave()

    def _look(self) -> None:
        """Draw the results of the search or filter as they arrive."""
        self._input.rest(self._shown.search)
        _: Worker[None] = self.run_worker(self._find, group="transcripts", exclusive=True)

    async def _find(self) -> None:
        shown, more = self._shown, True
        while more:
            more = shown.step(_SLICE)
            self._show()
            if shown.search or shown.filter:
                self._input.prompt.note(f"{len(shown):,} of {shown.total:,}" + (", searching…" if more else ""))
            if shown.fault:
                self._status.show_notice(shown.fault, Notice.WARNING)
            await asyncio.sleep(0)

    def action_do(self, id: str) -> None:
        self._input.perform(id)

    async def on_action_chosen(self, event: ActionChosen) -> None:
        event.stop()
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
        self._move(-len(self._shown))

    def bottom(self) -> None:
        """Go to the last transcript, or to the one whose number was typed."""
        if self._input.count:
            self._list.move_to(self._shown.row_of(self._input.count))
            self._moved()
        else:
            self._move(len(self._shown))

    def open_row(self) -> None:
        """Go to the transcript under the cursor."""
        self._choose(self._list.cursor)

    def open_palette(self) -> None:
        self._input.open_palette()

    def open_help(self) -> None:
        self._input.open_help()

    def leave(self) -> None:
        """Close the list without a choice."""
        self.dismiss(None)

    @property
    def _page(self) -> int:
        return max(2, self._list.size.height - 1)

    def _move(self, rows: int) -> None:
        """Move the cursor by this many transcripts."""
        self._list.move_to(max(0, min(self._list.cursor + rows, len(self._shown) - 1)))
        self._moved()

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._shown):
            self.dismiss(TranscriptChoice(self._shown.label(row), self._shown.search))

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._choose(event.row)

    @on(LineList.Moved)
    def _pointed(self, event: LineList.Moved) -> None:
        event.stop()
        self._moved()

    def _title(self, width: int) -> list[Line]:
        level = self._projection.audience.level.value
        count = Part(trusted(f"  {counted(len(self._rows.shown_transcripts), 'transcript')}"), StyleRole.QUIET)
        return [
            screen_title(
                [Part(self._printing.name(self._file), StyleRole.TITLE), count], "", level, width, self._printing
            )
        ]

    def _heads(self, width: int) -> Line:
        words = ("#", "first message", "messages", "problems")
        number, title, messages, problems = (Part(trusted(word), StyleRole.STRONG) for word in words)
        return self._columns(" ", number, title, messages, problems, width)

    def _line(self, row: int, width: int) -> Line:
        """Return the line of one transcript: its number and title, and counts of what this audience sees. If the list
        is empty, say so in its first line."""
        if row >= len(self._shown):
            return (Part(trusted(" No transcript matches." if not row else ""), StyleRole.QUIET),)
        rows, label = self._rows, self._shown.label(row)
        boundary = self._projection.boundary(rows, label)
        own = rows.rows_of_transcript(rows.shown_transcripts[label - 1])
        kinds, _ = rows.kinds_and_values(own.start, own.stop)
        return self._columns(
            self._printing.signs.gutter if row == self._list.cursor else " ",
            Part(trusted(f"{label:,}"), StyleRole.QUIET),
            Part(self._printing.name(boundary.title)),
            Part(trusted(f"{kinds.count(RowKind.MESSAGE.value):,}")),
            self._found(own),
            width,
        )

    def _found(self, own: range) -> Part:
        signs, problems = self._printing.signs, self._problems.problems
        if not own:
            return Part(trusted(""))
        before = self._rows.last_number(own.start - 1) if own.start else 0
        found = problems.between(before + 1, self._rows.last_number(own.stop - 1))[:_MOST_COUNTED]
        errors, warnings = (sum(one.severity == each for one in found) for each in ("error", "warning"))
        words = [f"{signs.error} {errors}"] if errors else []
        words += [f"{signs.warning} {warnings}"] if warnings else []
        look = StyleRole.ERROR if errors else StyleRole.WARNING if warnings else StyleRole.QUIET
        return Part(trusted(" ".join(words) or self._printing.words("–")), look)

    def _columns(self, sign: str, number: Part, title: Part, messages: Part, problems: Part, width: int) -> Line:
        style = self._printing
        columns: list[Part] = []
        if width >= _WITH_ALL:
            columns.append(padded(messages, _MESSAGES, style, right=True))
        columns += [padded(problems, _PROBLEMS, style, right=True), Part(trusted("  "))]
        room = max(1, width - _NUMBER - 2 - sum(len(part.text) for part in columns))
        lead = Part(trusted(sign), StyleRole.FOCUS), padded(number, _NUMBER - 1, style, right=True)
        return (*lead, Part(trusted("  ")), padded(title, room, style), *columns)
