"""Pair the records that repeat one text: one occurrence is the message, the other a copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from viewer.formats.engine.drafts import Draft
from viewer.formats.tables.model import Alone
from viewer.model.messages import Kind
from viewer.values import mutable

FARTHEST = 16
"""The largest number of records between two copies."""


@mutable
class Waiting:
    """An occurrence without a partner so far."""

    draft: Draft
    is_primary: bool
    at: int
    """The number of its record."""
    number: int
    """The number of its message."""
    is_settled: bool
    """True if its kind is final."""
    texts: frozenset[str] = field(default_factory=frozenset)


class CopyPairs:
    """The occurrences of the last records, by group."""

    def __init__(
        self,
        alone: Mapping[str, Alone],
        open_hidden: Callable[[Draft], int],
        settle: Callable[[int, Draft], None],
        emit: Callable[[Draft], int],
    ) -> None:
        self._alone = alone
        self._open_hidden = open_hidden
        self._settle = settle
        self._emit = emit
        self._waiting: list[Waiting] = []
        self._had_copy: set[str] = set()

    def add(self, draft: Draft, at: int) -> None:
        """Add an occurrence: write it as a message, or pair it with an earlier one."""
        copy = draft.rule.copy
        assert copy is not None
        if not copy.primary:
            self._had_copy.add(copy.group)
        partner = self._partner(draft)
        if partner is not None:
            self._waiting.remove(partner)
            if not partner.is_settled:
                primary = draft if copy.primary else partner.draft
                self._settle(partner.number, primary)
            return
        needs_copy = copy.primary and self._alone.get(copy.group, Alone.ITSELF) is not Alone.ITSELF
        is_settled = draft.kind is not Kind.SAID or (copy.primary and not needs_copy)
        number = self._emit(draft) if is_settled else self._open_hidden(draft)
        self._waiting.append(Waiting(draft, copy.primary, at, number, is_settled, texts_of(draft)))

    def forget_before(self, at: int) -> None:
        """Settle the occurrences that are too far from this record for a partner."""
        while self._waiting and self._waiting[0].at < at - FARTHEST:
            self._settle_alone(self._waiting.pop(0))

    def close(self) -> None:
        """Settle all occurrences: no partner comes."""
        while self._waiting:
            self._settle_alone(self._waiting.pop(0))

    def _partner(self, draft: Draft) -> Waiting | None:
        copy = draft.rule.copy
        assert copy is not None
        texts = texts_of(draft)
        for waiting in self._waiting:
            other = waiting.draft
            assert other.rule.copy is not None
            is_other_side = other.rule.copy.group == copy.group and waiting.is_primary is not copy.primary
            if is_other_side and other.role == draft.role and texts & waiting.texts:
                return waiting
        return None

    def _settle_alone(self, waiting: Waiting) -> None:
        if waiting.is_settled:
            return
        draft, copy = waiting.draft, waiting.draft.rule.copy
        assert copy is not None
        if copy.primary and (copy.group in self._had_copy or draft.text.lstrip().startswith("<")):
            draft.kind = Kind.INJECTED
        self._settle(waiting.number, draft)


def texts_of(draft: Draft) -> frozenset[str]:
    """The text, and each of its parts: a copy may repeat only one."""
    return frozenset({draft.text.strip(), *(part.strip() for part in draft.texts)} - {""})
