"""Turns begin at the same messages with every backend."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from tests.laws.test_backends_agree import BACKENDS
from viewer.document.rows import Border, turn_starts

TURNS = st.lists(st.integers(0, 3), max_size=30)


def starts(turns: list[int], borders: list[Border], turn: int = 0, transcript: int = 0) -> list[tuple[int, int, int]]:
    found = [
        list(zip(*astuple(turn_starts(columns, array("I", turns), borders, turn, transcript)), strict=True))
        for columns in BACKENDS
    ]
    assert all(one == found[0] for one in found)
    return found[0]


def test_a_turn_begins_with_another_number_or_transcript() -> None:
    assert starts([1, 1, 2, 0, 2, 3], [Border(0, 1)]) == [(0, 1, 1), (2, 2, 1), (5, 3, 1)]
    assert starts([0, 1, 1, 0, 0, 1], [Border(0, 1), Border(3, 2)]) == [(0, 1, 1), (3, 1, 2)]
    assert starts([2, 2, 0, 3], [Border(0, 1)], 2, 1) == [(3, 3, 1)]
    assert starts([2, 2], [Border(0, 2)], 2, 1) == [(0, 2, 2)]
    assert starts([], []) == []


@pytest.mark.slow
@given(TURNS, TURNS, st.integers(0, 3), st.integers(0, 2))
def test_turns_can_be_read_one_by_one(first: list[int], second: list[int], turn: int, transcript: int) -> None:
    expected = []
    now = turn if transcript == 1 else 0
    for place, own in enumerate(first + second):
        now = 0 if place == len(first) else now
        if (own or now or 1) != now:
            now = own or 1
            expected.append((place, now, 1 if place < len(first) else 2))
    assert starts(first + second, [Border(0, 1), Border(len(first), 2)], turn, transcript) == expected
