"""A whole projection as printed lines: a rule between turns, what is hidden, and problems beside their messages."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from viewer.formats import DIALECTS
from viewer.render.diagnostic import note
from viewer.render.message import message_lines, revealed_lines, stray_lines
from viewer.render.style import Line, Look, Part, Printable, Style, own
from viewer.render.title import rule, transcript_lines
from viewer.sources.projection import Projection
from viewer.sources.shown import HiddenRun, Item, ShownCall, ShownDiagnostic, ShownMessage

BLANK: Line = ()


def conversation_lines(projection: Projection, width: int, style: Style) -> Iterator[Printable]:
    """The lines of `show`, painted, without their ends."""
    return map(style.paint, _lines(projection, width, style))


def _lines(projection: Projection, width: int, style: Style) -> Iterator[Line]:
    """Blocks with an empty line between them; notes stand right under the block they belong to."""
    first = True
    for block in _blocks(projection, width, style):
        if block.apart and not first:
            yield BLANK
        yield from block.lines
        first = first and not block.apart


class _Block(NamedTuple):
    lines: Iterable[Line]
    apart: bool = True
    """An empty line stands before it."""


def _blocks(projection: Projection, width: int, style: Style) -> Iterator[_Block]:
    safe = projection.audience.is_safe
    transcripts = {transcript.number: transcript for transcript in projection.transcripts()}
    titled = not safe or len(transcripts) > 1
    notes = _Notes(projection.diagnostics(), safe)
    calls = _calls_by_message(projection.calls())
    transcript = turn = 0
    for item in projection.items():
        if isinstance(item, ShownMessage):
            yield _notes_block(notes.before(item), width, style)
        if item.transcript != transcript:
            transcript, turn = item.transcript, 0
            if titled:
                yield _Block(transcript_lines(transcripts[transcript], width, style))
        if isinstance(item, ShownMessage) and item.turn != turn:
            turn = item.turn
            yield _Block([_turn_line(item, width, style)])
        trim = DIALECTS[transcripts[transcript].dialect].display_trim
        yield _Block(_item_lines(item, calls, safe, trim, width, style))
        if isinstance(item, ShownMessage):
            yield _notes_block(notes.of(item.number), width, style)
    yield _notes_block(notes.rest(), width, style)


def _item_lines(
    item: Item, calls: dict[int, list[ShownCall]], safe: bool, trim: bool, width: int, style: Style
) -> Iterator[Line]:
    if isinstance(item, HiddenRun):
        sign = style.signs.hidden
        return iter([(Part(own(f"  {sign} {item.count:,} hidden {sign}"), Look.QUIET),)])
    if not isinstance(item, ShownMessage):
        return stray_lines(item, width, style)
    if safe:
        return message_lines(item, width, style, trim=trim)
    return revealed_lines(item, calls.get(item.number, []), width, style, trim=trim)


def _turn_line(first: ShownMessage, width: int, style: Style) -> Line:
    time = first.time[11:19] if first.time else ""
    return rule(style.words(f"turn {first.turn}"), own(time), width, style)


def _notes_block(diagnostics: Iterable[ShownDiagnostic], width: int, style: Style) -> _Block:
    return _Block([line for diagnostic in diagnostics for line in note(diagnostic, width, style)], apart=False)


def _calls_by_message(calls: list[ShownCall]) -> dict[int, list[ShownCall]]:
    found: dict[int, list[ShownCall]] = defaultdict(list)
    for call in calls:
        for number in {call.call, call.reply} - {None}:
            found[number or 0].append(call)
    return found


class _Notes:
    """The diagnostics that still wait for their place in the conversation."""

    def __init__(self, diagnostics: list[ShownDiagnostic], safe: bool) -> None:
        told = [d for d in diagnostics if not safe or d.severity != "info"]
        self._numbered = deque(sorted((d for d in told if d.message is not None), key=_number))
        self._loose = deque(d for d in told if d.message is None)

    def before(self, message: ShownMessage) -> Iterator[ShownDiagnostic]:
        """Those of hidden messages and of the places that lie before this one."""
        while self._loose and _starts_before(self._loose[0], message):
            yield self._loose.popleft()
        yield from self.of(message.number - 1)

    def of(self, number: int) -> Iterator[ShownDiagnostic]:
        """Those of all messages up to this one."""
        while self._numbered and _number(self._numbered[0]) <= number:
            yield self._numbered.popleft()

    def rest(self) -> Iterator[ShownDiagnostic]:
        """Those that belong to nothing that was shown."""
        yield from self._numbered
        yield from self._loose


def _number(diagnostic: ShownDiagnostic) -> int:
    return diagnostic.message or 0


def _starts_before(diagnostic: ShownDiagnostic, message: ShownMessage) -> bool:
    return diagnostic.span is not None and message.span is not None and diagnostic.span[0] < message.span[0]
