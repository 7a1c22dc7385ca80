"""Where a message stands when thoughts have panes of their own."""

from __future__ import annotations

from enum import Enum

from viewer.model.messages import Message
from viewer.model.visibility import Reveal, is_user_safe, kind_of


class Pane(Enum):
    """The panes that messages stand in where each channel has one of its own."""

    CONVERSATION = "conversation"
    ANALYSIS = "analysis"
    COMMENTARY = "commentary"


_LANES = {Reveal.ANALYSIS: Pane.ANALYSIS, Reveal.COMMENTARY: Pane.COMMENTARY, Reveal.TOOL: Pane.COMMENTARY}


def lane_of(message: Message) -> Pane:
    """Where a message stands; what the end user saw stands in the conversation."""
    if is_user_safe(message):
        return Pane.CONVERSATION
    return _LANES.get(kind_of(message), Pane.CONVERSATION)
