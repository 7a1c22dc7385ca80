"""Live sources: the states of several followed inputs, and a background task that reads those without a screen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from viewer.document.backend import load_backend
from viewer.document.live import LiveChange, LiveDocument
from viewer.errors import ViewerError
from viewer.render.title import FollowState
from viewer.sources.changes import SourceCondition
from viewer.tui.main.follow import FollowMachine, FollowTitle, Signal, follow_title
from viewer.tui.main.screen import MainScreen
from viewer.tui.startup import Opener

SLICE = 16 * 1024
"""How many bytes of one input to read before handling events and the next input."""
QUIET_SECONDS = 0.1
"""Seconds between polls if nothing has arrived."""


class LiveSource:
    """One followed input that no screen shows yet."""

    def __init__(self, live: LiveDocument, stalled_after: float) -> None:
        self.live = live
        self._stalled_after = stalled_after
        self._machine = FollowMachine()
        self._machine.signal(Signal.SOURCE_CHANGED, source=live.following.state.condition)
        self._machine.signal(Signal.START)

    def step(self) -> bool:
        """Read a slice. Return True if more can be read now."""
        return self.step_on(SLICE).more

    def step_on(self, size: int) -> LiveChange:
        """Read up to `size` bytes and return what they changed."""
        live, machine = self.live, self._machine
        change = live.step(size)
        machine.signal(Signal.SOURCE_CHANGED, source=live.following.state.condition)
        if live.is_complete:
            machine.signal(Signal.ENDED)
        elif live.has_caught_up and live.following.state.condition is SourceCondition.OK:
            machine.signal(Signal.CAUGHT_UP)
            machine.signal(Signal.GO_TO_END)
        return change

    @property
    def state(self) -> FollowTitle:
        """The state for the file list. It counts no messages, because some may be hidden."""
        live = self.live
        return follow_title(
            self._machine.status,
            is_live=True,
            is_complete=live.is_complete,
            progress=live.progress,
            stalled_for=live.stalled_for,
            stalled_after=self._stalled_after,
            was_read=live.size > 0,
        )


class LiveSources:
    """Owns the inputs without a screen, and provides the states of all inputs."""

    def __init__(
        self, opener: Opener, paths: Sequence[str], stalled_after: float, screens: Mapping[str, MainScreen]
    ) -> None:
        """`screens` are the screens of opened inputs. Each of them reads its input itself."""
        self._paths = tuple(paths)
        self._screens = screens
        self._without_screen: dict[str, LiveSource] = {}
        self._is_closed = False
        for path in paths:
            if opener.is_live(path):
                live = opener.document(path)
                assert isinstance(live, LiveDocument)
                self._without_screen[path] = LiveSource(live, stalled_after)

    def take(self, path: str) -> LiveDocument | None:
        """Hand an input over to the screen that will show it. Return None if there is no such input without a
        screen."""
        source = self._without_screen.pop(path, None)
        return source.live if source is not None else None

    def state(self, path: str) -> FollowTitle | None:
        """Return the state of an input, or None if it is not followed."""
        if path in self._screens:
            return self._screens[path].follow.state
        source = self._without_screen.get(path)
        return source.state if source is not None else None

    @property
    def live_count(self) -> int:
        """The number of inputs that are live."""
        states = map(self.state, self._paths)
        return sum(state is not None and state.state is FollowState.LIVE for state in states)

    def words(self, path: str) -> str:
        """Return the position of an input and the number of live ones: `2 of 3, 3 live`."""
        if path not in self._paths:
            return ""
        return f"{self._paths.index(path) + 1} of {len(self._paths)}, {self.live_count} live"

    async def run(self) -> None:
        """Read all inputs without a screen, one slice at a time, until the app ends."""
        while not self._is_closed:
            is_busy = False
            for path, source in list(self._without_screen.items()):
                if source.live.needs_backend:
                    await asyncio.to_thread(load_backend)  # slow, because it imports modules
                if self._without_screen.get(path) is not source:  # a screen has taken it over
                    continue
                if source.live.needs_backend:
                    source.live.load_backend()
                try:
                    is_busy = source.step() or is_busy
                except ViewerError:  # the screen that opens it will report the reason
                    continue
                await asyncio.sleep(0)
            await asyncio.sleep(0 if is_busy else QUIET_SECONDS)

    def close(self) -> None:
        """Stop reading and close the inputs."""
        self._is_closed = True
        for source in self._without_screen.values():
            source.live.following.close()
