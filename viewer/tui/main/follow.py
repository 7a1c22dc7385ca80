"""Follow state machine: a table of (state, signal) pairs in four regions, and the follow titles (live, paused,
stalled)."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from viewer.render.number_format import duration
from viewer.render.title import FollowState
from viewer.sources.changes import Reason, SourceCondition


class Reading(Enum):
    """The state of reading: whether and how the worker reads the input."""

    OFF = "off"
    CATCHING_UP = "catching up"
    """Existing data is being read for the first time; the view does not grow yet."""
    LIVE = "live"
    ENDED = "ended"


class EndPlace(Enum):
    """The state of scrolling: whether the view stays at the end."""

    AT_END = "at the end"
    AWAY = "away"


class PendingDraw(Enum):
    """The content of the next redraw."""

    NOTHING = "nothing"
    TEXT = "text"
    """Only text of open messages grew."""
    ALL = "all"
    RESTART = "restart"
    """The input is being read again from the start, so the screen is stale."""


class Signal(Enum):
    """An event that may change a state."""

    START = "start"
    RESUME = "resume"
    """Resume reading a live document that has been shown before."""
    CAUGHT_UP = "caught up"
    ENDED = "ended"
    STOP = "stop"
    SOURCE_CHANGED = "source changed"
    SCROLLED_UP = "scrolled up"
    LEAVE_END = "leave end"
    SCROLLED_TO_END = "scrolled to end"
    GO_TO_END = "go to end"
    GREW = "grew"
    CHANGED = "changed"
    REPLACED = "replaced"
    FRAME_DRAWN = "frame drawn"
    """Text was drawn, but calls, problems, and lists were not."""
    DRAWN = "drawn"


class Effect(Enum):
    """An action after a state change; `FollowWorker` performs it."""

    START_WORKER = "start worker"
    DETECT_PLACE = "detect place"
    SHOW_DOCUMENT = "show document"
    DRAW_ALL = "draw all"
    DRAW_SOURCE = "draw source"
    COUNT_NEW_MESSAGES = "count new messages"
    SCROLL_TO_END = "scroll to end"


State = Reading | SourceCondition | EndPlace | PendingDraw


class Row(Struct, frozen=True):
    """A row of the table: in these states, the signal leads to the next state and to effects."""

    states: tuple[State, ...]
    signal: Signal
    next: State | None
    """The next state; None for the state that is passed with the signal."""
    effects: tuple[Effect, ...] = ()


_OFF, _CATCHING_UP, _LIVE = Reading.OFF, Reading.CATCHING_UP, Reading.LIVE
_NOTHING, _TEXT, _ALL, _RESTART = PendingDraw

ROWS = (
    Row((_OFF,), Signal.START, _CATCHING_UP, (Effect.START_WORKER,)),
    Row((_OFF,), Signal.RESUME, _LIVE, (Effect.START_WORKER, Effect.DETECT_PLACE, Effect.DRAW_ALL)),
    Row((_CATCHING_UP,), Signal.CAUGHT_UP, _LIVE, (Effect.SHOW_DOCUMENT,)),
    Row((_CATCHING_UP, _LIVE), Signal.ENDED, Reading.ENDED, (Effect.DRAW_ALL,)),
    Row((_LIVE,), Signal.STOP, _OFF, (Effect.DRAW_ALL,)),
    Row(tuple(SourceCondition), Signal.SOURCE_CHANGED, None, (Effect.DRAW_SOURCE,)),
    Row((EndPlace.AT_END,), Signal.SCROLLED_UP, EndPlace.AWAY, (Effect.COUNT_NEW_MESSAGES,)),
    Row((EndPlace.AT_END,), Signal.LEAVE_END, EndPlace.AWAY, (Effect.COUNT_NEW_MESSAGES,)),
    Row((EndPlace.AWAY,), Signal.SCROLLED_TO_END, EndPlace.AT_END),
    Row((EndPlace.AWAY,), Signal.GO_TO_END, EndPlace.AT_END, (Effect.SCROLL_TO_END,)),
    Row((_NOTHING,), Signal.GREW, _TEXT),
    Row((_NOTHING, _TEXT), Signal.CHANGED, _ALL),
    Row(tuple(PendingDraw), Signal.REPLACED, _RESTART),
    Row((_TEXT,), Signal.FRAME_DRAWN, _NOTHING),
    Row(tuple(PendingDraw), Signal.DRAWN, _NOTHING),
)

TABLE = {(state, row.signal): row for row in ROWS for state in row.states}


class FollowStatus(Struct, frozen=True, gc=False):
    """The state of each region."""

    reading: Reading = Reading.OFF
    source: SourceCondition = SourceCondition.OK
    place: EndPlace = EndPlace.AWAY
    pending: PendingDraw = PendingDraw.NOTHING
    frozen: bool = False
    """True while the operator has frozen the display. Reading continues."""
    reason: Reason | None = None
    """The reason why the view restarts."""

    @property
    def is_sticky(self) -> bool:
        """True if the view stays at the end of growing rows."""
        return self.reading is Reading.LIVE and self.place is EndPlace.AT_END


class FollowMachine:
    """Owns the status. A pair of state and signal that is not in the table changes nothing."""

    def __init__(self, status: FollowStatus | None = None) -> None:
        self.status = status or FollowStatus()

    def signal(
        self, signal: Signal, source: SourceCondition | None = None, reason: Reason | None = None
    ) -> tuple[Effect, ...]:
        """Update the status and return the effects. `source` belongs to SOURCE_CHANGED, `reason` to REPLACED."""
        now = self.status
        effects: tuple[Effect, ...] = ()
        regions: dict[str, State] = {
            "reading": now.reading, "source": now.source, "place": now.place, "pending": now.pending,
        }  # fmt: skip
        for region, state in regions.items():
            row = TABLE.get((state, signal))
            if row is not None:
                regions[region] = row.next or source or state
                effects += row.effects
        pending = regions["pending"]
        reason = (reason or now.reason) if pending is PendingDraw.RESTART else None
        self.status = FollowStatus(**regions, frozen=now.frozen, reason=reason)  # type: ignore[arg-type]
        return effects

    def toggle_frozen(self) -> None:
        """Freeze or unfreeze the display."""
        self.status = replace(self.status, frozen=not self.status.frozen)


class KeyMeaning(Enum):
    """The current meaning of the follow key."""

    START = "start"
    RESUME = "resume"
    GO_TO_END = "go to end"
    LEAVE_END = "leave end"
    STOP = "stop"
    STILL_CATCHING_UP = "still catching up"
    STILL_LOADING = "still loading"
    HAS_ENDED = "has ended"


def meaning_of_key(status: FollowStatus, *, is_live: bool, is_stream: bool, is_complete: bool) -> KeyMeaning:
    """Return the current meaning of the follow key.

    `is_live`: the document on the screen can grow. `is_complete`: it has been read to its end."""
    if status.reading is Reading.CATCHING_UP:
        return KeyMeaning.STILL_CATCHING_UP
    if status.reading is Reading.LIVE:
        if status.place is EndPlace.AWAY:
            return KeyMeaning.GO_TO_END
        return KeyMeaning.LEAVE_END if is_stream else KeyMeaning.STOP
    if is_live:
        return KeyMeaning.HAS_ENDED if is_complete else KeyMeaning.RESUME
    return KeyMeaning.START if is_complete else KeyMeaning.STILL_LOADING


class FollowTitle(Struct, frozen=True, gc=False):
    """The follow state as the title line shows it."""

    state: FollowState
    words: str = ""
    """Words to show instead of the state's name."""
    busy: str = ""
    """Work in progress, shown instead of the state."""
    sources: str = ""
    """The position of this input among several followed ones, and how many are live."""


def follow_title(
    status: FollowStatus,
    *,
    is_live: bool,
    is_complete: bool,
    progress: float,
    behind: int = 0,
    stalled_for: float = 0.0,
    stalled_after: float = 10.0,
    number: int = 0,
    was_read: bool = False,
) -> FollowTitle:
    """Return the first title that applies.
    `is_live`: the document on the screen can grow. `number`: the last message of the document. `was_read`: the input
    had data before its source was lost."""
    new = f", {behind:,} new" if behind > 0 else ""
    is_reading = status.reading not in (Reading.OFF, Reading.ENDED)
    if is_reading and was_read and status.source in LOST:
        return FollowTitle(FollowState.LOST, "source lost, retrying")
    if is_reading and status.source is not SourceCondition.OK:
        return FollowTitle(FollowState.WAITING, SOURCE_WORDS[status.source])
    if is_reading and status.reading is Reading.LIVE and stalled_for > stalled_after:
        where = f" in #{number}" if number else ""
        return FollowTitle(FollowState.STALLED, f"stalled {_length(stalled_for)}{where}")
    if status.frozen:
        return FollowTitle(FollowState.FROZEN, f"frozen{new}")
    if not is_reading:
        if is_live:
            return FollowTitle(FollowState.ENDED if is_complete else FollowState.STILL)
        return FollowTitle(FollowState.STILL, busy="" if is_complete else f"reading {100 * progress:.0f}%")
    if status.reading is Reading.CATCHING_UP:
        return FollowTitle(FollowState.STILL, busy=f"reading {100 * progress:.0f}%")
    if status.place is EndPlace.AWAY:
        return FollowTitle(FollowState.PAUSED, f"paused{new}")
    where = f"  #{number}" if number else ""
    return FollowTitle(FollowState.LIVE, f"live{where}")


SOURCE_WORDS = {
    SourceCondition.WAITING: "waiting for the file",
    SourceCondition.DENIED: "permission denied",
    SourceCondition.DIRECTORY: "waiting for a file",
    SourceCondition.ERROR: "cannot be read",
    SourceCondition.ENDED: "ended",
    SourceCondition.STOPPED: "stopped",
}


LOST = (SourceCondition.WAITING, SourceCondition.DENIED, SourceCondition.DIRECTORY, SourceCondition.ERROR)
"""Conditions in which a source that was readable can no longer be read."""


def _length(seconds: float) -> str:
    return f"{int(seconds)} s" if seconds < 60 else duration(int(seconds) * 1000)
