"""The letter and style role of a message: S system, D developer, U user, A analysis, C commentary, T tool, F final."""

from __future__ import annotations

from viewer.document.values import Headline, ShownMessage
from viewer.render.style import StyleRole

UNKNOWN = "?"
"""A role or a channel that no specification defines."""
UNSEEN = "·"
"""A message whose channel must not be disclosed."""

_ROLES = {"system": "S", "developer": "D", "user": "U", "tool": "T"}
_CHANNELS = {"final": "F", "analysis": "A", "commentary": "C"}
_LOOKS = {
    "S": StyleRole.SYSTEM,
    "D": StyleRole.SYSTEM,
    "U": StyleRole.USER,
    "T": StyleRole.TOOL,
    "F": StyleRole.ASSISTANT,
    "A": StyleRole.ANALYSIS,
    "C": StyleRole.COMMENTARY,
    UNSEEN: StyleRole.QUIET,
}


def letter_of(message: Headline | ShownMessage) -> str:
    """One letter for role and channel."""
    if message.role in _ROLES:
        return _ROLES[message.role]
    if not is_seen(message):
        return UNSEEN
    if message.role.startswith(("system:", "assistant:example_")):
        return "S"
    if message.role != "assistant":
        return UNKNOWN
    return _CHANNELS.get(message.channel or "", UNKNOWN)


def look_of(message: Headline | ShownMessage) -> StyleRole:
    """The style role of the letter; quiet if the message is hidden."""
    if not is_seen(message):
        return StyleRole.QUIET
    return _LOOKS.get(letter_of(message), StyleRole.UNKNOWN)


def is_seen(message: Headline | ShownMessage) -> bool:
    """True if the audience sees the message; a message with a body is always seen."""
    return message.seen if isinstance(message, Headline) else True


def is_call(message: Headline | ShownMessage) -> bool:
    """True if the message goes to a tool."""
    return message.role == "assistant" and message.recipient not in (None, "user", "assistant")
