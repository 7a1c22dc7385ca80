"""Timing of a transcript: stalls, rates by channel, the first visible answer, and retracted text."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from statistics import median

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.document.projection import Projection
from viewer.insight.replay.held import HeldBack, held_back
from viewer.insight.replay.player import Player
from viewer.insight.replay.timeline import Timeline
from viewer.model.visibility import END_USER, EVERYTHING, Audience, is_user_safe

LEAST_STALL_MS = 1000
STALL_FACTOR = 5
"""The minimum length of a stall, as a multiple of the median pause."""
_MOST_STEPS = 512
"""The approximate number of points at which a long message is examined for retracted text."""


class Gap(Struct, frozen=True, gc=False):
    """A stall: a pause that is much longer than usual."""

    from_ms: int
    ms: int
    after: int
    """The number of the message before the pause, in the audience's numbering."""


class Rate(Struct, frozen=True, gc=False):
    """How fast the messages of a channel grew, after their first part."""

    characters: int
    ms: int


class Retraction(Struct, frozen=True, gc=False):
    """Text that was on the screen and was then retracted."""

    at: int
    """The offset of the byte that retracted the text."""
    message: int
    characters: int
    reason: str


class Timing(Struct, frozen=True):
    """The timing of a transcript, limited to what an audience may know."""

    has_times: bool
    source: str | None
    """Where the times come from: `records` or `sidecar`; None if there are no times."""
    length_ms: int
    events: int
    first_visible_ms: int | None
    """The time from the first user message, or else the first event, to the first visible answer. None if there is no
    such answer or no time, and for an audience that does not see everything."""
    gaps: tuple[Gap, ...]
    rates: dict[str, Rate]
    retractions: tuple[Retraction, ...]
    backwards: int
    held_back: tuple[HeldBack, ...] = ()


def time_transcript(
    document: Document, audience: Audience, timeline: Timeline, source: str, work: Callable[[], None] = lambda: None
) -> Timing:
    """Compute the timing for an audience. Only an audience that sees everything learns anything about hidden
    messages."""
    view = document.project(audience, withholds=False)
    has_times = timeline.has_times
    return Timing(
        has_times,
        source if has_times else None,
        timeline.length_ms,
        len(timeline),
        _first_visible(document, timeline) if timeline.is_raw and has_times else None,
        tuple(_gaps(timeline, view)) if has_times else (),
        _rates(timeline, view, work) if has_times else {},
        tuple(_retractions(document, work)) if timeline.is_raw else (),
        timeline.backwards,
        tuple(held_back(document, timeline, work)) if timeline.is_raw and has_times else (),
    )


def _first_visible(document: Document, timeline: Timeline) -> int | None:
    """Return the time from the first user message, or else the first event, to the first answer that the end user saw.
    Return None if there is none."""
    index = document.index
    asked: int | None = None
    for event in range(len(timeline)):
        message = index[timeline.number(event)]
        if asked is None and message.header.role == "user":
            asked = timeline.clock[event]
        if message.header.role == "assistant" and is_user_safe(message):
            return timeline.clock[event] - (asked if asked is not None else timeline.clock[0])
    return None


def _gaps(timeline: Timeline, view: Projection) -> list[Gap]:
    """Return the stalls; for an audience that does not see everything, only those inside a message."""
    places = [
        event
        for event in range(1, len(timeline))
        if timeline.is_raw or timeline.number(event) == timeline.number(event - 1)
    ]
    pauses = array("Q", [timeline.clock[event] - timeline.clock[event - 1] for event in places])
    if not pauses:
        return []
    least = max(LEAST_STALL_MS, STALL_FACTOR * median(pauses))
    rows = view.rows()
    return [
        Gap(timeline.clock[event - 1], pause, rows.label(rows.row_of(timeline.number(event - 1))))
        for event, pause in zip(places, pauses, strict=True)
        if pause >= least
    ]


def _rates(timeline: Timeline, view: Projection, work: Callable[[], None]) -> dict[str, Rate]:
    """Return the rate of each channel, from the messages that arrived in several parts."""
    spans: dict[int, list[int]] = {}
    for event in range(len(timeline)):
        spans.setdefault(timeline.number(event), []).append(event)
    found: dict[str, Rate] = {}
    for number, events in spans.items():
        ms = timeline.clock[events[-1]] - timeline.clock[events[0]]
        message = view.message(number) if len(events) > 1 and ms else None
        if message is None:
            continue
        work()
        sizes = [timeline.arrivals.sizes[timeline.rows[event]] for event in events]
        characters = round(len(message.body) * sum(sizes[1:]) / max(1, sum(sizes)))
        name = (message.channel or "unclear") if message.role == "assistant" else message.role or "unclear"
        known = found.get(name, Rate(0, 0))
        found[name] = Rate(known.characters + characters, known.ms + ms)
    return dict(sorted(found.items()))


def _retractions(document: Document, work: Callable[[], None]) -> list[Retraction]:
    """Return the text that the end user saw only for a moment, in messages with hidden parts."""
    player = Player(document, EVERYTHING)
    found = []
    for number in sorted(document.tally.cut):
        start, end = document.index.span(number)
        step = max(1, (end - start) // _MOST_STEPS)
        before = ""
        for at in (*range(start, end, step), end):
            work()
            player.seek(at)
            now = _body_now(player.document, number)
            if not now.startswith(before):
                found.append(_first_loss(player, number, max(start, at - step), at))
            before = now
    return found


def _first_loss(player: Player, number: int, first: int, last: int) -> Retraction:
    """Find the first byte between two offsets that retracted text."""
    before = ""
    for at in range(first, last + 1):
        player.seek(at)
        now = _body_now(player.document, number)
        if not now.startswith(before):
            break
        before = now
    return Retraction(at, number, len(before) - _shared(before, now), "think-closed")


def _body_now(document: LiveDocument, number: int) -> str:
    if number > document.message_count:
        return ""
    message = document.project(END_USER, withholds=False).message(number)
    return message.body if message else ""


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    length = min(len(one), len(other))
    return next((place for place in range(length) if one[place] != other[place]), length)
