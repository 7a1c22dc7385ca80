"""The app: opens documents, keeps one main screen each, and ends without a trace of what it showed."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.command import Provider
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.filter import LineFilter, Monochrome, NoColor

from viewer.errors import ViewerError
from viewer.model.visibility import Reveal
from viewer.reading.format import Options
from viewer.render.crash import report_crash
from viewer.render.style import Style, trusted
from viewer.resources import bundled
from viewer.signals import TerminalGuard
from viewer.sources.files import Source, is_directory
from viewer.sources.watcher import FolderWatcher, Watch
from viewer.tui.crash_handler import fault_of, take_faults_of, take_signals
from viewer.tui.display_state import ALL_CHANNELS, FIRST_CHANNELS, DisplayState
from viewer.tui.main.follow_worker import FollowOptions
from viewer.tui.main.messages import DocumentRead, FileWanted, LeaveWanted, ViewRestarted
from viewer.tui.main.screen import MainScreen
from viewer.tui.palette import command_provider
from viewer.tui.settings.settings import Settings, theme_in_force
from viewer.tui.startup import Opener
from viewer.tui.terminal.driver import resilient
from viewer.tui.terminal.output_guard import OutputGuard
from viewer.tui.terminal.resume_screen import resume_screen
from viewer.tui.themes.themed_app import ThemedApp
from viewer.values import frozen

if TYPE_CHECKING:
    from viewer.tui.dialogs.files import Choice
    from viewer.tui.dialogs.folder_watch import FolderWatch


@frozen
class ViewOptions:
    """What the command line says about the view."""

    dialect: str | None = None
    reading: Options | None = None
    revealed: frozenset[Reveal] = frozenset()
    strict: bool = False
    theme: str = ""
    ascii_only: bool = False
    go_to: str = ""
    follow: bool = False
    """Wait for what is not there yet, and stay at the end of what grows."""
    from_start: bool = False
    stall_after: float | None = None
    """Seconds after which an open message that does not go on has stalled."""
    settings: Settings = field(default_factory=Settings)


LOOK_SECONDS = 0.5
"""Between two looks at a folder of which one file is on the screen."""
COLLECTOR = (2000, 5, 100)
"""Young objects are looked through often, since ten thousand of them cost a frame a millisecond or two, and all that
a document is never: it is frozen when it has been read."""


class ViewerApp(ThemedApp, inherit_bindings=False):
    """Shows the files that were named, one after the other."""

    TITLE = "ocmlview"
    last_key_at = 0.0
    """When the person did something last."""
    tunes_memory = False
    """The process is ours alone."""
    guard: TerminalGuard | None = None
    """Restores the terminal if a fatal signal arrives; None if the terminal is not the app's."""
    CSS_PATH: ClassVar[list[PurePath | str]] = [bundled("themes") / "viewer.tcss"]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {command_provider()}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        paths: Sequence[str],
        options: ViewOptions | None = None,
        first: Source | None = None,
        *,
        watch: Watch = FolderWatcher,
    ) -> None:
        """`first` is the first input, opened already: a pipe can be opened only once."""
        self.options = options or ViewOptions()
        super().__init__(self.options.theme or theme_in_force(self.options.settings).value, self.options.settings)
        self._first = first
        self.paths = list(paths)
        self._opener = Opener(self.options.dialect, self.options.reading, self.options.follow, watch=watch)
        self._place = 0
        self._folder: str | None = None
        self._folder_watch: FolderWatch | None = None
        self._barrier = OutputGuard(self.options.ascii_only)
        self._screens: dict[str, MainScreen] = {}
        self._notice = self.theme_notice or self.settings.notice
        self.animation_level = "none"

    def on_load(self) -> None:
        """Before the terminal is taken: what raised while it is taken would leave it half taken."""
        if self.guard:
            take_signals(self, self.guard)
            take_faults_of(self)

    def on_mount(self) -> None:
        """Open the first file, or the list of a folder."""
        self.watch_own_theme()
        self.set_interval(LOOK_SECONDS, self._look_for_files)
        if is_directory(self.paths[0]):
            self._list_folder(self.paths[0], opens_newest=self.options.follow)
        else:
            self._open(0)

    def _list_folder(self, folder: str, *, opens_newest: bool = False) -> None:
        """What is in the folder; leaving the list leaves the program."""
        from viewer.tui.dialogs.file_table import FileTable, Reading
        from viewer.tui.dialogs.files import FilesScreen
        from viewer.tui.dialogs.folder_watch import FolderWatch

        audience = DisplayState(strict=self.options.strict).audience
        table = FileTable(folder, reading=Reading(audience, self.options.dialect, self.options.reading))
        style = Style(color=True, ascii=self.options.ascii_only, wrapped=True)

        def chosen(choice: Choice | None) -> None:
            if choice is None:
                self.exit()
                return
            self.paths = list(choice.order)
            self._folder_watch = FolderWatch(FileTable(folder), choice.known)
            self._open(self.paths.index(choice.path))

        self._folder, self._folder_watch = folder, None
        self.push_screen(FilesScreen(self._painter, table, folder, style, opens_newest=opens_newest), chosen)

    def _look_for_files(self) -> None:
        """New files of the folder join the others; one that is followed gives way to a newer one."""
        if self._folder_watch is None or not self.screen_stack:  # it is ending
            return
        new, shown = self._folder_watch.step(), self.screen
        if not new or not isinstance(shown, MainScreen):
            return
        here = self.paths[self._place]
        self.paths = list(dict.fromkeys([*(file.path for file in self._folder_watch.files), *self.paths]))
        self._place = self.paths.index(here)
        for screen in self._screens.values():
            screen.program.set_files(self.paths)
        newest = new[-1]
        if self.options.follow and shown.follow.stays_at_end and not shown.session.display.debug:
            self._open(self.paths.index(newest.path))
            newer = self._screens[newest.path]
            self.call_after_refresh(lambda: newer.host.notify(f"a newer transcript: {newest.name}"))
        else:
            shown.host.notify(f"a new transcript: {newest.name}; [ and ] go to it")

    def _open(self, place: int) -> None:
        """Show this one of the files; one that cannot be opened is told on the screen that is open, or ends the app."""
        path = self.paths[place]
        try:
            screen = self._screens.get(path) or self._make_screen(path)
        except ViewerError as error:
            self._tell(str(error))
            return
        shown = self._screens.get(self.paths[self._place]) if self._screens else None
        self._screens[path], self._place = screen, place
        if not self.is_screen_installed(screen):
            self.install_screen(screen, f"file {path}")
        if shown is not None and self.screen is shown:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        if self._notice:
            notice, self._notice = self._notice, ""
            self.call_after_refresh(lambda: screen.host.notify(notice))

    def remark(self, sentence: str) -> None:
        """Say it where there is a line for it."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, MainScreen):
                screen.host.notify(sentence)
                return

    def _tell(self, sentence: str) -> None:
        if isinstance(self.screen, MainScreen):
            self.screen.host.notify(sentence)
        else:
            self.exit(2, message=trusted(f"ocmlview: {sentence}"))

    def leave_document(self) -> None:
        """Back to the list of the folder, or out of the program."""
        if self._folder is None:
            self.exit()
            return
        self.pop_screen()
        for screen in self._screens.values():
            self.uninstall_screen(screen)
            screen.remove()
        self._screens.clear()
        self._list_folder(self._folder)

    def _make_screen(self, path: str) -> MainScreen:
        options = self.options
        source, self._first = self._first, None
        document = self._opener.document(path, source)
        channels = ALL_CHANNELS if Reveal.ALL in options.revealed else options.revealed & ALL_CHANNELS
        debug = bool(options.revealed)
        state = DisplayState(debug=debug, strict=options.strict, channels=channels if debug else FIRST_CHANNELS)
        return MainScreen(
            document,
            state,
            self._painter,
            ascii_only=options.ascii_only,
            start_at=options.go_to,
            files=self.paths,
            following=FollowOptions(
                options.follow,
                options.from_start,
                options.stall_after or self.settings.stall_after,
                lambda: self._opener.live_again(path),
            ),
            settings=self.settings,
        )

    def on_file_wanted(self, event: FileWanted) -> None:
        """The next or the previous file; a new look at each begins safe."""
        self._open((self._place + event.step) % len(self.paths))

    async def on_event(self, event: events.Event) -> None:
        """Take note of when the person did something: work in progress then gives way."""
        if isinstance(event, events.InputEvent):
            self.last_key_at = time.monotonic()
        if isinstance(event, events.Key | events.MouseDown) and isinstance(self.screen, MainScreen):
            self.screen.host.clear_notice()
        await super().on_event(event)

    def on_document_read(self, event: DocumentRead) -> None:
        """What has been read stays: the collector need not look at it again."""
        if self.tunes_memory:
            gc.freeze()

    def on_view_restarted(self, event: ViewRestarted) -> None:
        """The reading before, with its file, is let go, although the collector was told to leave it alone."""
        if self.tunes_memory:
            gc.unfreeze()
            gc.collect()
            gc.freeze()

    def on_leave_wanted(self, event: LeaveWanted) -> None:
        """The person is done with this document."""
        self.leave_document()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The net below the sanitiser comes last. What Textual does for NO_COLOR is left out: it makes the
        terminal's own colours black on black, and the theme without colours is for that."""
        filters = (filter for filter in super().get_line_filters() if not isinstance(filter, Monochrome | NoColor))
        return [*filters, self._barrier]

    def _fatal_error(self) -> None:
        """Where the program broke, without a word of what it was showing."""
        self.bell()
        self._remember(sys.exc_info()[1])
        self._close_messages_no_wait()

    def _handle_exception(self, error: Exception) -> None:
        """The same for an exception in a handler, a worker or while drawing: no locals, no message."""
        if not (self._exit and isinstance(fault_of(error), NoMatches | NoScreen)):  # the end came before the widget
            self._return_code = 1
            if self._exception is None:
                self._exception = error
                self._exception_event.set()
            self._remember(error)
        self._close_messages_no_wait()

    def finish_writing(self) -> None:
        """What is on its way to the terminal arrives, also where a fault came between, and before a word of it."""
        if self._driver is not None:
            self._driver.close()

    def _remember(self, error: BaseException | None) -> None:
        """The first fault: later ones come of it."""
        if error is not None and self._crash[0] is None:
            fault = fault_of(error)
            self._crash = (type(fault), fault, fault.__traceback__)

    _crash: tuple[type[BaseException] | None, BaseException | None, TracebackType | None] = (None, None, None)

    @property
    def crash(self) -> tuple[type[BaseException] | None, BaseException | None, TracebackType | None]:
        """The exception that ended the app, if one did."""
        return self._crash


def run_app(paths: Sequence[str], options: ViewOptions, taken: Callable[[], None] | None = None) -> int:
    """Run the app; its exit code. `taken`: its first page stands on the alternate screen already, and this is called
    when the app takes that over."""
    first = Opener(options.dialect, options.reading, options.follow).first(paths[0])
    app = ViewerApp(paths, options, first)
    app.tunes_memory = True
    app.guard = TerminalGuard()
    app.driver_class = resilient(app.driver_class)
    if taken is not None:
        app.driver_class = resume_screen(app.driver_class, taken)
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    with app.guard:
        try:
            code = app.run()
        finally:
            app.finish_writing()
            app.guard.is_taken = False
    kind, _, trace = app.crash
    if kind is not None:
        return report_crash(kind, trace)
    return code or app.return_code or 0
