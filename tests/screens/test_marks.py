"""Marks: jumps wrap around, and reach only shown messages."""

from __future__ import annotations

from pathlib import Path

from tests.support.transcripts import END_USER, EVERYTHING, document_of, view
from viewer.tui.marks import next_mark, previous_mark, shown_marks


def test_marks_wrap_around_at_the_ends(tmp_path: Path) -> None:
    _, rows = view(document_of(tmp_path), EVERYTHING)
    marks = {7, 2, 3}
    assert [next_mark(marks, number, rows) for number in (1, 2, 3, 7, 8)] == [2, 3, 7, 2, 2]
    assert [previous_mark(marks, number, rows) for number in (1, 2, 3, 7, 8)] == [7, 7, 2, 3, 7]


def test_hidden_messages_are_passed_over(tmp_path: Path) -> None:
    _, rows = view(document_of(tmp_path), END_USER)
    assert shown_marks({1, 2, 3, 8, 99}, rows) == [2, 8]
    assert (next_mark({1, 3}, 2, rows), previous_mark({1, 3}, 2, rows)) == (None, None)


def test_without_marks_nothing_moves(tmp_path: Path) -> None:
    _, rows = view(document_of(tmp_path, "version: 2.2\n"))
    assert (next_mark((), 1, rows), previous_mark({1}, 1, rows)) == (None, None)
