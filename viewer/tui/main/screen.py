"""Main screen: composes widgets, and wires messages and keys to controllers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingsMap

from viewer.document.document import Document
from viewer.render.style import Style
from viewer.tui.bars.bar import ActionChosen
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bottom.calls import Calls
from viewer.tui.bottom.pane import BottomPane
from viewer.tui.bottom.problems import Problems
from viewer.tui.bottom.timeline import Timeline
from viewer.tui.control.commands import CommandController
from viewer.tui.control.lists import ListController
from viewer.tui.control.panes import PaneController
from viewer.tui.control.problems import ProblemController
from viewer.tui.control.sizes import PaneSizes
from viewer.tui.control.state_keeper import StateKeeper
from viewer.tui.display_state import DisplayState
from viewer.tui.keys import COUNTED, DEBUG_ONLY, bindings, by_id, offered
from viewer.tui.main.copy import CopyController
from viewer.tui.main.export import ExportController
from viewer.tui.main.file_end import EndController
from viewer.tui.main.filter import FilterController
from viewer.tui.main.follow import FollowMachine
from viewer.tui.main.follow_worker import FollowOptions, FollowWorker
from viewer.tui.main.messages import Ask, DocumentRead
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.presenter import Presenter
from viewer.tui.main.program import ProgramController
from viewer.tui.main.read_worker import CHECK_SECONDS, ReadWorker
from viewer.tui.main.screen_host import ScreenHost
from viewer.tui.main.search import SearchController
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.main.view import ARROWS, ViewController
from viewer.tui.main.widgets import Widgets
from viewer.tui.panes.frame import Frame
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.panel import Panel
from viewer.tui.session import VIEW, Changed, Session
from viewer.tui.settings.settings import Settings
from viewer.tui.settings.state_file import StateFile
from viewer.tui.terminal.compositor import FrontScreen
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript

_PREFIXES = ("command", "search", "filter", "yank", "export")
_LATE = Changed.FOCUS | Changed.TITLE
"""The parts to draw only after a sticky view has scrolled to its end."""


class MainScreen(FrontScreen[None]):
    """The screen of one document."""

    ESCAPE_TO_MINIMIZE = False
    AUTO_FOCUS = ""

    def __init__(
        self,
        document: Document,
        display: DisplayState,
        painter: Painter,
        ask: Ask,
        *,
        ascii_only: bool = False,
        start_at: str = "",
        files: Sequence[str] = (),
        following: FollowOptions | None = None,
        settings: Settings | None = None,
        state: StateFile | None = None,
        has_back: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__()
        settings, state = settings or Settings(), state or StateFile()
        before, options = state.of(document.name), following or FollowOptions()
        self.actions, self.printing = settings.actions, Style(color=True, ascii=ascii_only, wrapped=True)
        self.widgets = Widgets(painter, self.printing, self.actions, has_back)
        self.session = session = Session(document, display, before.marks, settings.prices)
        self.host = host = ScreenHost(self, self.widgets, self.actions)
        machine = FollowMachine()
        self.stick = StickToEnd(session, host, machine)
        self.navigator = Navigator(session, host, self.stick)
        self.problems = ProblemController(session, host, self.navigator)
        self.search = SearchController(session, host, self.navigator)
        self.filter = FilterController(session, host, self.search)
        self.copy = CopyController(session, host, self.navigator)
        self.export = ExportController(session, host)
        self.panes = PaneController(session, host, settings, self.navigator, self.stick)
        self.view = ViewController(
            *(session, host, settings, self.navigator, self.problems, self.panes),
            *(self.search, self.filter, self.export, self.stick),
        )
        end = EndController(self, session, host, self.navigator, settings, painter)
        self.reader = ReadWorker(
            *(session, host, self.navigator, self.search, self.filter, end, self.problems, machine),
            *(start_at, 0 if options.follow else before.at),
        )
        self._keeper = StateKeeper(state, session, settings, self.navigator, self.panes, self.reader)
        self.follow = FollowWorker(session, host, self.search, self.filter, self.reader, self.stick, machine, options)
        self.program = ProgramController(
            *(session, host, self, self.navigator, self.view, self.panes, self.search.search_for, ask),
            files=files,
            painter=painter,
            printing=self.printing,
            actions=self.actions,
        )
        self.presenter = Presenter(
            *(session, self.widgets, self, host, settings, self.printing),
            *(self.navigator, self.problems, self.search, self.follow, self.panes),
        )
        self.lists = ListController(host, self.navigator, self.panes, self.program, self.problems)
        self.commands = CommandController(
            *(session, host, self.navigator, self.view, self.search, self.filter, self.export),
            *(self.program, self.lists),
            settings=settings,
            run_action=self.action_do,
        )
        self._lists_transcripts = not start_at and not options.follow
        document.rewrites.withhold(self.reader.handle_rewrite)
        self._sizes = PaneSizes(self.widgets, self.panes)
        self._prefixes = {key: each.id for each in offered(self.actions) if each.id in _PREFIXES for key in each.keys}
        self._bindings.key_to_bindings.update(BindingsMap(bindings(self.actions)).key_to_bindings)

    def compose(self) -> ComposeResult:
        self.set_class(self.printing.ascii, "-ascii", update=False)  # set early, so each widget is styled only once
        self.set_class(not self.host.is_roomy, "-narrow", update=False)
        self._keeper.restore_sizes()
        self.panes.arrange(debug=self.session.display.debug)
        self.presenter.prepare_conversation()
        yield from self.widgets.lines()

    def on_mount(self) -> None:
        self.redraw(VIEW | Changed.LAYOUT)
        self.host.start()
        self.follow.start()
        self.set_interval(CHECK_SECONDS, self.reader.check_for_rewrite)

    def on_unmount(self) -> None:
        self._keeper.leave()
        self.follow.close()

    def redraw(self, changed: Changed) -> None:
        """Draw what changed. A sticky view scrolls to its end before the focus is drawn."""
        with self.app.batch_update():
            self.presenter.draw(changed & ~_LATE)
            if changed & (Changed.ROWS | Changed.WIDTH | Changed.GROWN):
                self.stick.stay_at_end()
            if Changed.FOCUS in changed:
                self.stick.check_user_scrolled()
            self.presenter.draw(changed & _LATE)

    # Size.

    def on_resize(self, event: events.Resize) -> None:
        if self.panes.note_size():
            self.redraw(Changed.LAYOUT | Changed.LISTS | Changed.KEYS)
            self.call_after_refresh(self.panes.fit_to_size)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._sizes.grab(event):
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._sizes.drag(event, self.size):
            self.redraw(Changed.LAYOUT)
            event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._sizes.release():
            self.release_mouse()
            event.stop()

    # Keys.

    def on_key(self, event: events.Key) -> None:
        """Handle prefix keys (`y`, `:`, `/`, `&`, digits) immediately so that the keys that follow reach the prompt."""
        if self._handle_key(event):
            event.stop().prevent_default()

    def _handle_key(self, event: events.Key) -> bool:
        if self.widgets.prompt.is_asking:
            return self.widgets.prompt.take_key(event)
        if self.copy.pending_yank:
            if chosen := self.copy.finish_yank(event.key):
                self.action_do(chosen)
            return True
        if (event.key in ARROWS and self.view.take_arrow(event.key)) or self.navigator.type_digit(event.key):
            return True
        if not any(event.key in by_id(id, self.actions).keys for id in COUNTED):
            self.navigator.forget_count()
        if self.problems.selected is not None and event.key not in by_id("open", self.actions).keys:
            self.problems.select(None)
        if prefix := self._prefixes.get(event.key):
            self.action_do(prefix)
        return prefix is not None

    def action_do(self, id: str) -> None:
        """Call the target of an action; while a list has the focus, call the action's target for lists, if there is
        one. This is the only dispatcher."""
        action = by_id(id, self.actions)
        in_list = bool(action.in_list) and self.panes.focused not in (Panel.TRANSCRIPT, Panel.SIDE)
        is_hidden = action.debug_only and not in_list and not self.session.display.debug
        if action.refusal or is_hidden:
            self.action_refuse(action.refusal or DEBUG_ONLY)
            return
        owner, _, method = (action.in_list if in_list else action.target).partition(".")
        getattr(getattr(self, owner), method)()

    def action_refuse(self, sentence: str) -> None:
        self.host.notify(sentence)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Refuse actions once widgets have been removed."""
        return self.host.is_whole and super().check_action(action, parameters)

    def on_document_read(self, event: DocumentRead) -> None:
        if self._lists_transcripts and not self.follow.is_live:
            self.program.offer_transcripts()

    # Messages of widgets.

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.on_prompt_cancelled()
        self.commands.submit(event.kind, event.text)

    def on_prompt_cancelled(self) -> None:
        self.widgets.completion.show([])
        self.redraw(Changed.LAYOUT)

    def on_prompt_changed(self, event: Prompt.Changed) -> None:
        self.widgets.show_offers(self.commands.handle_typed(event.text, event.kind))

    def on_prompt_completion_wanted(self, event: Prompt.CompletionWanted) -> None:
        if text := self.commands.completion(event.text, event.kind):
            self.widgets.prompt.complete(text)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        frame = next((each for each in event.widget.ancestors_with_self if isinstance(each, Frame)), None)
        if frame is not None and event.widget is self.focused:
            self.panes.note_focus(frame.panel)

    def on_frame_mounted(self, event: Frame.Mounted) -> None:
        self.panes.note_mounted(event.panel)

    def on_transcript_moved(self, event: Transcript.Moved) -> None:
        if event.transcript is self.widgets.transcript:
            if self.presenter.drawn_standing != self.navigator.standing:
                self.redraw(Changed.FOCUS)
        elif event.transcript.place != self.widgets.transcript.place:
            self.widgets.transcript.go_to_row(*event.transcript.place)
        elif event.transcript.cursor.is_set:
            self.widgets.transcript.put_cursor(event.transcript.cursor)
            self.redraw(Changed.FOCUS)

    def on_transcript_resized(self) -> None:
        self.panes.fit_if_changed()

    def on_transcript_clicked(self, event: Transcript.Clicked) -> None:
        if event.folds:
            self.view.open_message()
        elif event.node >= 0:
            self.view.turn_node(event.number, event.node)
        else:
            self.navigator.show_message(event.number)

    def on_inspector_tab_opened(self, event: Inspector.TabOpened) -> None:
        self.panes.select_tab(event.tab)

    def on_bottom_pane_tab_opened(self, event: BottomPane.TabOpened) -> None:
        self.panes.select_bottom_tab(event.tab)
        self.panes.focus(Panel.BOTTOM)

    def on_outline_followed(self, event: Outline.Followed | Calls.Followed | Timeline.Followed) -> None:
        self.navigator.follow_list(event.number)

    on_calls_followed = on_timeline_followed = on_outline_followed

    def on_outline_chosen(self, event: Outline.Chosen | Calls.Chosen | Timeline.Chosen | Inspector.Followed) -> None:
        self.panes.focus(Panel.TRANSCRIPT)
        self.navigator.show_message(event.number)

    on_calls_chosen = on_timeline_chosen = on_inspector_followed = on_outline_chosen

    def on_problems_followed(self, event: Problems.Followed) -> None:
        self.problems.follow_list(event.number, event.diagnostic)

    def on_problems_chosen(self, event: Problems.Chosen) -> None:
        self.panes.focus(Panel.TRANSCRIPT)
        self.problems.show(event.number, event.diagnostic)

    async def on_action_chosen(self, event: ActionChosen) -> None:
        await event.run_on(self)
