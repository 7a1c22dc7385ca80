"""End controller: proves the end of a big file in the background, and shows it while the file is still being read."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from viewer import native
from viewer.document.live import LiveDocument
from viewer.model.visibility import END_USER, Level
from viewer.render.title import TitleFacts
from viewer.tui.files.early_proof import LEAST
from viewer.tui.host import Host, Task
from viewer.tui.main.navigator import Navigator
from viewer.tui.session import Session
from viewer.tui.settings.settings import Settings

if TYPE_CHECKING:
    from viewer.tui.dialogs.file_end import FileEndScreen
    from viewer.tui.files.end import FileEnd
    from viewer.tui.main.screen import MainScreen
    from viewer.tui.terminal.paint import Painter


LONGEST_MOUNT = 0.5
"""The maximum number of seconds for which reading waits until the end is drawn."""


class EndController:
    """Owns the proof, and the screen that shows the end."""

    def __init__(
        self,
        screen: MainScreen,
        session: Session,
        host: Host,
        navigator: Navigator,
        settings: Settings,
        painter: Painter,
    ) -> None:
        self._main = screen
        self._session = session
        self._host = host
        self._navigator = navigator
        self._settings = settings
        self._painter = painter
        self._end: FileEnd | None = None
        self._proof: Task | None = None
        self._is_urgent = False
        """True once the operator waits for the end."""
        self._screen: FileEndScreen | None = None

    def begin(self) -> None:
        """Prepare for a document that is about to be read. With the accelerator, start the proof immediately, because
        then it does not slow down reading."""
        document = self._session.document
        self._end = self._proof = None
        self._is_urgent = False
        if isinstance(document, LiveDocument) or self._left < LEAST:
            return
        from viewer.tui.files.end import file_end  # only big files need it

        self._end = file_end(document)
        if native.load() is not None:
            self._prove()

    @property
    def _left(self) -> int:
        """The number of bytes that have not been read yet."""
        document = self._session.document
        return document.stored.size - document.size

    async def offer(self) -> None:
        """Show the end, if it can be proven before everything has been read. Return once it is drawn, because reading
        would delay each step of drawing it."""
        if self._end is None or self._screen is not None or self._left < LEAST // 2 or not self._host.is_current:
            return
        self._is_urgent = True
        self._prove()
        while self._proof is not None and self._proof.is_running and self._navigator.waits_for_end:
            await asyncio.sleep(0.005)
        end, audience = self._end, self._session.display.audience
        self._end = None
        if self._session.display.level == Level.BRIEF.value:
            audience = END_USER  # the state of a call may depend on calls before the end
        shown = await asyncio.to_thread(end.view, audience)
        if shown is None or not self._navigator.waits_for_end or not self._host.is_current:
            return
        if audience not in (END_USER, self._session.display.audience):
            return
        markdown = self._settings.markdown
        rendered = markdown if self._session.markdown is None else self._session.markdown
        from viewer.tui.dialogs.file_end import FileEndScreen

        self._screen = FileEndScreen(
            *(self._painter, self._main.printing, self._title_line(), shown, self._settings.wrap, markdown, rendered),
            actions=self._main.actions,
        )
        self._main.app.push_screen(self._screen, self._finish)
        with suppress(TimeoutError):  # another screen may cover this one
            await asyncio.wait_for(self._screen.is_drawn.wait(), LONGEST_MOUNT)

    def _prove(self) -> None:
        end = self._end
        if end is None or self._proof is not None:
            return

        async def prove() -> None:
            await asyncio.to_thread(end.prove, lambda: not self._session.document.is_read, lambda: self._is_urgent)

        self._proof = self._host.start_worker(prove, "proof", exclusive=True)

    def _title_line(self) -> TitleFacts:
        """Return the title without the turn and the transcript, because their numbers are not known yet."""
        return replace(self._main.widgets.title.facts, turn=None, transcript=None)

    def show_progress(self) -> None:
        """Show how much has been read."""
        if self._screen is not None:
            self._screen.show_progress(self._title_line())

    def close(self) -> None:
        """Return to the main screen, because everything has been read."""
        self._end = None
        if self._screen is not None:
            self._screen.dismiss("")

    def _finish(self, action: str | None) -> None:
        if self._screen is not None:
            self._screen.is_drawn.set()
        self._screen = None
        if action:
            self._navigator.stop_waiting()
            self._main.action_do(action)
        elif action is not None:
            self._navigator.go_to_end()
