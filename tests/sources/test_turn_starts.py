"""Turns begin in the same places whether a few messages are looked at or thousands at once."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.document import turn_starts as module
from viewer.document.turn_starts import Border, turn_starts

TURNS = st.lists(st.integers(0, 3), max_size=30)


def told(turns: list[int], borders: list[Border], turn: int = 0, transcript: int = 0) -> list[tuple[int, int, int]]:
    return list(zip(*turn_starts(array("I", turns), borders, turn, transcript), strict=True))


def test_a_turn_begins_with_another_number_or_transcript() -> None:
    assert told([1, 1, 2, 0, 2, 3], [Border(0, 1)]) == [(0, 1, 1), (2, 2, 1), (5, 3, 1)]
    assert told([0, 1, 1, 0, 0, 1], [Border(0, 1), Border(3, 2)]) == [(0, 1, 1), (3, 1, 2)]
    assert told([2, 2, 0, 3], [Border(0, 1)], 2, 1) == [(3, 3, 1)]
    assert told([2, 2], [Border(0, 2)], 2, 1) == [(0, 2, 2)]
    assert told([], []) == []


@given(TURNS, TURNS, st.integers(0, 3), st.integers(0, 2))
def test_many_are_as_few(first: list[int], second: list[int], turn: int, transcript: int) -> None:
    borders = [Border(0, 1), Border(len(first), 2)]
    few = told(first + second, borders, turn, transcript)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "MANY", 1)
        assert told(first + second, borders, turn, transcript) == few
