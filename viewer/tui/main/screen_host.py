"""Screen host: implements `Host`, the main screen as controllers see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from textual.worker import Worker

from viewer.document.values import ShownDiagnostic
from viewer.tui.bars.prompt import Prompt
from viewer.tui.host import Notice, Task
from viewer.tui.input_queue import is_key_on_its_way
from viewer.tui.keys import DEBUG_ONLY, Action, by_id, debug_only
from viewer.tui.main.messages import DocumentRead, ViewRestarted
from viewer.tui.main.widgets import Widgets
from viewer.tui.panes.inspector_lines import Tab
from viewer.tui.panes.line_list import LineList
from viewer.tui.session import Changed
from viewer.tui.terminal.clipboard import copy, forget
from viewer.tui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from viewer.tui.frames import Frames
    from viewer.tui.main.screen import MainScreen

ROUNDS_PER_KEY = 30
"""How many rounds of the event loop a key may need to reach its handler."""
TYPING_SECONDS = 0.1
"""The number of seconds after a key press during which another one is expected."""
IDLE_SECONDS = 0.3
"""Seconds before and between the steps that mount closed panes and the prompt."""
ROOMY_WIDTH = 100
"""The minimum width for panes next to each other."""


class ScreenHost:
    """Implements `Host` with Textual."""

    def __init__(self, screen: MainScreen, widgets: Widgets, actions: Sequence[Action]) -> None:
        self.screen = screen
        self._widgets = widgets
        self._actions = actions
        self._child_count = 0

    def start(self) -> None:
        """Record how many widgets there are."""
        self._child_count = len(self.screen.children)

    @property
    def viewport(self) -> Transcript:
        return self._widgets.transcript

    @property
    def prompt(self) -> Prompt:
        return self._widgets.prompt

    @property
    def is_whole(self) -> bool:
        return len(self.screen.children) >= self._child_count and self._widgets.prompt.is_attached

    @property
    def is_current(self) -> bool:
        return self.screen.is_current

    @property
    def is_roomy(self) -> bool:
        return self.screen.size.width >= ROOMY_WIDTH

    @property
    def is_fitted(self) -> bool:
        return self.screen.presenter.is_fitted

    @property
    def size(self) -> tuple[int, int]:
        return self.screen.size.width, self.screen.size.height

    @property
    def inspector_tabs(self) -> list[Tab]:
        return self._widgets.inspector.tabs

    @property
    def chosen_problem(self) -> ShownDiagnostic | None:
        return self._widgets.bottom.problems.chosen_problem

    @property
    def chosen_tool(self) -> str:
        return self._widgets.bottom.calls.chosen_tool

    def next_failed_call(self, step: int) -> int:
        return self._widgets.bottom.calls.next_failed(step)

    @property
    def list(self) -> LineList | None:
        return self._widgets.list_of(self.screen.panes.focused)

    def key_of(self, id: str) -> str:
        return by_id(id, self._actions).shown_key

    def notify(self, sentence: str, kind: Notice = Notice.NOTE, aside: str = "") -> None:
        words = debug_only(self._actions) if sentence == DEBUG_ONLY else sentence
        self._widgets.status.show_notice(words, kind, aside)

    def clear_notice(self) -> None:
        if self.is_whole and self._widgets.status.notice:
            self._widgets.status.clear_notice()

    def redraw(self, changed: Changed) -> None:
        self.screen.redraw(changed)

    def forget_revealed(self) -> None:
        self.screen.presenter.forget_revealed()
        self.screen.lists.forget()
        self.screen.clear_selection()
        forget(self.screen.app)

    def call_later(self, callback: Callable[[], None]) -> None:
        self.screen.call_later(callback)

    def call_after_refresh(self, callback: Callable[[], object]) -> None:
        self.screen.call_after_refresh(callback)

    async def first_frame(self) -> None:
        drawn = asyncio.Event()
        self.call_after_refresh(drawn.set)
        await drawn.wait()
        frames: Frames | None = getattr(self.screen.app, "frames", None)
        if frames is not None:
            await frames.wait()
        self.screen.paint_now()  # the first frame is small: the whole screen was drawn before the app was set up

    def start_worker(
        self, task: Callable[[], Coroutine[None, None, None]], name: str, *, exclusive: bool = False
    ) -> Task:
        """Start a worker. Pass Textual the function, not its coroutine: a worker that is cancelled before its start
        would leave a coroutine that was never awaited."""
        worker: Worker[None] = self.screen.run_worker(task, group=name, exclusive=exclusive)
        return worker

    async def yield_to_input(self) -> None:
        """Wait for as many rounds as a pending key needs to reach its handler."""
        last_key_at = getattr(self.screen.app, "last_key_at", 0.0)
        is_typing = time.monotonic() - last_key_at < TYPING_SECONDS
        for _ in range(ROUNDS_PER_KEY if is_typing else 1):
            await asyncio.sleep(0)

    def report_read(self) -> None:
        self.screen.post_message(DocumentRead())
        self._prepare_later()

    def _prepare_later(self) -> None:
        """Mount the closed panes and the prompt while no key is pressed, one at a time, so that they open faster."""

        def prepare() -> None:
            if self.is_whole and (is_key_on_its_way(self.screen) or self._widgets.prepare_next()):
                self._prepare_later()

        self.screen.set_timer(IDLE_SECONDS, prepare)

    def report_restart(self) -> None:
        self.screen.post_message(ViewRestarted())

    def copy(self, text: str) -> None:
        copy(self.screen.app, text)
