"""Command palette: every action by name. It contains no text of a transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from viewer.tui.keys import ACTIONS, Action, HasActions

LEFT_OUT = frozenset({"palette", "line_down", "line_up", "clear", "yank", "open", "copy_or_quit"})
"""Actions that make no sense in a list."""


def palette_title(action: Action) -> str:
    """The label of an action and its key."""
    return f"{action.label}  {action.shown_key}" if action.shown_key else action.label


def command_provider(actions: Sequence[Action] = ACTIONS) -> type[Provider]:
    """The provider for the COMMANDS of an app; `actions` are for screens without their own."""

    class ActionCommands(Provider):
        """Runs actions on the screen from which the palette was opened, with the keys of that screen."""

        @property
        def _offered(self) -> list[Action]:
            table = self.screen.actions if isinstance(self.screen, HasActions) else actions
            return [action for action in table if action.id not in LEFT_OUT]

        async def discover(self) -> Hits:
            for action in self._offered:
                title = Content(palette_title(action))
                run = partial(self.screen.run_action, f"do('{action.id}')")
                yield DiscoveryHit(title, run, text=title.plain, help=action.help)

        async def search(self, query: str) -> Hits:
            for score, title, action in self._matches(query):
                run = partial(self.screen.run_action, f"do('{action.id}')")
                yield Hit(score, title, run, text=title.plain, help=action.help)

        def _matches(self, query: str) -> Iterator[tuple[float, Content, Action]]:
            """Match the label, or with a lower score the help sentence."""
            matcher = self.matcher(query)
            for action in self._offered:
                score, offsets = matcher.fuzzy_search.match(query, action.label)
                if score > 0:
                    title = Content(palette_title(action))
                    for offset in offsets:
                        title = title.stylize(matcher.match_style, offset, offset + 1)
                    yield score, title, action
                elif query.lower() in action.help.lower():
                    yield 0.01, Content(palette_title(action)), action

    return ActionCommands
