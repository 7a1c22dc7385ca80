"""Cards: one line each for a call with its reply, a thought, commentary, or another message that the end user did not
see.

A card opens to show the body. A reply directly below its call has no line of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import Headline, ShownCall, ShownDiagnostic, ShownMessage
from viewer.model.visibility import Pane
from viewer.render.blocks.block import BlockFacts, BlockLine, styled_row
from viewer.render.blocks.call_words import STATE_ROOM, TIME_ROOM, call_state, time_words, tool_words
from viewer.render.blocks.json_rows import (
    ALL_NODES,
    LONG_TEXT,
    SHOWN_TEXT,
    JsonRow,
    JsonRows,
    NotJsonError,
    arguments_line,
    is_container,
    key_room,
    only_error,
    shorten_paths,
)
from viewer.render.blocks.times import TimeWords
from viewer.render.diagnostic import described
from viewer.render.head import is_call, letter_of
from viewer.render.layout import Row, lay_out, moved_row
from viewer.render.number_format import byte_size, counted
from viewer.render.sanitize import sanitize, sanitize_line
from viewer.render.style import Glyphs, Line, Part, Styled, StyleRole, trusted
from viewer.render.width import between, cells
from viewer.rules.calls import W_CALL_UNANSWERED, W_TOOL_FAILED
from viewer.rules.errors import E_TOOL_CANCELLED, E_TOOL_TIMEOUT

if TYPE_CHECKING:
    from viewer.render.sanitize import SafeText

_NUMBER_ROOM = 8
"""The minimum width of the numbers at the right edge."""
MOST_READ = 1000
"""How many characters of a body to read for one line."""
_MOST_WORDS = 400
PREVIEWED = 2
"""How many calls of a folded sub-agent to show."""
MOST_SEARCHED = 64
"""How many messages of a folded sub-agent to search for the calls to show."""
_LEADING_MARKS = re.compile(r"\s*(?:<\|[a-z_]{1,32}\|>\s*)+")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)([^*]+)(?<=\S)\*\*(?!\w)")
"""A pattern for bold words, such as the title of a summary of thoughts."""
_ASIDES = {
    "A": ("thought", "thought", StyleRole.ANALYSIS),
    "C": ("commentary", "commentary", StyleRole.COMMENTARY),
    "S": ("instruction", "system", StyleRole.SYSTEM),
    "D": ("instruction", "developer", StyleRole.SYSTEM),
    "T": ("call", "reply", StyleRole.TOOL),
}
"""The glyph, name, and style of a message that the end user did not see, by its letter."""


_KEPT_CALLS = 1000


class CallsOf:
    """A cache of the calls that begin or end at a message."""

    def __init__(self, calls: CallView) -> None:
        self._calls = calls
        self._known: dict[int, list[ShownCall]] = {}

    def __call__(self, number: int) -> list[ShownCall]:
        known = self._known.get(number)
        if known is None:
            if len(self._known) >= _KEPT_CALLS:
                self._known.clear()
            known = self._known[number] = self._calls.of(number)
        return known


def call_of_reply(rows: Rows, calls_of: Callable[[int], Sequence[ShownCall]], row: int) -> int:
    """Return the call whose card contains the message of this row as the reply directly below; 0 if there is none."""
    if row < 1 or rows.kind(row) is not RowKind.MESSAGE or rows.kind(row - 1) is not RowKind.MESSAGE:
        return 0
    number, above = rows.value(row), rows.value(row - 1)
    return above if any((call.call, call.reply) == (above, number) for call in calls_of(number)) else 0


def speaker_of(headline: Headline | ShownMessage, signs: Glyphs) -> tuple[str, SafeText, StyleRole]:
    """Return the glyph, name, and style of a message that is shown on one line."""
    if is_call(headline):
        return signs.call, tool_words(headline.recipient or ""), StyleRole.TOOL
    letter = letter_of(headline)
    sign, name, look = _ASIDES.get(letter, ("", headline.role or "no role", StyleRole.UNKNOWN))
    if letter in ("S", "D"):
        name = headline.role
    return getattr(signs, sign) if sign else "?", sanitize_line(name, 40), look


def first_words(beginning: str) -> SafeText:
    """Return the first words of a body on one line, without leading control tokens or bold markup."""
    words = _LEADING_MARKS.sub("", beginning, count=1)
    return sanitize_line(_BOLD.sub(r"\1", " ".join(words.split())), _MOST_WORDS)


class Entry(Struct, frozen=True):
    """The lines of a message that the end user did not see."""

    lines: list[BlockLine]
    text: str = ""
    """The text that the rows of the lines refer to."""
    bases: dict[int, int] = {}
    """Where the body of each message begins in the text."""
    shows_body: bool = False
    """True if the body of the message is shown below the lines."""


class CardMaker:
    """Builds the entries of one view: cards of calls, and lines for other messages."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        facts: BlockFacts,
        glyphs: Glyphs,
        margin: Part,
        width: int,
        times: TimeWords,
    ) -> None:
        self._projection = projection
        self._rows = rows
        self._facts = facts
        self.calls_of = CallsOf(facts.calls)
        self._glyphs = glyphs
        self._margin = margin
        self._width = width
        self._times = times

    def entry(self, row: int, headline: Headline) -> Entry:
        """Return the entry of a row. It has no lines if the message is a reply that the card of its call already
        shows."""
        number = headline.number
        calls = self.calls_of(number)
        call = next((each for each in calls if each.call == number), None)
        if call is not None:
            return self._card(row, call)
        if call_of_reply(self._rows, self.calls_of, row):
            return Entry([])
        answered = next((each for each in calls if each.reply == number and each.call), None)
        return self._aside(row, headline, answered)

    def notes(self, row: int) -> list[ShownDiagnostic]:
        """Return the problems of a row's message."""
        return self._facts.problems.of(row) if self._facts.problems is not None else []

    # Cards.

    def _card(self, row: int, call: ShownCall) -> Entry:
        number = call.call or 0
        is_open = bool(self._facts.folds.get(number))
        notes = {number: self.notes(row), **self._notes_of_reply(call)}
        lines = [BlockLine((self._margin, *self._card_line(row, call, notes, is_open=is_open)), folds=True)]
        if not is_open:
            return Entry(lines)
        message = self._projection.message(number)
        reply = self._projection.message(call.reply) if call.reply else None
        body = message.body if message else ""
        answer = reply.body if reply else None
        depth = self._facts.depths.get(number, 0)
        base = len(body) + 1
        turned = self._facts.turned.get(number, frozenset())
        tree = self._tree(body, "", depth, turned, is_last=answer is None)
        lines += self._with_notes(tree, number, 0, notes[number])
        if reply is not None and answer is not None:
            room = key_room(body, self._width)
            moved = [
                _with_base(each, base)
                for each in self._reply_tree(answer, depth, room, frozenset(node - base for node in turned))
            ]
            lines += self._with_notes(moved, call.reply or 0, base, notes.get(call.reply or 0, []))
        bases = {number: 0, **({call.reply: base} if call.reply else {})}
        return Entry(lines, f"{body}\n{answer or ''}", bases)

    def _notes_of_reply(self, call: ShownCall) -> dict[int, list[ShownDiagnostic]]:
        row = self._rows.row_holding(call.reply) if call.reply else None
        return {call.reply or 0: self.notes(row)} if row is not None else {}

    def first_calls(self, first: int, last: int) -> list[ShownCall]:
        """Return the first few calls in a range of messages."""
        numbers = range(first, min(last, first + MOST_SEARCHED) + 1)
        return [call for number in numbers for call in self.calls_of(number) if call.call == number][:PREVIEWED]

    def preview(self, row: int, call: ShownCall, indent: int) -> Line:
        """Return the line of a call in a folded row. `indent` is the width of the row's gutter."""
        return self._card_line(row, call, {}, is_open=False, indent=indent)

    def _card_line(
        self, row: int, call: ShownCall, notes: dict[int, list[ShownDiagnostic]], *, is_open: bool, indent: int = 0
    ) -> Line:
        """Return the line of a card: tool, arguments, state, duration, numbers, and whether it is open."""
        signs = self._glyphs
        tool = tool_words(call.tool)
        arguments = arguments_line(self._projection.beginning(call.call or 0, MOST_READ))
        left = [Part(trusted(f"{signs.call} {tool}"), StyleRole.TOOL)]
        state, look = call_state(call, [one for found in notes.values() for one in found], signs)
        columns = self._columns(state, look, time_words(call), call_numbers(call, signs), is_open)
        right = [*self._time(row, call.call or 0), *columns]
        room = self._width - indent - sum(cells(part.text) for part in (*left, *right)) - 2
        if cells(arguments) > room:
            arguments = shorten_paths(arguments, signs.ellipsis)
        left += [Part(trusted(f"  {arguments}"), StyleRole.QUIET)] if arguments else []
        return between(left, right, self._width - indent, signs)

    def _time(self, row: int, number: int) -> list[Part]:
        """Return the time of a message, or an empty list if times are off."""
        words = self._times.of_message(row, self._projection.headline(number).time)
        return [Part(trusted(f" {words} "), StyleRole.QUIET)] if words else []

    def _columns(self, state: str, look: StyleRole, time: str, numbers: str, is_open: bool) -> list[Part]:
        room = STATE_ROOM + TIME_ROOM - len(state)
        aside = f"{time:>{max(room, len(time) + 1)}}{numbers:>{max(_NUMBER_ROOM, len(numbers) + 2)}}"
        mark = self._glyphs.unfolded if is_open else self._glyphs.folded
        return [Part(trusted(f" {state}"), look), Part(trusted(f"{aside} {mark}"), StyleRole.QUIET)]

    def _tree(
        self, body: str, stem: str, depth: int, turned: frozenset[int], *, is_last: bool, key: str = "", room: int = 10
    ) -> list[JsonRow]:
        """Return the rows of a body below its card: keys and values, or lines of text."""
        signs = self._glyphs
        if is_container(body):
            tree = JsonRows(body, self._width, depth, signs, turned)
            try:
                if not key:
                    return tree.rows(stem, is_last=is_last)
                branch = (
                    Part(trusted(stem + signs.branch(is_last)), StyleRole.RULE),
                    Part(trusted(key), StyleRole.JSON_KEY),
                )
                return [JsonRow(branch, None), *tree.rows(stem + signs.below(is_last), is_last=True)]
            except NotJsonError:
                pass
        if not body.strip():
            return []
        return list(self._text_rows(body, stem, depth, f"{key or 'text':<{room}}", is_last=is_last))

    def _text_rows(self, body: str, stem: str, depth: int, key: str, *, is_last: bool) -> Iterator[JsonRow]:
        signs = self._glyphs
        room = max(self._width - cells(stem) - len(key) - 2, 8)
        most = ALL_NODES * LONG_TEXT if depth else LONG_TEXT
        head = body[: (most + 1) * room * 2].replace("\r\n", " \n")  # keeps the length, so offsets stay valid
        rows = lay_out(sanitize(head.removesuffix("\n")), room)
        shown = rows if len(rows) <= most else rows[: most if depth else SHOWN_TEXT]
        rule, name = StyleRole.RULE, StyleRole.JSON_KEY
        first = (Part(trusted(stem + signs.branch(is_last)), rule), Part(trusted(key), name))
        more = (Part(trusted(f"{stem}{signs.below(is_last)}{' ' * len(key)}"), rule),)
        for number, row in enumerate(shown):
            yield JsonRow(more if number else first, row)
        left = body.count("\n") + 1 - sum(not row.joined for row in shown)
        if len(shown) < len(rows) or len(head) < len(body):
            words = f"{counted(left, 'more line') if left > 0 else 'more'} {signs.dot} l unfolds it"
            yield JsonRow(more, None, (Part(trusted(f"{signs.folded} {words}"), StyleRole.QUIET),))

    def _reply_tree(self, answer: str, depth: int, key_room: int, turned: frozenset[int]) -> list[JsonRow]:
        error = only_error(answer)
        if error is None:
            return self._tree(answer, "", depth, turned, is_last=True, key="reply", room=key_room)
        signs, (start, end) = self._glyphs, error
        room = max(self._width - key_room - 9, 8)
        first = (
            Part(trusted(signs.branch(True)), StyleRole.RULE),
            Part(trusted(f"{'reply':<{key_room}}"), StyleRole.JSON_KEY),
            Part(trusted("error  "), StyleRole.ERROR),
        )
        more = (Part(trusted(" " * (key_room + 9)), StyleRole.RULE),)
        rows = [moved_row(row, start) for row in lay_out(sanitize(answer[start:end]), room)]
        return [JsonRow(more if number else first, row) for number, row in enumerate(rows)]

    # Rows of other messages.

    def _aside(self, row: int, headline: Headline, answered: ShownCall | None) -> Entry:
        number, signs = headline.number, self._glyphs
        is_open = self._facts.folds.get(number, self._opens(number))
        grows = headline.ending == "open" or number in self._facts.growing
        sign, name, look = speaker_of(headline, signs)
        words = "" if is_open else self._first_words(number)
        if answered is not None and not is_open:
            tool = tool_words(answered.tool)
            remark = Part(trusted(f"{signs.reply} reply of {tool} #{number}"), StyleRole.QUIET)
            line = between([remark], [], self._width, signs)
            return Entry([BlockLine((self._margin, *line), link=answered.call or 0)])
        left = [Part(trusted(f"{sign} {name}"), look)]
        if grows:
            words = f"reading {byte_size(headline.body_bytes)}"
        left += [Part(trusted(f" {signs.dot} {words}"), StyleRole.QUIET)] if words else []
        aside = f"{signs.running} open" if grows else byte_size(headline.body_bytes)
        shown_number = f"#{number}" if self._facts.has_numbers else ""
        mark = signs.unfolded if is_open else signs.folded
        right = f"{aside}{shown_number:>{max(_NUMBER_ROOM, len(shown_number) + 2)}} {mark}"
        aside_parts = [*self._time(row, number), Part(trusted(right), StyleRole.QUIET)]
        line = between(left, aside_parts, self._width, signs)
        return Entry([BlockLine((self._margin, *line), folds=True)], shows_body=is_open)

    def _opens(self, number: int) -> bool:
        return self._facts.opens_thoughts and self._projection.pane_of(number) is Pane.ANALYSIS

    def _first_words(self, number: int) -> SafeText:
        return first_words(self._projection.beginning(number, MOST_READ))

    # Problems.

    def note_line(self, note: ShownDiagnostic, before: tuple[Part, ...] = ()) -> BlockLine:
        """Return the line for a problem, preceded by the given parts."""
        look = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}.get(note.severity, StyleRole.INFO)
        words = Part(trusted(f"{self._glyphs.severity(note.severity)} {described(note)}"), look)
        return BlockLine((self._margin, *between([*before, words], [], self._width, self._glyphs)))

    def _with_notes(
        self, rows: Sequence[JsonRow], number: int, base: int, notes: Sequence[ShownDiagnostic]
    ) -> Iterator[BlockLine]:
        """Yield the rows as lines, with each problem below the row that it concerns."""
        spans = [*self._facts.faults(number), *self._facts.matches(number)]
        spans = [Styled(span.start + base, span.end + base, span.look) for span in spans]
        placed: list[tuple[ShownDiagnostic, int, int]] = []
        loose: list[ShownDiagnostic] = []
        for note in [note for note in notes if note.code not in _SAID_BY_STATE][:_MOST_NOTES]:
            found = self._projection.fault_places(number, [note])
            if found:
                placed.append((note, found[0][0][0] + base, found[0][0][1] + base))
            else:
                loose.append(note)
        for each in rows:
            yield self._line(each, spans, each.node + base if each.node >= 0 else -1)
            row = each.row
            if row is None:
                continue
            for one in [one for one in placed if _touches(row, one[1], one[2])]:
                yield self.note_line(one[0], _marker(each, row, one[1], one[2]))
                placed.remove(one)
        for note in [*loose, *(one[0] for one in placed)]:
            yield self.note_line(note)

    def _line(self, each: JsonRow, spans: Sequence[Styled], node: int) -> BlockLine:
        lead = (self._margin, *each.lead)
        row = each.row
        if row is None:
            return BlockLine((*lead, *each.parts), node=node, is_open=each.is_open)
        drawn = styled_row(row, each.look, [span for span in spans if _touches(row, span.start, span.end)])
        return BlockLine((*lead, *drawn, *each.parts), row, sum(len(part.text) for part in lead))


_MOST_NOTES = 5
_SAID_BY_STATE = frozenset(rule.code for rule in (E_TOOL_TIMEOUT, E_TOOL_CANCELLED, W_TOOL_FAILED, W_CALL_UNANSWERED))
"""Problems that the state on a card already reports."""


def call_numbers(call: ShownCall, signs: Glyphs) -> str:
    """Return the message numbers of a call and its reply."""
    if not call.reply:
        return f"#{call.call}"
    return f"#{call.call}{signs.inferred if call.inferred else signs.to}{call.reply}"


def _with_base(each: JsonRow, base: int) -> JsonRow:
    row = moved_row(each.row, base) if each.row else None
    return JsonRow(each.lead, row, each.parts, each.look, each.node, each.is_open)


def _touches(row: Row, start: int, end: int) -> bool:
    return row.start < max(end, start + 1) and start < max(row.end, row.start + 1)


def _marker(each: JsonRow, row: Row, start: int, end: int) -> tuple[Part, ...]:
    """Return tree lines that continue those above, and a marker under the faulty characters."""
    branch, *rest = each.lead
    trunk = branch.text.replace("├", "│").replace("└", " ").replace("-", " ")
    first, last = row.column_of(max(start, row.start)), row.column_of(min(end, row.end))
    gap = sum(cells(part.text) for part in rest) + cells(row.text[:first])
    length = max(cells(row.text[first:last]), 1)
    return (
        Part(trusted(trunk), StyleRole.RULE),
        Part(trusted(" " * gap)),
        Part(trusted("~" * length + "  "), StyleRole.ERROR),
    )
