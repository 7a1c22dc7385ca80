"""Player of a replay: the view of a transcript at an earlier moment, from the bytes that had arrived by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.document.projection import Projection
from viewer.document.values import Skipped
from viewer.errors import ViewerError
from viewer.formats.detect import HEAD
from viewer.index.findings import MOST_PER_CODE
from viewer.insight.replay.timeline import At, Timeline
from viewer.insight.replay.window import WHOLE, ReadWindow, Window, Windows
from viewer.model.messages import Header, Kind, Message
from viewer.model.visibility import Audience, Reveal
from viewer.sources.files import CHUNK

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter

_LATER = 2
"""The number of later parts that may be needed before an event appears."""


class Player:
    """Reads the bytes of a complete document again, up to any byte.

    The view is the same as that of a live document that has read these bytes, with one exception. If the rest of the
    input declares text hidden, such as a thought whose opening mark is missing, the text was on the screen for a
    moment. An audience that does not see everything does not see it here, because the text is hidden in the file as it
    is now."""

    def __init__(
        self,
        final: Document,
        audience: Audience,
        *,
        size: tuple[int, int] | None = None,
        knows_format: bool = False,
    ) -> None:
        """With a `size` (the width and height of a screen), the view of a long text may be limited to its last rows (at
        least two screens), so that it takes no longer to build than a page. With `knows_format`, the format is certain
        from the first byte, so even many short steps cost little."""
        self._knows_format = knows_format
        self.audience = audience
        self.final = final
        self._final_view = final.project(audience, withholds=False)
        self._concealed: dict[int, Header] = {}
        """The headers of messages that are hidden here although a live view showed them."""
        self._kept: dict[int, Message] = {}
        """The messages that ended in this reading and show the same text at the end of the input."""
        self.readings = 0
        """The number of times that reading has started. It starts again to seek backwards or to use another format."""
        self._size = size
        self._is_small = False
        """True if the window was made for a smaller screen."""
        self._windows = Windows(final, self._final_view) if size else None
        self._begin(WHOLE)

    def _begin(self, window: Window) -> None:
        self._window = window
        self._source = self.final.stored.replayed(window.base, window.head, window.start)
        final = self.final
        is_certain = window is not WHOLE or self._knows_format
        format = final.detection.format if is_certain else final.named_format
        self.document = LiveDocument(self._source, format, final.options, clock=lambda: 0.0, under=final.under)
        self._concealed = {}
        self._read_window = None
        if self._windows is not None and window is not WHOLE and (window.base > 0 or not self._windows.has_frames):
            self._read_window = ReadWindow(final, window, self._windows.links)
            kept = final.tally.kept_between(window.base + window.head, window.start)
            self.document.keep_per_code(MOST_PER_CODE, kept)
        self._start_reading()

    def _start_reading(self) -> None:
        self._kept = {}
        self.readings += 1

    @property
    def at(self) -> int:
        """The number of bytes of the input that have arrived."""
        return self._source.size + self._skipped if self._source.size else 0

    @property
    def _skipped(self) -> int:
        return self._window.start - self._window.head

    @property
    def _before(self) -> int:
        """The number of messages before the window that were not read."""
        return self._window.first - 1 - self._window.head_messages

    def _begin_near(self, at: int) -> None:
        """Start over in a window near an offset, unless reading can simply continue from the current position."""
        window = self._windows.before(at, self._size) if self._windows is not None and self._size else WHOLE
        if self._is_small or at < max(self.at, self._window.start) or window.start > self.at:
            self._is_small = False
            self._begin(window)

    def fit(self, size: tuple[int, int]) -> bool:
        """Adapt to another screen size. Return True if the view is too small for the screen until the next seek."""
        if self._size is not None and (size[0] > self._size[0] or size[1] > self._size[1]):
            self._size = max(size[0], self._size[0]), max(size[1], self._size[1])
            self._is_small = self._window is not WHOLE
        return self._is_small

    def seek(self, at: int, work: Callable[[], None] = lambda: None) -> None:
        """Feed in the input until exactly this many bytes have arrived."""
        self._begin_near(at)
        self._restore()
        self._read_to(at, work)
        if self._read_window is not None and self._windows is not None and self._size is not None:
            while self._read_window is not None and not self._read_window.is_right(self.document):
                self._begin(self._windows.after_wrong(at, self._size, self._window))
                self._read_to(at, work)
            if self._read_window is not None:
                self._windows.note_right()
        self._conceal()

    def _read_to(self, at: int, work: Callable[[], None]) -> None:
        while self.at < at and not self.document.is_complete:
            before = self.at
            self._source.release(min(at - self._skipped, self._source.size + CHUNK))
            while self.document.size < self._source.length and not self.document.is_complete:
                if self.document.step().restarted:
                    self._start_reading()
            if self.at == before:
                break  # the file has become shorter
            work()

    def view(self, where: Filter | None = None) -> Projection:
        """Return what the audience saw at this moment, or only the messages that match a filter."""
        return self.document.project(self.audience, withholds=False, where=where)

    @property
    def skipped(self) -> Skipped:
        """Facts about the input before the messages that were read."""
        omitted = self._read_window.omitted if self._read_window is not None else frozenset[str]()
        window = self._window
        return Skipped(
            *(window.label - 1, window.turn - 1, window.lines, omitted, window.transcript - 1),
            columns=window.columns,
            line=window.line,
        )

    def shows(self, number: int, end: int) -> bool:
        """True if this message is on the screen with all of its text before an offset."""
        index = self.document.index
        number, end = number - self._before, end - self._skipped
        if not 0 < number <= len(index):
            return False
        message = index[number]
        if not self.audience.sees(message) or number in self._concealed:
            return False
        return not message.pieces or message.pieces[-1].end >= end

    def end(self) -> None:
        """Feed in all remaining bytes, and then the end of the input, which ends any message that is still open."""
        self.seek(self.final.size)
        self._restore()
        self.document.close()
        self._conceal()

    @property
    def has_open_message(self) -> bool:
        """True if a message on the screen may still grow."""
        index = self.document.index
        return any(self.audience.sees(index[number]) for number in self.document.open_numbers)

    def _restore(self) -> None:
        """Restore the headers of concealed messages before more bytes arrive."""
        concealed, self._concealed = self._concealed, {}
        for number, header in concealed.items():
            self.document.index.put(replace(self.document.index[number], header=header))

    def _conceal(self) -> None:
        """Hide everything that the rest of the input declares hidden."""
        if self.audience.reveals(Reveal.ALL):
            return
        view = self.view()
        index = self.document.index
        is_settled = self.at >= HEAD or self.final.named_format is not None
        open_numbers = set(self.document.open_numbers)
        for number in sorted(open_numbers) if is_settled else range(1, len(index) + 1):
            message = index[number]
            if self._kept.get(number) == message:
                continue
            if self.audience.sees(message) and not self._stays(view, number):
                self._concealed[number] = message.header
                index.put(replace(message, header=replace(message.header, kind=Kind.UNKNOWN)))
            elif not is_settled and number not in open_numbers:
                self._kept[number] = message

    def _stays(self, view: Projection, number: int) -> bool:
        """True if everything that this message shows now is still shown at the end of the input."""
        then_number = number + self._before
        if then_number > self._final_view.message_count:
            return False
        now, then = view.message(number), self._final_view.message(then_number)
        if now is None or then is None or now.role != then.role:
            return now is None
        return then.body.startswith(now.body) or then.body.startswith(now.body.rstrip())


class Moment(Struct, frozen=True):
    """A moment, described by what the audience may know."""

    byte: int
    event: int
    ms: int | None
    is_past_end: bool = False


def go_to(player: Player, timeline: Timeline, at: At) -> Moment:
    """Seek to a moment. A moment past the end means the end. Raise `ViewerError` for a time if the input has no
    times."""
    if at.byte is not None:
        return _go_to_byte(player, timeline, at.byte)
    if at.ms is not None:
        if not timeline.has_times:
            raise ViewerError(f"{player.final.name} has no times; use --at or --at-event, or add --times")
        event, is_past_end = max(0, timeline.event_at_ms(at.ms)), at.ms > timeline.length_ms
        recorded = timeline.arrivals.recorded
        if recorded is not None and timeline.is_raw and not is_past_end:
            player.seek(recorded.arrived_by(timeline.begins_ms + at.ms))
            return Moment(player.at, event + 1, timeline.clock[event])
        return go_to_event(player, timeline, event, is_past_end=is_past_end)
    event = (at.event or 0) - 1
    last = len(timeline) - 1
    return go_to_event(player, timeline, min(event, last), is_past_end=event > last)


def go_to_event(player: Player, timeline: Timeline, event: int, *, is_past_end: bool = False) -> Moment:
    """Seek to the moment after an event. Events are counted from 0; -1 is the start."""
    if event < 0 or not len(timeline):
        player.seek(0)
        return Moment(0, 0, 0 if timeline.has_times else None, is_past_end)
    if is_past_end:
        player.seek(player.final.size)
    else:
        _reach(player, timeline, event)
    if (is_past_end or event == len(timeline) - 1) and player.has_open_message:
        player.end()
    byte = player.at if timeline.is_raw else timeline.totals[event]
    return Moment(byte, event + 1, timeline.clock[event] if timeline.has_times else None, is_past_end)


def _go_to_byte(player: Player, timeline: Timeline, byte: int) -> Moment:
    if timeline.is_raw:
        player.seek(byte)
        event = timeline.event_at_offset(byte)
        ms = timeline.clock[max(0, event)] if timeline.has_times and len(timeline) else None
        return Moment(player.at, event + 1, ms, byte > player.final.size)
    if byte > timeline.size or not len(timeline):
        return replace(go_to_event(player, timeline, len(timeline) - 1), is_past_end=byte > timeline.size)
    if byte == 0:
        return go_to_event(player, timeline, -1)
    event = timeline.event_of_byte(byte)
    number, arrivals, index = timeline.number(event), timeline.arrivals, player.final.index
    if timeline.totals[event] > byte and index.regular_kinds[index.header_key(number)]:
        goes_on = event > 0 and timeline.number(event - 1) == number
        first = arrivals.ends[timeline.rows[event - 1]] if goes_on else index[number].pieces[0].start
        player.seek(first + byte - (timeline.totals[event - 1] if event else 0))
        if player.shows(number, 0):
            return Moment(byte, event, timeline.clock[event] if timeline.has_times else None)
    return go_to_event(player, timeline, event)


def _reach(player: Player, timeline: Timeline, event: int) -> None:
    """Seek to the first offset at which an event is on the screen."""
    index, row = player.final.index, timeline.rows[event]
    end, number = timeline.arrivals.ends[row], timeline.number(event)
    is_run = index.regular_kinds[index.header_key(number)] or timeline.arrivals.is_whole(row)
    later = timeline.arrivals.ends[row + 1 : row + 1 + _LATER]
    for offset in _places_after(player.final, [end, max(end, index.span(number)[1]), *later]):
        player.seek(offset)
        if player.shows(number, 0 if is_run else end):
            return


def _places_after(document: Document, places: Iterable[int]) -> list[int]:
    """Return the offsets at which a part that ends at the first of these may appear. The record of a message is read
    when its line is complete, or when the list around it continues; a message without an end mark may appear when the
    next message begins."""
    found = {document.size}
    for place in places:
        line = document.stored.line_after(place, document.size)
        found |= {place, min(place + 1, document.size), line, document.stored.line_after(line, document.size)}
    return sorted(found)
