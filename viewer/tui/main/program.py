"""Program controller: files, dialogs, analysis screens, the editor, copying a selection, suspending, and quitting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from viewer.formats import FORMATS
from viewer.render.blocks.block import RowProblems
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Style
from viewer.tui.control.panes import PaneController
from viewer.tui.host import Host, Notice
from viewer.tui.keys import Action
from viewer.tui.main.messages import Ask, Leave, ListSessions, OpenPath, ReadAs, ShowNext, ThemeWanted
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.view import ViewController
from viewer.tui.marks import shown_marks
from viewer.tui.palette import Entry
from viewer.tui.panes.panel import Panel
from viewer.tui.session import Session
from viewer.tui.startup import is_stream
from viewer.tui.terminal.paint import Painter

if TYPE_CHECKING:
    from viewer.insight.replay.timeline import ReplayRequest
    from viewer.model.diagnostic import Rule
    from viewer.tui.dialogs.transcripts import TranscriptChoice
    from viewer.tui.insight.leaks import LeaksScreen

TWICE_SECONDS = 2.0
"""The seconds within which a second ctrl+c quits."""


class ProgramController:
    """Owns the names of the files. No other controller uses Textual: this one opens screens and posts messages."""

    def __init__(
        self,
        session: Session,
        host: Host,
        screen: Screen[None],
        navigator: Navigator,
        view: ViewController,
        panes: PaneController,
        find: Callable[[str], None],
        ask: Ask,
        *,
        files: Sequence[str],
        painter: Painter,
        printing: Style,
        actions: Sequence[Action],
    ) -> None:
        """`find` starts a search in the view, and `ask` passes a request to the app."""
        self.files = tuple(files)
        self._find = find
        self._ask = ask
        self._session = session
        self._host = host
        self._screen = screen
        self._navigator = navigator
        self._view = view
        self._panes = panes
        self._painter = painter
        self._printing = printing
        self._actions = actions
        self._interrupted_at = 0.0
        self._times = ""
        """The sidecar with recorded times."""

    def set_files(self, paths: Sequence[str]) -> None:
        """Set the files that the file keys switch between."""
        self.files = tuple(paths)

    def set_times(self, path: str) -> None:
        """Set the sidecar with recorded times, for replays."""
        self._times = path

    def list_sessions(self) -> None:
        """List the agent sessions of this machine. Leaving the list returns to this file."""
        self._ask(ListSessions())

    def next_file(self) -> None:
        self._open_file(1)

    def previous_file(self) -> None:
        self._open_file(-1)

    def _open_file(self, step: int) -> None:
        if len(self.files) < 2:
            self._host.notify("There is only one file.")
        else:
            self._ask(ShowNext(step))

    def open_help(self) -> None:
        from viewer.tui.dialogs.help import HelpScreen

        self._screen.app.push_screen(HelpScreen(self._painter, self._printing, self._actions))

    def explain(self, rule: Rule) -> None:
        """Show what a problem code means."""
        from viewer.tui.dialogs.explain import ExplainScreen

        is_safe = not self._session.display.debug
        self._screen.app.push_screen(ExplainScreen(self._painter, self._printing, rule, is_safe=is_safe))

    def list_transcripts(self) -> None:
        """List the transcripts of the file and go to the chosen one."""
        from viewer.tui.dialogs.transcripts import TranscriptsScreen

        session = self._session
        labels = session.rows.shown_transcripts
        if len(labels) < 2:
            self._host.notify("This file has one transcript.")
            return
        rows = session.projection.rows()
        row = self._navigator.cursor_row
        here = session.rows.transcript_label(session.rows.transcript(row)) if row is not None else 1
        problems = RowProblems(rows, session.diagnostics)
        shown = TranscriptsScreen(
            *(self._painter, self._printing, session.document.name, session.projection, problems, here),
            actions=self._actions,
        )
        self._screen.app.push_screen(shown, self._go_to_transcript)

    def offer_transcripts(self) -> None:
        """List the transcripts of a file that has many, unless the operator has already acted."""
        from viewer.tui.dialogs.transcripts import MANY

        is_untouched = self._host.is_current and self._host.viewport.place == (0, 0)
        if len(self._session.rows.shown_transcripts) > MANY and is_untouched:
            self.list_transcripts()

    def _go_to_transcript(self, choice: TranscriptChoice | None) -> None:
        if choice is not None:
            self._navigator.go_to(f"x{choice.label}")
            if choice.search:
                self._find(choice.search)

    def open_leaks(self) -> None:
        """Show leaks from hidden text into answers and go to the chosen message."""
        from viewer.tui.insight.leaks import LeaksScreen

        document = self._session.document
        if self._can_read_again():
            shown = LeaksScreen(
                *(self._painter, self._printing, document.name, document.detection.format, document.options),
                actions=self._actions,
            )
            self._screen.app.push_screen(shown, partial(self._close_leaks, shown))

    def _close_leaks(self, screen: LeaksScreen, number: int | None) -> None:
        """Show the scores in the outline and go to the chosen message."""
        if screen.scores:
            self._host.redraw(self._session.score_leaks(screen.scores))
        self._go_to_message(number)

    def compare(self, path: str) -> None:
        """Compare this transcript with another one, limited to what this view shows."""
        from viewer.tui.insight.diff import DiffScreen

        document = self._session.document
        if self._can_read_again():
            names, formats = (document.name, path), (document.detection.format, None)
            audience = self._session.projection.audience
            shown = DiffScreen(
                *(self._painter, self._printing, names, formats, document.options, audience), actions=self._actions
            )
            self._screen.app.push_screen(shown, self._go_to_message)

    def open_over(self, compared: str, replay: ReplayRequest | None) -> None:
        """Open the screen requested on the command line over the first file."""
        if compared:
            self.compare(compared)
        if replay is not None:
            self.open_replay(replay)

    def open_replay(self, request: ReplayRequest | None = None) -> None:
        """Open the replay and go to the chosen message."""
        from viewer.insight.replay.timeline import ReplayRequest
        from viewer.tui.insight.replay import ReplayScreen

        document = self._session.document
        if self._can_read_again():
            audience = self._session.projection.audience
            shown = ReplayScreen(
                *(self._painter, self._printing, document.name, document.named_format, document.options, audience),
                request=request or ReplayRequest(times=self._times),
                renders=self._view.renders_markdown,
                is_first=request is not None,
                actions=self._actions,
            )
            self._screen.app.push_screen(shown, self._go_to_message)

    def open_timing(self) -> None:
        """Show the stalls, rates, and delays in what this view shows."""
        from viewer.tui.insight.timing import TimingScreen

        document = self._session.document
        if self._can_read_again():
            audience = self._session.projection.audience
            shown = TimingScreen(
                *(self._painter, self._printing, document.name, document.named_format, document.options, audience),
                times=self._times,
                actions=self._actions,
            )
            self._screen.app.push_screen(shown, self._go_to_message)

    def _can_read_again(self) -> bool:
        """Return False for standard input, which an analysis screen cannot read again, and show a notice."""
        if self._session.document.path == "-":
            self._host.notify("Standard input cannot be read again. Save it to a file first.")
            return False
        return True

    def open_next_prompt(self) -> None:
        """Show the next prompt under each policy and go to the chosen message."""
        from viewer.model.visibility import EVERYTHING
        from viewer.tui.insight.next_prompt import NextPromptScreen

        session = self._session
        if not session.projection.message_count:
            self._host.notify("There are no messages yet.")
            return
        projection = session.document.project(EVERYTHING)
        here = self._navigator.focused_number or 1
        shown = NextPromptScreen(
            *(self._painter, self._printing, projection, here, self._host.copy), actions=self._actions
        )
        self._screen.app.push_screen(shown, self._go_to_message)

    def open_lens(self) -> None:
        """Show how each text format reads the file and go to the chosen message."""
        from viewer.insight.lens.readings import READERS
        from viewer.tui.insight.lens import LensScreen

        document = self._session.document
        if document.detection.format not in READERS:
            self._host.notify("The lens compares OpenChatML and Harmony text only.")
        elif not document.is_read:
            self._host.notify("The file is still being read.")
        else:
            shown = LensScreen(self._painter, self._printing, document, actions=self._actions)
            self._screen.app.push_screen(shown, self._go_to_message)

    def _go_to_message(self, number: int | None) -> None:
        if number is not None:
            self._navigator.show_message(number)

    def open_themes(self) -> None:
        self._screen.post_message(ThemeWanted())

    def use_theme(self, name: str) -> None:
        self._screen.post_message(ThemeWanted(name))

    def compare_with(self, name: str) -> None:
        """Compare this transcript with a named file, if that file may be opened."""
        self._ask(OpenPath(name, compares=True))

    def open_file(self, name: str) -> None:
        """Open another file and add it to the files that `[` and `]` switch between."""
        self._ask(OpenPath(name))

    def read_as(self, name: str) -> None:
        """Read the open file again as another format."""
        if name not in FORMATS:
            near = get_close_matches(name, FORMATS, 1)
            hint = f"Did you mean {near[0]}?" if near else "Press tab after :format to list the formats."
            self._host.notify(f"Unknown format: {sanitize_line(name, 40)}. {hint}")
        elif is_stream(self._session.document.name):
            self._host.notify("A pipe cannot be read again. Restart with --format.")
        else:
            self._ask(ReadAs(name))

    def quit(self) -> None:
        """Quit the program."""
        self._screen.app.exit()

    def show_palette(self, entries: Sequence[Entry], recent: Sequence[str], run: Callable[[Entry], None]) -> None:
        """Show the palette and run the chosen entry."""
        from viewer.tui.dialogs.palette import PaletteScreen

        def chosen(entry: Entry | None) -> None:
            if entry is not None:
                run(entry)

        self._screen.app.push_screen(PaletteScreen(self._painter, self._printing, entries, recent), chosen)

    def list_marks(self) -> None:
        """List the marks of this view and go to the chosen one."""
        from viewer.tui.dialogs.marks import MarksScreen

        session = self._session
        marks = shown_marks(session.marks, session.rows)
        if not marks:
            self._host.notify(f"No marks yet. Press {self._host.key_of('mark')} to set one.")
            return
        here = self._navigator.cursor.number
        shown = MarksScreen(*(self._painter, self._printing, session.projection, marks, here), actions=self._actions)
        self._screen.app.push_screen(shown, self._go_to_message)

    def edit(self) -> None:
        """Open the editor at the focused message."""
        from viewer.tui.terminal.editor import edit

        session, number = self._session, self._navigator.focused_number
        message = session.projection.message(number) if number else None
        line = message.line if message else None
        problem = edit(self._screen.app, session.display.audience, session.document.name, line)
        if problem:
            self._host.notify(problem, Notice.WARNING)

    def suspend(self) -> None:
        self._screen.app.action_suspend_process()

    def copy_or_quit(self) -> None:
        """Copy the selection. If there is none, a second press quits."""
        selected = self._screen.get_selected_text()
        if selected:
            self._host.copy(selected)
            self._host.notify("Copied the selection.", Notice.DONE)
            return
        if time.monotonic() - self._interrupted_at < TWICE_SECONDS:
            self._screen.app.exit(130, 130)
        self._interrupted_at = time.monotonic()
        self._host.notify(f"Press {self._host.key_of('copy_or_quit')} again to quit.")

    def leave(self) -> None:
        """Close a pane, end a search or filter, or leave the document."""
        if self._panes.focused is not Panel.TRANSCRIPT and self._panes.close_opened():
            return
        if not self._view.close_top() and not self._panes.close_opened():
            self._ask(Leave())
