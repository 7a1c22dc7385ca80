"""The reading column, and the wording of a line of hidden messages."""

from __future__ import annotations

from viewer.render.layout import Column, reading_column
from viewer.render.page import hidden_words


def test_the_column_is_in_the_middle_of_the_safe_view() -> None:
    expected = {80: (2, 76), 100: (6, 88), 120: (16, 88), 160: (36, 88), 40: (2, 36), 39: (2, 36), 20: (2, 17)}
    assert {pane: reading_column(pane) for pane in expected} == {
        pane: Column(left, width) for pane, (left, width) in expected.items()
    }


def test_the_debug_view_begins_at_the_left_unless_it_is_very_wide() -> None:
    assert reading_column(118, centered=False) == Column(2, 88)
    assert reading_column(68, centered=False) == Column(2, 64)
    assert reading_column(158, centered=False) == Column(35, 88)


def test_the_settings_limit_the_column() -> None:
    assert reading_column(120, 40) == Column(40, 40)
    assert reading_column(120, 0) == Column(2, 116)
    assert reading_column(1, 40).width == 1


def test_hidden_messages_are_counted_with_their_problems() -> None:
    assert [hidden_words(*counts) for counts in ((1, 0), (4, 2), (8, 1), (1, 1), (1200, 0))] == [
        "1 hidden message",
        "4 hidden messages, 2 with problems",
        "8 hidden messages, 1 with a problem",
        "1 hidden message with a problem",
        "1,200 hidden messages",
    ]
