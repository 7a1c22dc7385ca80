"""Where a message stands when thoughts have panes of their own."""

from __future__ import annotations

from enum import Enum

from viewer.model.messages import Message
from viewer.model.visibility import Reveal, is_user_safe, kind_of


class Lane(Enum):
    """The panes that messages stand in where each channel has one of its own."""

    CONVERSATION = "conversation"
    ANALYSIS = "analysis"
    COMMENTARY = "commentary"


_LANES = {Reveal.ANALYSIS: Lane.ANALYSIS, Reveal.COMMENTARY: Lane.COMMENTARY, Reveal.TOOL: Lane.COMMENTARY}


def lane_of(message: Message) -> Lane:
    """Where a message stands; what the end user saw stands in the conversation."""
    if is_user_safe(message):
        return Lane.CONVERSATION
    return _LANES.get(kind_of(message), Lane.CONVERSATION)
