"""Matching of equal items: runs, anchors, gaps, and the longest increasing sequence."""

from __future__ import annotations

from random import Random

from viewer.insight.matching import equal_runs, increasing, match


def test_runs_hold_equal_items_in_order() -> None:
    chance = Random(1)
    for _ in range(200):
        a, b = ([chance.choice("abcdefgh") for _ in range(chance.randint(0, 30))] for _ in range(2))
        i = j = 0
        for first, second, length in equal_runs(a, b):
            assert first >= i
            assert second >= j
            assert a[first : first + length] == b[second : second + length]
            i, j = first + length, second + length


def test_equal_sequences_are_one_run_and_different_ones_one_gap() -> None:
    assert match("abcab", "abcab") == ([(0, 0, 5)], [])
    assert match("abc", "xyz") == ([], [(0, 3, 0, 3)])
    assert match("", "xyz") == ([], [])


def test_an_inserted_item_does_not_shift_the_others() -> None:
    assert equal_runs("abcde", "abXcde") == [(0, 0, 2), (2, 3, 3)]


def test_a_gap_without_anchors_has_its_longest_common_subsequence() -> None:
    assert sum(length for _, _, length in equal_runs("xaabbaay", "zaababaaz")) == 6


def test_items_that_repeat_take_no_quadratic_time() -> None:
    assert match(["a"] * 20_000 + ["b"], ["c"] + ["a"] * 19_000) == ([], [(0, 20_001, 0, 19_001)])


def test_the_longest_increasing_sequence_is_found() -> None:
    assert increasing([(0, 3), (1, 1), (2, 2), (3, 0), (4, 4)]) == [(1, 1), (2, 2), (4, 4)]
    assert increasing([]) == []
