"""Sequence matching: pair equal items in about linear time by patience anchors, runs, and gaps in between."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence

Run = tuple[int, int, int]
"""A run of equal items: where it begins on both sides, and its length."""
Gap = tuple[int, int, int, int]
"""The items between two runs: start and end on each side."""

MOST_CELLS = 40_000
"""The maximum number of pairs of items in a gap that is searched item by item."""
_DEEPEST = 12
"""The maximum depth of nested anchor searches. Each one takes time proportional to the remaining length."""


def match(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[list[Run], list[Gap]]:
    """Return the runs of equal items around anchors, and the gaps between them, both in order."""
    runs: list[Run] = []
    gaps: list[Gap] = []
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        a_first, a_end, b_first, b_end, depth = waiting.pop()
        begun = a_first
        while a_first < a_end and b_first < b_end and a[a_first] == b[b_first]:
            a_first += 1
            b_first += 1
        if a_first > begun:
            runs.append((begun, b_first - (a_first - begun), a_first - begun))
        ended = a_end
        while a_first < a_end and b_first < b_end and a[a_end - 1] == b[b_end - 1]:
            a_end -= 1
            b_end -= 1
        if a_end < ended:
            runs.append((a_end, b_end, ended - a_end))
        if a_first == a_end or b_first == b_end:
            continue
        found = _anchors(a, b, (a_first, a_end, b_first, b_end)) if depth < _DEEPEST else []
        if not found:
            gaps.append((a_first, a_end, b_first, b_end))
            continue
        for i, j in found:
            waiting.append((a_first, i, b_first, j, depth + 1))
            a_first, b_first = i, j
        waiting.append((a_first, a_end, b_first, b_end, depth + 1))
    return sorted(runs), sorted(gaps)


def equal_runs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """Return all runs of equal items, with a longest common subsequence in each small gap."""
    runs, gaps = match(a, b)
    for gap in gaps:
        runs += _common(a, b, gap)
    return sorted(runs)


def increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs, given in order of their first items, in which the second items also
    increase."""
    tails: list[int] = []
    at_tail: list[int] = []
    before = [-1] * len(pairs)
    for place, (_, j) in enumerate(pairs):
        length = bisect_left(tails, j)
        before[place] = at_tail[length - 1] if length else -1
        if length == len(tails):
            tails.append(j)
            at_tail.append(place)
        else:
            tails[length], at_tail[length] = j, place
    found = []
    place = at_tail[-1] if at_tail else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[tuple[int, int]]:
    """Return the positions, on both sides, of the items that occur once on each side, in increasing order."""
    in_a, in_b = _once(a, gap[0], gap[1]), _once(b, gap[2], gap[3])
    pairs = [(i, j) for item, i in in_a.items() if i >= 0 and (j := in_b.get(item, -1)) >= 0]
    return increasing(pairs)


def _once(items: Sequence[Hashable], first: int, end: int) -> dict[Hashable, int]:
    """Return the position of each item, or -1 if it occurs more than once."""
    places: dict[Hashable, int] = {}
    for place in range(first, end):
        item = items[place]
        places[item] = -1 if item in places else place
    return places


def _common(a: Sequence[Hashable], b: Sequence[Hashable], gap: Gap) -> list[Run]:
    """Return a longest common subsequence of a gap as runs, or no runs if the gap is too large."""
    a_first, a_end, b_first, b_end = gap
    if (a_end - a_first) * (b_end - b_first) > MOST_CELLS:
        return []
    width = b_end - b_first
    lengths = [[0] * (width + 1)]
    for i in range(a_end - 1, a_first - 1, -1):
        below, item = lengths[-1], a[i]
        row = [0] * (width + 1)
        for column in range(width - 1, -1, -1):
            if item == b[b_first + column]:
                row[column] = below[column + 1] + 1
            else:
                row[column] = max(below[column], row[column + 1])
        lengths.append(row)
    lengths.reverse()
    runs: list[Run] = []
    i = column = 0
    while i < a_end - a_first and column < width:
        if a[a_first + i] == b[b_first + column]:
            if runs and runs[-1][0] + runs[-1][2] == a_first + i and runs[-1][1] + runs[-1][2] == b_first + column:
                runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
            else:
                runs.append((a_first + i, b_first + column, 1))
            i, column = i + 1, column + 1
        elif lengths[i + 1][column] >= lengths[i][column + 1]:
            i += 1
        else:
            column += 1
    return runs
