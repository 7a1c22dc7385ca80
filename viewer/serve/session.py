"""A session in its own process: the app with packets instead of a terminal, until its input ends."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace
from textual import messages
from textual.drivers.web_driver import WebDriver

from viewer.render.crash import CRASHED
from viewer.serve.confine import Served, confine
from viewer.sources.files import is_directory
from viewer.sources.folder import list_transcripts
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.frames import COLLECTOR
from viewer.tui.keys import Scope
from viewer.tui.settings.settings import Settings

MOST_MEMORY = 1024**3
"""The maximum size in bytes of the address space of a session."""
SECONDS_TO_END = 3.0
"""Seconds after the end of the server before the session is ended by force."""
SECONDS_BETWEEN_PLACES = 0.5
INPUT = 0


class SessionDriver(WebDriver):
    """Exchanges packets on standard input and output. It opens no links, offers no downloads, and ends the app when the
    input ends."""

    def start_application_mode(self) -> None:
        """Start reporting the position."""
        super().start_application_mode()
        self._reported = ("", 0)
        self._app.set_interval(SECONDS_BETWEEN_PLACES, self._report_place)

    def run_input_thread(self) -> None:
        """Read until the input ends or cannot be parsed, and then end the app."""
        try:
            super().run_input_thread()
        finally:
            self._app.post_message(messages.ExitApp())

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Do nothing: a session opens no links."""

    def _deliver_file(self, *given: Any, **more: Any) -> None:
        """Do nothing: a session offers no downloads."""

    def _report_place(self) -> None:
        assert isinstance(self._app, ViewerApp)
        place = self._app.place
        if place != self._reported and place[0]:
            self._reported = place
            self.write_meta({"type": "place", "file": place[0], "message": place[1]})


def end_with_the_server(end: Callable[[], None] = lambda: os._exit(1)) -> None:
    """From now on, end this process soon after the other side closes its input, no matter what else it is doing."""

    def watch() -> None:
        poll = select.poll()
        poll.register(INPUT, 0)  # reports only a hang-up
        poll.poll()
        time.sleep(SECONDS_TO_END)
        end()

    threading.Thread(target=watch, name="server", daemon=True).start()


def limit_memory() -> None:
    """Limit the address space if the system supports it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(hard, MOST_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run_session(
    paths: Sequence[str], settings: Settings, *, allows_debug: bool = False, file: str = "", go_to: str = ""
) -> int:
    """Confine this process, run the app on the served files, and return its exit code."""
    served = Served(paths)
    confine(served, [str(folder) for folder in settings.theme_folders])
    named = [*_files(paths)]
    scope = Scope.SERVED if allows_debug else Scope.SERVED_SAFE
    options = ViewOptions(
        sealed=not allows_debug,
        theme=settings.theme,
        go_to=go_to,
        opens=file if served.has(file) else "",
        is_allowed=served.has,
        settings=replace(settings, scope=scope),
    )
    app = ViewerApp(named, options, tunes_memory=True)
    app.driver_class = SessionDriver
    gc.freeze()
    gc.set_threshold(*COLLECTOR)
    code = app.run()
    return CRASHED if app.crash.kind is not None else code or app.return_code or 0


def _files(paths: Sequence[str]) -> list[str]:
    """List the files that the app opens: a single path unchanged; otherwise all named files and all transcripts in
    named folders."""
    if len(paths) == 1:
        return [*paths]
    named: dict[str, None] = {}
    for path in paths:
        found = [each.path for each in list_transcripts(path)] if is_directory(path) else [path]
        named.update(dict.fromkeys(found))
    return [*named]
