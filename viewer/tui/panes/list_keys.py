"""List keys: the bindings of a screen that consists of one list, with the configured keys."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding, BindingsMap

from viewer.tui.keys import Action, by_id

_ROWS = (
    ("move(1)", ("line_down", "next_message")),
    ("move(-1)", ("line_up", "previous_message")),
    ("page(1)", ("page_down", "half_page_down")),
    ("page(-1)", ("page_up", "half_page_up")),
    ("move(-1000000000)", ("top",)),
    ("move(1000000000)", ("bottom",)),
    ("back", ("leave", "clear")),
)
"""For each action of a list screen, the actions of the main screen whose keys it uses. The screen defines `action_move`
(by rows), `action_page`, and `action_back`."""


def add_list_keys(bindings: BindingsMap, actions: Sequence[Action], opener: str = "") -> None:
    """Add the keys of a list to a screen, whose own keys take precedence. The keys of the action `opener` also close
    it."""
    rows = (*_ROWS, ("back", (opener,))) if opener else _ROWS
    for target, ids in rows:
        for key in (key for id in ids for key in by_id(id, actions).keys):
            bindings.key_to_bindings.setdefault(key, [Binding(key, target, show=False)])
