"""Dismiss a dialog only once, even after several quick clicks."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

Result = TypeVar("Result")


class DismissOnce(Screen[Result]):
    """Ignores a second dismissal, which would close the screen below. List this base last: styles come from the first
    base."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        if not self.is_active:
            return AwaitComplete()
        self.workers.cancel_node(self)  # its tasks would draw on widgets that are already removed
        return super().dismiss(result)
