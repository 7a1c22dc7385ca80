"""Auto-scroll on a fake viewport: actions that leave the end, return to it, and stay there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.transcripts import document_of
from viewer.tui.cursor import NOWHERE, Cursor
from viewer.tui.display_state import DisplayState
from viewer.tui.main.follow import EndPlace, FollowMachine, FollowStatus, Reading
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.session import Changed, Session

LAST = 8
END = (9, 0)


class FakeViewport:
    """A pane that shows its last line at the scroll position `END`."""

    def __init__(self) -> None:
        self.cursor = NOWHERE
        self.is_carried = False
        self.area = SimpleNamespace(size=(80, 24))
        self.place = (0, 0)

    @property
    def is_at_end(self) -> bool:
        return self.place == END

    @property
    def line_of_cursor(self) -> int | None:
        return 3

    def put_cursor(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def stick_to_end(self) -> None:
        self.place = END

    def scroll(self, place: tuple[int, int], number: int) -> None:
        """Scroll, as an action of the operator."""
        self.place, self.cursor = place, Cursor(number)

    def resize(self) -> None:
        self.area.size, self.place = (60, 20), (4, 0)


class FakeHost:
    def __init__(self) -> None:
        self.viewport = FakeViewport()
        self.redrawn = Changed.NOTHING

    def redraw(self, changed: Changed) -> None:
        self.redrawn |= changed


class Staged:
    """The objects around `StickToEnd`, on a live document whose view is at this position."""

    def __init__(self, folder: Path, reading: Reading = Reading.LIVE, place: EndPlace = EndPlace.AT_END) -> None:
        self.host = FakeHost()
        self.machine = FollowMachine(FollowStatus(reading, place=place))
        session = Session(document_of(folder).load(), DisplayState())
        self.stick = StickToEnd(session, self.host, self.machine)  # type: ignore[arg-type]
        self.stick.stay_at_end()

    @property
    def viewport(self) -> FakeViewport:
        return self.host.viewport

    @property
    def place(self) -> EndPlace:
        return self.machine.status.place


@pytest.fixture
def staged(tmp_path: Path) -> Staged:
    return Staged(tmp_path)


def test_the_end_is_shown_with_the_cursor_on_the_last_message(staged: Staged) -> None:
    assert (staged.viewport.place, staged.viewport.cursor) == (END, Cursor(LAST))


def test_scrolling_up_leaves_the_end_and_counts_from_there(staged: Staged) -> None:
    staged.viewport.scroll((5, 0), 6)
    staged.stick.check_user_scrolled()
    assert (staged.place, staged.stick.left_at) == (EndPlace.AWAY, LAST)
    staged.stick.stay_at_end()
    assert staged.viewport.place == (5, 0)


def test_scrolling_back_to_the_end_stays_there_again(staged: Staged) -> None:
    staged.viewport.scroll((5, 0), 6)
    staged.stick.check_user_scrolled()
    staged.viewport.scroll(END, LAST)
    staged.stick.check_user_scrolled()
    assert staged.place is EndPlace.AT_END


def test_a_message_before_the_last_one_at_the_end_leaves_it(staged: Staged) -> None:
    staged.viewport.scroll(END, 6)
    staged.stick.check_user_scrolled()
    assert staged.place is EndPlace.AWAY


def test_an_unmoved_viewport_is_not_a_scroll(staged: Staged) -> None:
    staged.stick.check_user_scrolled()
    assert staged.place is EndPlace.AT_END


def test_a_change_of_size_is_not_a_scroll(staged: Staged) -> None:
    staged.viewport.resize()
    staged.stick.check_user_scrolled()
    assert staged.place is EndPlace.AT_END


def test_scrolling_to_the_end_after_a_change_of_size_stays_there_again(staged: Staged) -> None:
    staged.viewport.scroll((5, 0), 6)
    staged.stick.check_user_scrolled()
    staged.viewport.resize()
    staged.stick.check_user_scrolled()
    staged.viewport.scroll(END, LAST)
    staged.stick.check_user_scrolled()
    assert staged.place is EndPlace.AT_END


def test_changes_inside_end_at_the_end(staged: Staged) -> None:
    with staged.stick.kept():
        staged.viewport.resize()
    assert staged.viewport.place == END
    assert staged.host.redrawn is Changed.FOCUS


def test_a_view_away_from_the_end_keeps_its_place(tmp_path: Path) -> None:
    staged = Staged(tmp_path, place=EndPlace.AWAY)
    with staged.stick.kept():
        staged.viewport.scroll((2, 0), 3)
    assert staged.viewport.place == (2, 0)


@pytest.mark.parametrize("reading", [Reading.OFF, Reading.CATCHING_UP, Reading.ENDED])
def test_nothing_is_scrolled_while_the_rows_do_not_grow(reading: Reading, tmp_path: Path) -> None:
    staged = Staged(tmp_path, reading)
    staged.stick.go_to_end()
    staged.stick.check_user_scrolled()
    assert staged.viewport.place == (0, 0)
