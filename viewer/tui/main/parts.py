"""What all parts of the main screen share: the document, the view of it, and the widgets by their names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import NamedTuple

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from viewer.document.call_lists import ShownCalls
from viewer.document.diagnostics import SeenDiagnostics
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.values import ShownDiagnostic
from viewer.render.page import BlockFacts
from viewer.render.style import ASCII, UNICODE, Glyphs, Style, StyleRole
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import Notice, StatusLine
from viewer.tui.bars.title import FollowState, TitleBar
from viewer.tui.bars.toggles import Toggles
from viewer.tui.cursor import NOWHERE, Cursor
from viewer.tui.display_state import DisplayState
from viewer.tui.keys import DEBUG_ONLY, by_id, debug_only
from viewer.tui.panes.calls import Calls
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.problem_lines import Pending
from viewer.tui.panes.problems import Problems
from viewer.tui.panes.strip_widget import MessageStrip
from viewer.tui.search.engine import Searcher
from viewer.tui.search.hits import Match
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript
from viewer.values import mutable

HANDS = 30
"""Rounds of the loop in which a key comes from the terminal to what it does."""
TYPING_SECONDS = 0.1
MOST_REPEATED = 1_000_000
"""A larger count before a key is cut to this one."""
ROOMY = 100
"""From so many columns on panes stand beside one another."""


class Going(NamedTuple):
    """How a growing document and the view of it go along."""

    state: FollowState
    words: str = ""
    """Said in place of the name of the state."""
    behind: int = 0
    """Messages that came since the person went elsewhere."""
    busy: str = ""
    """Work in progress, in our own words."""


@mutable
class View:
    """A document as it is looked at now: made anew whenever the audience changes."""

    projection: Projection
    rows: Rows
    calls: ShownCalls
    diagnostics: SeenDiagnostics


class DocumentRead(Message):
    """The whole input has been read."""


class ViewRestarted(Message):
    """What was read before is not needed any more."""


class LeaveWanted(Message):
    """The person is done with this document."""


class ThemeWanted(Message):
    """The person wants other colours."""


class Parts(Screen[None]):
    """The main screen without its behaviour."""

    def __init__(
        self,
        document: Document,
        state: DisplayState,
        painter: Painter,
        ascii_only: bool,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.actions = self.settings.actions
        """All that can be done, with the keys in force."""
        self.document = document
        document.on_rewritten = self.notice_rewrite
        self.state = state
        self.painter = painter
        self.signs: Glyphs = ASCII if ascii_only else UNICODE
        self.printing = Style(color=True, ascii=ascii_only, wrapped=True)
        self.facts = BlockFacts()
        self.view = self.look()
        self.searcher: Searcher | None = None
        self.hit: Match | None = None
        """The hit that the view stands on."""
        self.count = ""
        """Digits typed before a key: `5j`, `12G`."""
        self.yanking = False
        self.pointed: ShownDiagnostic | None = None
        """The problem that the last jump went to: enter explains it."""

    rows_at_hand: Sequence[Rows] = ()
    """Those of the view before this one: there and back is what one does, and rows of millions of messages take time.
    They are numbers, no text."""

    def look(self) -> View:
        """The document under the present audience."""
        projection = self.document.project(self.state.audience)
        rows, self.rows_at_hand = projection.rows(again=self.rows_at_hand), ()  # those of another reading are let go
        return View(projection, rows, projection.calls(), projection.problems(rows).extend(rows.settled_number))

    # The widgets, by name.

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.query_one("#transcript", Transcript)

    @property
    def sides(self) -> list[Transcript]:
        """The panes for analysis and commentary."""
        return [self.query_one("#beside-analysis", Transcript), self.query_one("#beside-commentary", Transcript)]

    @property
    def title_bar(self) -> TitleBar:
        """The first line."""
        return self.query_one(TitleBar)

    @property
    def toggles(self) -> Toggles:
        """The line of channels."""
        return self.query_one(Toggles)

    @property
    def outline(self) -> Outline:
        """The list of messages."""
        return self.query_one(Outline)

    @property
    def inspector(self) -> Inspector:
        """What is known of one message."""
        return self.query_one(Inspector)

    @property
    def problems(self) -> Problems:
        """The list of diagnostics."""
        return self.query_one(Problems)

    @property
    def calls(self) -> Calls:
        """The table of calls."""
        return self.query_one(Calls)

    @property
    def strip(self) -> MessageStrip:
        """One letter a message."""
        return self.query_one(MessageStrip)

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.query_one(Prompt)

    @property
    def status(self) -> StatusLine:
        """The sentence about the view, and notices."""
        return self.query_one(StatusLine)

    @property
    def footer(self) -> KeyFooter:
        """The keys."""
        return self.query_one(KeyFooter)

    @property
    def is_roomy(self) -> bool:
        """Whether panes stand beside one another."""
        return self.size.width >= ROOMY

    def say(self, sentence: str, kind: Notice = Notice.NOTE) -> None:
        """One sentence for the person, with the keys in force."""
        self.status.say(debug_only(self.actions) if sentence == DEBUG_ONLY else sentence, kind)

    def clear_notice(self) -> None:
        """Clear the notice: it belongs to the previous action."""
        if self.is_whole and self.status.notice:
            self.status.hush()

    def key_of(self, id: str) -> str:
        """The key of an action, as it is printed."""
        return by_id(id, self.actions).shown_key

    def means(self, id: str, key: str) -> bool:
        """Whether the key is one of this action."""
        return key in by_id(id, self.actions).keys

    parts = 0
    """How many widgets there are when all are there."""

    @property
    def is_whole(self) -> bool:
        """Whether no widget has been taken away: the program may be about to end."""
        return len(self.children) >= self.parts

    def work(
        self, doing: Callable[[], Coroutine[None, None, None]], group: str, *, exclusive: bool = False
    ) -> Worker[None]:
        """Do this beside everything else. What is replaced, or ends, before it began was never made."""
        return self.run_worker(doing, group=group, exclusive=exclusive)

    async def yield_to_input(self) -> None:
        """Let the person through before the next step of some work. What is typed passes from hand to hand, a round of
        the loop each time: as long as somebody types, a step of work waits for all of them."""
        last_key_at = getattr(self.app, "last_key_at", 0.0)
        for _ in range(HANDS if time.monotonic() - last_key_at < TYPING_SECONDS else 1):
            await asyncio.sleep(0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is done any more once widgets have been taken away."""
        return self.is_whole and super().check_action(action, parameters)

    # What several parts need; `Showing`, `Moving` and `Exporting` do it.

    def notice_rewrite(self) -> None:
        """Something was withheld because the file was rewritten. Called from any thread."""
        raise NotImplementedError

    def show_view(self, changed: int | None = None) -> None:
        """Draw everything for the present state."""
        raise NotImplementedError

    def show_minimap(self) -> None:
        """Errors, warnings, hits and marks on the scrollbar."""
        raise NotImplementedError

    def moved(self) -> None:
        """The focus or the place changed: the panes beside follow."""
        raise NotImplementedError

    def went_to_end(self) -> None:
        """The end was asked for, and stands there as far as it has been read."""
        raise NotImplementedError

    def focus_message(self, number: int, *, above: int | None = None) -> None:
        """Give a message the focus, wherever it is shown."""
        raise NotImplementedError

    def focus_row(self, row: int, number: int = 0, *, above: int | None = None) -> None:
        """Put the cursor on a row of the view; `number` chooses one of the messages that it hides."""
        raise NotImplementedError

    def say_wrapped(self, step: int) -> None:
        """Say that a jump went on at the other end."""
        self.say("Continued from the top." if step > 0 else "Continued from the bottom.")

    def stop_export(self) -> bool:
        """Stop writing a file; whether one was being written."""
        raise NotImplementedError

    @property
    def cursor(self) -> Cursor:
        """The cursor; before it has a place, the first message on the screen."""
        if not len(self.view.rows):
            return NOWHERE
        known = self.transcript.cursor
        if known.is_set:
            return known
        first = self.transcript.first_seen()
        return first if first.message else NOWHERE

    @property
    def focused_number(self) -> int:
        """The message under the cursor; 0 where the cursor is on something else."""
        return self.cursor.message

    @property
    def cursor_row(self) -> int | None:
        """The row of the cursor; None where there are no rows."""
        return self.cursor.row(self.view.rows)

    def take_count(self) -> int:
        """The number typed before this key, and forget it; 1 where none was."""
        typed, self.count = self.count, ""
        if typed:
            self.status.hush()
        return max(1, min(int(typed), MOST_REPEATED)) if typed else 1

    # What `Following` knows, where it is one of the parts.

    def going(self) -> Going:
        """How the document and the view of it go along."""
        busy = "" if self.document.is_complete else f"reading {self.document.progress:.0%}"
        return Going(FollowState.FROZEN if self.state.frozen else FollowState.STILL, busy=busy)

    def pending(self) -> Pending | None:
        """The message that is open while the input grows, as far as this audience may know of it."""
        return None

    def lives(self) -> bool:
        """Whether more may come while one watches."""
        return False

    def growing(self) -> frozenset[int]:
        """The messages to which more may come."""
        return frozenset()

    def stay_at_end(self) -> None:
        """Show the end, where the view follows it."""

    def reached_end(self) -> None:
        """The person has come to the end."""

    def severity_look(self, severity: str) -> StyleRole:
        """The colour of a severity."""
        return {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}.get(severity, StyleRole.INFO)
