"""The main screen: a list of parts and the wiring between them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.containers import Horizontal

from viewer.document.document import Document
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.problem_line import ProblemLine
from viewer.tui.bars.prompt import Prompt, PromptKind
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.title import TitleBar
from viewer.tui.bars.toggles import Toggles
from viewer.tui.display_state import DisplayState
from viewer.tui.keys import COUNTED, bindings, by_id
from viewer.tui.main.export import Exporting
from viewer.tui.main.following import Following, FollowOptions
from viewer.tui.main.moving import Moving
from viewer.tui.main.sizing import Sizing
from viewer.tui.panes.calls import Calls
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.problems import Problems
from viewer.tui.panes.strip_widget import MessageStrip
from viewer.tui.settings.settings import Settings
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript

_PREFIXES = ("goto", "search", "filter", "yank", "export")


class MainScreen(Moving, Following, Sizing, Exporting):
    """One document on the screen."""

    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self,
        document: Document,
        state: DisplayState,
        painter: Painter,
        *,
        ascii_only: bool = False,
        start_at: str = "",
        files: Sequence[str] = (),
        watching: FollowOptions | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(document, state, painter, ascii_only, settings)
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)
        self._prefixes = {key: id for id in _PREFIXES for key in by_id(id, self.actions).keys}
        self.start_at = start_at
        self.files = tuple(files)
        self.watching = watching or FollowOptions()

    def compose(self) -> ComposeResult:
        """The parts, from top to bottom."""
        painter, printing = self.painter, self.printing
        yield TitleBar(painter, printing)
        yield Toggles(painter, printing)
        with Horizontal(id="panes"):
            yield Outline(painter, printing, id="outline")
            yield Transcript(painter, id="transcript")
            yield Transcript(painter, id="beside-analysis")
            yield Transcript(painter, id="beside-commentary")
            hint = f"{self.key_of('next_tab')}: next  {self.key_of('clear')}: close"
            yield Inspector(painter, printing, hint=hint, id="inspector")
        yield Problems(painter, printing, id="problems")
        yield Calls(painter, printing, id="calls")
        yield MessageStrip(painter, printing, titled=True, id="strip")
        yield Prompt()
        yield ProblemLine(painter, printing, id="problem-line")
        yield StatusLine(painter, printing)
        yield KeyFooter(painter, printing, actions=self.actions)

    def on_mount(self) -> None:
        """Show what is there, and read on."""
        self.set_class(self.signs.gutter == "|", "-ascii")
        self.transcript.focus()
        self._resized()
        self.size_panes()
        self.lay_out()
        self.show_view()
        self.begin()

    def on_resize(self, event: events.Resize) -> None:
        """Other widths: other layouts, and blocks made anew."""
        was_roomy = self.has_class("-roomy")
        if self._anchor is None:
            self._anchor = self.transcript.line_of_focus()
        self._resized()
        if was_roomy != self.is_roomy:
            self.size_panes()
            self.lay_out()
        self.call_after_refresh(self._fit_again)

    def _fit_again(self) -> None:
        """Blocks for the new size; the row of the cursor stays on the screen."""
        above, self._anchor = self._anchor, None
        self.fit()
        if above is not None:
            self.transcript.go_to_cursor(self.cursor, above=min(above, self.transcript.viewport // 2))
            self.moved()

    _anchor: int | None = None
    """Where the focused message stood before the size changed."""

    def _resized(self) -> None:
        self.set_class(self.is_roomy, "-roomy")
        self.set_class(not self.is_roomy, "-narrow")

    def on_key(self, event: events.Key) -> None:
        """Prefixes act at once, so that whatever is typed behind them finds them: `y`, `:`, `/`, `&`, digits."""
        if self.prompt.is_asking:
            taken = self.prompt.take(event)
        elif self.yanking:
            taken = True
            self.end_yank(event.key)
        elif event.key.isdigit() and len(self.count) < 12:
            taken = True
            self.count += event.key
            self.say(f"{self.count}{self.key_of('bottom')} goes to message {self.count}")
        else:
            self.count = self.count if any(self.means(id, event.key) for id in COUNTED) else ""
            self.pointed = self.pointed if self.means("open", event.key) else None
            taken = event.key in self._prefixes
            if taken:
                getattr(self, f"action_{self._prefixes[event.key]}")()
        if taken:
            event.stop()
            event.prevent_default()

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """What was typed at the prompt."""
        self.transcript.focus()
        if event.kind is PromptKind.GOTO:
            self.prompt.close()
            self.go_to(event.text)
        elif event.kind is PromptKind.EXPORT:
            self.export_to(event.text)
        else:
            self.unfilter()
            self.search_for(event.text, event.kind)

    def change(self, state: DisplayState) -> None:
        """Another view: an export that is asked for would be of that one."""
        super().change(state)
        self.repeat_question()

    def on_transcript_moved(self, event: Transcript.Moved) -> None:
        """The panes beside follow the conversation."""
        if event.transcript is self.transcript:
            self.moved_again()
        elif event.transcript.focus_number and not event.transcript.is_carried:
            self.focus_message(event.transcript.focus_number)

    def on_transcript_clicked(self, event: Transcript.Clicked) -> None:
        """A link leads to the other end of a call, a note unfolds."""
        if event.folds:
            self.action_open()
        else:
            self._show_message(event.number)

    def on_outline_chosen(self, event: Outline.Chosen) -> None:
        self._show_message(event.number)

    def on_inspector_followed(self, event: Inspector.Followed) -> None:
        self._show_message(event.number)

    def on_calls_chosen(self, event: Calls.Chosen) -> None:
        self._show_message(event.number)

    def on_message_strip_chosen(self, event: MessageStrip.Chosen) -> None:
        self._show_message(event.number)

    def on_problems_chosen(self, event: Problems.Chosen) -> None:
        if event.number:
            row = self.view.rows.row_holding(event.number)
            if row is None:
                self._show_message(event.number)
            else:
                self.show_row(row, event.number)
        self.pointed = event.diagnostic

    def _show_message(self, number: int) -> None:
        self.focus_message(self.nearest_shown(number))
        self.moved()

    async def on_action_chosen(self, event: ActionChosen) -> None:
        """A click on a key of the footer or on a channel."""
        await self.run_action(event.action)

    def action_next_file(self) -> None:
        self._file(1)

    def action_previous_file(self) -> None:
        self._file(-1)

    def _file(self, step: int) -> None:
        if len(self.files) < 2:
            self.say("there is one file")
            return
        self.app.post_message(FileWanted(step))


class FileWanted(events.Event):
    """Another file of those that were named."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step
