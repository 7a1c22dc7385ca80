"""The messages that a filter selects, as a column."""

from __future__ import annotations

import pytest

from viewer.document.rows import MessageSet


def test_numbers_are_found_in_the_set() -> None:
    chosen = MessageSet([2, 3, 9])
    assert [number for number in range(12) if number in chosen] == [2, 3, 9]
    assert (len(chosen), list(chosen), chosen == MessageSet([2, 3, 9]), chosen == MessageSet([2])) == (
        3,
        [2, 3, 9],
        True,
        False,
    )
    assert not MessageSet()


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 2), (2, 9), (3, 8), (4, 8), (9, 12), (10, 12), (0, 99)])
def test_members_between_two_numbers_are_found(first: int, last: int) -> None:
    chosen = MessageSet([2, 3, 9])
    assert list(chosen.between(first, last)) == [number for number in chosen if first <= number <= last]
