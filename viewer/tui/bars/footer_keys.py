"""Keys of the footer in each view, with their importance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from viewer.tui.keys import ACTIONS, Action


class FooterKey(Struct, frozen=True):
    """The keys of one or more actions, and a word."""

    ids: tuple[str, ...]
    label: str
    importance: int
    """The lowest is removed first."""
    between: str = " "


class FooterItem(Struct, frozen=True):
    """An item with the keys of the settings."""

    keys: tuple[tuple[str, str], ...]
    """Each printed key, and the id of its action."""
    label: str
    importance: int
    between: str


_QUIT = FooterKey(("leave",), "Quit", 9)

_SAFE = (
    _QUIT,
    FooterKey(("search",), "Find", 7),
    FooterKey(("next_match", "previous_match"), "Match", 2),
    FooterKey(("next_error", "previous_error"), "Error", 5),
    FooterKey(("next_message", "previous_message"), "Message", 4),
    FooterKey(("follow",), "Follow", 3),
    FooterKey(("debug",), "Debug view", 8),
)
_SAFE_SHORT = (
    _QUIT,
    FooterKey(("search",), "Find", 7),
    FooterKey(("next_error",), "Err", 5),
    FooterKey(("next_message", "previous_message"), "Msg", 4, "/"),
    FooterKey(("follow",), "Follow", 3),
    FooterKey(("debug",), "Debug", 8),
)
_DEBUG = (
    _QUIT,
    FooterKey(("debug",), "Safe", 8),
    FooterKey(("analysis",), "Analysis", 6),
    FooterKey(("commentary",), "Comm", 6),
    FooterKey(("tools",), "Tools", 6),
    FooterKey(("system",), "Sys", 6),
    FooterKey(("next_in_call", "previous_in_call"), "Call", 4),
    FooterKey(("next_error", "previous_error"), "Error", 5),
    FooterKey(("raw",), "Raw", 3),
    FooterKey(("yank",), "Copy", 2),
    FooterKey(("follow",), "Follow", 1),
)
_DEBUG_SHORT = (
    _QUIT,
    FooterKey(("debug",), "Safe", 8),
    FooterKey(("analysis", "commentary", "tools", "system"), "Chan", 6),
    FooterKey(("next_in_call",), "Call", 4),
    FooterKey(("next_error",), "Err", 5),
    FooterKey(("raw",), "Raw", 3),
    FooterKey(("yank",), "Copy", 2),
)
_ALWAYS = (FooterKey(("palette",), "Commands", 1), FooterKey(("help",), "Help", 9))
_ALWAYS_SHORT = (FooterKey(("palette",), "Cmds", 1), FooterKey(("help",), "Help", 9))

FOOTERS = {(False, True): _SAFE, (False, False): _SAFE_SHORT, (True, True): _DEBUG, (True, False): _DEBUG_SHORT}
"""By debug view, and by width."""


def footer_actions(debug: bool, roomy: bool = True, actions: Sequence[Action] = ACTIONS) -> tuple[FooterItem, ...]:
    """The items of the footer, in order."""
    return tuple(_items(FOOTERS[debug, roomy], actions))


def footer_always(roomy: bool = True, actions: Sequence[Action] = ACTIONS) -> tuple[FooterItem, ...]:
    """The items at the right end of the footer in every view."""
    return tuple(_items(_ALWAYS if roomy else _ALWAYS_SHORT, actions))


def _items(offers: Iterable[FooterKey], actions: Sequence[Action]) -> Iterable[FooterItem]:
    shown = {action.id: action.shown_key.replace("ctrl+", "^") for action in actions}
    for offer in offers:
        keys = tuple((shown[id], id) for id in offer.ids if shown[id])
        if keys:
            yield FooterItem(keys, offer.label, offer.importance, offer.between)
