"""Turn counter: a turn begins with a user message that does not follow another one."""

from __future__ import annotations

from array import array

from viewer.columns.api import Column, Columns
from viewer.model.messages import Header, Kind, Message

_ASIDE = frozenset({Kind.INJECTED, Kind.SUBAGENT, Kind.REPLAYED, Kind.NOTICE})


def is_aside(header: Header) -> bool:
    """True for a message that starts no turn, because no one typed it for the main agent."""
    return header.kind in _ASIDE or header.thread > 0


class TurnCounter:
    """Counts turns from 1 in each transcript. Messages before the first user message belong to the first turn."""

    def __init__(self) -> None:
        self._transcript = 0
        self._turn = 0
        """The turn of the latest user message; 0 before the first."""
        self._is_after_user = False

    def next(self, message: Message) -> int:
        """Return the turn of the next message in input order."""
        header = message.header
        if is_aside(header):
            return self.here(message.transcript)
        return self.after(message.transcript, header.role)

    def here(self, transcript: int) -> int:
        """Return the current turn, for a message that starts no turn because nobody typed it."""
        return (self._turn if transcript == self._transcript else 0) or 1

    def after(self, transcript: int, role: str) -> int:
        """Return the turn of the next message, given its transcript and role."""
        if transcript != self._transcript:
            self._transcript, self._turn, self._is_after_user = transcript, 0, False
        is_user = role == "user"
        if is_user and not self._is_after_user:
            self._turn += 1
        self._is_after_user = is_user
        return self._turn or 1

    def after_all(self, columns: Columns, transcripts: list[tuple[int, int]], users: bytearray) -> Column:
        """Return the turns of consecutive messages. `transcripts` contains the first row and the number of each
        transcript, and `users` is a mask of the user messages."""
        is_same = transcripts[0][1] == self._transcript
        breaks = array("I", [row for row, _ in transcripts[is_same:]])
        turns = columns.number_runs(users, breaks, self._turn, self._is_after_user)
        has_user = 1 in users[breaks[-1] :] if breaks else self._turn > 0 or 1 in users
        self._transcript = transcripts[-1][1]
        self._turn = turns[-1] if has_user else 0
        self._is_after_user = bool(users[-1])
        return turns
