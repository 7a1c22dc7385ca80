"""List keys: the bindings of a screen that consists of one list."""

from __future__ import annotations

from textual.binding import Binding

LIST_KEYS = (
    Binding("j,down,J", "move(1)", show=False),
    Binding("k,up,K", "move(-1)", show=False),
    Binding("space,pagedown,ctrl+d", "page(1)", show=False),
    Binding("b,pageup,ctrl+u", "page(-1)", show=False),
    Binding("g,home", "move(-1000000000)", show=False),
    Binding("G,end", "move(1000000000)", show=False),
)
"""The bindings. The screen defines `action_move`, by rows, and `action_page`."""
