"""Pair records that repeat text or a reply: one occurrence becomes the message, the other is a copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from viewer.formats.engine.drafts import Draft
from viewer.formats.tables.model import Alone
from viewer.model.messages import Channel, Kind

FARTHEST = 16
"""The maximum distance between two copies, in records. A reply may wait longer, because its call ID links it to its
copy."""
MOST_WAITING = 256
"""The maximum number of occurrences that may wait for a partner."""
COPIED = frozenset({Kind.SAID, Kind.THOUGHT, Kind.REPLY, Kind.INJECTED, Kind.SUBAGENT, Kind.REPLAYED})
"""The kinds of messages that other records may repeat."""


class Waiting(Struct):
    """An occurrence that has no partner so far."""

    draft: Draft
    is_primary: bool
    at: int
    """The number of the record."""
    number: int
    """The number of the message."""
    is_settled: bool
    """True if the kind of the occurrence is final."""
    texts: set[str] = field(default_factory=set)
    is_said: bool = False
    """True if the occurrence would count as said once it has a partner."""
    is_paired: bool = False
    before: Waiting | None = None
    """The previous occurrence in the same group and role."""


class CopyPairs:
    """Pairs the occurrences in recent records, by group."""

    def __init__(
        self,
        alone: Mapping[str, Alone],
        open_hidden: Callable[[Draft], int],
        settle: Callable[[int, Draft], None],
        emit: Callable[[Draft], int],
        report_outcome: Callable[[Draft, int], None],
        report_difference: Callable[[Draft, int], None],
    ) -> None:
        self._alone = alone
        self._open_hidden = open_hidden
        self._settle = settle
        self._emit = emit
        self._report_outcome = report_outcome
        self._report_difference = report_difference
        self._waiting: list[Waiting] = []
        self._last: dict[tuple[str, str], Waiting] = {}
        """The last occurrence in each group and role."""
        self._had_copy: set[str] = set()

    def add(self, draft: Draft, at: int) -> None:
        """Add an occurrence: write it as a message, or pair it with an earlier one."""
        self.note_copy(draft)
        partners = self.partners(draft)
        if partners:
            self.pair(draft, partners)
            return
        is_settled = self.is_settled_alone(draft)
        self.wait(draft, at, self._emit(draft) if is_settled else self._open_hidden(draft), is_settled=is_settled)

    def is_settled_alone(self, draft: Draft) -> bool:
        """True if no other occurrence can change the kind of this one."""
        copy = draft.rule.copy
        assert copy is not None
        return draft.kind not in (Kind.SAID, Kind.REPLY) or (copy.primary and not self._needs_copy(draft))

    def wait(self, draft: Draft, at: int, number: int, *, is_settled: bool) -> None:
        """Let an occurrence that was written as a message wait for a partner."""
        copy = draft.rule.copy
        assert copy is not None
        place = copy.group, draft.role
        waiting = Waiting(draft, copy.primary, at, number, is_settled, texts_of(draft), draft.kind is Kind.SAID)
        waiting.before, self._last[place] = self._last.get(place), waiting
        self._waiting.append(waiting)

    def note_copy(self, draft: Draft) -> None:
        """If an occurrence is a copy, note that its group has copies."""
        copy = draft.rule.copy
        assert copy is not None
        if not copy.primary:
            self._had_copy.add(copy.group)

    @property
    def is_idle(self) -> bool:
        """True if no occurrence waits for a partner."""
        return not self._waiting

    @property
    def is_settled(self) -> bool:
        """True if no occurrence is hidden while it waits for a partner."""
        return all(waiting.is_settled for waiting in self._waiting)

    def forget_quietly(self, at: int) -> bool:
        """Settle the occurrences that are too far before this record, if that changes nothing and reports nothing.
        Otherwise, return False."""
        first = at - FARTHEST
        if len(self._waiting) > MOST_WAITING:
            return False
        if self._waiting and self._waiting[0].at < first:
            if any(self._has_passed(each, first) and not _passes_quietly(each) for each in self._waiting):
                return False
            self.forget_before(at)
        return True

    def pairs_quietly(self, draft: Draft, partners: list[Waiting]) -> bool:
        """True if pairing an occurrence with these earlier ones changes nothing and reports nothing."""
        copy, other = draft.rule.copy, partners[0].draft
        assert copy is not None
        if draft.outcome is not None or not all(each.is_settled and each.draft.outcome is None for each in partners):
            return False
        primary = draft if copy.primary else other
        is_partial = primary.kind is Kind.SAID and not _is_same(draft, other)
        return not (is_partial and self._needs_copy(primary))

    def are_twins(self, first: Draft, second: Draft) -> bool:
        """True if two occurrences in successive records certainly become one message. The first one must not be
        settled, and must have no partner in earlier records."""
        copy, other = first.rule.copy, second.rule.copy
        if copy is None or other is None or (copy.group, first.role) != (other.group, second.role):
            return False
        is_alike = copy.primary is not other.primary and first.kind is second.kind is Kind.SAID
        is_alike = is_alike and first.text.strip() == second.text.strip() != ""
        return is_alike and first.outcome is second.outcome is None and not self.partners(second)

    def join_twins(self, first: Draft, second: Draft) -> None:
        """Record that two occurrences are one message."""
        copy = first.rule.copy
        assert copy is not None
        self.note_copy(first)
        self.note_copy(second)
        self._last.pop((copy.group, first.role), None)

    def forget_before(self, at: int) -> None:
        """Settle the occurrences that are too far before this record to get a partner."""
        first = at - FARTHEST
        while self._waiting and (len(self._waiting) > MOST_WAITING or self._has_passed(self._waiting[0], first)):
            self._settle_alone(self._waiting.pop(0))
        if self._waiting and self._waiting[0].at < first:
            passed = [waiting for waiting in self._waiting if self._has_passed(waiting, first)]
            self._waiting = [waiting for waiting in self._waiting if not self._has_passed(waiting, first)]
            for waiting in passed:
                self._settle_alone(waiting)

    def settle(self) -> None:
        """Settle all occurrences, because no more partners will come."""
        while self._waiting:
            self._settle_alone(self._waiting.pop(0))

    def close(self) -> None:
        self.settle()
        self._had_copy.clear()
        self._last.clear()

    @staticmethod
    def _has_passed(waiting: Waiting, first: int) -> bool:
        """True if an occurrence can no longer get a partner. `first` is the number of the earliest record that may
        still get one."""
        is_reply = waiting.draft.kind is Kind.REPLY and not waiting.is_settled
        return waiting.at < first and not is_reply

    def _needs_copy(self, draft: Draft) -> bool:
        copy = draft.rule.copy
        assert copy is not None
        return copy.primary and self._alone.get(copy.group, Alone.ITSELF) is not Alone.ITSELF

    def partners(self, draft: Draft) -> list[Waiting]:
        """Return the earlier occurrences to pair with this one: one with the same text or, failing that, the copies of
        parts of a primary record, or the primary record of which this is a partial copy."""
        copy, texts = draft.rule.copy, texts_of(draft)
        assert copy is not None
        is_primary = copy.primary
        found = [each for each in self._waiting if each.is_primary is not is_primary and _fits(draft, texts, each)]
        same = [waiting for waiting in found if _is_same(draft, waiting.draft)]
        if same or not is_primary:
            return (same or found)[:1]
        return found

    def pair(self, draft: Draft, partners: list[Waiting]) -> None:
        copy, partner = draft.rule.copy, partners[0]
        assert copy is not None
        self._last[copy.group, draft.role] = partner
        for known in partners:
            known.is_paired, known.before = True, None
        primary = draft if copy.primary else partner.draft
        other = partner.draft if copy.primary else draft
        if self._needs_copy(primary) and primary.kind is Kind.SAID and not _is_same(primary, other):
            self._say_only_copies(draft, partners)
            return
        if primary.outcome is None:
            primary.outcome, primary.outcome_span = other.outcome, other.outcome_span
            if partner.is_settled and primary is partner.draft:
                self._report_outcome(primary, partner.number)
        if not copy.primary and not _is_same(primary, other):
            partner.texts -= texts_of(draft) | {primary.text.strip()}
        if copy.primary or _is_same(primary, other) or not partner.texts:
            self._waiting.remove(partner)
        if not partner.is_settled:
            self._settle(partner.number, primary)
            partner.is_settled = True
        for more in partners[1:]:
            self._waiting.remove(more)
            more.draft.kind = Kind.REPLAYED if more.draft.kind is Kind.SAID else more.draft.kind
            if not more.is_settled:
                self._settle(more.number, more.draft)

    def _say_only_copies(self, draft: Draft, partners: list[Waiting]) -> None:
        """Show only the parts of a primary record that have copies. The program added the other parts."""
        for partner in partners:
            self._waiting.remove(partner)
            if partner.is_primary:
                partner.draft.kind = Kind.INJECTED
            if not partner.is_settled:
                self._settle(partner.number, partner.draft)
        if not partners[0].is_primary:
            draft.kind = Kind.INJECTED
        self._emit(draft)

    def _settle_alone(self, waiting: Waiting) -> None:
        draft, copy = waiting.draft, waiting.draft.rule.copy
        assert copy is not None
        if not waiting.is_settled:
            if copy.primary and (copy.group in self._had_copy or draft.text.lstrip().startswith("<")):
                draft.kind = Kind.INJECTED
            self._settle(waiting.number, draft)
            waiting.is_settled = True
        before, waiting.before = waiting.before, None
        if before is not None and _are_at_copy_positions(before, waiting):
            primary, other = (waiting, before) if waiting.is_primary else (before, waiting)
            named = other if _is_plainly_shown(primary.draft) else primary
            self._report_difference(named.draft, named.number)
            before.is_paired = waiting.is_paired = True


def _fits(draft: Draft, texts: set[str], waiting: Waiting) -> bool:
    """True if an occurrence with any of these texts may pair with a waiting one. The caller makes sure that exactly one
    of them is primary."""
    copy, other = draft.rule.copy, waiting.draft.rule.copy
    assert copy is not None and other is not None
    is_own = other.group == copy.group and waiting.draft.role == draft.role
    return is_own and not texts.isdisjoint(waiting.texts)


def _passes_quietly(waiting: Waiting) -> bool:
    """True if nothing changes, and nothing is reported, when an occurrence no longer waits."""
    before = waiting.before
    return waiting.is_settled and (before is None or not _are_at_copy_positions(before, waiting))


def _are_at_copy_positions(one: Waiting, next: Waiting) -> bool:
    """True if one of two neighbors in a group would be a copy of the other if their texts were the same."""
    is_alone = one.is_said and next.is_said and not one.is_paired and not next.is_paired
    return is_alone and one.is_primary is not next.is_primary and next.at - one.at <= FARTHEST


def _is_plainly_shown(draft: Draft) -> bool:
    """True if a message is certainly shown. Otherwise, the report must not reveal that it exists."""
    return draft.kind is Kind.SAID and not draft.has_unknown_channel and draft.channel in (None, Channel.FINAL)


def _is_same(one: Draft, other: Draft) -> bool:
    """True if two occurrences that fit each other are the same as a whole. Replies to the same call always are."""
    return one.kind is Kind.REPLY or one.text.strip() == other.text.strip()


def texts_of(draft: Draft) -> set[str]:
    """Return the text of an occurrence and of each of its parts, because a copy may repeat only one part. A reply is
    identified by its call."""
    if draft.kind is Kind.REPLY:
        return {draft.call_id or ""} - {""}
    return {draft.text.strip(), *(part.strip() for part in draft.texts)} - {""}
