"""Compute the bars of the timeline: start, length, and dependencies of the thoughts, calls, and answers of a turn.

Times come from the transcript and exclude pauses between turns. If a transcript has no times, the axis counts
messages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import Headline, ShownCall
from viewer.syntax.times import parse_time
from viewer.tui.panes.signs import KindSign, kind_sign

MOST_BARS = 1000
"""The maximum number of bars to compute around the cursor."""


class Bar(Struct, frozen=True):
    """One message or call on the axis."""

    number: int
    turn: int
    sign: KindSign
    start: int
    """The milliseconds since the start of the first turn, without pauses between turns, or the number of messages
    before the bar."""
    end: int
    call: ShownCall | None = None

    @property
    def length(self) -> int:
        """The duration, in the unit of `start`."""
        return self.end - self.start


class Bars(Struct, frozen=True):
    """The bars of a range of turns."""

    bars: Sequence[Bar] = ()
    has_times: bool = False
    """False if the axis counts messages."""
    critical: int = 0
    """The length of the longest chain of bars that do not overlap, summed over the turns."""
    total: int = 0
    """The total duration of all turns, which is the end of the last bar."""
    parallel: int = 0
    """The maximum number of calls open at the same time."""

    @property
    def turns(self) -> tuple[int, int]:
        """The first and the last turn; zeros if there are no bars."""
        return (self.bars[0].turn, self.bars[-1].turn) if self.bars else (0, 0)


def bars_around(projection: Projection, rows: Rows, calls: CallView, focus: int, *, one_turn: bool = False) -> Bars:
    """Compute the bars of the turns around a message, or only of its turn."""
    turns = _turns_around(projection, rows, focus, one_turn)
    timed = any(headline.time is not None for turn in turns for headline in turn)
    bars: list[Bar] = []
    critical = total = 0
    for turn in turns:
        made = _Turn(turn, calls, total, timed=timed).bars()
        if not made:
            continue
        bars += made
        critical += critical_path(made)
        total = max(total, *(bar.end for bar in made))
    return Bars(bars, timed, critical, total, parallel_calls(bars))


def _turns_around(projection: Projection, rows: Rows, focus: int, one_turn: bool) -> list[list[Headline]]:
    """Group the shown messages around a message by turn, or return only its turn."""
    if not len(rows):
        return []
    here = rows.row_of(focus)
    transcript = rows.transcript(here)
    own = rows.rows_of_transcript(transcript)
    first, last = max(own.start, here - MOST_BARS // 2), min(own.stop, here + MOST_BARS // 2)
    turns: list[list[Headline]] = []
    for row in range(first, last):
        if rows.kind(row) is not RowKind.MESSAGE:
            continue
        headline = projection.headline(rows.value(row))
        turn = rows.turn(row)
        if not turns or turns[-1][0].turn != turn:
            turns.append([])
        turns[-1].append(_with_turn(headline, turn))
    if one_turn and turns:
        wanted = bisect_right([turn[0].number for turn in turns], focus) - 1
        return [turns[max(wanted, 0)]]
    return turns


def _with_turn(headline: Headline, turn: int) -> Headline:
    return headline if headline.turn == turn else replace(headline, turn=turn)


class _Turn:
    """Computes the bars of one turn, which starts at `base` on the axis."""

    def __init__(self, messages: Sequence[Headline], calls: CallView, base: int, *, timed: bool) -> None:
        self._messages = messages
        self._calls = calls
        self._timed = timed
        self._base = base
        first = next((time for each in messages if (time := _time(each)) is not None), 0)
        self._zero = first - base

    def bars(self) -> list[Bar]:
        """Return the bars of the thoughts, calls, and answers. A message that is not part of a call is assumed to begin
        when the previous one ended."""
        found: list[Bar] = []
        ended = self._base
        for place, message in enumerate(self._messages):
            sign = kind_sign(message)
            own = self._at(message, place)
            if message.role == "user" or sign is KindSign.SYSTEM:
                ended = max(ended, own if own is not None else ended)
                continue
            links = self._calls.of(message.number)
            if sign is KindSign.CALL and links and all(link.reply == message.number and link.call for link in links):
                ended = max(ended, own if own is not None else ended)
                continue
            if sign is KindSign.CALL:
                link = links[-1] if links else None
                start = own if own is not None else ended
                end = self._end_of(link, place, start)
                found.append(Bar(message.number, message.turn, sign, start, end, link))
                continue
            end = max(own if own is not None else ended, ended)
            start = ended if self._timed else end
            found.append(Bar(message.number, message.turn, sign, start, end if self._timed else end + 1))
            ended = end if self._timed else end + 1
        return found

    def _at(self, message: Headline, place: int) -> int | None:
        if not self._timed:
            return self._base + place
        time = _time(message)
        return None if time is None else max(time - self._zero, 0)

    def _end_of(self, link: ShownCall | None, place: int, start: int) -> int:
        if self._timed:
            taken = 0 if link is None else link.taken_ms or 0
            return start + max(taken, 0)
        if link is not None and link.reply is not None:
            after = bisect_right(self._messages, link.reply, key=lambda message: message.number)
            return self._base + max(after, place + 1)
        return start + 1


def _time(message: Headline) -> int | None:
    return parse_time(message.time) if message.time is not None else None


def critical_path(bars: Sequence[Bar]) -> int:
    """Return the length of the longest chain of bars that do not overlap."""
    ordered = sorted(bars, key=lambda bar: bar.end)
    ends = [bar.end for bar in ordered]
    best = [0]
    for place, bar in enumerate(ordered):
        before = bisect_right(ends, bar.start, 0, place)
        best.append(max(best[-1], best[before] + bar.length))
    return best[-1]


def parallel_calls(bars: Sequence[Bar]) -> int:
    """Return the maximum number of calls open at the same time."""
    edges = sorted((moment, step) for bar in bars if bar.call for moment, step in ((bar.start, 1), (bar.end, -1)))
    most = now = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most or int(any(bar.call for bar in bars))
