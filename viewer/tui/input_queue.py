"""Input queue: passes on one key at a time, so each reaches the screen or prompt that the keys before it open.

Textual forwards a key to the widget that has the focus, from which it bubbles up to the app. Without the queue, the
next key could already be on its way to a screen that the first one closes, or into the text of a prompt that it
submits."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from textual.app import App
from textual.dom import DOMNode
from textual.events import Callback, Event, Key

ROUNDS = 3
"""How many successive messages to wait for after each key: the messages of the input, the prompt, and the screen."""


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


class InputQueue:
    """Owns the input that waits while a key is being handled."""

    def __init__(self, app: App[int], handle: Callable[[Event], Awaitable[None]]) -> None:
        """`handle` is the app's own handler for an event."""
        self._app = app
        self._handle = handle
        self._waiting: deque[Event] = deque()
        self.is_busy = False
        """True while a key is being handled."""

    async def take(self, event: Event) -> None:
        """Handle an event from the driver, after all earlier ones."""
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
