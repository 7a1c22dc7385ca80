"""Display state: the level, channels, and layout of a view. It starts safe by default and is never saved."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from viewer.model.visibility import BRIEF, END_USER, Audience, Reveal

FIRST_CHANNELS = frozenset({Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL})
"""Channels that are on when the debug view opens."""
ALL_CHANNELS = FIRST_CHANNELS | {Reveal.SYSTEM}


class DisplayState(Struct, frozen=True):
    """The display options of one view. Immutable: every change returns a new value."""

    debug: bool = False
    brief: bool = False
    """True if the safe view has one line per call; never together with `debug`."""
    strict: bool = False
    channels: frozenset[Reveal] = FIRST_CHANNELS
    """Channels of the debug view; SYSTEM includes developer messages."""
    side_panes: bool = False
    """True if analysis and commentary are shown next to the conversation instead of inline."""
    raw: bool = False
    sealed: bool = False
    """True if the audience can never change."""
    usage: bool = False
    """True if the outline, the calls table, and the rules between turns show tokens and cost. Debug view only."""

    @property
    def level(self) -> str:
        """How much the view reveals: `safe`, `brief`, or `debug`."""
        return self.audience.level.value

    def reveals_less(self, other: DisplayState) -> bool:
        """True if this view has a lower level than the other one."""
        return (self.debug, self.brief) < (other.debug, other.brief)

    @property
    def audience(self) -> Audience:
        """The audience of this view."""
        if not self.debug:
            return BRIEF if self.brief else replace(END_USER, strict=self.strict, sealed=self.sealed)
        if self.channels >= {Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL, Reveal.SYSTEM}:
            return Audience(frozenset({Reveal.ALL}))
        revealed = set(self.channels) | {Reveal.STRAY, Reveal.UNCLEAR, Reveal.SUBAGENT}
        if Reveal.SYSTEM in revealed:
            revealed.add(Reveal.DEVELOPER)
        return Audience(frozenset(revealed))

    def is_within(self, audience: Audience) -> bool:
        """True if a document that was opened for this audience may be shown in this state."""
        reveals = self.debug or self.brief or self.side_panes or self.raw
        return not audience.sealed or (audience.admits(self.audience) and not reveals)

    def opened(self) -> DisplayState:
        """Return the debug view in its initial state."""
        return replace(self.closed(), debug=True)

    def listed(self) -> DisplayState:
        """Return the brief view: the safe view with one line per call."""
        return replace(self.closed(), brief=True)

    def closed(self) -> DisplayState:
        """Return the safe view, without the choices made in other views."""
        return replace(
            self, debug=False, brief=False, channels=FIRST_CHANNELS, side_panes=False, raw=False, usage=False
        )

    def toggled(self, channel: Reveal) -> DisplayState:
        """Return this state with one channel switched on or off."""
        return replace(self, channels=self.channels ^ {channel})

    @property
    def next_views(self) -> list[DisplayState]:
        """The debug views that a single key press can switch to from this view. There are none for a strict or sealed
        view."""
        if self.strict or self.sealed:
            return []
        if not self.debug:
            return [self.opened()]
        return [self.toggled(channel) for channel in (Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL, Reveal.SYSTEM)]
