"""Next views: computes, while the app is idle, the rows that the next key press may show."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from textual.dom import DOMNode

from viewer.document.rows import Rows
from viewer.tui.input_queue import is_key_on_its_way, post_call
from viewer.tui.session import Session

FIRST_PAUSE, PAUSE = 0.05, 0.002
"""The seconds to wait before the first round, so that the current view is drawn first, and before each later round, so
that a pending key is handled first."""
ROUND_SECONDS = 0.003
"""The number of seconds after which a round starts no further step."""


class NextViews:
    """Computes rows, a few steps at a time. Rows are only numbers, without text, and the session drops them when the
    input is read again."""

    def __init__(self, session: Session, node: DOMNode) -> None:
        """The steps are queued on the message queue of `node`."""
        self._session = session
        self._node = node
        self._rows: Rows | None = None
        """The rows of the current view."""
        self._steps: Iterator[None] = iter(())
        self._is_waiting = False

    def prepare(self) -> None:
        """Start over if the view has changed. Call this only once everything has been read."""
        if self._rows is not self._session.rows:
            self._rows, self._steps = self._session.rows, self._session.prepare_rows()
            if not self._is_waiting:
                self._wait(FIRST_PAUSE)

    def _wait(self, pause: float) -> None:
        self._is_waiting = True
        asyncio.get_running_loop().call_later(pause, post_call, self._node, self._go_on)

    def _go_on(self) -> None:
        self._is_waiting = False
        until = time.perf_counter() + ROUND_SECONDS
        while not is_key_on_its_way(self._node):
            if next(self._steps, self) is self:  # no steps are left
                return
            if time.perf_counter() >= until:
                break
        self._wait(PAUSE)
