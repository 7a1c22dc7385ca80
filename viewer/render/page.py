"""The lines of a view: heads, bodies, rules between turns, hidden runs, stray text, diagnostics.

Each row of a view is a `Block` of lines, which `BlockMaker` makes from a projection and its rows. The app and its first
page draw the same blocks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.document.calls import CallView, no_calls
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import (
    FoldedAgent,
    FoldedBranch,
    HiddenRun,
    Item,
    ShownDiagnostic,
    ShownMessage,
    ShownStray,
)
from viewer.formats import FORMATS
from viewer.render.body import BodyText, drawn_text, raw_text
from viewer.render.diagnostic import described
from viewer.render.head import HeadLayout, body_lead, clock, head_lines, head_of, is_call, look_of
from viewer.render.layout import (
    LONG,
    LONG_WHILE_READ,
    Layout,
    LayoutRequest,
    Layouts,
    Row,
    lay_out,
    lay_out_body,
    lay_out_head,
    trimmed,
)
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import UNICODE, Glyphs, Line, Part, Styled, StyleRole, trusted
from viewer.render.title import boundary_words, branch_words, folded_branch_words
from viewer.render.width import between, cells
from viewer.rules.errors import E_FORMAT_UNKNOWN

MOST_EMPTY = 20
"""Consecutive boundaries of empty transcripts that are shown; of any others, only the last one is."""
MOST_NOTES = 3
"""Diagnostics shown at a message; the others are in the list of problems."""
FOLD_FROM = 60
"""A body with more rows is folded."""
FOLD_TO = 30
"""The rows of a folded body."""
SHORT_FOLD_FROM, SHORT_FOLD_TO = 16, 8
"""The same for messages that the end user did not see."""
_MOST_CHECKED = 64
"""Problems checked for a separate row."""


class BlockLine(Struct, frozen=True):
    """One line, and the part of the body that it shows."""

    parts: Line
    row: Row | None = None
    """The row of the body; None for headings, rules and notes."""
    indent: int = 0
    """Characters before the row."""
    folds: bool = False
    """True if a click folds or unfolds the body."""
    link: int = 0
    """The message that a click goes to; 0 if there is none."""


class EmptyFacts(Struct, frozen=True):
    """What is known about an input of which nothing is shown."""

    messages: int
    transcripts: int
    metadata: int = 0
    """The number of records without a message."""
    is_unknown: bool = False
    """True if no format was recognized."""
    strict: bool = False
    debug: bool = False


def empty_sentences(facts: EmptyFacts) -> list[str]:
    """Why a view is empty, and which key shows more: one sentence per line."""
    if facts.messages:
        return _of_hidden(facts)
    is_empty = not facts.transcripts
    reason = "This file is empty." if is_empty else "This file has a document header or other text, but no messages."
    if facts.metadata and not facts.strict:
        return [f"No messages; {counted(facts.metadata, 'record')} of metadata."]
    if facts.is_unknown:
        reason = E_FORMAT_UNKNOWN.safe
    hint = "" if is_empty else "Select a format with --format NAME. `ocmlview formats` lists them."
    more = "" if is_empty or facts.debug else "Press d for the debug view, which shows text outside messages."
    return [sentence for sentence in (reason, hint, more) if sentence]


def _of_hidden(facts: EmptyFacts) -> list[str]:
    if facts.debug:
        return ["All messages are switched off.", "Press a, c, t or s to show channels."]
    hidden = "1 message is hidden." if facts.messages == 1 else f"All {facts.messages:,} messages are hidden."
    more = [] if facts.strict else [f"{hidden} Press d for the debug view."]
    return ["Nothing to show in the safe view.", *more]


class Block(Struct, frozen=True):
    """The lines of one row of a view."""

    number: int
    """The message, or 0."""
    lines: Sequence[BlockLine] = field(default_factory=list)
    text: str = ""
    """The text that the rows of its lines point into; copies are taken from it."""
    first: int = 0
    """The first line of the message itself, after rules and space."""
    begins_transcript: bool = False
    """True if the boundary of a transcript is among the lines."""
    is_folded: bool = False
    """True for a folded branch and for another agent."""

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.lines)

    def line_of(self, offset: int) -> int:
        """The last line that shows text up to this offset."""
        lines = self.lines
        first = next((at for at in range(self.first, len(lines)) if lines[at].row), None)
        last = next((at for at in range(len(lines) - 1, self.first - 1, -1) if lines[at].row), None)
        if first is None or last is None:
            return self.first
        found = bisect_right(range(first, last + 1), offset, key=lambda at: row.start if (row := lines[at].row) else 0)
        return first + max(found - 1, 0)


class RowProblems(Struct, frozen=True):
    """The problems of a view by row. A pane and a filter have rows for some messages only."""

    rows: Rows
    problems: DiagnosticView

    def of(self, row: int) -> list[ShownDiagnostic]:
        """The problems of one row: of its message, or of the messages that it hides."""
        kind, value = self.rows.kind(row), self.rows.value(row)
        if kind is RowKind.MESSAGE:
            return self.problems.of(value) or self.problems.ahead(value)
        if kind is RowKind.STRAY:
            return []
        last = self.rows.last_number(row)
        return self.problems.between(last - value + 1, last)

    def worst(self, first: int, last: int) -> str:
        """The worst severity in a range of rows; empty if there is no problem."""
        if not len(self.rows) or first > last:
            return ""
        begin, end = self._first(first), self.rows.last_number(min(last, len(self.rows) - 1))
        if self.rows.is_whole:
            return self.problems.worst(begin, end)
        return next((severity for severity in ("error", "warning") if self._has_row(severity, begin, end)), "")

    def _has_row(self, severity: str, begin: int, end: int) -> bool:
        numbers = self.problems.numbers(severity)
        found = numbers[bisect_left(numbers, begin) : bisect_right(numbers, end)][:_MOST_CHECKED]
        return any(self.rows.row_holding(number) is not None for number in found)

    def next(self, severity: str, here: int, step: int) -> int | None:
        """The next row with a problem of this severity, before or after this one; the search wraps around."""
        numbers = self.problems.numbers(severity)
        if step > 0:
            split = bisect_right(numbers, self.rows.last_number(here)) if here >= 0 else 0
            around = chain(range(split, len(numbers)), range(split))
        else:
            split = bisect_left(numbers, self._first(here)) if here >= 0 else 0
            around = chain(range(split - 1, -1, -1), range(len(numbers) - 1, split - 1, -1))
        rows = (self.rows.row_holding(numbers[place]) for place in around)
        return next((row for row in rows if row is not None), None)

    def _first(self, row: int) -> int:
        """The first message that a row may hold."""
        return self.rows.last_number(row - 1) + 1 if row else 0


class BlockFacts(Struct):
    """Facts that blocks need in addition to the projection, made once for a view."""

    calls: CallView = field(default_factory=no_calls)
    problems: RowProblems | None = None
    matches: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Matches of a search in the body of a message."""
    faults: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Spans in the body of a message that diagnostics point to."""
    folds: dict[int, bool] = field(default_factory=dict)
    """Messages unfolded (True) or folded (False) by hand."""
    layouts: Layouts = field(default_factory=Layouts)
    """Layouts of long unfolded bodies."""
    live: bool = False
    """True if more may come."""
    growing: frozenset[int] = frozenset()
    """Messages that may still grow."""
    markdown: bool = True
    """True if Markdown is styled in place."""
    problems_key: str = "p"

    def update_growing(self, numbers: frozenset[int]) -> None:
        """Set the messages that grow now."""
        self.growing = numbers


class BlockMaker:
    """Factory of blocks: makes the block of any row of a view."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        width: int,
        facts: BlockFacts | None = None,
        signs: Glyphs = UNICODE,
        wide: bool = True,
        raw: bool = False,
    ) -> None:
        self.projection = projection
        self.rows = rows
        self.width = width
        self.facts = BlockFacts() if facts is None else facts
        self.signs = signs
        self.wide = wide
        """True if there is room for space between messages and for whole heads."""
        self.raw = raw
        """True if bodies are the exact bytes of the messages, with their headers."""

    @property
    def debug(self) -> bool:
        """True if heads and links are those for a developer."""
        return not self.projection.audience.is_safe

    def make(self, row: int) -> Block:
        """The block of a row."""
        folded = self.projection.folded(self.rows, row)
        block = self._folded(row, folded) if folded else self._block(row, self.projection.item(self.rows, row))
        before, after = self._boundaries(row), self._last_boundaries(row)
        if not before and not after:
            return block
        lines = Joined([before, block.lines, after])
        return replace(block, lines=lines, first=block.first + len(before), begins_transcript=True)

    def _block(self, row: int, item: Item) -> Block:
        if isinstance(item, HiddenRun):
            return self._hidden(row, item)
        if isinstance(item, ShownStray):
            return self._stray(row, item)
        return self._message(row, item)

    def _boundaries(self, row: int) -> list[BlockLine]:
        """The boundaries above a row: of its transcript, and of transcripts without messages before it."""
        here = self.rows.transcript(row)
        before = self.rows.transcript(row - 1) if row else 0
        if here == before or len(self.rows.shown_transcripts) < 2:
            return []
        first = before + 1 if self.rows.is_whole else here
        return self._boundary_lines(self.rows.transcript_label(first), self.rows.transcript_label(here))

    def _last_boundaries(self, row: int) -> list[BlockLine]:
        """The boundaries of the transcripts without messages at the end."""
        if row < len(self.rows) - 1 or not self.rows.is_whole:
            return []
        last, count = self.rows.transcript_label(self.rows.transcript(row)), len(self.rows.shown_transcripts)
        return self._boundary_lines(last + 1, count) if last < count else []

    def _boundary_lines(self, first: int, last: int) -> list[BlockLine]:
        lines = []
        for label in dict.fromkeys([*range(first, min(last, first + MOST_EMPTY)), last]):
            boundary = self.projection.boundary(self.rows, label)
            words = trusted(f" {self.signs.dot} ").join(map(sanitize_line, boundary_words(boundary)))
            parts = (Part(trusted(self.signs.heavy * 2 + " "), StyleRole.RULE), Part(SafeText(words), StyleRole.STRONG))
            lines += [BlockLine(between(parts, [], self.width, self.signs)), *self._space()]
        return lines

    def _hidden(self, row: int, run: HiddenRun) -> Block:
        sign = self.signs.hidden
        lead = "   " if self.wide else "  "
        lines = [BlockLine((Part(trusted(f"{lead}{sign} {run.count} hidden {sign}"), StyleRole.QUIET),))]
        lines += [BlockLine(line) for line in self._notes(row)]
        return Block(0, [*lines, *self._space()])

    def _folded(self, row: int, folded: FoldedBranch | FoldedAgent) -> Block:
        """One line for a branch that was left behind, or for another agent."""
        if isinstance(folded, FoldedAgent):
            lines = [BlockLine(self._folded_agent(row, folded), folds=True)]
        else:
            lines = [BlockLine(self._folded_branch(folded), folds=True), *map(BlockLine, self._notes(row))]
        return Block(0, [*lines, *self._space()], is_folded=True)

    def _folded_branch(self, branch: FoldedBranch) -> Line:
        lead = Part(trusted(" "))
        stroke = Part(trusted(self.signs.rule * 2), StyleRole.RULE)
        words = Part(trusted(f" {folded_branch_words(branch.messages)} "), StyleRole.QUIET)
        end = [Part(trusted(f" {self._more} "), StyleRole.QUIET), stroke]
        filling = Part(trusted(self.signs.rule), StyleRole.RULE)
        return (lead, *between([stroke, words], end, self.width - len(lead.text), self.signs, filling))

    def _folded_agent(self, row: int, agent: FoldedAgent) -> Line:
        """How much another agent did, on one line."""
        problems = self.facts.problems.of(row) if self.facts.problems is not None else []
        errors, warnings = (sum(each.severity == one for each in problems) for one in ("error", "warning"))
        facts = [
            f"sub-agent {agent.thread}",
            counted(agent.messages, "message"),
            counted(agent.calls, "call") if agent.calls else "",
            f"{self.signs.error} {errors}" if errors else "",
            f"{self.signs.warning} {warnings}" if warnings else "",
            counted(agent.tokens, "token") if agent.tokens else "",
        ]
        words = f" {self.signs.dot} ".join(filter(None, facts))
        lead = Part(trusted(" "))
        left = [Part(trusted(f"{self.signs.open_gutter} {words} "), StyleRole.QUIET)]
        right = [Part(trusted(f"enter Open  {self._more} "), StyleRole.QUIET)]
        return (lead, *between(left, right, self.width - len(lead.text), self.signs))

    def _space(self) -> list[BlockLine]:
        return [BlockLine(())] if self.wide else []

    def _notes(self, row: int) -> list[Line]:
        """The diagnostics of a row, one per line."""
        problems = self.facts.problems.of(row) if self.facts.problems is not None else []
        found = [note for note in problems if self.debug or note.severity != "info"]
        lines = [self._note(note) for note in found[:MOST_NOTES]]
        if len(found) > MOST_NOTES:
            more = f"{len(found) - MOST_NOTES} more ({self.facts.problems_key})"
            lines.append((Part(trusted(f"   {self.signs.ellipsis} {more}"), StyleRole.QUIET),))
        return lines

    def _note(self, note: ShownDiagnostic) -> Line:
        look = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}.get(note.severity, StyleRole.INFO)
        sign = self.signs.severity(note.severity)
        mark = Part(trusted(f"{sign}   " if self.debug else f" {sign} " if self.wide else f"{sign} "), look)
        if not self.debug:
            words = f"{note.sentence} ({note.code})"
            return between([mark, Part(trusted(words), look)], [], self.width, self.signs)
        place = f"{note.line}:{note.column}" if note.line is not None else ""
        reason = f"/{note.reason}" if note.reason else ""
        head = [mark, Part(trusted(f"{note.code}{reason}  "), look), Part(trusted(described(note)), StyleRole.QUIET)]
        return between(head, [Part(trusted(place), StyleRole.QUIET)], self.width, self.signs)

    def _stray(self, row: int, stray: ShownStray) -> Block:
        lead = Part(trusted(f"{self.signs.open_gutter}   "), StyleRole.WARNING)
        lines = [BlockLine((lead, Part(trusted("TEXT OUTSIDE ANY MESSAGE"), StyleRole.WARNING)))]
        request = LayoutRequest(stray.body, self.width - len(lead.text), False, False, False)
        if len(stray.body) > LONG:
            head = lay_out_head(request, SHORT_FOLD_TO)
            lines += [*RowLines(head.rows, lead, StyleRole.QUIET, []), self._rest(head, lead)]
            return Block(0, [*lines, *self._space()], head.drawn.given)
        whole = lay_out_body(request)
        lines += RowLines(whole.rows, lead, StyleRole.QUIET, [])
        return Block(0, [*_folded(lines, True, None, lead, self._more), *self._space()], whole.drawn.given)

    def _rest(self, head: Layout, lead: Part) -> BlockLine:
        """The line below the first rows of a body that is not laid out as a whole."""
        note = f"{self._more} {head.left:,} more character{'' if head.left == 1 else 's'}"
        return BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)

    @property
    def _more(self) -> str:
        return "+" if self.signs is not UNICODE else "▸"

    def _message(self, row: int, message: ShownMessage) -> Block:
        before = self._turn_rule(row, message)
        lead = self._lead(message)
        drawn, body = self._body(message, lead)
        head = self._head(message)
        notes = [BlockLine(line) for line in self._notes(row)]
        pieces = [before, head, notes if self.debug else [], body, [] if self.debug else notes]
        number = self.rows.value(row)
        grows = number in self.facts.growing
        if isinstance(body, RowLines):
            pending = [self._pending_line(lead)] if grows or (self.debug and message.ending == "open") else []
            return Block(number, Joined([*pieces, pending, self._space()]), drawn, len(before))
        lines = [line for piece in pieces for line in piece]
        if self.debug and message.ending == "open":
            lines.append(BlockLine((lead, Part(trusted(f"{self.signs.ellipsis} pending"), StyleRole.PENDING))))
        elif grows and lines[-1].row is not None and cells(lines[-1].row.text) < self.width - cells(lead.text):
            last = lines[-1]
            lines[-1] = replace(last, parts=(*last.parts, Part(trusted(self.signs.gutter), StyleRole.PENDING)))
        elif grows:
            lines.append(BlockLine((lead, Part(trusted(self.signs.gutter), StyleRole.PENDING))))
        return Block(number, [*lines, *self._space()], drawn, len(before))

    def _pending_line(self, lead: Part) -> BlockLine:
        words = f"{self.signs.ellipsis} pending" if self.debug else self.signs.gutter
        return BlockLine((lead, Part(trusted(words), StyleRole.PENDING)))

    def _lead(self, message: ShownMessage) -> Part:
        return body_lead(look_of(message), self.signs, self._layout, safe=not self.debug)

    def _body(self, message: ShownMessage, lead: Part) -> tuple[str, Sequence[BlockLine]]:
        number = self.rows_number(message)
        width = self.width - cells(lead.text) - 1
        json = self.debug and (message.content_type == "json" or message.role == "tool" or is_call(message))
        trim = FORMATS[self.projection.format_of(number)].display_trim
        markdown = self.facts.markdown and message.visible
        look = StyleRole.PLAIN if message.visible else look_of(message)
        is_raw = self.raw and self.debug
        request = LayoutRequest(self.projection.raw(number) if is_raw else message.body, width, json, markdown, trim)
        overlays = [] if is_raw else [*self.facts.faults(number), *self.facts.matches(number)]
        quiet = self.debug and not message.visible
        unfolded = self.facts.folds.get(number, number in self.facts.growing or None)
        is_being_read = message.ending == "open" and not unfolded
        if len(request.body) > (LONG_WHILE_READ if is_being_read else LONG):
            return self._long_body(number, request, lead, look, overlays, _kept_rows(quiet, unfolded)[1], unfolded)
        if is_raw:
            drawn = raw_text(self.projection.raw(number))
        else:
            drawn = drawn_text(message.body, width, json=json, markdown=markdown, trim=trim)
        lines = _body_lines(drawn, width, lead, look, overlays, trim) if drawn.text else []
        return drawn.given, _folded(lines, quiet, unfolded, lead, self._more)

    def _long_body(
        self,
        number: int,
        request: LayoutRequest,
        lead: Part,
        look: StyleRole,
        overlays: Sequence[Styled],
        keep: int,
        unfolded: bool | None,
    ) -> tuple[str, Sequence[BlockLine]]:
        """The head of a long body, or all of it as soon as it has been laid out."""
        layout = None
        if unfolded:
            layouts = self.facts.layouts
            layout = (layouts.grow if number in self.facts.growing else layouts.get)(number, request)
        shown = layout or lay_out_head(request, keep)
        lines = RowLines(shown.rows, lead, look, [*shown.drawn.layers, _moved(shown.drawn, overlays)])
        return shown.drawn.given, lines if layout else [*lines, self._rest(shown, lead)]

    def rows_number(self, message: ShownMessage) -> int:
        """The number of a shown message in the input; its label may count only shown messages."""
        return self.rows.value(message.number - 1) if self.projection.audience.strict else message.number

    def _head(self, message: ShownMessage) -> list[BlockLine]:
        head = head_of(message, self.projection.audience, self.facts.calls.of(message.number) if self.debug else ())
        digits = max(2, len(str(self.projection.message_count))) if self.debug else 0
        *lines, last = head_lines(head, self.width, self.signs, self._layout, digits=digits)
        return [*map(BlockLine, lines), BlockLine(last, link=head.link)]

    @property
    def _layout(self) -> HeadLayout:
        return HeadLayout.WIDE if self.wide else HeadLayout.NARROW

    def _is_last_turn(self, message: ShownMessage) -> bool:
        messages = (row for row in range(len(self.rows) - 1, -1, -1) if self.rows.kind(row) is RowKind.MESSAGE)
        last = next(messages, 0)
        label = self.rows.transcript_label(self.rows.transcript(last))
        return (message.transcript, message.turn) == (label, self.rows.turn(last))

    def _turn_rule(self, row: int, message: ShownMessage) -> list[BlockLine]:
        """The rule between turns, before the first message of each."""
        before = row - 1
        while before >= 0 and self.rows.kind(before) is not RowKind.MESSAGE:
            before -= 1
        here = self.rows.transcript(row), message.turn
        branch = self._branch_rule(before, message)
        if before >= 0 and (self.rows.transcript(before), self.rows.turn(before)) == here:
            return branch
        space = self._space() if before >= 0 else []
        lead = Part(trusted(" ")) if self.wide else Part(trusted(""))
        note = "live" if self.facts.live and self._is_last_turn(message) else ""
        line = _turn_rule(message.turn, message.time, self.width - len(lead.text), self.signs, note)
        return [*branch, BlockLine((lead, *line)), *(space if self.wide else [])]

    def _branch_rule(self, before: int, message: ShownMessage) -> list[BlockLine]:
        """The rule where a branch begins or ends that the user left behind."""
        was_left = before >= 0 and self.projection.is_superseded(self.rows.value(before))
        if message.is_superseded is was_left:
            return []
        lead = Part(trusted(" ")) if self.wide else Part(trusted(""))
        stroke = Part(trusted(self.signs.rule * 2), StyleRole.RULE)
        words = Part(trusted(f" {branch_words(message.is_superseded)} "), StyleRole.QUIET)
        filling = Part(trusted(self.signs.rule), StyleRole.RULE)
        line = between([stroke, words], [stroke], self.width - len(lead.text), self.signs, filling)
        return [BlockLine((lead, *line)), *self._space()]


def _turn_rule(turn: int, time: str | None, width: int, glyphs: Glyphs, note: str) -> Line:
    stroke = Part(trusted(glyphs.rule * 2), StyleRole.RULE)
    start = [stroke, Part(trusted(f" turn {turn} "), StyleRole.QUIET)]
    words = f" {glyphs.dot} ".join(filter(None, (clock(time), note)))
    end = [Part(trusted(f" {words} "), StyleRole.QUIET), stroke] if words else [stroke]
    return between(start, end, width, glyphs, Part(trusted(glyphs.rule), StyleRole.RULE))


def _body_lines(
    drawn: BodyText, width: int, lead: Part, look: StyleRole, overlays: Sequence[Styled], trim: bool
) -> list[BlockLine]:
    """All lines of a body after its lead."""
    over = _Overlays(*drawn.layers, _moved(drawn, overlays))
    lines = []
    for row in trimmed(lay_out(drawn.text, width), trim):
        parts = (lead, *_styled_row(row, look, over.over(row)))
        lines.append(BlockLine(parts, row, len(lead.text)))
    return lines


def _moved(drawn: BodyText, overlays: Sequence[Styled]) -> list[Styled]:
    """The overlays at their places in the drawn text, in order."""
    return sorted((drawn.moved(span) for span in overlays), key=lambda span: (span.start, span.end))


def _kept_rows(short: bool, unfolded: bool | None) -> tuple[int, int]:
    """The number of rows above which a body is folded, and the number that remains."""
    if unfolded is False:
        return 1, 1
    return (SHORT_FOLD_FROM, SHORT_FOLD_TO) if short else (FOLD_FROM, FOLD_TO)


def _folded(lines: list[BlockLine], short: bool, unfolded: bool | None, lead: Part, more: str) -> list[BlockLine]:
    """Truncate a long body and add a line with the number of missing lines."""
    most, keep = _kept_rows(short, unfolded)
    if unfolded or len(lines) <= most:
        return lines
    rest = len(lines) - keep
    note = f"{more} {rest} more line{'s' if rest > 1 else ''}"
    return [*lines[:keep], BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)]


def _styled_row(row: Row, look: StyleRole, spans: Sequence[Styled]) -> list[Part]:
    """The parts of one row of a body; `spans` touch the row, and later ones override earlier ones."""
    if not spans or not row.text:
        return [Part(row.text, look)]
    looks = [look] * len(row.text)
    for span in spans:
        first, last = row.column_of(max(span.start, row.start)), row.column_of(min(span.end, row.end))
        looks[first : max(last, first)] = [span.look] * max(last - first, 0)
    return list(_runs(row.text, looks))


def _runs(text: SafeText, looks: Sequence[StyleRole]) -> Iterable[Part]:
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or looks[at] is not looks[start]:
            yield Part(trusted(text[start:at]), looks[start])
            start = at


class _Overlays:
    """Spans over a text, looked up row by row in order."""

    def __init__(self, *layers: Sequence[Styled]) -> None:
        self._layers = layers
        self._at = [0] * len(layers)

    def over(self, row: Row) -> list[Styled]:
        """The spans that touch this row; call it with rows in order."""
        found: list[Styled] = []
        for number, layer in enumerate(self._layers):
            at = self._at[number]
            while at < len(layer) and layer[at].end <= row.start:
                at += 1
            self._at[number] = at
            while at < len(layer) and layer[at].start < max(row.end, row.start + 1):
                found.append(layer[at])
                at += 1
        return found


class RowLines(Sequence[BlockLine]):
    """The rows of a body as lines, each made on access."""

    def __init__(self, rows: Sequence[Row], lead: Part, look: StyleRole, layers: Sequence[Sequence[Styled]]) -> None:
        self.rows = rows
        self._lead = lead
        self._look = look
        self._layers = [(layer, *_reach(layer)) for layer in layers if layer]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> BlockLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockLine]: ...
    def __getitem__(self, index: int | slice) -> BlockLine | Sequence[BlockLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        row = self.rows[index]
        parts = (self._lead, *_styled_row(row, self._look, list(self._over(row))))
        return BlockLine(parts, row, len(self._lead.text))

    def _over(self, row: Row) -> Iterator[Styled]:
        """The spans that touch a row."""
        for layer, starts, reach in self._layers:
            end = bisect_right(starts, max(row.end - 1, row.start))
            first = bisect_right(reach, row.start, 0, end)
            yield from (span for span in layer[first:end] if span.end > row.start)


def _reach(layer: Sequence[Styled]) -> tuple[list[int], list[int]]:
    """The start of each span, and the furthest end of the spans up to it."""
    reach: list[int] = []
    for span in layer:
        reach.append(max(span.end, reach[-1]) if reach else span.end)
    return [span.start for span in layer], reach


class Joined(Sequence[BlockLine]):
    """Concatenated lines, without a copy."""

    def __init__(self, pieces: Iterable[Sequence[BlockLine]]) -> None:
        self._pieces = [piece for piece in pieces if len(piece)]
        self._count = sum(map(len, self._pieces))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> BlockLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockLine]: ...
    def __getitem__(self, index: int | slice) -> BlockLine | Sequence[BlockLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(self._count)[index]
        for piece in self._pieces:
            if at < len(piece):
                return piece[at]
            at -= len(piece)
        raise IndexError(index)

    def __iter__(self) -> Iterator[BlockLine]:
        return chain.from_iterable(self._pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
