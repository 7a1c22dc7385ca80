"""Transcript list: choose one of the transcripts of a file."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingsMap

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.blocks.block import RowProblems
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import badge_part
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.files.keys import transcript_actions
from viewer.tui.keys import Action, bindings, by_id
from viewer.tui.panes.columns import fitted, padded, spread
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

MANY = 8
"""A file with more transcripts than this opens as a list."""
_NUMBER, _MESSAGES, _PROBLEMS = 8, 10, 12
_WITH_ALL = 60
_MOST_COUNTED = 1000
"""The maximum number of problems to count per transcript."""


class TranscriptsScreen(DismissOnce[int | None]):
    """Transcript list; returns the number of a transcript as this audience counts, or None."""

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
        """`here` is the number of the transcript under the cursor, `actions` those of the main screen."""
        super().__init__()
        self.actions = transcript_actions(actions)
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)
        self._painter = painter
        self._printing = printing
        self._file = name
        self._projection = projection
        self._problems = problems
        self._here = here

    @property
    def _rows(self) -> Rows:
        return self._problems.rows

    def compose(self) -> ComposeResult:
        """A title, the column titles, the transcripts, and the keys."""
        yield HeadLine(self._painter, id="transcripts-title")
        yield HeadLine(self._painter, id="transcripts-heads")
        yield LineList(self._painter, id="transcripts-list")
        yield KeyFooter(self._painter, self._printing, actions=self.actions)

    def on_mount(self) -> None:
        self.query_one("#transcripts-title", HeadLine).show(self._title)
        self.query_one("#transcripts-heads", HeadLine).show(lambda width: [self._heads(width)])
        self.query_one(KeyFooter).show(FooterView.TRANSCRIPTS)
        self._list.show(len(self._rows.shown_transcripts), self._line, self._here - 1)

    def action_do(self, id: str) -> None:
        """Call the target of an action."""
        getattr(self, by_id(id, self.actions).target)()

    async def on_action_chosen(self, event: ActionChosen) -> None:
        event.stop()
        await self.run_action(f"do('{event.action}')")

    def line_down(self) -> None:
        self._move(1)

    def line_up(self) -> None:
        self._move(-1)

    def half_page_down(self) -> None:
        self._move(self._page // 2)

    def half_page_up(self) -> None:
        self._move(-(self._page // 2))

    def page_down(self) -> None:
        self._move(self._page)

    def page_up(self) -> None:
        self._move(-self._page)

    def top(self) -> None:
        self._move(-len(self._rows.shown_transcripts))

    def bottom(self) -> None:
        self._move(len(self._rows.shown_transcripts))

    def open_row(self) -> None:
        """Open the transcript under the cursor."""
        self.dismiss(self._list.cursor + 1)

    def open_palette(self) -> None:
        """Show the actions of the list, and run the chosen one."""
        from viewer.tui.dialogs.palette import PaletteScreen
        from viewer.tui.palette import Entry, action_entries

        def chosen(entry: Entry | None) -> None:
            if entry is not None:
                self.action_do(entry.id)

        entries = [entry for entry in action_entries(self.actions) if entry.id != "palette"]
        self.app.push_screen(PaletteScreen(self._painter, self._printing, entries, ()), chosen)

    def open_help(self) -> None:
        from viewer.tui.dialogs.help import HelpScreen

        self.app.push_screen(HelpScreen(self._painter, self._printing, self.actions, is_short=False))

    def leave(self) -> None:
        """Return without a choice."""
        self.dismiss(None)

    @property
    def _page(self) -> int:
        return max(2, self._list.size.height - 1)

    def _move(self, rows: int) -> None:
        """Move to another transcript."""
        last = len(self._rows.shown_transcripts) - 1
        self._list.move_to(max(0, min(self._list.cursor + rows, last)))

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self.dismiss(event.row + 1)

    def _title(self, width: int) -> list[Line]:
        badge = badge_part(self._projection.audience.level.value)
        count = Part(trusted(f"  {counted(len(self._rows.shown_transcripts), 'transcript')}"), StyleRole.QUIET)
        room = max(1, width - len(badge.text) - len(count.text) - 2)
        name = Part(SafeText(fitted(self._printing.name(self._file), room, self._printing).rstrip()), StyleRole.TITLE)
        return [spread((Part(trusted(" ")), name, count), (badge,), width)]

    def _heads(self, width: int) -> Line:
        words = ("#", "first message", "messages", "problems")
        number, title, messages, problems = (Part(trusted(word), StyleRole.STRONG) for word in words)
        return self._columns(number, title, messages, problems, width)

    def _line(self, row: int, width: int) -> Line:
        """Return the line of one transcript: its boundary, and counts of what this audience sees."""
        rows = self._rows
        boundary = self._projection.boundary(rows, row + 1)
        own = rows.rows_of_transcript(rows.shown_transcripts[row])
        kinds, _ = rows.kinds_and_values(own.start, own.stop)
        return self._columns(
            Part(trusted(f"{row + 1:,}"), StyleRole.QUIET),
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
        return Part(trusted(" ".join(words) or "none"), look)

    def _columns(self, number: Part, title: Part, messages: Part, problems: Part, width: int) -> Line:
        style = self._printing
        columns: list[Part] = []
        if width >= _WITH_ALL:
            columns.append(padded(messages, _MESSAGES, style, right=True))
        columns += [Part(trusted("  ")), padded(problems, _PROBLEMS, style)]
        room = max(1, width - _NUMBER - 2 - sum(len(part.text) for part in columns))
        return (padded(number, _NUMBER, style, right=True), Part(trusted("  ")), padded(title, room, style), *columns)

    @property
    def _list(self) -> LineList:
        return self.query_one(LineList)
