"""The printed conversation: rules between turns, hidden runs, and problems next to their messages."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from viewer.document.projection import Projection
from viewer.document.values import Boundary, HiddenRun, Item, ShownCall, ShownDiagnostic, ShownMessage
from viewer.formats import FORMATS
from viewer.render.diagnostic import note
from viewer.render.message import message_lines, remark, revealed_lines, stray_lines
from viewer.render.style import Line, Printable, Style, trusted
from viewer.render.title import boundary_lines, rule

BLANK: Line = ()


def conversation_lines(projection: Projection, width: int, style: Style) -> Iterator[Printable]:
    """The painted lines of `show`, without line ends."""
    return map(style.paint, styled_lines(projection, width, style))


def styled_lines(projection: Projection, width: int, style: Style) -> Iterator[Line]:
    """The same unpainted: an empty line between blocks, notes directly under their block."""
    rows = projection.rows()
    page = Page(projection.audience.is_safe, partial(projection.boundary, rows), width, style)
    page.note(projection.diagnostics())
    calls = calls_by_message(projection.calls())
    for item in projection.items():
        yield from page.before(item)
        yield from page.lines(item, calls.get(item.number, []) if isinstance(item, ShownMessage) else [])
        yield from page.after(item)
    yield from page.rest(len(rows.shown_transcripts))


class Page:
    """Layout around the items: an empty line between blocks, notes directly under their block, or under the last
    printed block if theirs has passed. Each of several transcripts begins with a boundary. If their number is unknown,
    the first has none for the end user."""

    def __init__(
        self, safe: bool, boundary_of: Callable[[int], Boundary], width: int, style: Style, begun: bool = False
    ) -> None:
        """With `begun`, the page already has content."""
        self._safe = safe
        self._boundary_of = boundary_of
        self._width = width
        self._style = style
        self._notes = Notes(safe)
        self._transcript = self._turn = 0
        self._trims = False
        self._begun = begun

    def note(self, diagnostics: Iterable[ShownDiagnostic]) -> None:
        """Add diagnostics that wait for their messages."""
        self._notes.add(diagnostics)

    def before(self, item: Item) -> Iterator[Line]:
        """The lines between the previous item and this one."""
        if isinstance(item, ShownMessage):
            yield from self._noted(self._notes.before(item))
        yield from self._boundaries(item.transcript)
        if isinstance(item, ShownMessage) and item.turn != self._turn:
            self._turn = item.turn
            yield from self._apart()
            yield _turn_line(item, self._width, self._style)
        yield from self._apart()

    def pass_over(self, item: Item) -> None:
        """Skip an item that is already on the page."""
        self._transcript = item.transcript
        if isinstance(item, ShownMessage):
            self._turn = item.turn

    def lines(self, item: Item, calls: Sequence[ShownCall]) -> Iterator[Line]:
        """The lines of the item."""
        if isinstance(item, HiddenRun):
            return iter([remark(f"{item.count:,} hidden", self._style)])
        if not isinstance(item, ShownMessage):
            return stray_lines(item, self._width, self._style)
        if self._safe:
            return message_lines(item, self._width, self._style, trim=self.trims)
        return revealed_lines(item, calls, self._width, self._style, trim=self.trims)

    @property
    def trims(self) -> bool:
        """True if a newline at the beginning of a body is layout."""
        return self._trims

    def after(self, item: Item) -> Iterator[Line]:
        """The lines directly under the item."""
        if isinstance(item, ShownMessage):
            yield from self._noted(self._notes.of(item.number))

    def rest(self, transcripts: int = 0) -> Iterator[Line]:
        """The lines that belong to no shown message, up to this number of transcripts; the last ones may have no
        messages."""
        yield from self._boundaries(transcripts)
        yield from self._noted(self._notes.rest())

    def _boundaries(self, last: int) -> Iterator[Line]:
        """Begin the transcripts up to this one."""
        while self._transcript < last:
            self._transcript, self._turn = self._transcript + 1, 0
            boundary = self._boundary_of(self._transcript)
            self._trims = FORMATS[boundary.transcript.dialect].display_trim
            if not self._safe or max(boundary.count, self._transcript) > 1:
                yield from self._apart()
                yield from boundary_lines(boundary, self._width, self._style)

    def _apart(self) -> Iterator[Line]:
        if self._begun:
            yield BLANK
        self._begun = True

    def _noted(self, diagnostics: Iterable[ShownDiagnostic]) -> Iterator[Line]:
        for diagnostic in diagnostics:
            yield from note(diagnostic, self._width, self._style)


def _turn_line(first: ShownMessage, width: int, style: Style) -> Line:
    time = first.time[11:19] if first.time else ""
    return rule(style.words(f"turn {first.turn}"), trusted(time), width, style)


def calls_by_message(calls: Sequence[ShownCall]) -> dict[int, list[ShownCall]]:
    """The calls that begin or end at each message."""
    found: dict[int, list[ShownCall]] = defaultdict(list)
    for call in calls:
        for number in {call.call, call.reply} - {None}:
            found[number or 0].append(call)
    return found


class Notes:
    """The diagnostics that wait for their position in the conversation."""

    def __init__(self, safe: bool) -> None:
        self._safe = safe
        self._numbered: deque[ShownDiagnostic] = deque()
        self._loose: deque[ShownDiagnostic] = deque()

    def add(self, diagnostics: Iterable[ShownDiagnostic]) -> None:
        """Add diagnostics in the order of `Projection.diagnostics`."""
        told = [d for d in diagnostics if not self._safe or d.severity != "info"]
        if told:
            self._numbered = deque(sorted((*self._numbered, *(d for d in told if d.message is not None)), key=_number))
            self._loose.extend(d for d in told if d.message is None)

    def before(self, message: ShownMessage) -> Iterator[ShownDiagnostic]:
        """The diagnostics of hidden messages and of positions before this message."""
        while self._loose and _starts_before(self._loose[0], message):
            yield self._loose.popleft()
        yield from self.of(message.number - 1)

    def of(self, number: int) -> Iterator[ShownDiagnostic]:
        """The diagnostics of all messages up to this one."""
        while self._numbered and _number(self._numbered[0]) <= number:
            yield self._numbered.popleft()

    def rest(self) -> Iterator[ShownDiagnostic]:
        """The diagnostics that belong to no shown message."""
        yield from self._numbered
        yield from self._loose


def _number(diagnostic: ShownDiagnostic) -> int:
    return diagnostic.message or 0


def _starts_before(diagnostic: ShownDiagnostic, message: ShownMessage) -> bool:
    return diagnostic.span is not None and message.span is not None and diagnostic.span[0] < message.span[0]
