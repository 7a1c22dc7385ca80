"""Rows of thousands of messages at once, as column bytes, made with NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewer.document.message_set import MessageSet
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.messages import MessageIndex
from viewer.index.turns import TurnCounter

MESSAGE, HIDDEN = 0, 1

Numbers: TypeAlias = NDArray[np.uint32]
Bytes: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ManyRows:
    """The rows of consecutive messages, as column bytes."""

    joined: int
    """The number of hidden messages that join the previous row."""
    joined_to: int
    """The number of the last of them."""
    kinds: Bytes
    values: Bytes
    numbers: Bytes
    labels: Bytes | None
    """Only for a strict audience."""
    turns: Bytes | None
    """Only for the end user."""
    shown: int


@dataclass(frozen=True, slots=True)
class Request:
    """A request for the rows of messages, for one audience."""

    index: MessageIndex
    sight: VisibilityCache
    wants: VisibilityCache | None
    """The messages of the pane; None for all."""
    only: MessageSet | None
    strict: bool
    safe: bool
    users: VisibilityCache
    """The messages of the user."""
    turns: TurnCounter
    shown: int
    """The number of messages shown before."""
    hidden_before: int
    """The number of the hidden message that ends the previous row; 0 if there is none."""


def make_rows(request: Request, first: int, last: int) -> ManyRows:
    """The rows of the messages with these numbers."""
    numbers = np.arange(first, last + 1, dtype=np.uint32)
    seen = request.sight.seen(first, last)
    if request.wants is not None or request.only is not None:
        kept = _kept(request, numbers)
        numbers, seen = numbers[kept], seen[kept]
    if request.strict:
        numbers = numbers[seen]
        seen = np.ones(len(numbers), bool)
    if seen.all():
        return _told(request, 0, numbers, numbers, numbers, seen)
    rows = np.flatnonzero(_begins(request, numbers, seen))
    joined = int(rows[0]) if len(rows) else len(numbers)
    counts = np.diff(rows, append=len(numbers)).astype(np.uint32)
    shown, first_numbers = seen[rows], numbers[rows]
    values = np.where(shown, first_numbers, counts)
    return _told(request, joined, numbers, first_numbers + counts - np.uint32(1), values, shown)


def _told(
    request: Request, joined: int, numbers: Numbers, lasts: Numbers, values: Numbers, shown: NDArray[np.bool_]
) -> ManyRows:
    """Build the row columns; `numbers` are the messages, `lasts` the last one of each row."""
    labels: Numbers | None = None
    turns: Numbers | None = None
    if request.strict:
        labels = np.arange(request.shown + 1, request.shown + 1 + len(values), dtype=np.uint32)
    if request.safe:
        turns = np.zeros(len(values), np.uint32)
        turns[shown] = _turns(request, values[shown])
    return ManyRows(
        joined,
        int(numbers[joined - 1]) if joined else 0,
        (~shown).view(np.uint8),
        values.view(np.uint8),
        lasts.view(np.uint8),
        None if labels is None else labels.view(np.uint8),
        None if turns is None else turns.view(np.uint8),
        int(np.count_nonzero(shown)),
    )


def _kept(request: Request, numbers: Numbers) -> NDArray[np.bool_]:
    kept = np.ones(len(numbers), bool)
    if request.wants is not None:
        kept &= request.wants.seen(int(numbers[0]), int(numbers[-1]))
    if request.only is not None:
        kept &= request.only.among(numbers)
    return kept


def _begins(request: Request, numbers: Numbers, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which messages begin a row: shown ones, and hidden ones that do not follow a hidden one of their transcript."""
    begins = seen.copy()
    begins[1:] |= seen[:-1]
    if request.wants is not None or request.only is not None:
        begins[1:] |= np.diff(numbers) != 1
    begins[[place for place, _ in _transcripts(request.index, numbers)]] = True
    before, number = request.hidden_before, int(numbers[0])
    joins = before and before == number - 1 and request.index.transcript(before) == request.index.transcript(number)
    begins[0] = seen[0] or not joins
    return begins


def _transcripts(index: MessageIndex, numbers: Numbers) -> list[tuple[int, int]]:
    """Where a transcript begins among these messages, and its number; usually there are few."""
    if not len(numbers):
        return []
    firsts, transcripts = zip(*index.transcripts(int(numbers[0]), int(numbers[-1])), strict=True)
    return list(zip(numbers.searchsorted(np.array(firsts, np.uint32)).tolist(), transcripts, strict=True))


def _turns(request: Request, numbers: Numbers) -> NDArray[np.int64]:
    """The turns of shown messages, counting only shown messages."""
    if not len(numbers):
        return np.zeros(0, np.int64)
    first = int(numbers[0])
    users = request.users.seen(first, int(numbers[-1]))[numbers - np.uint32(first)]
    ends = pairwise([*_transcripts(request.index, numbers), (len(numbers), 0)])
    parts = [(start, end, number) for (start, number), (end, _) in ends if start < end]
    if len(parts) <= _FEW_TRANSCRIPTS:
        return np.concatenate([request.turns.after_all(number, users[start:end]) for start, end, number in parts])
    (_, first_end, first_number), (last_start, _, last_number) = parts[0], parts[-1]
    between = np.array([start for start, _, _ in parts[1:-1]]) - first_end
    return np.concatenate(
        [
            request.turns.after_all(first_number, users[:first_end]),
            _turns_of_each(between, users[first_end:last_start]),
            request.turns.after_all(last_number, users[last_start:]),
        ]
    )


def _turns_of_each(firsts: NDArray[np.int64], users: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The turns of whole transcripts that begin at these indexes."""
    begins = users.copy()
    begins[1:] &= ~users[:-1]
    begins[firsts] = users[firsts]
    begun = begins.cumsum()
    before = np.repeat(begun[firsts] - begins[firsts], np.diff(firsts, append=len(users)))
    turns: NDArray[np.int64] = (begun - before).clip(1)
    return turns


_FEW_TRANSCRIPTS = 8
"""Above this number, the turns of whole transcripts are counted in one pass."""
