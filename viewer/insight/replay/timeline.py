"""Timeline of a replay: the events that an audience saw, their positions, and the clock on which they happened."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right

from msgspec import Struct

from viewer.insight.replay.arrivals import NO_TIME, Arrivals
from viewer.model.visibility import Audience, Reveal

_BYTE = re.compile(r"[Bb]?([0-9]{1,30})")
_SECONDS = re.compile(r"\+?(\d{1,9})(?:\.(\d{1,6}))?\s?(ms|s|m|h)?")
_CLOCK = re.compile(r"\+?(?:(\d{1,4}):)?(\d{1,4}):(\d{2})(?:\.(\d{1,3}))?")
SLOWEST, FASTEST = 0.5, 64.0
"""The limits of the playback speed."""
USUAL_SPEED = 10.0
USUAL_IDLE_LIMIT_MS = 2000
MS_WITHOUT_CLOCK = 1000
"""The duration of an event in milliseconds, at normal speed, if the clock never runs."""
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, None: 1000}


class Timeline:
    """The arrivals of messages that an audience sees: its events.

    Safety: for an audience that does not see everything, bytes and events count only what it sees. The clock runs only
    from one part of a message to the next, or to the next message if no hidden message is in between. The times of
    hidden messages, and the pauses in which they arrived, are omitted. For a strict audience, the clock runs only
    inside messages. It then also runs while parts of a hidden message arrive, because otherwise a pause of zero length
    would reveal that something is hidden."""

    def __init__(self, arrivals: Arrivals, audience: Audience) -> None:
        self.is_raw = audience.reveals(Reveal.ALL)
        """True if bytes and times are those of the input, because the audience sees everything."""
        self.rows = array("I")
        """The row of each event in `arrivals`."""
        self.clock = array("Q")
        """The time of each event on the clock of this audience, in milliseconds."""
        self.totals = array("Q")
        """The number of bytes of text up to and including each event."""
        self.jump_events = array("I")
        """The events directly before which something hidden arrived."""
        self.marks = array("I")
        """The events that belong to a different message than the event before them."""
        self.has_times = False
        self.begins_ms = 0
        """The time of the first event with a time, in milliseconds since 1970."""
        self.backwards = 0
        """The number of timestamps that are earlier than a timestamp before them. Only seen messages count."""
        self.arrivals = arrivals
        self._is_strict = audience.strict
        self._build()

    def __len__(self) -> int:
        return len(self.rows)

    def _build(self) -> None:
        arrivals = self.arrivals
        now = total = 0
        newest: int | None = None
        before = -1
        for row in range(len(arrivals)):
            if not arrivals.is_seen(row):
                continue
            stated = arrivals.times[row]
            if stated != NO_TIME:
                self.begins_ms = self.begins_ms if self.has_times else stated
                self.has_times = True
                self.backwards += newest is not None and stated < newest
            time = newest if stated == NO_TIME else max(stated, newest or 0)
            runs = before >= 0 and self._runs(before, row)
            if runs and time is not None and newest is not None:
                now += time - newest
            total += arrivals.sizes[row]
            if before < 0 or arrivals.numbers[row] != arrivals.numbers[before]:
                self.marks.append(len(self.rows))
            if before >= 0 and row > before + 1:
                self.jump_events.append(len(self.rows))
            self.rows.append(row)
            self.clock.append(now)
            self.totals.append(total)
            newest, before = time, row

    def _runs(self, before: int, row: int) -> bool:
        """True if the clock of this audience runs between these arrivals."""
        if self.is_raw:
            return True
        arrivals = self.arrivals
        if arrivals.is_whole(row) or arrivals.is_whole(before):
            return False
        return arrivals.numbers[row] == arrivals.numbers[before] if self._is_strict else row == before + 1

    @property
    def length_ms(self) -> int:
        """The time of the last event on the clock, in milliseconds."""
        return self.clock[-1] if self.clock else 0

    @property
    def size(self) -> int:
        """The number of bytes of text up to and including the last event."""
        return self.totals[-1] if self.totals else 0

    @property
    def has_clock(self) -> bool:
        """True if the clock runs. It does not run without times, or if this audience may not know them."""
        return self.length_ms > 0

    def pause_after(self, event: int) -> int:
        """Return the pause between this event and the next one, in milliseconds."""
        return self.clock[event + 1] - self.clock[event] if self.has_clock else MS_WITHOUT_CLOCK

    def number(self, event: int) -> int:
        """Return the number of the message to which an event belongs."""
        return self.arrivals.numbers[self.rows[event]]

    def event_at_ms(self, ms: int) -> int:
        """Return the last event at or before this time on the clock, or -1 before the first event."""
        return bisect_right(self.clock, ms) - 1

    def event_of_byte(self, byte: int) -> int:
        """Return the event that completed this many bytes of text, or the number of events if there are fewer bytes."""
        return bisect_left(self.totals, byte)

    def event_at_offset(self, offset: int) -> int:
        """Return the last event that was complete at an offset of the input, or -1 before the first event."""
        return bisect_right(range(len(self)), offset, key=lambda event: self.arrivals.ends[self.rows[event]]) - 1


class At(Struct, frozen=True):
    """A moment that the operator specifies. Exactly one field is set."""

    byte: int | None = None
    event: int | None = None
    ms: int | None = None


class ReplayRequest(Struct, frozen=True):
    """How to open the replay."""

    at: At | None = None
    """The moment to show; None for the end."""
    times: str = ""
    """The sidecar with recorded times; empty if there is none."""
    speed: float = USUAL_SPEED
    idle_limit_ms: int = USUAL_IDLE_LIMIT_MS
    plays: bool = False
    """True if playing starts immediately, from the beginning."""


def parse_byte(text: str) -> int | None:
    """Return the number of bytes in text such as `B4096` or `4096`, or None for other text."""
    found = _BYTE.fullmatch(text.strip())
    return int(found[1]) if found else None


def parse_moment(text: str) -> int | None:
    """Return the milliseconds in text such as `12.3s`, `+1:05`, `90`, or `250ms`, or None for other text."""
    text = text.strip()
    found = _SECONDS.fullmatch(text)
    if found:
        return int(float(f"{found[1]}.{found[2] or 0}") * _UNITS[found[3]] + 0.5)
    found = _CLOCK.fullmatch(text)
    if not found or found[3] >= "60" or (found[1] and int(found[2]) >= 60):
        return None
    seconds = 3600 * int(found[1] or 0) + 60 * int(found[2]) + int(found[3])
    return 1000 * seconds + int((found[4] or "0").ljust(3, "0"))
