"""The follow machine: every row of its table, every pair without a row, the key to press next, and the title."""

from __future__ import annotations

from itertools import product

from msgspec.structs import replace

from tests.support.cases import each
from viewer.render.title import FollowState
from viewer.sources.changes import Reason, SourceCondition
from viewer.tui.main.follow import (
    LOST,
    TABLE,
    Effect,
    EndPlace,
    FollowMachine,
    FollowStatus,
    FollowTitle,
    KeyMeaning,
    PendingDraw,
    Reading,
    Signal,
    State,
    follow_title,
    meaning_of_key,
)

REGIONS: dict[str, tuple[State, ...]] = {
    "reading": tuple(Reading),
    "source": tuple(SourceCondition),
    "place": tuple(EndPlace),
    "pending": tuple(PendingDraw),
}
PAIRS = [(region, state, signal) for region, states in REGIONS.items() for state, signal in product(states, Signal)]
LISTED: dict[tuple[State, Signal], tuple[State, list[Effect]]] = {
    (Reading.OFF, Signal.START): (Reading.CATCHING_UP, [Effect.START_WORKER]),
    (Reading.OFF, Signal.RESUME): (Reading.LIVE, [Effect.START_WORKER, Effect.DETECT_PLACE, Effect.DRAW_ALL]),
    (Reading.CATCHING_UP, Signal.CAUGHT_UP): (Reading.LIVE, [Effect.SHOW_DOCUMENT]),
    (Reading.CATCHING_UP, Signal.ENDED): (Reading.ENDED, [Effect.DRAW_ALL]),
    (Reading.LIVE, Signal.ENDED): (Reading.ENDED, [Effect.DRAW_ALL]),
    (Reading.LIVE, Signal.STOP): (Reading.OFF, [Effect.DRAW_ALL]),
    (EndPlace.AT_END, Signal.SCROLLED_UP): (EndPlace.AWAY, [Effect.COUNT_NEW_MESSAGES]),
    (EndPlace.AT_END, Signal.LEAVE_END): (EndPlace.AWAY, [Effect.COUNT_NEW_MESSAGES]),
    (EndPlace.AWAY, Signal.SCROLLED_TO_END): (EndPlace.AT_END, []),
    (EndPlace.AWAY, Signal.GO_TO_END): (EndPlace.AT_END, [Effect.SCROLL_TO_END]),
    (PendingDraw.NOTHING, Signal.GREW): (PendingDraw.TEXT, []),
    (PendingDraw.NOTHING, Signal.CHANGED): (PendingDraw.ALL, []),
    (PendingDraw.TEXT, Signal.CHANGED): (PendingDraw.ALL, []),
    (PendingDraw.TEXT, Signal.FRAME_DRAWN): (PendingDraw.NOTHING, []),
    **{(state, Signal.REPLACED): (PendingDraw.RESTART, []) for state in PendingDraw},
    **{(state, Signal.DRAWN): (PendingDraw.NOTHING, []) for state in PendingDraw},
    **{(state, Signal.SOURCE_CHANGED): (SourceCondition.DENIED, [Effect.DRAW_SOURCE]) for state in SourceCondition},
}
LIVE = FollowStatus(Reading.LIVE, place=EndPlace.AT_END)


def machine_in(region: str, state: State) -> FollowMachine:
    return FollowMachine(replace(FollowStatus(), **{region: state}))


def send(machine: FollowMachine, signal: Signal) -> tuple[Effect, ...]:
    """Send a signal, with its payload if it has one, and return the effects."""
    source = SourceCondition.DENIED if signal is Signal.SOURCE_CHANGED else None
    return machine.signal(signal, source, Reason.TRUNCATED if signal is Signal.REPLACED else None)


class TestTheTable:
    def test_has_these_rows_and_no_others(self) -> None:
        assert set(TABLE) == set(LISTED)

    def test_each_row_leads_to_its_state_with_its_effects(self) -> None:
        for region, state, signal in PAIRS:
            if (state, signal) not in LISTED:
                continue
            machine = machine_in(region, state)
            effects = send(machine, signal)
            expected, expected_effects = LISTED[state, signal]
            assert getattr(machine.status, region) is expected, (state, signal)
            own = TABLE[state, signal].effects
            assert list(own) == expected_effects, (state, signal)
            assert set(own) <= set(effects), (state, signal)

    def test_a_pair_without_a_row_changes_nothing_in_its_region(self) -> None:
        for region, state, signal in PAIRS:
            if (state, signal) in LISTED:
                continue
            machine = machine_in(region, state)
            send(machine, signal)
            assert getattr(machine.status, region) is state, (state, signal)

    def test_a_signal_changes_one_region(self) -> None:
        for signal in Signal:
            regions = {type(state) for state, each in TABLE if each is signal}
            assert len(regions) == 1, signal

    def test_the_regions_are_independent(self) -> None:
        before = FollowStatus(Reading.LIVE, SourceCondition.ERROR, EndPlace.AT_END, PendingDraw.TEXT, True)
        machine = FollowMachine(before)
        machine.signal(Signal.LEAVE_END)
        assert machine.status == replace(before, place=EndPlace.AWAY)


class TestARestart:
    def test_keeps_its_reason_until_it_is_drawn(self) -> None:
        machine = FollowMachine(LIVE)
        machine.signal(Signal.REPLACED, reason=Reason.TRUNCATED)
        machine.signal(Signal.GREW)
        machine.signal(Signal.REPLACED)
        assert (machine.status.pending, machine.status.reason) == (PendingDraw.RESTART, Reason.TRUNCATED)
        machine.signal(Signal.DRAWN)
        assert (machine.status.pending, machine.status.reason) == (PendingDraw.NOTHING, None)


class TestFreezing:
    def test_keeps_what_waits(self) -> None:
        machine = FollowMachine(LIVE)
        machine.toggle_frozen()
        machine.signal(Signal.CHANGED)
        assert machine.status == replace(LIVE, pending=PendingDraw.ALL, frozen=True)
        machine.toggle_frozen()
        assert machine.status == replace(LIVE, pending=PendingDraw.ALL)


class TestTheViewStaysAtTheEnd:
    def test_only_while_it_is_live_and_at_the_end(self) -> None:
        for reading, place in product(Reading, EndPlace):
            expected = reading is Reading.LIVE and place is EndPlace.AT_END
            assert FollowStatus(reading, place=place).is_sticky is expected


class TestTheKey:
    def meaning(
        self, status: FollowStatus, *, live: bool = True, stream: bool = False, complete: bool = False
    ) -> KeyMeaning:
        return meaning_of_key(status, is_live=live, is_stream=stream, is_complete=complete)

    def test_does_nothing_while_data_is_still_read(self) -> None:
        assert self.meaning(FollowStatus(Reading.CATCHING_UP)) is KeyMeaning.STILL_CATCHING_UP
        assert self.meaning(FollowStatus(), live=False) is KeyMeaning.STILL_LOADING

    def test_starts_when_a_file_has_been_read(self) -> None:
        assert self.meaning(FollowStatus(), live=False, complete=True) is KeyMeaning.START

    def test_resumes_after_a_stop_but_not_after_the_end(self) -> None:
        assert self.meaning(FollowStatus()) is KeyMeaning.RESUME
        assert self.meaning(FollowStatus(Reading.ENDED), complete=True) is KeyMeaning.HAS_ENDED

    def test_goes_to_the_end_then_stops_a_file_and_leaves_the_end_of_a_pipe(self) -> None:
        assert self.meaning(replace(LIVE, place=EndPlace.AWAY)) is KeyMeaning.GO_TO_END
        assert self.meaning(LIVE) is KeyMeaning.STOP
        assert self.meaning(LIVE, stream=True) is KeyMeaning.LEAVE_END


def title(
    status: FollowStatus, *, live: bool = True, complete: bool = False, stalled_for: float = 0.0, read: bool = False
) -> FollowTitle:
    return follow_title(
        status,
        is_live=live,
        is_complete=complete,
        progress=0.25,
        behind=3,
        stalled_for=stalled_for,
        stalled_after=10.0,
        was_read=read,
    )


@each(
    "status, facts, expected",
    [
        (FollowStatus(), {"live": False}, FollowTitle(FollowState.STILL, busy="reading 25%")),
        (FollowStatus(), {"live": False, "complete": True}, FollowTitle(FollowState.STILL)),
        (FollowStatus(), {}, FollowTitle(FollowState.STILL)),
        (FollowStatus(Reading.ENDED), {"complete": True}, FollowTitle(FollowState.ENDED)),
        (FollowStatus(Reading.CATCHING_UP), {}, FollowTitle(FollowState.STILL, busy="reading 25%")),
        (FollowStatus(Reading.CATCHING_UP), {"live": False}, FollowTitle(FollowState.STILL, busy="reading 25%")),
        (LIVE, {}, FollowTitle(FollowState.LIVE, "live")),
        (replace(LIVE, place=EndPlace.AWAY), {}, FollowTitle(FollowState.PAUSED, "paused, 3 new")),
        (LIVE, {"stalled_for": 10.0}, FollowTitle(FollowState.LIVE, "live")),
        (LIVE, {"stalled_for": 12.9}, FollowTitle(FollowState.STALLED, "stalled 12 s")),
        (LIVE, {"stalled_for": 65.0}, FollowTitle(FollowState.STALLED, "stalled 1 min 5 s")),
        *(
            (replace(LIVE, source=condition), {"read": True}, FollowTitle(FollowState.LOST, "source lost, retrying"))
            for condition in LOST
        ),
        (replace(LIVE, source=SourceCondition.ENDED), {"read": True}, FollowTitle(FollowState.WAITING, "ended")),
        *(
            (replace(LIVE, source=condition), {}, FollowTitle(FollowState.WAITING, words))
            for condition, words in [
                (SourceCondition.WAITING, "waiting for the file"),
                (SourceCondition.DENIED, "permission denied"),
                (SourceCondition.DIRECTORY, "waiting for a file"),
                (SourceCondition.ERROR, "cannot be read"),
                (SourceCondition.ENDED, "ended"),
                (SourceCondition.STOPPED, "stopped"),
            ]
        ),
    ],
)
def test_the_title_shows_one_state(status: FollowStatus, facts: dict[str, float], expected: FollowTitle) -> None:
    assert title(status, **facts) == expected  # type: ignore[arg-type]
    frozen = title(replace(status, frozen=True), **facts)  # type: ignore[arg-type]
    first = expected if expected.state in (FollowState.LOST, FollowState.WAITING, FollowState.STALLED) else None
    assert frozen == (first or FollowTitle(FollowState.FROZEN, "frozen, 3 new"))
