"""Columns of calls and replies: find all pairs among many messages in one pass, so that the ledger can link them in
bulk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import eq
from typing import cast

from msgspec import Struct

from viewer.columns.api import Column
from viewer.columns.numpy_backend import column_of
from viewer.index.calls import CallLedger
from viewer.numeric import NDArray, np
from viewer.scan.blocks import Positions

LEAST = 8
"""If there are fewer messages than this, it is faster to link them one by one."""
_MOST_ROUNDS = 8
"""A message that cannot be linked in bulk breaks up each pair around it, and the messages of that pair may break up
further pairs. If pairs still break up after this many rounds, all messages are linked one by one."""

_Flags = NDArray[np.bool_]


class CallColumns(Struct, frozen=True):
    """Messages that need a check, in order, as columns."""

    numbers: Positions
    turns: Positions
    ids: list[str | None]
    is_plain: _Flags
    """True for a call or a reply whose bytes prove that only its ID can be a problem."""
    is_call: _Flags
    has_ok: _Flags
    """True for a reply that is an object with `ok`."""
    has_call_stop: _Flags
    may_lack_id: _Flags
    """True for a call or reply that needs no ID."""
    tools: Positions
    """For each call or reply, a number for its bare tool name, which links calls and replies without an ID."""


class LinkedRun(Struct, frozen=True):
    """Consecutive calls and replies that belong together: every call has a reply in the same turn. A call has either a
    new ID, or no ID and a reply that directly follows it."""

    first: int
    end: int
    """The index of the first message, and the index after the last one."""
    turns: tuple[int, int]
    """The turns of the first and the last message."""
    has_ok: bool
    has_call_stop: bool
    """`has_ok` and `has_call_stop` are True if a message of the last turn has an `ok` or a call stop, respectively."""
    calls: Column
    replies: Column
    places: Positions
    """The indices of the calls in the columns."""
    ids: Sequence[str | None]
    order: Column
    """The indices of the pairs, in the order of their replies."""
    is_passed: bool
    """True if other messages come between these calls and replies."""
    lacking: Positions
    """The column indices of the calls without an ID."""
    short: Column
    """The `short_hashes` of the IDs."""


def linked_runs(rows: CallColumns, ledger: CallLedger) -> Iterator[LinkedRun]:
    """Yield the runs of calls and replies that the ledger can link in bulk.

    A run stays valid while the ledger processes the messages before it, because none of them has a call ID of the
    run."""
    has_all_ids = None not in rows.ids
    calls, replies, short = _pairs(rows, ledger, has_all_ids=has_all_ids)
    if not has_all_ids:
        calls, replies = _merged(calls, replies, _calls_before_replies(rows))
    calls, replies, is_in = _whole(calls, replies, len(rows.numbers))
    if not len(calls):
        return
    edges = np.flatnonzero(np.diff(is_in, prepend=False, append=False))
    pair_edges = calls.searchsorted(edges).tolist()
    bounds = edges.tolist()
    for first, end, low, high in zip(bounds[::2], bounds[1::2], pair_edges[::2], pair_edges[1::2], strict=True):
        if end - first >= LEAST:
            yield _run(rows, first, end, calls[low:high], replies[low:high], short)


def _pairs(
    rows: CallColumns, ledger: CallLedger, *, has_all_ids: bool
) -> tuple[Positions, Positions, NDArray[np.uint32]]:
    """Return the indices of calls and of their replies, in the order of the calls; and for each message, the short hash
    of its ID if it is such a call.

    The ID of a pair belongs to no other message here, plain or not, and to no earlier call."""
    places, ids = np.arange(len(rows.ids)), cast("list[str]", rows.ids)
    hashes = np.zeros(len(rows.ids), np.uint32)
    if not has_all_ids:
        places = np.flatnonzero([call_id is not None for call_id in rows.ids])
        ids = [call_id for call_id in rows.ids if call_id is not None]
    if len(ids) < LEAST:
        return places[:0], places[:0], hashes
    calls, replies = _twins(ids)
    calls, replies = places[calls], places[replies]
    is_plain, is_call, turns = rows.is_plain, rows.is_call, rows.turns
    is_pair = (
        is_plain[calls] & is_plain[replies] & is_call[calls] & ~is_call[replies] & (turns[calls] == turns[replies])
    )
    calls, replies = calls[is_pair], replies[is_pair]
    texts = [*map(rows.ids.__getitem__, calls.tolist())]
    short = np.fromiter(map(hash, texts), np.int64, len(texts)).astype(np.uint32)  # as `short_hashes`, but faster
    hashes[calls] = short
    is_old = np.frombuffer(ledger.may_know(column_of("I", short)), bool)
    if is_old.any():
        is_old = np.array([old and ledger.knows(text or "") for old, text in zip(is_old, texts, strict=True)], bool)
        calls, replies = calls[~is_old], replies[~is_old]
    return calls, replies, hashes


def _twins(ids: list[str]) -> tuple[Positions, Positions]:
    """Return the indices of the first and the second occurrences of the IDs that occur exactly twice, in order."""
    is_next = np.frombuffer(bytes(map(eq, ids, islice(ids, 1, None))), bool)
    if len(set(ids)) == len(ids) - np.count_nonzero(is_next):  # equal IDs are neighbors
        at = np.flatnonzero(_are_two(is_next))
        return at, at + 1
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
    by_hash = hashes.argsort(kind="stable")
    at = np.flatnonzero(_are_two(np.diff(hashes[by_hash]) == 0))
    one, two = by_hash[at], by_hash[at + 1]
    in_order = one.argsort()
    one, two = one[in_order], two[in_order]
    is_same = np.fromiter(map(eq, map(ids.__getitem__, one.tolist()), map(ids.__getitem__, two.tolist())), bool)
    return one[is_same], two[is_same]


def _are_two(is_next: _Flags) -> _Flags:
    """Return a flag for each value: true if it begins a run of exactly two equal values. `is_next` is true for a value
    that equals the next one."""
    are_two = is_next.copy()
    are_two[1:] &= ~is_next[:-1]
    are_two[:-1] &= ~is_next[1:]
    return are_two


def _calls_before_replies(rows: CallColumns) -> Positions:
    """Return the indices of the calls that directly precede a reply of the same tool and turn, if neither has an ID."""
    may_pair = np.array([call_id is None for call_id in rows.ids], bool) & rows.is_plain & rows.may_lack_id
    is_call, tools, turns = rows.is_call, rows.tools, rows.turns
    is_pair = may_pair[:-1] & may_pair[1:] & is_call[:-1] & ~is_call[1:]
    return np.flatnonzero(is_pair & (tools[:-1] == tools[1:]) & (turns[:-1] == turns[1:]))


def _merged(calls: Positions, replies: Positions, others: Positions) -> tuple[Positions, Positions]:
    """Return all pairs in the order of the calls. `others` are calls whose reply directly follows them."""
    all_calls, all_replies = np.concatenate((calls, others)), np.concatenate((replies, others + 1))
    in_order = all_calls.argsort()
    return all_calls[in_order], all_replies[in_order]


def _whole(calls: Positions, replies: Positions, count: int) -> tuple[Positions, Positions, _Flags]:
    """Keep the pairs that have only messages of other kept pairs between call and reply, or none if that takes more
    than `_MOST_ROUNDS` rounds. Return the kept pairs, and a flag for each message: true if it belongs to one of
    them."""
    for _ in range(_MOST_ROUNDS):
        is_in = np.zeros(count, bool)
        is_in[calls] = is_in[replies] = True
        others_before = (~is_in).cumsum()
        is_whole = others_before[calls] == others_before[replies]
        if is_whole.all():
            return calls, replies, is_in
        calls, replies = calls[is_whole], replies[is_whole]
    return calls[:0], replies[:0], np.zeros(count, bool)


def _run(
    rows: CallColumns, first: int, end: int, calls: Positions, replies: Positions, short: NDArray[np.uint32]
) -> LinkedRun:
    numbers, turns = rows.numbers, rows.turns[first:end]
    last_turn = first + int(turns.searchsorted(turns[-1]))
    ids = [*map(rows.ids.__getitem__, calls.tolist())]
    with_id = calls if None not in ids else calls[[call_id is not None for call_id in ids]]
    return LinkedRun(
        first,
        end,
        (int(turns[0]), int(turns[-1])),
        bool(rows.has_ok[last_turn:end].any()),
        bool(rows.has_call_stop[last_turn:end].any()),
        column_of("I", numbers[calls]),
        column_of("I", numbers[replies]),
        calls,
        ids,
        column_of("I", replies.argsort()),
        int(numbers[end - 1] - numbers[first]) >= end - first,
        calls[:0] if with_id is calls else calls[[call_id is None for call_id in ids]],
        column_of("I", short[with_id]),
    )
