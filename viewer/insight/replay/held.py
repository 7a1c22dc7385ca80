"""Held-back text: how long text had arrived but was not yet shown, because it could still turn out to be hidden."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.visibility_cache import VisibilityCache
from viewer.insight.replay.player import Player
from viewer.insight.replay.timeline import Timeline
from viewer.model.messages import Message
from viewer.model.visibility import EVERYTHING, is_preamble, is_user_safe


class HeldBack(Struct, frozen=True, gc=False):
    """A message with text that arrived before it could be shown."""

    message: int
    ms: int
    """The longest time between the arrival of text and its display."""
    reason: str
    """`preamble`: a preamble appears only when it is closed. `incomplete`: the text so far could have been the start of
    a mark, or its record was incomplete."""


def held_back(document: Document, timeline: Timeline, work: Callable[[], None]) -> list[HeldBack]:
    """Return the messages that the end user saw with a delay. This reads the input again."""
    player, index = Player(document, EVERYTHING, knows_format=True), document.index
    shown = VisibilityCache(index, is_user_safe)
    waiting: dict[int, _Waiting] = {}
    found: dict[int, int] = {}
    begun = 0
    for offset, now in _moments(document, timeline):
        work()
        player.seek(offset)
        while begun < len(index) and index.span(begun + 1)[0] < offset:
            begun += 1
            if shown.sees_kind(index.header_key(begun)) and begun not in document.tally.cut:
                waiting[begun] = _Waiting(index[begun])
        for number, each in [*waiting.items()]:
            delay = each.look(offset, _shown_end(player.document, number), now)
            found[number] = max(found.get(number, 0), delay)
            if each.is_over:
                del waiting[number]
    return [
        HeldBack(number, ms, "preamble" if is_preamble(index[number]) else "incomplete")
        for number, ms in sorted(found.items())
        if ms
    ]


def _moments(document: Document, timeline: Timeline) -> Iterator[tuple[int, int]]:
    """Yield the offsets up to which data had arrived, in order, with the times."""
    recorded = timeline.arrivals.recorded
    if recorded is not None:
        for offset in recorded.offsets:
            yield offset, recorded.at(offset) or 0
    else:
        for event, row in enumerate(timeline.rows):
            yield document.stored.line_after(timeline.arrivals.ends[row], document.size), timeline.clock[event]
    yield document.size, timeline.length_ms if recorded is None else (recorded.at(recorded.offsets[-1]) or 0)


def _shown_end(document: Document, number: int) -> int:
    """Return where the text of a message ends on the end user's screen; 0 if none of it is shown."""
    index = document.index
    if number > len(index) or not VisibilityCache(index, is_user_safe).sees_kind(index.header_key(number)):
        return 0
    return int(index.bodies(number, number)[1][0])


class _Waiting:
    """A message that is not yet complete on the screen."""

    def __init__(self, message: Message) -> None:
        self._pieces = [piece for piece in message.pieces if piece.end > piece.start]
        self._ends = [piece.end for piece in self._pieces]
        self._since: int | None = None
        self._held_to = 0
        self.is_over = not self._pieces

    def look(self, offset: int, shown_end: int, now: int) -> int:
        """Compare what has arrived with what is shown. Return how long text that has now appeared was held back, or 0
        if none has."""
        place, delay = bisect_right(self._ends, offset), 0
        arrived = self._ends[place - 1] if place else 0
        if place < len(self._pieces) and self._pieces[place].start < offset:
            arrived = offset
        if self._since is not None and shown_end >= self._held_to:
            delay, self._since = max(0, now - self._since), None
        if self._since is None and shown_end < arrived:
            self._since, self._held_to = now, arrived
        self.is_over = bool(self._ends) and shown_end >= self._ends[-1]
        return delay
