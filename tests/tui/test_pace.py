"""When what grows is drawn: at once after quiet, then by frames, and less often where drawing takes long."""

from __future__ import annotations

import pytest

from tests.sources.following import Clock
from viewer.tui.main.throttle import FRAME, LOOK, OLD, FrameLimiter


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> FrameLimiter:
    return FrameLimiter(clock)


def test_at_once_after_quiet(pace: FrameLimiter) -> None:
    assert pace.frame_is_due and pace.look_is_due
    assert pace.rest(grew=True, changed=False) == 0.0
    assert pace.rest(grew=False, changed=False) == 1.0


def test_then_by_frames(pace: FrameLimiter, clock: Clock) -> None:
    with pace.frame():
        clock.now += 0.001
    assert not pace.frame_is_due and pace.look_is_due
    assert pace.rest(grew=True, changed=False) == pytest.approx(FRAME - 0.001)
    clock.now += FRAME
    assert pace.frame_is_due


def test_everything_is_drawn_less_often(pace: FrameLimiter, clock: Clock) -> None:
    with pace.look():
        clock.now += 0.001
    clock.now += FRAME
    assert pace.frame_is_due and not pace.look_is_due
    clock.now += LOOK
    assert pace.look_is_due and not pace.look_is_old
    clock.now += OLD
    assert pace.look_is_old


def test_what_takes_long_waits_long(pace: FrameLimiter, clock: Clock) -> None:
    with pace.look():
        clock.now += 0.5
    clock.now += 1.0
    assert not pace.frame_is_due
    clock.now += 1.0
    assert pace.frame_is_due and not pace.look_is_due
    clock.now += 4.0
    assert pace.look_is_due
