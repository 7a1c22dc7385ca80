"""`AgentTable`: the other agents of each transcript, with the ids that the input gives them."""

from __future__ import annotations

from msgspec import Struct


class AgentStart(Struct, frozen=True, gc=False):
    """Where the messages of another agent begin."""

    id: str
    """The id of its thread: often that of the call that started it, or its name; empty if none was given."""
    first: int
    """Its first message, or one shortly before it."""


class AgentTable:
    """The other agents by transcript and thread number."""

    def __init__(self) -> None:
        self._starts: dict[tuple[int, int], AgentStart] = {}

    def add(self, transcript: int, thread: int, start: AgentStart) -> None:
        """Note where an agent begins."""
        self._starts.setdefault((transcript, thread), start)

    def start(self, transcript: int, thread: int) -> AgentStart | None:
        """Return where an agent begins, or None if the format does not say."""
        return self._starts.get((transcript, thread))
