"""Screens that lie over another one close once, however often they are told: three quick clicks are three times."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.screen import Screen

Result = TypeVar("Result")


class DismissOnce(Screen[Result]):
    """What is told after the end would close the screen below. The last of the bases: styles come from the first."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        if self.app.screen is not self:
            return AwaitComplete()
        return super().dismiss(result)


class Palette(CommandPalette, DismissOnce[None]):
    """The command palette."""
