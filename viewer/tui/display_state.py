"""What the person chose to look at. A new start is always safe, and nothing here is ever saved."""

from __future__ import annotations

from dataclasses import replace

from viewer.model.visibility import END_USER, Audience, Reveal
from viewer.values import frozen

FIRST_CHANNELS = frozenset({Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL})
"""What is on when the debug view is opened."""
ALL_CHANNELS = FIRST_CHANNELS | {Reveal.SYSTEM}


@frozen
class DisplayState:
    """One way to look at a document; changed only by replacing it."""

    debug: bool = False
    strict: bool = False
    channels: frozenset[Reveal] = FIRST_CHANNELS
    """What is on in the debug view; SYSTEM stands for system and developer."""
    side_panes: bool = False
    """Analysis and commentary stand beside the conversation instead of in it."""
    raw: bool = False

    @property
    def audience(self) -> Audience:
        """Who looks, as everything that shows text is given it."""
        if not self.debug:
            return replace(END_USER, strict=self.strict)
        if self.channels >= {Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL, Reveal.SYSTEM}:
            return Audience(frozenset({Reveal.ALL}))
        revealed = set(self.channels) | {Reveal.STRAY, Reveal.UNCLEAR}
        if Reveal.SYSTEM in revealed:
            revealed.add(Reveal.DEVELOPER)
        return Audience(frozenset(revealed))

    def opened(self) -> DisplayState:
        """The debug view, as it always begins."""
        return replace(self, debug=True, channels=FIRST_CHANNELS, side_panes=False, raw=False)

    def closed(self) -> DisplayState:
        """The safe view; the choices of the debug view are forgotten."""
        return replace(self, debug=False, channels=FIRST_CHANNELS, side_panes=False, raw=False)

    def toggled(self, channel: Reveal) -> DisplayState:
        """One channel on or off."""
        return replace(self, channels=self.channels ^ {channel})
