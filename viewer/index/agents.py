"""`AgentTable`: the other agents of each transcript, with their IDs in the input."""

from __future__ import annotations

from msgspec import Struct


class AgentStart(Struct, frozen=True, gc=False):
    """Where the messages of another agent begin."""

    id: str
    """The ID of the agent's thread: often the ID of the call that started it, or its name; empty if none was given."""
    first: int
    """The agent's first message, or a message shortly before it."""


class AgentTable:
    """The other agents by transcript and thread number."""

    def __init__(self) -> None:
        self._starts: dict[tuple[int, int], AgentStart] = {}

    def add(self, transcript: int, thread: int, start: AgentStart) -> None:
        """Record where an agent begins."""
        self._starts.setdefault((transcript, thread), start)

    def start(self, transcript: int, thread: int) -> AgentStart | None:
        """Return where an agent begins, or None if the format does not record it."""
        return self._starts.get((transcript, thread))
