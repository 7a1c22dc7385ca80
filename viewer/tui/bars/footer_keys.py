"""Footer keys of each view and pane, most important first, with their labels and the screen widths that show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from viewer.render.style import StyleRole
from viewer.tui.bars.spots import Spot, apart, spot, width_of
from viewer.tui.keys import ACTIONS, Action, offered


class FooterKey(Struct, frozen=True):
    """A footer entry: the keys of one or more actions, and a label."""

    ids: tuple[str, ...]
    label: str
    least: int = 0
    """The minimum screen width at which the entry is shown."""
    most: int = 10_000
    """The maximum screen width at which the entry is shown."""


class FooterItem(Struct, frozen=True):
    """A footer entry with the configured keys."""

    keys: tuple[tuple[str, str], ...]
    """Each printed key with the ID of its action."""
    label: str


class FooterView(Enum):
    """The view or pane that the keys act on."""

    SAFE = "safe"
    BRIEF = "brief"
    DEBUG = "debug"
    LIST = "list"
    PROBLEMS = "problems"
    CALLS = "calls"
    TIMELINE = "timeline"
    FILES = "files"
    TRANSCRIPTS = "transcripts"
    MERGED = "merged"


_SAFE = (
    FooterKey(("search",), "Find"),
    FooterKey(("next_match",), "Next"),
    FooterKey(("filter",), "Filter", 100),
    FooterKey(("next_error",), "Problem"),
    FooterKey(("brief",), "Brief"),
    FooterKey(("markdown",), "Source", 100),
    FooterKey(("debug",), "Debug"),
    FooterKey(("yank",), "Copy"),
    FooterKey(("follow",), "Follow", 100),
)
_BRIEF = tuple(FooterKey(each.ids, "Safe", each.least) if each.ids == ("brief",) else each for each in _SAFE)
_DEBUG = (
    FooterKey(("debug",), "Safe"),
    FooterKey(("analysis", "commentary", "tools", "system"), "Show", 0, 119),
    FooterKey(("analysis",), "Thoughts", 120),
    FooterKey(("commentary",), "Commentary", 120),
    FooterKey(("tools",), "Tools", 120),
    FooterKey(("system",), "System", 120),
    FooterKey(("search",), "Find", 100),
    FooterKey(("filter",), "Filter", 120),
    FooterKey(("next_error",), "Problem"),
    FooterKey(("open",), "Open", 0, 119),
    FooterKey(("inspector",), "Inspect", 0, 159),
    FooterKey(("problems",), "List", 100, 119),
    FooterKey(("next_in_call",), "Call", 160),
    FooterKey(("raw",), "Raw", 160),
    FooterKey(("yank",), "Copy", 160),
    FooterKey(("follow",), "Follow", 160),
    FooterKey(("next_pane",), "Pane", 160),
)
_LIST = (
    FooterKey(("open",), "Go"),
    FooterKey(("search",), "Find"),
    FooterKey(("clear",), "Transcript"),
    FooterKey(("next_tab",), "Tab"),
    FooterKey(("next_pane",), "Pane"),
)
_CALLS = (_LIST[0], FooterKey(("next_error",), "Failed"), FooterKey(("system",), "Sort"), *_LIST[1:])
_TIMELINE = (_LIST[0], FooterKey(("zoom_in", "wrap"), "Zoom"), FooterKey(("fold", "unfold"), "Pan"), *_LIST[2:])
_FILES = (
    FooterKey(("open",), "Open"),
    FooterKey(("search",), "Find in all files"),
    FooterKey(("filter",), "Filter"),
    FooterKey(("sort_files",), "Sort"),
    FooterKey(("compare_files",), "Diff"),
    FooterKey(("follow_newest",), "Follow newest"),
)
_TRANSCRIPTS = (
    FooterKey(("open",), "Open"),
    FooterKey(("line_down", "line_up"), "Move"),
    FooterKey(("search",), "Find in all"),
    FooterKey(("filter",), "Filter"),
    FooterKey(("leave",), "Back"),
)
_MERGED = (
    FooterKey(("open",), "Open file"),
    FooterKey(("search",), "Find"),
    FooterKey(("next_message", "previous_message"), "Message"),
    FooterKey(("debug", "brief"), "Level"),
    FooterKey(("yank",), "Copy"),
    FooterKey(("bottom",), "End"),
)
_BACK = (FooterKey(("leave",), "Back"),)
_TRANSCRIPT_VIEWS = frozenset({FooterView.SAFE, FooterView.BRIEF, FooterView.DEBUG})
_PALETTE = FooterKey(("palette",), "Commands")
_ALWAYS = (_PALETTE, FooterKey(("help",), "Help"))
_ALWAYS_OF_PROBLEMS = (_PALETTE, FooterKey(("help",), "Explain"))

FOOTERS = {
    FooterView.SAFE: _SAFE,
    FooterView.BRIEF: _BRIEF,
    FooterView.DEBUG: _DEBUG,
    FooterView.LIST: _LIST,
    FooterView.PROBLEMS: _LIST,
    FooterView.CALLS: _CALLS,
    FooterView.TIMELINE: _TIMELINE,
    FooterView.FILES: _FILES,
    FooterView.TRANSCRIPTS: _TRANSCRIPTS,
    FooterView.MERGED: _MERGED,
}


def footer_actions(
    view: FooterView, width: int, actions: Sequence[Action] = ACTIONS, *, has_back: bool = False
) -> list[FooterItem]:
    """Return the footer items for a view on a screen of this width, in order. With `has_back`, the first item in a
    transcript is the key that returns to the file list."""
    back = _BACK if has_back and view in _TRANSCRIPT_VIEWS else ()
    return list(_items((key for key in (*back, *FOOTERS[view]) if key.least <= width <= key.most), actions))


def footer_always(actions: Sequence[Action] = ACTIONS, view: FooterView = FooterView.SAFE) -> list[FooterItem]:
    """Return the items at the right end of every footer. In the problem list, the help key explains the problem."""
    return list(_items(_ALWAYS_OF_PROBLEMS if view is FooterView.PROBLEMS else _ALWAYS, actions))


def footer_spots(
    view: FooterView, width: int, actions: Sequence[Action] = ACTIONS, *, has_back: bool = False
) -> list[Spot]:
    """Return the footer of a view: the keys that fit, and those for commands and help at the right end."""
    items, always = footer_actions(view, width, actions, has_back=has_back), footer_always(actions, view)
    right = [*_spots(always), spot(" ")]
    while items and width_of(_spots(items)) + width_of(right) > width:
        items.pop()
    if not items and width_of(right) > width:
        right = [*_spots(always, labels=False), spot(" ")]
    return apart(_spots(items), right, width)


def _spots(items: Sequence[FooterItem], *, labels: bool = True) -> list[Spot]:
    spots: list[Spot] = []
    for item in items:
        spots.append(spot("  " if spots else " "))
        for index, (key, action) in enumerate(item.keys):
            spots += [spot(" ", StyleRole.FOOTER_TEXT)] if index else []
            spots.append(spot(key, StyleRole.FOOTER_KEY, action))
        label = f" {item.label}" if labels else ""
        spots.append(spot(label, StyleRole.FOOTER_TEXT, item.keys[0][1] if len(item.keys) < 3 else ""))
    return spots


def _items(offers: Iterable[FooterKey], actions: Sequence[Action]) -> Iterable[FooterItem]:
    known = {action.id: action for action in offered(actions)}
    for offer in offers:
        keys = tuple((shown, id) for id in offer.ids if id in known and (shown := known[id].shown_key))
        if keys:
            yield FooterItem(keys, offer.label)
