"""Chains of model calls: each call repeats the conversation so far, so only the new part becomes messages."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.json.fields import Source
from viewer.model.messages import Kind

Identity = tuple[str, ...]
Call = tuple[RecordReading, "Source | None", str, bool]
"""The reading of a model call, its source bytes, its agent, and whether the calls nested below it repeat its
content."""


class _Chain(Struct):
    """A series of calls, each of which repeats the messages of the previous ones."""

    said: list[Identity]
    """The identities of all messages in the chain so far, including those shared with its parent."""
    shared: int
    """The number of messages at the start that this chain shares with its parent."""
    drafts: list[Draft]
    """The drafts that calls of the current trace added to the chain."""
    parent: int | None = None
    """The index of the chain from which this one branched off."""
    is_old: bool = False
    """True if the chain began in an earlier trace."""


class Conversation:
    """The chains of one conversation, grouped by agent."""

    def __init__(self) -> None:
        self._agents: dict[str, _Agent] = {}

    def add(self, calls: Sequence[Call], *, is_stated: bool) -> None:
        """Remove from the readings of consecutive calls what earlier calls already contain. `is_stated` is True if the
        file names the conversation."""
        touched: dict[str, _Agent] = {}
        for reading, source, thread, is_covered in calls:
            agent = self._agents.setdefault(thread, _Agent())
            touched[thread] = agent
            agent.add(reading, source, is_covered=is_covered)
        for thread, agent in touched.items():
            agent.settle(is_stated=is_stated)
            if thread:
                agent.move_to(thread)
            agent.end_trace()


class _Agent:
    """The calls of one agent."""

    def __init__(self) -> None:
        self._chains: list[_Chain] = []
        self._seen: set[Identity] = set()
        """The identities of the calls, replies, instructions, and thoughts so far. A later occurrence counts as a
        repetition."""
        self._drafts: list[Draft] = []
        """The drafts of this trace."""
        self._covered: list[tuple[RecordReading, list[Draft], list[tuple[Identity, Draft]]]] = []
        """The calls of this trace whose content nested calls repeat: for each, its reading, its new drafts, and its
        drafts of kind `SAID` with their identities."""

    def add(self, reading: RecordReading, source: Source | None, *, is_covered: bool) -> None:
        """Add a call, and drop from its reading the drafts that are not new."""
        new: list[Draft] = []
        spoken: list[tuple[Identity, Draft]] = []
        for draft in reading.drafts:
            identity = _identity(draft, source)
            if draft.kind is Kind.SAID:
                spoken.append((identity, draft))
                new.append(draft)
            elif identity not in self._seen:
                self._seen.add(identity)
                new.append(draft)
        if is_covered:
            self._covered.append((reading, new, spoken))
            reading.drafts = []
            return
        is_unread = any(draft.kind is Kind.UNKNOWN and draft.role in ("", "user") for draft in reading.drafts)
        kept = {id(draft) for draft in self._extend(spoken, is_unread=is_unread)}
        reading.drafts = [draft for draft in new if draft.kind is not Kind.SAID or id(draft) in kept]
        self._drafts += reading.drafts

    def _add_covered(self) -> None:
        """Keep the new drafts of covered calls. What was said in these calls becomes context, or is dropped if the
        nested calls repeat it."""
        if not self._covered:
            return
        known = {identity for chain in self._chains for identity in chain.said}
        for reading, new, spoken in self._covered:
            kept = {id(draft) for identity, draft in spoken if identity not in known}
            for draft in new:
                if draft.kind is not Kind.SAID:
                    reading.drafts.append(draft)
                elif id(draft) in kept:
                    draft.kind = Kind.REPLAYED
                    reading.drafts.append(draft)
            self._drafts += reading.drafts
        self._covered = []

    def _extend(self, spoken: list[tuple[Identity, Draft]], *, is_unread: bool) -> list[Draft]:
        """Add the messages of a call to the chain that they continue, or to a new chain, and return the new drafts. An
        answer without a user message continues the last chain unless the prompt could not be read."""
        if not spoken:
            return []
        said = [identity for identity, _ in spoken]
        for chain in reversed(self._chains):
            length = _overlap(chain.said, said)
            if length:
                return self._grow(chain, spoken, length)
        if self._chains and not is_unread and not any(draft.role == "user" for _, draft in spoken):
            return self._grow(self._chains[-1], spoken, 0)
        common = [_common_length(chain.said, said) for chain in self._chains]
        best = max(range(len(common)), key=lambda index: (common[index], index)) if common else 0
        shared = common[best] if common else 0
        drafts = [draft for _, draft in spoken[shared:]]
        self._chains.append(_Chain(said, shared, drafts, best if shared else None))
        return drafts

    def _grow(self, chain: _Chain, spoken: list[tuple[Identity, Draft]], length: int) -> list[Draft]:
        chain.said += [identity for identity, _ in spoken[length:]]
        drafts = [draft for _, draft in spoken[length:]]
        chain.drafts += drafts
        return drafts

    def settle(self, *, is_stated: bool) -> None:
        """Show the longest chain and the chains from which it branched off. All others become repeated context."""
        shown = self._shown(is_stated=is_stated)
        for index, chain in enumerate(self._chains):
            if index in shown or chain.is_old:
                continue
            for draft in chain.drafts:
                draft.kind = Kind.REPLAYED
        for index in shown:
            self._hide_left_branch(self._chains[index])
        self._add_covered()

    def _shown(self, *, is_stated: bool) -> set[int]:
        old = [index for index, chain in enumerate(self._chains) if chain.is_old]
        new = [index for index, chain in enumerate(self._chains) if not chain.is_old]
        roots = {self._root(index) for index in new}
        goes_on = any(self._chains[index].drafts for index in old) or not roots.isdisjoint(old)
        if old and (goes_on or not is_stated):
            new = [index for index in new if self._root(index) in old]
        if not new:
            return set()
        longest = max(len(self._chains[index].said) for index in new)
        best = [index for index in new if len(self._chains[index].said) == longest]
        first = self._root(best[0])
        chosen = [index for index in best if self._root(index) == first][-1]
        shown = {chosen}
        while (parent := self._chains[chosen].parent) is not None:
            chosen = parent
            shown.add(chosen)
        return shown

    def _root(self, index: int) -> int:
        while (parent := self._chains[index].parent) is not None:
            index = parent
        return index

    def _hide_left_branch(self, chain: _Chain) -> None:
        """Hide the messages of a chain's parent after the point at which the chain branched off."""
        parent = self._chains[chain.parent] if chain.parent is not None else None
        if parent is None or parent.is_old:
            return
        kept = max(0, chain.shared - (len(parent.said) - len(parent.drafts)))
        for draft in parent.drafts[kept:]:
            draft.kind = Kind.REPLAYED

    def move_to(self, thread: str) -> None:
        """Move the drafts of this trace to the thread of another agent."""
        for draft in self._drafts:
            draft.thread = thread
            if draft.kind is Kind.SAID:
                draft.kind = Kind.SUBAGENT

    def end_trace(self) -> None:
        """Forget the drafts of this trace, which have been written, and mark all chains as old."""
        self._drafts = []
        for chain in self._chains:
            chain.drafts = []
            chain.is_old = True


def _overlap(chain: list[Identity], said: list[Identity]) -> int:
    """Return how many messages at the start of `said` the chain already contains: those that repeat its end, or all of
    them."""
    if said[: len(chain)] == chain:
        return len(chain)
    start = -1
    for _ in range(chain.count(said[0])):
        start = chain.index(said[0], start + 1)
        length = min(len(said), len(chain) - start)
        if chain[start : start + length] == said[:length]:
            return length
    return 0


def _common_length(one: list[Identity], other: list[Identity]) -> int:
    length = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        length += 1
    return length


def _identity(draft: Draft, source: Source | None) -> Identity:
    if draft.kind in (Kind.CALL, Kind.REPLY) and draft.call_id:
        return draft.kind.value, draft.call_id
    text = draft.text.strip()
    if not text and source is not None:
        pieces = (source.data[piece.start - source.base : piece.end - source.base] for piece in draft.pieces)
        text = b"\0".join(pieces).decode("utf-8", "replace")
    return draft.kind.value, draft.role if draft.kind is Kind.SAID else draft.name or "", text
