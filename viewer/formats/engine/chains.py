"""Chains of model calls: each call repeats the conversation so far, so only the new part becomes messages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Container, Sequence

from msgspec import Struct

from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.json.fields import Source
from viewer.model.messages import Kind

Identity = tuple[str, str, int]
"""The kind of a message, its speaker or its tool, and the hash of its text or of its call ID. The text itself would be
kept as long as the conversation."""
_NONE: frozenset[Identity] = frozenset()
MOST_SCANNED = 8
"""The number of chains up to which all of them are compared with a call. Beyond that, an index finds the one that the
call continues."""
LEAST_RESULT = 8
"""The minimum length of an answer that can be recognized without its question: many calls answer `Yes` or `10`."""
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
    root: int = 0
    """The index of the first chain in the series of parents."""
    prompt: frozenset[Identity] = frozenset()
    """The identities of the instructions of the first call of this trace."""
    is_old: bool = False
    """True if the chain began in an earlier trace."""
    is_aside: bool = False
    """True if a call with other instructions added a user message to a conversation of the same trace, as a judge
    does, or if a later record of a trace does not continue what the trace said."""
    is_hidden: bool = False
    """True if messages that a trace added to the chain are not shown, and no later trace has continued it."""

    @property
    def old_length(self) -> int:
        """The number of messages before those that calls of the current trace added."""
        return len(self.said) - len(self.drafts)


class _Index:
    """An index of chains by their beginnings, and by the other messages in them."""

    __slots__ = ("_ends", "_last", "_nodes", "_tips", "inner")

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, Identity], int] = {}
        """The tree of the beginnings of all chains: the node that follows another by a message. The root is 0."""
        self._last = [-1]
        """For each node, the last chain that begins with its messages."""
        self._ends: dict[int, list[int]] = {}
        """The chains that end at a node, in order."""
        self._tips: list[int] = []
        """For each chain, the node at which it ends."""
        self.inner: dict[Identity, list[int]] = {}
        """The chains that contain a message after their first one, in order."""

    def __contains__(self, identity: object) -> bool:
        return identity in self.inner or (0, identity) in self._nodes

    def add(self, index: int, said: list[Identity]) -> None:
        """Add messages to the end of a chain. A new chain must come directly after the last one."""
        if index == len(self._tips):
            self._tips.append(0)
        node = self._tips[index]
        if node and said:
            self._ends[node].remove(index)
        for identity in said:
            if node:
                _insert(self.inner.setdefault(identity, []), index)
            key = node, identity
            node = self._nodes.setdefault(key, len(self._last))
            if node == len(self._last):
                self._last.append(index)
            self._last[node] = max(self._last[node], index)
        if said:
            _insert(self._ends.setdefault(node, []), index)
        self._tips[index] = node

    def last_with_beginning(self, said: list[Identity]) -> int:
        """Return the last chain with which a call begins, or that begins with the call; -1 if there is none."""
        found, node = -1, 0
        for identity in said:
            below = self._nodes.get((node, identity))
            if below is None:
                return found
            node = below
            found = max([found, *self._ends.get(node, ())[-1:]])
        return max(found, self._last[node])

    def common(self, said: list[Identity]) -> tuple[int, int]:
        """Return how many messages a call has in common with the beginning of a chain, and the last chain that shares
        as many."""
        length = node = 0
        for identity in said:
            below = self._nodes.get((node, identity))
            if below is None:
                break
            length, node = length + 1, below
        return length, max(0, self._last[node])


def _insert(indexes: list[int], index: int) -> None:
    """Insert an index into an ordered list unless it is already there."""
    place = bisect_left(indexes, index)
    if index not in indexes[place : place + 1]:
        indexes.insert(place, index)


class Conversation:
    """The chains of one conversation, grouped by agent."""

    __slots__ = ("_agents",)

    def __init__(self) -> None:
        self._agents: dict[str, _Agent] = {}

    def add(
        self,
        calls: Sequence[Call],
        *,
        is_stated: bool,
        results: Sequence[int] = (),
        asked: Collection[int] = (),
        is_late: bool = False,
    ) -> None:
        """Remove from the readings of consecutive calls what earlier calls already contain. `is_stated` is True if the
        file names the conversation. `results` are the hashes of the texts that the trace returned to its caller, and
        `asked` those that it received. `is_late` is True if other calls of the trace have already been added."""
        touched: dict[str, _Agent] = {}
        for reading, source, thread, is_covered in calls:
            agent = self._agents.setdefault(thread, _Agent())
            touched[thread] = agent
            agent.add(reading, source, is_covered=is_covered, is_late=is_late)
        for thread, agent in touched.items():
            agent.settle(is_stated=is_stated, results=() if thread else results, asked=asked, is_late=is_late)
            if thread:
                agent.move_to(thread)
            agent.end_trace()


class _Agent:
    """The calls of one agent."""

    __slots__ = ("_chains", "_covered", "_drafts", "_grown", "_index", "_old_count", "_seen")

    def __init__(self) -> None:
        self._chains: list[_Chain] = []
        self._old_count = 0
        """The number of chains that began in earlier traces. They come first."""
        self._grown: set[int] = set()
        """The indexes of those old chains to which calls of this trace have added drafts."""
        self._index: _Index | None = None
        """An index of the chains; None as long as there are only a few."""
        self._seen: set[Identity] | None = None
        """The identities of the calls, replies, instructions, and thoughts so far, if any. A later occurrence counts as
        a repetition."""
        self._drafts: list[Draft] = []
        """The drafts of this trace."""
        self._covered: list[tuple[RecordReading, list[Draft], list[tuple[Identity, Draft]]]] = []
        """The calls of this trace whose content nested calls repeat: for each, its reading, its new drafts, and its
        drafts of kind `SAID` with their identities."""

    def add(self, reading: RecordReading, source: Source | None, *, is_covered: bool, is_late: bool) -> None:
        """Add a call, and drop from its reading the drafts that are not new."""
        new: list[Draft] = []
        spoken: list[tuple[Identity, Draft]] = []
        for draft in reading.drafts:
            identity = identity_of(draft, source)
            if draft.kind is Kind.SAID:
                spoken.append((identity, draft))
                new.append(draft)
            elif self._seen is None or identity not in self._seen:
                self._seen = {identity} if self._seen is None else self._seen
                self._seen.add(identity)
                new.append(draft)
        if is_covered:
            self._covered.append((reading, new, spoken))
            reading.drafts = []
            return
        is_unread = any(draft.kind is Kind.UNKNOWN and draft.role in ("", "user") for draft in reading.drafts)
        instructions = [draft for draft in reading.drafts if draft.kind is Kind.INSTRUCTION]
        prompt = frozenset(identity_of(draft, source) for draft in instructions) if instructions else _NONE
        kept = {id(draft) for draft in self._extend(spoken, prompt, is_unread=is_unread, is_late=is_late)}
        reading.drafts = [draft for draft in new if draft.kind is not Kind.SAID or id(draft) in kept]
        self._drafts += reading.drafts

    def _add_covered(self) -> None:
        """Keep the new drafts of covered calls. Text that was said in these calls becomes context, or is
        dropped if the nested calls repeat it."""
        if not self._covered:
            return
        known: Container[Identity] = self._index or {identity for chain in self._chains for identity in chain.said}
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

    def _extend(
        self, spoken: list[tuple[Identity, Draft]], prompt: frozenset[Identity], *, is_unread: bool, is_late: bool
    ) -> list[Draft]:
        """Add the messages of a call to the chain that they continue, or to a new chain, and return the new drafts. An
        answer without a user message continues the last chain unless the prompt could not be read."""
        if not spoken:
            return []
        said = [identity for identity, _ in spoken]
        index = self._continued(said)
        if index is not None:
            chain = self._chains[index]
            length = _overlap(chain.said, said)
            if is_late:
                is_aside = not _continues(chain, prompt, spoken, length)
            else:
                is_aside = _is_aside(chain, prompt, spoken[length:])
            if not is_aside:
                return self._grow(index, spoken, chain.prompt if is_late else prompt, length)
            drafts = [draft for _, draft in spoken[length:]]
            self._begin([*chain.said, *said[length:]], len(chain.said), drafts, index, prompt, is_aside=True)
            return drafts
        if self._chains and not is_late and not is_unread and not any(draft.role == "user" for _, draft in spoken):
            return self._grow(len(self._chains) - 1, spoken, prompt, 0)
        shared, best = self._branch(said)
        drafts = [draft for _, draft in spoken[shared:]]
        self._begin(said, shared, drafts, best if shared else None, prompt)
        return drafts

    def _continued(self, said: list[Identity]) -> int | None:
        """Return the last chain that a call continues or repeats, or None if there is none."""
        if self._index is None and len(self._chains) > MOST_SCANNED:
            self._index = _Index()
            for at, chain in enumerate(self._chains):
                self._index.add(at, chain.said)
        if self._index is None:
            indexes, least = reversed(range(len(self._chains))), -1
        else:
            least = self._index.last_with_beginning(said)
            indexes = reversed(self._index.inner.get(said[0], ()))
        for index in indexes:
            if index <= least:
                break
            if _overlap(self._chains[index].said, said):
                return index
        return least if least >= 0 else None

    def _branch(self, said: list[Identity]) -> tuple[int, int]:
        """Return how many messages a call has in common with the beginning of a chain, and the last chain that shares
        as many."""
        if self._index is not None:
            return self._index.common(said)
        lengths = ((_common_length(chain.said, said), index) for index, chain in enumerate(self._chains))
        return max(lengths, default=(0, 0))

    def _begin(
        self,
        said: list[Identity],
        shared: int,
        drafts: list[Draft],
        parent: int | None,
        prompt: frozenset[Identity],
        *,
        is_aside: bool = False,
    ) -> None:
        """Begin a chain."""
        index = len(self._chains)
        root = index if parent is None else self._chains[parent].root
        self._chains.append(_Chain(said, shared, drafts, parent, root, prompt, is_aside=is_aside))
        if self._index is not None:
            self._index.add(index, said)

    def _grow(
        self, index: int, spoken: list[tuple[Identity, Draft]], prompt: frozenset[Identity], length: int
    ) -> list[Draft]:
        chain = self._chains[index]
        if not chain.drafts:
            chain.prompt = prompt
        added = [identity for identity, _ in spoken[length:]]
        chain.said += added
        if self._index is not None:
            self._index.add(index, added)
        drafts = [draft for _, draft in spoken[length:]]
        chain.drafts += drafts
        if drafts and index < self._old_count:
            self._grown.add(index)
        return drafts

    def _touched(self) -> list[int]:
        """Return the indexes of the chains that calls of this trace have begun or added to, in order."""
        return [*sorted(self._grown), *range(self._old_count, len(self._chains))]

    def settle(self, *, is_stated: bool, results: Sequence[int], asked: Collection[int], is_late: bool) -> None:
        """Show the chain that is the conversation, and the chains from which it branched off. All others become
        repeated context. If it is not clear which chain the user saw, only what all of them share is shown. If the
        answer that the trace returned belongs to questions that the trace did not receive, only the received and the
        returned texts are shown."""
        if len(self._chains) == 1 and not results and not self._chains[0].is_hidden:
            self._add_covered()
            return
        candidates = self._late_candidates() if is_late else self._candidates(is_stated=is_stated)
        found = self._returned(candidates, results, asked)
        matching = [place for place in found if self._is_asked(place, asked)] if asked else found
        own: set[int] = set()
        if matching:
            limits = self._path(*matching[-1])
            if any(limits.get(index, 0) < end for index, end in matching):
                limits = self._limits([index for index, _ in matching])
        elif found:
            limits, own = {}, self._own(candidates, found, asked)
        else:
            is_mixed = is_late and len({self._chains[index].prompt for index in candidates}) > 1
            tip = None if is_mixed else self._likely(candidates)
            limits = self._limits(candidates) if tip is None else self._path(tip, 0)
        for index in self._touched():
            chain = self._chains[index]
            kept = max(0, limits.get(index, 0) - chain.old_length)
            hidden = [draft for draft in chain.drafts[kept:] if id(draft) not in own]
            for draft in hidden:
                draft.kind = Kind.REPLAYED
            chain.is_hidden = bool(hidden) or (chain.is_hidden and (is_late or not chain.drafts))
        self._add_covered()

    def _candidates(self, *, is_stated: bool) -> list[int]:
        """Return the chains of this trace that may be the conversation. If the conversation began in an earlier trace,
        only chains that continue it may be."""
        grown = sorted(self._grown)
        new = range(self._old_count, len(self._chains))
        continuing = [index for index in new if self._chains[index].root < self._old_count]
        is_continued = self._old_count and (grown or not is_stated or continuing)
        return [*grown, *(continuing if is_continued else new)]

    def _late_candidates(self) -> list[int]:
        """Return the chains that continue all of what this trace said in earlier records, with its instructions."""
        found: dict[int, int] = {}
        """The number of messages of each new chain that branches must share."""
        grown = [index for index in sorted(self._grown) if not self._chains[index].is_hidden]
        for index in range(self._old_count, len(self._chains)):
            chain = self._chains[index]
            if chain.parent is None or chain.is_aside:
                continue
            parent = self._chains[chain.parent]
            is_usable = chain.parent in found or (parent.is_old and not parent.is_hidden)
            least = found.get(chain.parent, parent.old_length)
            if is_usable and chain.shared >= least and (chain.prompt == parent.prompt or not _asks(chain.drafts)):
                found[index] = least
        return [*grown, *(index for index in found if self._chains[index].drafts)]

    def _returned(self, candidates: list[int], results: Sequence[int], asked: Collection[int]) -> list[tuple[int, int]]:
        """Return the chains that contain answers which the trace returned to its caller, each with the number of
        messages up to the last of these answers, in the order of the results."""
        places: dict[int, list[tuple[int, int]]] = {}
        for index in candidates:
            chain = self._chains[index]
            for at, draft in enumerate(chain.drafts, chain.old_length):
                if chain.said[at][1] == "assistant" and (asked or len(candidates) == 1 or _is_distinct(draft)):
                    places.setdefault(chain.said[at][2], []).append((index, at + 1))
        found: dict[int, int] = {}
        for result in results:
            for index, end in places.get(result, ()):
                found[index] = max(end, found.pop(index, 0))
        return [*found.items()]

    def _is_asked(self, place: tuple[int, int], asked: Collection[int]) -> bool:
        """True if the trace received all user messages that this chain, up to this place, has of this trace."""
        for index, end in self._path(*place).items():
            chain = self._chains[index]
            for draft, identity in zip(chain.drafts, chain.said[chain.old_length : end], strict=False):
                if draft.role == "user" and not _is_received(draft, identity, asked):
                    return False
        return True

    def _own(self, candidates: list[int], found: list[tuple[int, int]], asked: Collection[int]) -> set[int]:
        """Return the IDs of the drafts that repeat what the trace received and, if that is clear, what it returned."""
        own: dict[int, int] = {}
        for index in sorted({each for candidate in candidates for each in self._path(candidate, 0)}):
            chain = self._chains[index]
            for at, draft in enumerate(chain.drafts, chain.old_length):
                if draft.role == "user" and _is_received(draft, chain.said[at], asked):
                    own.setdefault(chain.said[at][2], id(draft))
        answers = [self._chains[index].drafts[end - 1 - self._chains[index].old_length] for index, end in found]
        return {*own.values(), *(id(draft) for draft in answers if len(answers) == 1 and _is_distinct(draft))}

    def _likely(self, candidates: list[int]) -> int | None:
        """Return the chain that is probably the conversation, or None if that is doubtful: calls with other
        instructions, or about something else, may choose an agent, judge an answer, or make up a title."""
        chains = [index for index in candidates if not self._chains[index].is_aside]
        if not chains:
            return None
        longest = max(len(self._chains[index].said) for index in chains)
        best = [index for index in chains if len(self._chains[index].said) == longest]
        roots = {self._chains[index].root for index in chains}
        if len(roots) == 1 and len({self._chains[index].prompt for index in chains}) == 1:
            return best[-1]
        turns = sum(identity[1] == "user" for identity in self._chains[best[0]].said)
        return best[0] if len(best) == 1 and turns > 1 else None

    def _path(self, tip: int, end: int) -> dict[int, int]:
        """Return how many messages are shown of the chain and of those from which it branched off, as far as this trace
        may have added to them. `end` limits the number for the chain itself, if it is not 0."""
        limits = {tip: end or len(self._chains[tip].said)}
        first = min(self._grown, default=self._old_count)
        while (parent := self._chains[tip].parent) is not None and parent >= first:
            limits[parent] = min(self._chains[tip].shared, limits[tip])
            tip = parent
        return limits

    def _limits(self, candidates: list[int]) -> dict[int, int]:
        """Return how many messages all of these chains share, for each of the chains that contain them."""
        paths = [self._path(index, 0) for index in candidates]
        if not paths:
            return {}
        common = set(paths[0]).intersection(*paths)
        return {index: min(each[index] for each in paths) for index in common}

    def move_to(self, thread: str) -> None:
        """Move the drafts of this trace to the thread of another agent."""
        for draft in self._drafts:
            draft.thread = thread
            if draft.kind is Kind.SAID:
                draft.kind = Kind.SUBAGENT

    def end_trace(self) -> None:
        """Forget the drafts of this trace, which have been written, and mark all chains as old."""
        self._drafts = []
        for index in self._touched():
            self._chains[index].drafts = []
            self._chains[index].is_old = True
        self._old_count, self._grown = len(self._chains), set()


def _is_aside(chain: _Chain, prompt: frozenset[Identity], added: list[tuple[Identity, Draft]]) -> bool:
    """True if a call with other instructions adds a user message to a conversation of the same trace."""
    is_other = bool(chain.drafts) and bool(prompt) and chain.prompt != prompt
    return is_other and _asks([draft for _, draft in added])


def _continues(chain: _Chain, prompt: frozenset[Identity], spoken: list[tuple[Identity, Draft]], length: int) -> bool:
    """True if a call in a later record of a trace adds nothing to the chain, or repeats all of it before what it adds,
    with the same instructions. Another agent may answer what is still unanswered."""
    added = [draft for _, draft in spoken[length:]]
    if not added or length < len(chain.said):
        return not added
    return chain.prompt == prompt or (chain.said[-1][1] == "user" and not _asks(added))


def _asks(drafts: list[Draft]) -> bool:
    return any(draft.role == "user" for draft in drafts)


def _is_received(draft: Draft, identity: Identity, asked: Collection[int]) -> bool:
    """True if the trace received the text of this message, or the text of each of its parts."""
    return identity[2] in asked or (
        len(draft.texts) > 1 and all(not text.strip() or hash(text.strip()) in asked for text in draft.texts)
    )


def _is_distinct(draft: Draft) -> bool:
    return (len(draft.text.strip()) or sum(piece.end - piece.start for piece in draft.pieces)) >= LEAST_RESULT


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


def identity_of(draft: Draft, source: Source | None) -> Identity:
    """Return what a call that repeats this message has in common with it."""
    if draft.kind in (Kind.CALL, Kind.REPLY) and draft.call_id:
        return draft.kind.value, "", hash(draft.call_id)
    text = draft.text.strip()
    if not text and source is not None:
        pieces = (source.data[piece.start - source.base : piece.end - source.base] for piece in draft.pieces)
        text = b"\0".join(pieces).decode("utf-8", "replace")
    return draft.kind.value, draft.role if draft.kind is Kind.SAID else draft.name or "", hash(text.strip())
