"""Input queue: passes on one key at a time, so each reaches the screen or prompt that the keys before it open.

Textual forwards a key to the widget that has the focus, from which it bubbles up to the app. Without the queue, the
next key could already be on its way to a screen that the first one closes, or into the text of a prompt that it
submits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from textual.app import App
from textual.dom import DOMNode
from textual.events import Callback, Event, Key

ROUNDS = 3
"""How many messages a key may cause, one after another: of the input, the prompt, and the screen."""


LONGEST_REPEAT = 0.1
"""A key that comes again within this number of seconds is held down."""
LONGEST_FRAME = 0.05
"""If a key has drawn no frame after this number of seconds, it draws none."""
REPEATS = 8
"""How many repeats of a key to look at. The next one is expected as soon as it came at best."""


class _Step:
    """A callback without parameters. Textual need not inspect its signature: the inspection takes longer than the
    call."""

    _param_count = 0

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def __call__(self) -> None:
        self._act()


def post_call(node: DOMNode, act: Callable[[], None]) -> bool:
    """Call a function when a node handles its next message. Return False if the node is closed."""
    return node.post_message(Callback(callback=_Step(act)))


def is_key_on_its_way(node: DOMNode) -> bool:
    """True while a key is being handled. Deferrable work must not delay the frame that shows the key's effect."""
    queue = getattr(node.app, "input_queue", None)
    return queue is not None and queue.is_busy


def is_idle(node: DOMNode, seconds: float) -> bool:
    """True if there is probably time for work that takes this long."""
    queue = getattr(node.app, "input_queue", None)
    return queue is None or queue.is_idle(seconds)


class InputQueue:
    """Owns the input that waits while a key is being handled."""

    def __init__(self, app: App[int], handle: Callable[[Event], Awaitable[None]]) -> None:
        """`handle` is the app's own handler for an event."""
        self._app = app
        self._handle = handle
        self._waiting: deque[Event] = deque()
        self.is_busy = False
        """True while a key is being handled."""
        self._last_key = "", 0.0
        """The last key and its time."""
        self._drawn_at = 0.0
        """The time of the last frame."""
        self._intervals: deque[float] = deque(maxlen=REPEATS)
        """The seconds between the last keys if one is held down."""

    def is_idle(self, seconds: float) -> bool:
        """True if the effect of the last key has been drawn and no key is expected within this time, because none is
        held down that repeats so soon or is slightly late."""
        now, (_, pressed_at) = time.monotonic(), self._last_key
        if self.is_busy or (self._drawn_at < pressed_at and now - pressed_at < LONGEST_FRAME):
            return False
        interval = min(self._intervals, default=0.0)
        return not interval or not -interval / 2 < pressed_at + interval - now < seconds

    def frame_drawn(self) -> None:
        """Record that a frame was drawn."""
        self._drawn_at = time.monotonic()

    def time_key(self, key: str) -> None:
        """Record that a key was pressed."""
        before, at = self._last_key
        now = time.monotonic()
        if key != before or now - at >= LONGEST_REPEAT:
            self._intervals.clear()
        else:
            self._intervals.append(now - at)
        self._last_key = key, now

    async def take(self, event: Event) -> None:
        """Handle an event from the driver, after all earlier ones."""
        if isinstance(event, Key):
            self.time_key(event.key)
        self._waiting.append(event)
        if not self.is_busy:
            await self._go_on()

    async def _go_on(self) -> None:
        """Handle the waiting events, up to the next key."""
        self.is_busy = False
        while self._waiting and not self.is_busy:
            event = self._waiting.popleft()
            if isinstance(event, Key):
                self.is_busy = True
                target: DOMNode = self._app.focused or self._app.screen
                await self._handle(event)
                self._climb(target, target, ROUNDS)
            else:
                await self._handle(event)

    def _climb(self, node: DOMNode, first: DOMNode, rounds: int) -> None:
        """Follow a key from the first queue up to the app's queue, once for each message that it may cause in turn."""
        if node is self._app:
            if rounds > 1:
                post_call(node, partial(self._climb, first, first, rounds - 1))
            else:
                node.call_later(self._go_on)
            return
        above = node.parent or self._app
        if not post_call(node, partial(self._climb, above, first, rounds)):
            self._climb(above, first, rounds)  # the node is closed and handles nothing
