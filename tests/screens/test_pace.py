"""Redraw throttle: immediately after a quiet time, then per frame, and less often if drawing is slow."""

from __future__ import annotations

import pytest

from tests.support.source_following import Clock
from viewer.tui.main.throttle import ALL_SECONDS, FRAME_SECONDS, TEXT_ONLY_SECONDS, FrameLimiter


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> FrameLimiter:
    return FrameLimiter(clock)


def test_the_first_change_after_a_pause_is_drawn_at_once(pace: FrameLimiter) -> None:
    assert pace.frame_is_due and pace.all_is_due
    assert pace.rest(text=True, everything=False) == 0.0
    assert pace.rest(text=False, everything=False) == 1.0


def test_further_changes_are_drawn_once_per_frame(pace: FrameLimiter, clock: Clock) -> None:
    with pace.frame():
        clock.now += 0.001
    assert not pace.frame_is_due and pace.all_is_due
    assert pace.rest(text=True, everything=False) == pytest.approx(FRAME_SECONDS - 0.001)
    clock.now += FRAME_SECONDS
    assert pace.frame_is_due


def test_full_redraws_are_less_frequent(pace: FrameLimiter, clock: Clock) -> None:
    with pace.everything():
        clock.now += 0.001
    clock.now += FRAME_SECONDS
    assert pace.frame_is_due and not pace.all_is_due
    clock.now += ALL_SECONDS
    assert pace.all_is_due and not pace.all_is_overdue
    clock.now += TEXT_ONLY_SECONDS
    assert pace.all_is_overdue


def test_a_slow_redraw_delays_the_next_one(pace: FrameLimiter, clock: Clock) -> None:
    with pace.everything():
        clock.now += 0.5
    clock.now += 1.0
    assert not pace.frame_is_due
    clock.now += 1.0
    assert pace.frame_is_due and not pace.all_is_due
    clock.now += 4.0
    assert pace.all_is_due
