"""Pane of a message in the layout with separate panes for thoughts."""

from __future__ import annotations

from enum import Enum

from viewer.model.messages import Message
from viewer.model.visibility import Reveal, is_user_safe, kind_of


class Pane(Enum):
    """The panes of messages in the layout with one pane per channel."""

    CONVERSATION = "conversation"
    ANALYSIS = "analysis"
    COMMENTARY = "commentary"


_LANES = {Reveal.ANALYSIS: Pane.ANALYSIS, Reveal.COMMENTARY: Pane.COMMENTARY, Reveal.TOOL: Pane.COMMENTARY}


def lane_of(message: Message) -> Pane:
    """The pane of a message; content that the end user saw is in the conversation."""
    if is_user_safe(message):
        return Pane.CONVERSATION
    return _LANES.get(kind_of(message), Pane.CONVERSATION)
