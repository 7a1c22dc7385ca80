"""The printed conversation of a growing projection: the output of `show`, as far as it is final."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

from viewer.document.projection import Projection
from viewer.document.tail import Tail
from viewer.document.values import Item, ShownDiagnostic, ShownMessage, ShownStray
from viewer.render.conversation import Page
from viewer.render.live_body import LiveBody
from viewer.render.message import gutter_of, inner_width, message_head, message_tail, remark
from viewer.render.style import Line, Style

TAKEN_BACK = "what stands above was a thought; it is cut from here on"
MOST_KEPT = 1024 * 1024
"""Characters of printed messages that are remembered: another format can only win in the first 64 KB of the input."""

_Key = tuple[str, str]
"""The role and text of a message, to find it in another reading."""


class LiveConversation:
    """The text of one reading, to be written as it arrives.

    Safety. A message appears only when its header is complete and the visibility rule allows it. A run of hidden
    messages is reported when the next shown message begins, so that its growth and timing are not observable. The text
    of an open final is written as it arrives, except for a possible thought mark and an open thought block.

    One case is only known afterwards: a closing `</think>` without an opening tag makes everything before it a thought.
    The text written by then stays. One line reports that, and the message is written again without the thought when it
    has ended, followed by its diagnostic. From then on, messages of this reading are written only when they have ended,
    because their writer omits the opening tag. A strict audience (the option `--strict-safe`) gets only whole messages,
    so that this cannot happen; so does an audience with more revealed than the end user saw.

    When another format wins, the input is read again from its first byte. Items with the same role and text that are
    already on the page are not printed again: see `before`."""

    def __init__(
        self,
        projection: Projection,
        width: int,
        style: Style,
        *,
        begun: bool = False,
        before: LiveConversation | None = None,
    ) -> None:
        """`begun`: the page already has content. `before`: the reading of the same input in another format."""
        audience = projection.audience
        self._tail = Tail(projection)
        boundary_of = partial(projection.boundary, self._tail.rows, grows=True)
        self._page = Page(audience.is_safe, boundary_of, width, style, begun)
        self._calls = projection.call_watch()
        self._width = width
        self._style = style
        self._streams = audience.is_safe and not audience.strict
        self._open: tuple[int, LiveBody] | None = None
        """The number of the message being written, and its body."""
        self._open_role = ""
        self._printed: list[_Key] = []
        self._printed_size = 0
        self._noted: set[tuple[str, int | None]] = set()
        """The printed diagnostics."""
        self._repeats: deque[_Key] = deque([*before._printed, *before._repeats] if before else ())
        """The items printed by the previous reading that this one has not reached."""
        self._begun: tuple[str, LiveBody] | None = before._begun if before else None
        """The role and body of the message that the previous reading was writing."""
        self._noted_before: set[tuple[str, int | None]] = set()
        if before:
            self._noted_before = before._noted | before._noted_before
        if before and before._open:
            self._begun = before._open_role, before._open[1]

    def grow(self, *, streams: bool = True) -> Iterator[str]:
        """Write new content; text of an open message only with `streams`."""
        yield from self._settled(ended=False)
        message = self._tail.open_message() if streams and self._streams else None
        if message:
            yield from self._stream(message)

    def end(self) -> Iterator[str]:
        """Write all the rest, at the end of the reading."""
        yield from self._settled(ended=True)
        yield from self.break_off()
        self._note(self._tail.found_last())
        yield from self._painted(self._page.rest(len(self._tail.rows.shown_transcripts)))

    def pause(self) -> Iterator[str]:
        """End the current line, but not its message."""
        if self._open:
            yield from self._open[1].break_off()

    def break_off(self) -> Iterator[str]:
        """End the current line; another reading follows."""
        if self._open:
            yield from self._open[1].break_off()
            self._open = None

    def _settled(self, *, ended: bool) -> Iterator[str]:
        for item in self._tail.settled(ended=ended):
            self._note(self._tail.found())
            if self._is_repeated(item):
                self._page.pass_over(item)
                yield from self._painted(self._page.after(item))
                continue
            self._take_up(item)
            if isinstance(item, ShownMessage) and self._open and self._open[0] == item.number:
                yield from self._finish(item)
            else:
                yield from self._take_back()
                yield from self._painted(self._whole(item))
            self._keep(item)
            yield from self._painted(self._page.after(item))

    def _note(self, found: list[ShownDiagnostic]) -> None:
        """Add diagnostics that wait for their messages, except those already on the page."""
        new = [each for each in found if (each.code, each.message) not in self._noted_before]
        self._noted.update((each.code, each.message) for each in found)
        self._page.note(new)

    def _is_repeated(self, item: Item) -> bool:
        """True if the previous reading printed this item; a run of hidden messages before such an item counts as
        one."""
        if not self._repeats:
            return False
        key = _key_of(item)
        if key is None:
            return True
        if key == self._repeats[0]:
            self._keep(item)
            self._repeats.popleft()
            return True
        self._repeats.clear()
        return False

    def _keep(self, item: Item) -> None:
        key = _key_of(item)
        if key and self._printed_size <= MOST_KEPT:
            self._printed.append(key)
            self._printed_size += len(key[1])

    def _take_up(self, item: Item) -> None:
        """Continue the message that the previous reading was writing, if this is the same one."""
        if self._begun is None or not isinstance(item, ShownMessage):
            return
        role, body = self._begun
        self._begun = None
        if item.role == role and body.continues(item.body):
            self._page.pass_over(item)
            self._open, self._open_role = (item.number, body), role

    def _whole(self, item: Item) -> Iterator[Line]:
        yield from self._page.before(item)
        calls = self._calls.of(item.number) if isinstance(item, ShownMessage) else []
        yield from self._page.lines(item, calls)

    def _stream(self, message: ShownMessage) -> Iterator[str]:
        if self._open and self._open[0] != message.number:
            yield from self._take_back()
            return
        if self._repeats and _may_become(message, self._repeats[0]):
            return
        self._repeats.clear()
        if self._begun and _may_become(message, (self._begun[0], self._begun[1].seen)):
            return
        self._take_up(message)
        if self._open is None:
            self._note(self._tail.found())
            yield from self._painted(self._page.before(message))
            yield from self._painted(message_head(message, self._width, self._style))
            self._open, self._open_role = (message.number, self._body_of(message)), message.role
        yield from self._going_on(message)
        if self._open:
            yield from self._open[1].grow(message.body)

    def _finish(self, message: ShownMessage) -> Iterator[str]:
        yield from self._going_on(message)
        body = self._open[1] if self._open else self._body_of(message)
        yield from body.finish(message.body)
        yield from body.break_off()
        yield from self._painted(message_tail(message, self._style))
        self._open = None

    def _going_on(self, message: ShownMessage) -> Iterator[str]:
        """If the written text has changed, report that and begin again."""
        if self._open and not self._open[1].continues(message.body):
            yield from self._take_back()
            self._open = message.number, self._body_of(message)

    def _take_back(self) -> Iterator[str]:
        if self._open:
            yield from self.break_off()
            yield from self._painted([remark(TAKEN_BACK, self._style)])
            self._streams = False

    def _body_of(self, message: ShownMessage) -> LiveBody:
        gutter = self._style.paint([gutter_of(message, self._style)])
        return LiveBody(gutter, inner_width(self._width), self._style, trim=self._page.trims)

    def _painted(self, lines: Iterable[Line]) -> Iterator[str]:
        for line in lines:
            yield self._style.paint(line) + "\n"


def _key_of(item: Item) -> _Key | None:
    """Role and text; None for a run of hidden messages."""
    if isinstance(item, ShownMessage):
        return item.role, item.body
    return ("", item.body) if isinstance(item, ShownStray) else None


def _may_become(message: ShownMessage, key: _Key) -> bool:
    """True if this open message is so far a shorter prefix of a printed one."""
    role, text = key
    return message.role == role and len(message.body) < len(text) and text.startswith(message.body)
