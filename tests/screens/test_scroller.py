"""Scroll position: it never leaves empty space below the last line, and only rows near it are measured."""

from __future__ import annotations

import random

from viewer.tui.transcript.scroller import Scroller


def test_a_scroll_position_is_judged_as_by_measuring_from_the_end() -> None:
    chance = random.Random(7)
    ends = 0
    for _ in range(3000):
        heights = [chance.randrange(1, 6) for _ in range(chance.randrange(9))]
        scroller = Scroller(heights.__len__, heights.__getitem__)
        scroller.row = chance.randrange(len(heights) + 1)
        scroller.line = chance.randrange(7)  # even beyond the end of the row, as after a resize
        viewport = chance.randrange(1, 12)
        here, last = (scroller.row, scroller.line), scroller.last(viewport)
        assert scroller.at_end(viewport) == (here >= last)
        ends += here >= last
        scroller.settle(viewport)
        in_row = min(here, (here[0], (heights[here[0]] if here[0] < len(heights) else 99) - 1))
        assert (scroller.row, scroller.line) == min(in_row, last)
    assert 300 < ends < 2900


def test_the_end_of_a_long_list_is_not_measured_from_its_beginning() -> None:
    measured: list[int] = []

    def height(row: int) -> int:
        measured.append(row)
        return 3

    scroller = Scroller(lambda: 1_000_000, height)
    scroller.move(40, 30)
    assert not scroller.at_end(30)
    assert max(measured) < 50
