"""Handle requests that repeat their history: drop repeated messages, and begin a new transcript for a new
conversation."""

from __future__ import annotations

from collections.abc import Callable

from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.engine.paths import string_at
from viewer.formats.tables.model import Exchange, History
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonNode

_COMPARED = frozenset({Kind.SAID, Kind.CALL, Kind.REPLY, Kind.INJECTED})
"""The kinds of messages that every request repeats. A request may omit thoughts and instructions."""
_Identity = tuple[Kind, str, str]


class Conversation:
    """Tracks the messages in the requests and responses of the current transcript."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._said: list[_Identity] = []
        self._others: set[_Identity] = set()
        self._ids: set[str] = set()
        """The IDs of the responses."""
        self._is_asked = False
        """True if the last request has no response yet."""
        self._unread: Callable[[], list[Draft]] | None = None
        """A function that returns the messages of the last response, if they are not noted yet."""

    def take(self, reading: RecordReading, node: JsonNode) -> bool:
        """Drop the messages that a record repeats. Return True if the record begins another conversation."""
        self.settle()
        if not reading.exchanges:
            self._note(reading.drafts)
            return False
        id, previous = string_at(node, self._history.id), string_at(node, self._history.previous)
        is_new = False
        if previous is not None and previous in self._ids:
            pass
        elif Exchange.REQUEST in reading.exchanges:
            is_new = not self._repeats(reading.drafts)
            if not is_new:
                reading.drafts = self._without_copies(reading.drafts)
        elif id is not None and id in self._ids:
            reading.drafts = [draft for draft in reading.drafts if not self._is_known(draft)]
        else:
            is_new = not self._is_asked
        if is_new:
            self._said, self._others, self._ids = [], set(), set()
        if Exchange.RESPONSE in reading.exchanges and id is not None:
            self._ids.add(id)
        self._is_asked = Exchange.RESPONSE not in reading.exchanges
        self._note(reading.drafts)
        return is_new

    def is_new(self, id: str | None, previous: str | None) -> bool:
        """True if a response with these IDs certainly begins another conversation."""
        return previous is None and not self._is_asked and (id is None or id not in self._ids)

    def begin(self, id: str | None, read: Callable[[], list[Draft]]) -> None:
        """Begin another conversation with a response. `read` returns its messages; it is called only when they are
        needed."""
        self._said, self._others, self._ids = [], set(), set() if id is None else {id}
        self._unread = read

    def settle(self) -> None:
        """Note the messages of the last response, if this has not been done yet."""
        if self._unread is not None:
            read, self._unread = self._unread, None
            self._note(read())

    def _repeats(self, drafts: list[Draft]) -> bool:
        """True if a request begins with the whole conversation so far."""
        said = [_identity(draft) for draft in drafts if draft.kind in _COMPARED]
        return bool(self._said) and said[: len(self._said)] == self._said

    def _without_copies(self, drafts: list[Draft]) -> list[Draft]:
        left = len(self._said)
        new: list[Draft] = []
        for draft in drafts:
            if left and draft.kind in _COMPARED:
                left -= 1
            elif not left or _identity(draft) not in self._others:
                new.append(draft)
        return new

    def _is_known(self, draft: Draft) -> bool:
        identity = _identity(draft)
        return identity in self._others or identity in self._said

    def _note(self, drafts: list[Draft]) -> None:
        for draft in drafts:
            if draft.kind in _COMPARED:
                self._said.append(_identity(draft))
            else:
                self._others.add(_identity(draft))


def _identity(draft: Draft) -> _Identity:
    is_text = draft.kind in (Kind.SAID, Kind.INJECTED) or draft.call_id is None
    return draft.kind, draft.role, draft.text.strip() if is_text else draft.call_id or ""
