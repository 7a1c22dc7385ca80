"""The app: opens inputs, keeps one main screen per input, and on exit leaves no trace of what it showed."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field
from msgspec.structs import replace
from textual import events
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.filter import LineFilter, Monochrome, NoColor

from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.errors import ViewerError
from viewer.model.visibility import Audience, Level, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.crash import report_crash
from viewer.render.style import Style, trusted
from viewer.resources import bundled
from viewer.signals import TerminalGuard
from viewer.sources.files import Source, is_directory
from viewer.sources.watcher import FolderWatcher, Watch
from viewer.tui.crash_handler import Crash, fault_of, handle_faults, handle_signals
from viewer.tui.display_state import ALL_CHANNELS, FIRST_CHANNELS, DisplayState
from viewer.tui.files.lists import FileLists
from viewer.tui.frames import COLLECTOR, Frames
from viewer.tui.host import as_sentence
from viewer.tui.input_queue import InputQueue
from viewer.tui.keys import by_id
from viewer.tui.main.follow_worker import FollowOptions
from viewer.tui.main.messages import (
    DocumentRead,
    FileRequest,
    Leave,
    ListSessions,
    OpenAt,
    OpenPath,
    ReadAs,
    ShowNext,
    ThemeWanted,
    ViewRestarted,
)
from viewer.tui.main.screen import MainScreen
from viewer.tui.screen_switcher import ScreenSwitcher
from viewer.tui.session import Changed
from viewer.tui.settings.settings import Settings, theme_in_force
from viewer.tui.settings.state_file import StateFile
from viewer.tui.startup import Opener, is_stream
from viewer.tui.terminal.driver import resilient
from viewer.tui.terminal.output_guard import OutputGuard
from viewer.tui.terminal.resume_screen import resume_screen
from viewer.tui.themes.stylesheet import KeptStylesheet
from viewer.tui.themes.switcher import ThemeSwitcher, redraw_screens

if TYPE_CHECKING:
    from viewer.insight.replay.timeline import ReplayRequest
    from viewer.sources.folder import Found
    from viewer.sources.replay.recorded_times import TimeRecorder
    from viewer.tui.dialogs.themes import ThemeScreen
    from viewer.tui.files.live_sources import LiveSources
    from viewer.tui.files.screen import Choice
    from viewer.tui.merged.screen import MergedScreen


class ViewOptions(Struct, frozen=True):
    """View options from the command line."""

    format: str | None = None
    reading: ReadOptions | None = None
    revealed: frozenset[Reveal] = frozenset()
    strict: bool = False
    sealed: bool = False
    """True if the app can never show anything but the safe view."""
    theme: str = ""
    ascii_only: bool = False
    go_to: str = ""
    opens: str = ""
    """The file to open first, if there are several; `go_to` is a position in this file."""
    is_allowed: Callable[[str], bool] = lambda path: True
    """Returns True for a path that the operator may open by name."""
    follow: bool = False
    """True if the app waits for files that do not exist yet, and keeps the view at the end of growing files."""
    from_start: bool = False
    stall_after: float | None = None
    """Seconds without new data in an unfinished message before the title reports a stall."""
    compared: str = ""
    """The file to compare with the first one."""
    merges: bool = False
    """True if all files are shown as one, ordered by time."""
    replay: ReplayRequest | None = None
    """The replay to open on top of the first file."""
    times: str = ""
    """The sidecar file with the recorded times of the first file or, with `recorder`, the one to record them to."""
    recorder: TimeRecorder | None = None
    """Records when the bytes of a followed file arrive."""
    settings: Settings = field(default_factory=Settings)

    @property
    def first_display(self) -> DisplayState:
        """The initial display state of each file."""
        channels = ALL_CHANNELS if Reveal.ALL in self.revealed else self.revealed & ALL_CHANNELS
        level = Audience(self.revealed).level
        channels = channels if level is Level.DEBUG else FIRST_CHANNELS
        return DisplayState(level is Level.DEBUG, level is Level.BRIEF, self.strict, channels, sealed=self.sealed)

    @property
    def opens_over(self) -> bool:
        """True if another screen opens over the first file."""
        return bool(self.compared) or self.replay is not None


LOOK_SECONDS = 0.5
"""Seconds between checks for new files in a folder."""


class ViewerApp(App[int], inherit_bindings=False):
    """Shows one file at a time, the file list, or all files merged."""

    TITLE = "ocmlview"
    CSS_PATH: ClassVar[list[PurePath | str]] = [bundled("themes") / "viewer.tcss"]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        paths: Sequence[str],
        options: ViewOptions | None = None,
        first: Source | None = None,
        *,
        watch: Watch = FolderWatcher,
        guard: TerminalGuard | None = None,
        state: StateFile | None = None,
        taken: Callable[[], None] | None = None,
        tunes_memory: bool = False,
    ) -> None:
        """`first` is the first input if it is already open: a pipe can be opened only once.
        `guard` restores the terminal after a fatal signal; it is None if the app does not own the terminal. Without
        `state`, nothing is saved at exit. `taken` is called when the app takes over an alternate screen that already
        shows the first page. Pass `tunes_memory` if nothing else runs in the process."""
        self.options = options or ViewOptions()
        self.settings = self.options.settings
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())
        palette = ",".join(by_id("palette", self.settings.actions).keys)
        self._bindings = BindingsMap([Binding(palette, "command_palette", show=False, priority=True)])
        theme = self.options.theme or theme_in_force(self.settings).value
        redraw = partial(redraw_screens, self)
        folders, can_save = self.settings.theme_folders, not self.settings.scope.is_served
        self.themes = ThemeSwitcher(self, theme, folders, notify=self.remark, redraw=redraw, can_save=can_save)
        self.last_key_at = 0.0
        """The time of the last key or mouse event."""
        self.paths = list(paths)
        self.animation_level = "none"
        self._first = first
        self._opener = Opener(
            *(self.options.format, self.options.reading, self.options.follow),
            watch=watch,
            under=self.options.first_display.audience,
            recorder=self.options.recorder,
        )
        self._has_opened, self._place = False, 0
        self._lists = FileLists(
            *(self.options.first_display.audience, self.options.format, self.options.reading, self.settings.places),
            follows=self.options.follow,
        )
        self._sources: LiveSources | None = None
        """The followed inputs, if there are several."""
        self._merged: MergedScreen | None = None
        """The merged view of all files."""
        self._output_guard = OutputGuard(self.options.ascii_only)
        self.input_queue = InputQueue(self, self._handle_event)
        self._switcher = ScreenSwitcher(self)
        self._notice = self.themes.notice or self.settings.notice
        self._guard = guard
        self._state = StateFile() if state is None or self.options.strict else state
        self._tunes_memory = tunes_memory
        self.frames = Frames(self.input_queue, tunes_memory=tunes_memory)
        self.crash = Crash()
        if guard is not None:
            self.driver_class = resilient(self.driver_class)
        if taken is not None:
            self.driver_class = resume_screen(self.driver_class, taken)

    def on_load(self) -> None:
        """Install the handlers before the app sets up the terminal. Otherwise, a crash during the setup would leave the
        terminal half set up."""
        if self._guard:
            handle_signals(self, self._guard)
            handle_faults(self)

    async def on_mount(self) -> None:
        """Show the merged view, the only file, or the file list."""
        self.themes.watch()
        self.set_interval(LOOK_SECONDS, self._look_for_files)
        if self.options.merges:
            await self._merge()
        elif len(self.paths) == 1 and not is_directory(self.paths[0]):
            await self._open(0)
        else:
            if self.options.follow and len(self.paths) > 1:
                self._follow_several()
            await self._list_files(opens_newest=self.options.follow and len(self.paths) == 1)
        self.frames.expect()

    def post_display_hook(self) -> None:
        self.frames.drawn()

    def on_unmount(self) -> None:
        self.themes.stop_watching()
        if self._sources is not None:
            self._sources.close()
        self._state.save()

    # Files.

    async def _merge(self) -> None:
        """Show all files as one, ordered by time. Leaving this view ends the app."""
        from viewer.tui.merged.screen import MergedScreen

        given = (
            self._opener,
            self.paths,
            self.options.first_display,
            self._stall_after,
            self.themes.painter,
            self.settings,
        )
        try:
            merged = self._merged = MergedScreen(
                *given,
                lambda request: self.call_next(self._perform, merged, request),
                ascii_only=self.options.ascii_only,
            )
        except ViewerError as error:
            self.exit(2, message=trusted(f"ocmlview: {error}"))
        else:
            await self._switcher.show_merged(merged)

    def _follow_several(self) -> None:
        """Follow all named inputs, even those without a screen."""
        from viewer.tui.files.live_sources import LiveSources

        sources = self._sources = LiveSources(self._opener, self.paths, self._stall_after, self._switcher.open)
        self.run_worker(sources.run(), group="tail")
        self.set_interval(LOOK_SECONDS, self._draw_states)

    def _draw_states(self) -> None:
        """Redraw the title, which shows the number of live inputs."""
        if self.screen_stack and isinstance(self.screen, MainScreen) and self.screen.is_mounted:
            self.screen.redraw(Changed.TITLE)

    @property
    def _stall_after(self) -> float:
        return self.options.stall_after or self.settings.stall_after

    async def _list_files(self, notice: str = "", *, opens_newest: bool = False) -> None:
        """Show the file list and, if there is one, a notice."""
        from viewer.tui.files.screen import FilesScreen

        options, first = self.options, self._lists.catalog is None
        style = Style(color=True, ascii=options.ascii_only, wrapped=True)
        shown = FilesScreen(
            *(self.themes.painter, self._lists.open(self.paths), style, self.settings.actions),
            compare=self._compare_files,
            state_of=self._sources.state if self._sources else None,
            opens_newest=opens_newest,
            notice=notice,
            scope=self.settings.scope,
            opens=self.options.opens if first else "",
        )
        await self._switcher.show_list(shown, self._choose)

    async def _choose(self, choice: Choice | None) -> None:
        """Open the file chosen in the list. If none was chosen, return to the file below the list, or end the app."""
        if choice is None:
            covered = self._lists.uncover()
            if covered is None:
                self.exit()
            else:
                self.paths = covered.paths
                await self._open(covered.place)
            return
        self.paths = list(choice.order)
        self._lists.choose(choice)
        await self._open(self.paths.index(choice.path), search=choice.search, follows=choice.follows)

    def _compare_files(self, one: str, other: str) -> None:
        """Open a comparison of two files from the list."""
        from viewer.tui.insight.diff import DiffScreen

        options, style = self.options, Style(color=True, ascii=self.options.ascii_only, wrapped=True)
        formats = options.format, options.format
        shown = DiffScreen(
            *(self.themes.painter, style, (one, other), formats, options.reading, self.options.first_display.audience),
            actions=self.settings.actions,
        )
        self.push_screen(shown)

    def _look_for_files(self) -> None:
        """Report a failure to record times, and look for new files in the folder."""
        if fault := self._opener.new_fault():
            self.remark(as_sentence(fault))
        if self.screen_stack and isinstance(self.screen, MainScreen):
            self._lists.look_for_files(self.run_worker, lambda new: self.call_later(self._offer_files, new))

    async def _offer_files(self, new: Sequence[Found]) -> None:
        """Add new files to the ones that can be opened. Switch to the newest one if a safe view is following;
        otherwise, announce it."""
        if not isinstance(shown := self.screen, MainScreen):
            return
        here = self.paths[self._place]
        self.paths = list(dict.fromkeys([*self._lists.watched, *self.paths]))
        self._place = self.paths.index(here)
        for screen in self._switcher.open.values():
            screen.program.set_files(self.paths)
        newest = new[-1]
        if self.options.follow and shown.follow.stays_at_end and not shown.session.display.debug:
            await self._open(self.paths.index(newest.path))
            if newer := self._switcher.open.get(newest.path):  # the file may already be gone
                newer.host.notify(f"Newer transcript: {newest.name}.")
        else:
            shown.host.notify(f"New transcript: {newest.name}. Press [ or ] to go to it.")

    async def _open(self, place: int, *, search: str = "", follows: bool = False, at: OpenAt | None = None) -> None:
        """Show one of the files, at the first match of `search` or at the place `at`. If the file cannot be opened,
        show why on the current screen or in the file list; if there is neither, end the app."""
        path = self.paths[place]
        try:
            screen = self._switcher.open.get(path) or self._make_screen(path, follows=follows, at=at)
        except ViewerError as error:
            await self._report(str(error))
            return
        self._place, is_new = place, path not in self._switcher.open
        await self._switcher.show(path, screen)
        if at is not None and not is_new:
            screen.navigator.go_to(at.place)
        if search:
            screen.search.search_for(search)
        if self._notice:
            notice, self._notice = self._notice, ""
            screen.host.notify(notice)
        display = screen.session.display
        if self._state.wants_welcome and not display.debug and not display.sealed and not self.options.opens_over:
            self._welcome(screen)
        if not self._has_opened:
            self._has_opened = True
            screen.program.open_over(self.options.compared, self.options.replay)

    def _welcome(self, screen: MainScreen) -> None:
        """Show the welcome card over the first file, and record that it was shown."""
        from viewer.tui.dialogs.welcome import WelcomeScreen

        self._state.welcomed()
        self.push_screen(WelcomeScreen(self.themes.painter, screen.printing, screen.actions))

    async def _report(self, sentence: str) -> None:
        if isinstance(shown := self._switcher.content, MainScreen):
            shown.host.notify(as_sentence(f"Cannot open the file: {sentence}"))
        elif self._lists.catalog is not None:
            await self._list_files(as_sentence(f"Cannot open the file: {sentence}"))
        else:
            self.exit(2, message=trusted(f"ocmlview: {sentence}"))

    def _make_screen(self, path: str, *, follows: bool, at: OpenAt | None = None) -> MainScreen:
        source, self._first = self._first, None
        live = self._sources.take(path) if self._sources else None
        again = self._opener.live_again(path) if follows and live is None else ""
        document = live or (self._opener.document(path, source) if isinstance(again, str) else again)
        state = StateFile() if is_stream(path) else self._state
        display = self.options.first_display if at is None else at.state
        return self._screen_of(document, path, display, state, follows=follows, at=at.place if at else "")

    def _screen_of(
        self, document: Document, path: str, display: DisplayState, state: StateFile, *, follows: bool, at: str = ""
    ) -> MainScreen:
        options = self.options

        def ask(request: FileRequest) -> None:
            self.call_next(self._perform, screen, request)

        screen = MainScreen(
            document,
            display,
            self.themes.painter,
            ask,
            ascii_only=options.ascii_only,
            start_at=at or (options.go_to if options.opens in ("", path) else ""),
            files=self.paths,
            following=FollowOptions(
                options.follow or follows,
                options.from_start,
                self._stall_after,
                lambda: self._opener.live_again(path),
                lambda: self._sources.words(path) if self._sources else "",
            ),
            settings=self.settings,
            state=state,
            has_back=lambda: self._merged is not None or self._lists.catalog is not None,
        )
        screen.program.set_times(options.times)
        return screen

    async def _perform(self, screen: MainScreen | MergedScreen, request: FileRequest) -> None:
        """Perform the request of a screen, unless another screen has replaced it."""
        if self._switcher.content is not screen:
            return
        match request:
            case Leave():
                await self._leave(screen)
            case OpenAt():
                await self._open(self.paths.index(request.path), at=request)
            case OpenPath() if isinstance(screen, MainScreen):
                await self._open_path(screen, request)
            case ReadAs() if isinstance(screen, MainScreen):
                await self._read_as(screen, request.format)
            case ListSessions():
                self._lists.cover(self.paths, self._place)
                await self._list_files()
            case ShowNext():
                await self._open((self._place + request.step) % len(self.paths))

    async def _leave(self, left: MainScreen | MergedScreen) -> None:
        """Return to the list of files or to the merged view, or end the app. If several inputs are followed, they stay
        open, each at its position."""
        if self._merged is not None and isinstance(left, MainScreen) and self._lists.catalog is None:
            await self._switcher.show_merged(self._merged)
            self._merged.set_level(left.session.display.audience.level)
            return
        if self._lists.catalog is None:
            self.exit()
            return
        await self._list_files()
        if self._sources is None:
            await self._switcher.close_files(self._lists.covered)

    async def _open_path(self, screen: MainScreen, request: OpenPath) -> None:
        """Open the file that the operator named, or compare the current file with it. Other files stay open."""
        if not self.options.is_allowed(request.path):
            self.remark(self.settings.scope.refusal)
            return
        if request.compares:
            screen.program.compare(request.path)
            return
        path = os.path.expanduser(request.path)  # noqa: PTH111 (no error without a home)
        known = list(self.paths)
        if path not in known:
            self.paths = [*known, path]
        place = self._place
        await self._open(self.paths.index(path))
        if self._place == place and path not in known:
            self.paths = known  # the file could not be opened
            return
        for each in self._switcher.open.values():
            each.program.set_files(self.paths)

    async def _read_as(self, before: MainScreen, format: str) -> None:
        """Read the open file again as another format, and show it at the same level. Its marks are dropped, because
        they are message numbers of the earlier reading."""
        path, document = self.paths[self._place], before.session.document
        follows = isinstance(document, LiveDocument) and not document.is_complete
        try:
            again = self._opener.in_format(document, path, format)
        except ViewerError as error:
            await self._report(str(error))
            return
        screen = self._screen_of(again, path, before.session.display, StateFile(), follows=follows)
        await self._switcher.replace(path, screen)
        screen.host.notify(f"Read as {format}.")

    @property
    def place(self) -> tuple[str, int]:
        """The path of the open file and the number of the focused message; an empty path and 0 if no file is open."""
        shown = next((screen for screen in self.screen_stack if isinstance(screen, MainScreen)), None)
        return ("", 0) if shown is None else (self.paths[self._place], shown.navigator.focused_number or 0)

    # Palette and themes.

    def action_command_palette(self) -> None:
        """Open or close the palette. Only screens with actions have one."""
        from viewer.tui.dialogs.palette import PaletteScreen

        run = getattr(self.screen, "action_do", None)
        if run is not None:
            run("palette")
        elif isinstance(self.screen, PaletteScreen):
            self.screen.dismiss(None)

    def on_theme_wanted(self, event: ThemeWanted) -> None:
        """Apply a theme, or show the list of themes. If none is chosen there, restore the previous theme."""
        from viewer.tui.dialogs.themes import ThemeScreen

        themes, printing = self.themes, Style(color=True, ascii=self.screen.has_class("-ascii"))
        if event.name:
            themes.choose_named(event.name)
        else:
            own = themes.painter, themes.names, themes.wanted, printing
            self.push_screen(ThemeScreen(*own, can_save=themes.can_save), themes.take)

    def on_theme_screen_previewed(self, event: ThemeScreen.Previewed) -> None:
        self.themes.preview(event.name)

    def remark(self, sentence: str) -> None:
        """Show a notice on the topmost main screen, if there is one."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, MainScreen):
                screen.host.notify(sentence)
                return

    # Events.

    async def on_event(self, event: events.Event) -> None:
        """Queue key, mouse, and paste events; handle others immediately. Record the time of a key or mouse event."""
        if isinstance(event, events.InputEvent):
            self.last_key_at = time.monotonic()
        if isinstance(event, events.InputEvent | events.Paste) and not event.is_forwarded:
            await self.input_queue.take(event)
        else:
            await self._handle_event(event)

    async def _handle_event(self, event: events.Event) -> None:
        """Handle an event. A key or mouse press first clears the notice of the previous action."""
        if isinstance(event, events.Key | events.MouseDown) and isinstance(self.screen, MainScreen):
            self.screen.host.clear_notice()
        await super().on_event(event)

    def on_document_read(self, event: DocumentRead) -> None:
        """Exempt the document from garbage collection, because it lives as long as the app."""
        if self._tunes_memory:
            gc.freeze()

    def on_view_restarted(self, event: ViewRestarted) -> None:
        """Release earlier readings and their files, which were exempt from garbage collection."""
        if self._tunes_memory:
            gc.unfreeze()
            gc.collect()
            gc.freeze()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the output guard as the last filter, and drop Textual's NO_COLOR filters, which turn the terminal's
        colors into black on black. Our theme without colors replaces them."""
        filters = (filter for filter in super().get_line_filters() if not isinstance(filter, Monochrome | NoColor))
        return [*filters, self._output_guard]

    # Faults.

    def _fatal_error(self) -> None:
        """Record where the app crashed, without any text that it showed, and start shutting down."""
        self.bell()
        self.crash.note(sys.exc_info()[1])
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """Handle a crash in an event handler, a worker, or a redraw, without recording locals or the message."""
        removed_early = self._exit and isinstance(fault_of(error), NoMatches | NoScreen)
        if not removed_early:  # during shutdown, handlers may look for widgets that are gone
            self._return_code = 1
            if self._exception is None:
                self._exception = error
                self._exception_event.set()
            self.crash.note(error)
        self._close_messages_no_wait()

    def finish_writing(self) -> None:
        """Flush pending bytes to the terminal, even after a crash and before its report."""
        if self._driver is not None:
            self._driver.close()


def run_app(
    paths: Sequence[str],
    options: ViewOptions,
    taken: Callable[[], None] | None = None,
    state: StateFile | None = None,
) -> int:
    """Run the app and return its exit code. `taken` is called when the app takes over the screen of the first page."""
    opener = Opener(options.format, options.reading, options.follow)
    first = opener.first(paths[0]) if len(paths) == 1 else None
    if options.follow and options.times:
        from viewer.sources.replay.recorded_times import TimeRecorder

        options = replace(options, recorder=TimeRecorder(options.times))
    guard = TerminalGuard()
    app = ViewerApp(paths, options, first, guard=guard, state=state, taken=taken, tunes_memory=True)
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    with guard:
        try:
            code = app.run()
        finally:
            app.finish_writing()
            guard.detach()
    if app.crash.kind is not None:
        return report_crash(app.crash.kind, app.crash.trace)
    return code or app.return_code or 0
