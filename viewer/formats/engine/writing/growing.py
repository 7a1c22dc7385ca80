"""Build growing messages from several records: parts of one reply, and records that extend or replace earlier ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct, field

from viewer.formats.engine.conditions import holds
from viewer.formats.engine.drafts import Draft
from viewer.formats.engine.writing.arrived import Arrived
from viewer.formats.engine.writing.messages import DraftMessages, OpenMessage
from viewer.formats.tables.model import Mode, RecordRule
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonNode

MOST_REPLIES = 4096
"""The maximum number of replies whose parts may still be repeated."""
MOST_OPEN = 4096
"""The maximum number of messages that a later record may still replace."""


class _Reply(Struct):
    """The parts of one reply that have been read."""

    seen: set[tuple[str, str | int]] = field(default_factory=set)
    said: OpenMessage | None = None


class GrowingMessages:
    """Builds the messages of one transcript that consist of more than one record."""

    def __init__(self, messages: DraftMessages, is_repeated: Callable[[Draft], bool]) -> None:
        self._messages = messages
        self._is_repeated = is_repeated
        """A function that returns True for a part that another record already contains."""
        self._replies: OrderedDict[str, _Reply] = OrderedDict()
        self._saying: dict[str, _Reply] = {}
        """The replies whose text may grow."""
        self._growing: dict[tuple[str, ...], OpenMessage] = {}
        self._same: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
        """The keys of the growing messages, grouped by rule and record key."""
        self._consecutive: dict[tuple[str, ...], None] = {}
        """The growing messages that end as soon as any other message arrives."""

    @property
    def is_idle(self) -> bool:
        """True if no message is growing."""
        return not (self._saying or self._growing)

    def end_others(self, drafts: list[Draft]) -> None:
        """End the replies with other keys, and the consecutive text that these drafts interrupt."""
        if not self._saying and not self._consecutive:
            return
        keys = {draft.key for draft in drafts if draft.rule.merge}
        ended = [key for key in self._saying if key not in keys]
        for key in ended if len(ended) < 2 else [key for key in self._replies if key in ended]:
            self._end_said(key)
        if self._consecutive:
            now = {_growing_key(draft) for draft in drafts if draft.rule.merge}
            for one in [one for one in self._consecutive if one not in now]:
                self._growing[one].must_end = False
                self._end_growing(one)

    def end_same(self, rule: RecordRule, key: str | None, end: int = 0) -> None:
        """End the messages of a rule with the same key."""
        if rule.merge is not None and rule.merge.mode is Mode.PARTS:
            self._end_said(key or "")
        for one in [*self._same.get((str(id(rule)), key or ""), ())]:
            self._finish(one, end)

    def end_until(self, rule: RecordRule, key: str | None) -> None:
        """End the messages of a rule with the same key, in order with those that began to grow before them."""
        ended = [*self._same.get((str(id(rule)), key or ""), ())]
        while ended and ended[-1] in self._growing:
            self._finish(next(iter(self._growing)))
        self.end_same(rule, key)

    def close(self) -> None:
        """End all messages at the end of the input or of the transcript."""
        for key in [*self._replies]:
            self._end_reply(key)
        for growing in [*self._growing]:
            self._end_growing(growing)

    # The parts of one reply.

    def knows(self, key: str, identity: tuple[str, str | int]) -> bool:
        """True if this part of a reply has been read."""
        reply = self._replies.get(key)
        return reply is not None and identity in reply.seen

    def note_part(self, key: str, identity: tuple[str, str | int]) -> None:
        """Note that a part was written. Only valid while no message is growing."""
        reply = self._replies.get(key)
        if reply is None:
            reply = self._replies[key] = _Reply()
            while len(self._replies) > MOST_REPLIES:
                self._end_reply(next(iter(self._replies)))
        reply.seen.add(identity)

    def add_part(self, draft: Draft) -> None:
        """Add a part to its reply, unless the reply already has it."""
        key = draft.key or ""
        reply = self._replies.setdefault(key, _Reply())
        while len(self._replies) > MOST_REPLIES:
            self._end_reply(next(iter(self._replies)))
        identity = (draft.kind.value, draft.call_id or hash(draft.text))
        is_known = identity in reply.seen or self._is_repeated(draft)
        reply.seen.add(identity)
        if is_known:
            return
        if draft.kind is not Kind.SAID:
            self._end_said(key)
            self._messages.emit(draft)
            return
        if reply.said is not None and draft.text.startswith(reply.said.text):
            reply.said = self._messages.replace(reply.said, draft)
            return
        self._end_said(key)
        if draft.rule.split or self._messages.is_marked(draft):
            self._messages.emit(draft)
            return
        reply.said = self._messages.open(draft)
        self._saying[key] = reply

    def _end_reply(self, key: str) -> None:
        self._end_said(key)
        del self._replies[key]

    def _end_said(self, key: str) -> None:
        reply = self._saying.pop(key, None)
        if reply is not None and reply.said is not None:
            self._messages.end(reply.said)
            reply.said = None

    # Records that grow.

    def grow(self, draft: Draft, node: JsonNode) -> None:
        """Add a record to the message with its key, or begin a new message."""
        merge = draft.rule.merge
        assert merge is not None
        key = _growing_key(draft)
        known = self._growing.get(key)
        is_done = merge.done is not None and holds(merge.done, node)
        if known is None and is_done:
            self._messages.emit(draft)
            return
        if known is None:
            known = self._begin(key, self._messages.open(draft), is_last=merge.consecutive or not key[1])
            known.must_end = merge.done is not None and not merge.may_lack_end
            if merge.mode is Mode.APPEND and draft.kind is Kind.SAID and self._messages.source is not None:
                known.arrived = Arrived()
                known.arrived.add(draft.pieces, self._messages.read)
        elif merge.mode is Mode.APPEND:
            self._messages.append(known, draft)
        elif draft.pieces or draft.kind in (Kind.CALL, Kind.REPLY):
            self._growing[key] = self._messages.replace(known, draft)
        if is_done:
            self._finish(key, node.end)
        while len(self._growing) > MOST_OPEN:
            self._end_growing(next(iter(self._growing)))

    def _begin(self, key: tuple[str, ...], known: OpenMessage, *, is_last: bool) -> OpenMessage:
        known.pieces = [*known.pieces]
        self._growing[key] = known
        self._same.setdefault(key[:2], {})[key] = None
        if is_last:
            self._consecutive[key] = None
        return known

    def _stop(self, key: tuple[str, ...]) -> OpenMessage:
        same = self._same[key[:2]]
        del same[key]
        if not same:
            del self._same[key[:2]]
        self._consecutive.pop(key, None)
        return self._growing.pop(key)

    def _finish(self, key: tuple[str, ...], end: int = 0) -> None:
        """End a message that is complete. `end` is the end of its last record."""
        known = self._stop(key)
        known.must_end = False
        known.end = max(known.end, end)
        merge = known.draft.rule.merge if known.draft is not None else None
        if known.draft is not None and merge is not None and merge.mode is Mode.REPLACE:
            self._messages.settle(known.number, known.draft)
        else:
            self._messages.end(known)

    def _end_growing(self, key: tuple[str, ...]) -> None:
        self._messages.end(self._stop(key))


def _growing_key(draft: Draft) -> tuple[str, ...]:
    return str(id(draft.rule)), draft.key or "", draft.kind.value, draft.part
