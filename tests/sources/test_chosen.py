"""Messages that a filter lets through, as a column."""

from __future__ import annotations

import numpy as np
import pytest

from viewer.document.message_set import MessageSet


def test_numbers_are_found_in_it() -> None:
    chosen = MessageSet([2, 3, 9])
    assert [number for number in range(12) if number in chosen] == [2, 3, 9]
    assert (len(chosen), list(chosen), chosen == MessageSet([2, 3, 9]), chosen == MessageSet([2])) == (
        3,
        [2, 3, 9],
        True,
        False,
    )
    assert not MessageSet()


@pytest.mark.parametrize("numbers", [[1], [2], [9], [12], [1, 4, 9, 10], [2, 3], [3, 4, 5, 6]])
def test_many_are_told_apart_at_once(numbers: list[int]) -> None:
    chosen = MessageSet([2, 3, 9])
    assert chosen.among(np.array(numbers, np.uint32)).tolist() == [number in chosen for number in numbers]
