"""Bulk operations on thousands of calls, with NumPy."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewer.document.call_lists import Spans
from viewer.document.visibility_cache import VisibilityCache

Column: TypeAlias = "array[int]"


def seen_links(calls: Column, replies: Column, sight: VisibilityCache) -> Column:
    """The links whose existing ends are all visible to the audience."""
    both = np.concatenate([_numbers(calls), _numbers(replies)])
    there = np.flatnonzero(both)
    unseen = np.zeros(len(both), bool)
    unseen[there] = ~sight.seen_at(_column(both[there]))
    is_end = both > 0
    count = len(calls)
    return _column(np.flatnonzero((is_end[:count] | is_end[count:]) & ~unseen[:count] & ~unseen[count:]))


def counted(codes: array[int], links: Column) -> Mapping[int, int]:
    """The number of these links in each state."""
    values, counts = np.unique(np.frombuffer(codes, np.uint8)[_numbers(links)], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def ends(calls: Column, replies: Column, links: Column) -> tuple[Column, Column]:
    """The messages at the ends of these links, sorted, and the indexes of the links."""
    chosen = _numbers(links)
    numbers = np.concatenate([_numbers(calls)[chosen], _numbers(replies)[chosen]])
    rows = np.tile(np.arange(len(chosen)), 2)
    order = np.argsort(numbers, kind="stable")[int(np.count_nonzero(numbers == 0)) :]
    return _column(numbers[order]), _column(rows[order])


def spans(calls: Column, replies: Column, links: Column, inferred: array[int]) -> Spans:
    """First and last messages of the links that have both ends."""
    chosen = _numbers(links)
    call, reply = _numbers(calls)[chosen], _numbers(replies)[chosen]
    linked = (call > 0) & (reply > 0)
    firm = linked & (np.frombuffer(inferred, np.uint8)[chosen] == 0)
    firsts, lasts = np.minimum(call, reply), np.maximum(call, reply)
    sorts = (np.sort(column[rows], kind="stable") for rows in (linked, firm) for column in (firsts, lasts))
    return Spans(*map(_column, sorts))


def _numbers(column: Column) -> NDArray[np.uint32]:
    return np.frombuffer(column, np.uint32)


def _column(numbers: NDArray[Any]) -> Column:
    column = array("I")
    column.frombytes(numbers.astype(np.uint32, copy=False).view(np.uint8).data)
    return column
