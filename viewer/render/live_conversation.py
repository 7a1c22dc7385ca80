"""A projection that grows as printed text: what `show` prints, as far as nothing can be taken back any more."""

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
"""The role and the text of a message, to find it in another reading."""


class LiveConversation:
    """The text of one reading, to be written as it is given.

    Safety. A message appears when its header is complete and the one rule allows it, never before; a run of hidden
    messages is told when the next shown message begins, so that neither its growing nor its timing is told. The text
    of an open final is written as it comes, without what may still become a thought mark and without an opened thought
    block. One thing cannot be known in time: a closing `</think>` that none opened says afterwards that all before it
    was a thought. What was written by then stays where it is: that is said in one line, the message is written again,
    without the thought, when it has ended, its diagnostic follows, and from then on no message of this reading is
    written before it has ended, since its writer is known to leave out the opening tag. A strict audience (the option
    `--strict-safe`) gets whole messages alone, so that nothing of the kind can happen to it; so does one to which more
    is revealed than the end user saw.

    When another format wins, the input is read again from its first byte. What is on the page already, with the same
    role and text, is not printed again: see `before`."""

    def __init__(
        self,
        projection: Projection,
        width: int,
        style: Style,
        *,
        begun: bool = False,
        before: LiveConversation | None = None,
    ) -> None:
        """`begun`: something stands above already. `before`: the reading of the same input in another format."""
        audience = projection.audience
        self._tail = Tail(projection)
        boundary_of = partial(projection.boundary, self._tail.rows, grows=True)
        self._page = Page(audience.is_safe, boundary_of, width, style, begun)
        self._calls = projection.call_watch()
        self._width = width
        self._style = style
        self._streams = audience.is_safe and not audience.strict
        self._open: tuple[int, LiveBody] | None = None
        """The number of the message that is being written, and its body."""
        self._open_role = ""
        self._printed: list[_Key] = []
        self._printed_size = 0
        self._noted: set[tuple[str, int | None]] = set()
        """The diagnostics that were printed."""
        self._repeats: deque[_Key] = deque([*before._printed, *before._repeats] if before else ())
        """What the reading before printed, as far as this one has not reached it."""
        self._begun: tuple[str, LiveBody] | None = before._begun if before else None
        """The role and the body of the message that the reading before was writing."""
        self._noted_before: set[tuple[str, int | None]] = set()
        if before:
            self._noted_before = before._noted | before._noted_before
        if before and before._open:
            self._begun = before._open_role, before._open[1]

    def grow(self, *, streams: bool = True) -> Iterator[str]:
        """What is new; of an open message only if asked for."""
        yield from self._settled(ended=False)
        message = self._tail.open_message() if streams and self._streams else None
        if message:
            yield from self._stream(message)

    def end(self) -> Iterator[str]:
        """All the rest, when the reading has ended."""
        yield from self._settled(ended=True)
        yield from self.break_off()
        self._note(self._tail.found_last())
        yield from self._painted(self._page.rest(len(self._tail.rows.shown_transcripts)))

    def pause(self) -> Iterator[str]:
        """End the line that was begun, without ending its message."""
        if self._open:
            yield from self._open[1].break_off()

    def break_off(self) -> Iterator[str]:
        """End the line that was begun; another reading follows."""
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
        """These wait for their places, except for those that are on the page already."""
        new = [each for each in found if (each.code, each.message) not in self._noted_before]
        self._noted.update((each.code, each.message) for each in found)
        self._page.note(new)

    def _is_repeated(self, item: Item) -> bool:
        """True if the reading before printed this item; a run of hidden messages before such an item counts as one."""
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
        """Go on with the message that the reading before was writing, if this is the same one."""
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
        """Where the text is another one than was written: say so and begin it again."""
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
    """True if this open message is, as far as it is there, a part of one that was printed, and shorter."""
    role, text = key
    return message.role == role and len(message.body) < len(text) and text.startswith(message.body)
