"""Turn counter: a turn begins with a user message that does not follow another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.model.messages import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TurnCounter:
    """Counter of turns from 1 in each transcript. Messages before the first user message belong to the first turn."""

    def __init__(self) -> None:
        self._transcript = 0
        self._turn = 1
        self._last_role = ""
        self._user_seen = False

    def next(self, message: Message) -> int:
        """The turn of the next message in the order of the input."""
        return self.after(message.transcript, message.header.role)

    def after(self, transcript: int, role: str) -> int:
        """The same for a message with this transcript and role."""
        if transcript != self._transcript:
            self._transcript, self._turn, self._user_seen, self._last_role = transcript, 1, False, ""
        if role == "user" and self._last_role != "user":
            self._turn += self._user_seen
            self._user_seen = True
        self._last_role = role
        return self._turn

    def after_all(self, transcript: int, users: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The turns of consecutive messages of one transcript, given which of them are the user's."""
        if transcript != self._transcript:
            self.after(transcript, "")
        begins = users.copy()
        begins[1:] &= ~users[:-1]
        begins[0] &= self._last_role != "user"
        begun = begins.cumsum()
        turns: NDArray[np.int64] = self._turn + (begun if self._user_seen else (begun - 1).clip(0))
        self._turn = int(turns[-1])
        self._user_seen = self._user_seen or bool(begun[-1])
        self._last_role = "user" if users[-1] else "assistant"
        return turns
