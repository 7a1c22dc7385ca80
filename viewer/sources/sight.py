"""Which messages an audience sees, remembered by what their headers have in common."""

from __future__ import annotations

from viewer.core.index import MessageIndex
from viewer.core.visibility import Audience


class Sight:
    """Asks the one rule once for each kind of message."""

    def __init__(self, index: MessageIndex, audience: Audience) -> None:
        self._index = index
        self._audience = audience
        self._known: dict[int, bool] = {}

    def sees(self, number: int) -> bool:
        """Whether the audience sees the message of this number."""
        return self.sees_key(number, self._index.look_key(number))

    def sees_key(self, number: int, key: int) -> bool:
        """The same where the key is at hand."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._audience.sees(self._index[number])
        return known
