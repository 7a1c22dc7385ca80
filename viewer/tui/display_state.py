"""Display state: the level, channels, and layout of a view. It always starts safe and is never saved."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from viewer.model.visibility import END_USER, Audience, Reveal

FIRST_CHANNELS = frozenset({Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL})
"""Channels that are on when the debug view opens."""
ALL_CHANNELS = FIRST_CHANNELS | {Reveal.SYSTEM}


class DisplayState(Struct, frozen=True):
    """The choices of one view. Immutable: a change makes a new value."""

    debug: bool = False
    strict: bool = False
    channels: frozenset[Reveal] = FIRST_CHANNELS
    """Channels of the debug view; SYSTEM includes developer messages."""
    side_panes: bool = False
    """Show analysis and commentary next to the conversation instead of inline."""
    raw: bool = False

    @property
    def level(self) -> str:
        """The level of disclosure: `safe` or `debug`."""
        return "debug" if self.debug else "safe"

    @property
    def audience(self) -> Audience:
        """The audience of this view."""
        if not self.debug:
            return replace(END_USER, strict=self.strict)
        if self.channels >= {Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL, Reveal.SYSTEM}:
            return Audience(frozenset({Reveal.ALL}))
        revealed = set(self.channels) | {Reveal.STRAY, Reveal.UNCLEAR, Reveal.SUBAGENT}
        if Reveal.SYSTEM in revealed:
            revealed.add(Reveal.DEVELOPER)
        return Audience(frozenset(revealed))

    def opened(self) -> DisplayState:
        """Return the debug view in its initial state."""
        return replace(self, debug=True, channels=FIRST_CHANNELS, side_panes=False, raw=False)

    def closed(self) -> DisplayState:
        """Return the safe view, without the choices of the debug view."""
        return replace(self, debug=False, channels=FIRST_CHANNELS, side_panes=False, raw=False)

    def toggled(self, channel: Reveal) -> DisplayState:
        """Return this state with one channel switched on or off."""
        return replace(self, channels=self.channels ^ {channel})
