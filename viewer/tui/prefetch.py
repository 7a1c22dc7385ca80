"""Prefetch while idle: does small steps of work ahead of the key that needs their results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual.dom import DOMNode

from viewer.tui.input_queue import is_idle, post_call

FIRST_PAUSE, PAUSE = 0.003, 0.002
"""The seconds to wait before the first round, so that the frame reaches the terminal, and before each later round, so
that a pending key is handled first."""
ROUND_SECONDS = 0.0015
"""The number of seconds after which a round does no further step."""
LONGEST_STEP = 0.0025
"""The seconds that nearly every step takes at most. No step begins if a key is expected earlier."""


class Prefetch:
    """Does a few steps at a time, but none while a key is being handled or will soon be."""

    def __init__(self, node: DOMNode, step: Callable[[], bool], pause: float = FIRST_PAUSE) -> None:
        """`step` does the next step and returns True, or returns False if there is none. Rounds are queued on the
        message queue of `node`. The first one begins after the pause."""
        self._node = node
        self._step = step
        self._pause = pause
        self._is_waiting = False

    def begin(self) -> None:
        """Do steps until there is none."""
        if not self._is_waiting:
            self._wait(self._pause)

    def go_on(self) -> None:
        """Do steps for one round."""
        self._is_waiting = False
        until = time.perf_counter() + ROUND_SECONDS
        while is_idle(self._node, LONGEST_STEP):
            if not self._step():
                return
            if time.perf_counter() >= until:
                break
        self._wait(PAUSE)

    def _wait(self, pause: float) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a picture is drawn in a thread without an event loop
            return
        self._is_waiting = True
        loop.call_later(pause, post_call, self._node, self.go_on)
