"""`BlockMaker` builds the lines of a view: heads, bodies, rules between turns, hidden runs, stray text, and
diagnostics.

Each row of a view is a `Block` of lines, built from a projection. The app and its first page draw the same blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import (
    BriefCall,
    FoldedAgent,
    FoldedBranch,
    HiddenRun,
    Item,
    ShownDiagnostic,
    ShownMessage,
    ShownStray,
)
from viewer.formats import FORMATS
from viewer.model.visibility import Reveal
from viewer.render.blocks.agents import Agents
from viewer.render.blocks.block import (
    SPACE,
    Block,
    BlockFacts,
    BlockLine,
    Joined,
    Overlays,
    RowLines,
    Source,
    styled_row,
)
from viewer.render.blocks.call_words import brief_parts
from viewer.render.blocks.cards import CardMaker, call_of_reply
from viewer.render.blocks.times import TimeWords
from viewer.render.body import MARKDOWN_TYPES, BodyText, Rendering, drawn_text, raw_text
from viewer.render.diagnostic import described
from viewer.render.head import head_of, is_call, name_line
from viewer.render.layout import (
    LONG,
    LONG_WHILE_READ,
    MARGIN,
    WIDEST,
    Layout,
    LayoutRequest,
    Row,
    lay_out,
    lay_out_body,
    lay_out_head,
    reading_column,
    trimmed,
    unwrapped_width,
)
from viewer.render.number_format import counted, spent_words
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import UNICODE, Glyphs, Line, Part, Styled, StyleRole, trusted
from viewer.render.title import branch_words, fitting_boundary_words, folded_branch_words
from viewer.render.width import between, cells

MOST_EMPTY = 20
"""The maximum number of consecutive empty transcripts whose boundaries are shown. If there are more, the last boundary
is shown too."""
MOST_NOTES = 3
"""How many diagnostics to show at a message; the others are in the list of problems."""
FOLD_FROM = 60
"""The maximum number of rows of a body that is not folded."""
FOLD_TO = 30
"""The number of rows to show of a folded body."""
SHORT_FOLD_FROM, SHORT_FOLD_TO = 15, 12
"""Like `FOLD_FROM` and `FOLD_TO`, for messages that the end user did not see."""
PREVIEWED_FROM = 8
"""The minimum number of messages of a folded sub-agent that shows its first calls."""


def centered_notes(sentences: Sequence[SafeText], width: int, height: int) -> list[Line]:
    """Return sentences centered in an empty area."""
    above = max((height - len(sentences)) // 2, 1)
    return [
        *([()] * above),
        *((Part(trusted(" " * max((width - cells(each)) // 2, 0))), Part(each, StyleRole.QUIET)) for each in sentences),
    ]


class BlockMaker:
    """Builds the block of any row of a view."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        width: int,
        facts: BlockFacts | None = None,
        signs: Glyphs = UNICODE,
        *,
        raw: bool = False,
        wrap: int = WIDEST,
        unwrapped: bool = False,
        gutter: int = 0,
    ) -> None:
        """`width` is the width of the pane, including one cell for the scrollbar. `wrap` is the maximum width of the
        reading column, 0 for none. With `unwrapped`, lines of bodies are not wrapped. `gutter` is a number of extra
        cells in the margin."""
        self.projection = projection
        self.rows = rows
        self.facts = BlockFacts() if facts is None else facts
        self.signs = signs
        self.raw = raw
        """True if messages are shown as their exact bytes, with their headers."""
        self._unwrapped = unwrapped
        column = reading_column(width - gutter, wrap, centered=not self.debug)
        self.width = column.width
        """The width of the reading column."""
        self.margin = Part(trusted(" " * (gutter + column.left)))
        """The cells to the left of the reading column, with room for the cursor."""
        self._visibility = projection.visibility() if self.debug else None
        self._agents = Agents(projection, self.facts.calls)
        self._times = TimeWords(projection, rows, self.facts.times)
        self._cards = CardMaker(projection, rows, self.facts, signs, self.margin, self.width, self._times)

    @property
    def debug(self) -> bool:
        """True if the view has the heads and links of the debug view."""
        return not self.projection.audience.is_safe

    def make(self, row: int) -> Block:
        """Return the block of a row."""
        folded = self.projection.folded(self.rows, row)
        block = self._folded(row, folded) if folded else self._entry(row)
        if block is None:
            block = self._block(row, self.projection.item(self.rows, row))
        before, after = self._boundaries(row), self._last_boundaries(row)
        if not before and not after:
            return block
        lines = Joined([before, block.lines, after])
        return replace(block, lines=lines, first=block.first + len(before), begins_transcript=True)

    def drawn_row(self, row: int) -> int:
        """Return the row whose block shows this row. A reply directly below its call is shown in the card of the
        call."""
        is_in_card = self.debug and not self.raw and call_of_reply(self.rows, self._cards.calls_of, row)
        return row - 1 if is_in_card else row

    def _entry(self, row: int) -> Block | None:
        """Return the block of a message that the end user did not see; None for any other row."""
        if not self._is_line(row):
            return None
        number = self.rows.value(row)
        headline = self.projection.headline(number)
        before = self._turn_rule(row, headline.time, self.projection.is_superseded(number))
        entry = self._cards.entry(row, headline)
        if not entry.lines:
            return Block(number, self._gap(row))
        pieces: list[Sequence[BlockLine]] = [before, entry.lines]
        text = entry.text
        if entry.shows_body:
            message = self.projection.message(number)
            assert message is not None
            drawn, body = self._body(number, message, Part(trusted(self.margin.text + "  ")))
            text = drawn.given
            pieces.append(body)
        if not entry.bases:
            shown = [note for note in self._cards.notes(row)[:MOST_NOTES] if entry.shows_body or not self._is_card(row)]
            pieces.append([self._cards.note_line(note) for note in shown])
        return Block(number, Joined([*pieces, self._gap(row)]), text, len(before), bases=entry.bases)

    def _is_card(self, row: int) -> bool:
        number = self.rows.value(row)
        return any(number in (call.call, call.reply) for call in self._cards.calls_of(number))

    def _is_line(self, row: int) -> bool:
        """True if a message is shown on one line, because the end user did not see it."""
        if self._visibility is None or self.raw or self.rows.kind(row) is not RowKind.MESSAGE:
            return False
        return not self._visibility.sees(self.rows.value(row))

    def _gap(self, row: int) -> list[BlockLine]:
        """Return the space below a one-line row: none if it is followed by another one-line row of the same turn."""
        rows, after = self.rows, row + 1
        if after >= len(rows):
            return [SPACE]
        if rows.kind(after) is RowKind.AGENT and rows.transcript(after) == rows.transcript(row):
            return []  # part of the card above
        here, there = ((rows.transcript(each), rows.turn(each)) for each in (row, after))
        is_one = self._is_line(after) and (here == there or rows.kind(row) is RowKind.AGENT)
        is_left = self.projection.is_superseded
        if is_one and is_left(rows.value(row)) is is_left(rows.value(after)):
            return []
        return [] if self.drawn_row(after) == row else [SPACE]

    def _block(self, row: int, item: Item) -> Block:
        if isinstance(item, HiddenRun):
            return self._hidden(row, item)
        if isinstance(item, BriefCall):
            return self._brief_call(row, item)
        if isinstance(item, ShownStray):
            return self._stray(row, item)
        return self._message(row, item)

    def _boundaries(self, row: int) -> list[BlockLine]:
        """Return the boundaries above a row: of its transcript, and of transcripts without messages before it."""
        here = self.rows.transcript(row)
        before = self.rows.transcript(row - 1) if row else 0
        if here == before or len(self.rows.shown_transcripts) < 2:
            return []
        first = before + 1 if self.rows.is_whole else here
        return self._boundary_lines(self.rows.transcript_label(first), self.rows.transcript_label(here))

    def _last_boundaries(self, row: int) -> list[BlockLine]:
        """Return the boundaries below the last row: those of the transcripts without messages at the end."""
        if row < len(self.rows) - 1 or not self.rows.is_whole:
            return []
        last, count = self.rows.transcript_label(self.rows.transcript(row)), len(self.rows.shown_transcripts)
        return self._boundary_lines(last + 1, count) if last < count else []

    def _boundary_lines(self, first: int, last: int) -> list[BlockLine]:
        lines = []
        for label in dict.fromkeys([*range(first, min(last, first + MOST_EMPTY)), last]):
            boundary = self.projection.boundary(self.rows, label)
            mark = trusted(self.signs.heavy * 2 + " ")
            words = fitting_boundary_words(boundary, self.width + MARGIN - cells(mark), self.signs)
            left = Part(trusted(self.margin.text[MARGIN:]))
            parts = (Part(mark, StyleRole.RULE), Part(words, StyleRole.STRONG))
            lines += [BlockLine((left, *between(parts, [], self.width + MARGIN, self.signs))), SPACE]
        return lines

    def _hidden(self, row: int, run: HiddenRun) -> Block:
        """Return a line about hidden messages, centered in the column."""
        sign = self.signs.hidden
        elsewhere = self.projection.audience.reveals(Reveal.ALL)
        words = trusted(f"{sign} {hidden_words(run.count, self._faulty(row), elsewhere=elsewhere)} {sign}")
        left = Part(trusted(" " * ((self.width - cells(words)) // 2)))
        return Block(0, [BlockLine((self.margin, left, Part(words, StyleRole.QUIET))), SPACE])

    def _brief_call(self, row: int, call: BriefCall) -> Block:
        """Return the line of a call at the brief level. No blank line separates it from the line of the next call."""
        is_last = row + 1 >= len(self.rows) or self.rows.kind(row + 1) is not RowKind.CALL
        is_last = is_last or self.rows.transcript(row + 1) != self.rows.transcript(row)
        line = (self.margin, *brief_parts(call, self.width, self.signs))
        return Block(0, [BlockLine(line), *([SPACE] if is_last else [])])

    def _faulty(self, row: int) -> int:
        """Return the number of messages of a row that have errors or warnings."""
        problems = self.facts.problems.of(row) if self.facts.problems is not None else []
        return len({one.message for one in problems if one.severity != "info"})

    def _folded(self, row: int, folded: FoldedBranch | FoldedAgent) -> Block:
        """Return the line of a folded superseded branch or sub-agent."""
        if isinstance(folded, FoldedAgent):
            lines = [BlockLine(each, folds=True) for each in self._folded_agent(row, folded)]
            return Block(0, [*lines, *self._gap(row)], is_folded=True)
        lines = [BlockLine(self._folded_branch(folded), folds=True), *map(BlockLine, self._notes(row))]
        return Block(0, [*lines, SPACE], is_folded=True)

    def _folded_branch(self, branch: FoldedBranch) -> Line:
        stroke = Part(trusted(self.signs.rule * 2), StyleRole.RULE)
        words = Part(trusted(f" {folded_branch_words(branch.messages)} "), StyleRole.QUIET)
        end = [Part(trusted(f" {self._more} "), StyleRole.QUIET), stroke]
        filling = Part(trusted(self.signs.rule), StyleRole.RULE)
        return (self.margin, *between([stroke, words], end, self.width, self.signs, filling))

    def _folded_agent(self, row: int, agent: FoldedAgent) -> Iterator[Line]:
        """Summarize the work of a sub-agent on one line. If there are many messages, also show the first calls."""
        problems = self.facts.problems.of(row) if self.facts.problems is not None else []
        errors, warnings = (sum(each.severity == one for each in problems) for one in ("error", "warning"))
        facts = [
            f"sub-agent {sanitize_line(self._agents.of(agent.first).name) or agent.thread}",
            counted(agent.messages, "message"),
            counted(agent.calls, "call") if agent.calls else "",
            f"{self.signs.error} {errors}" if errors else "",
            f"{self.signs.warning} {warnings}" if warnings else "",
            counted(agent.tokens, "token") if agent.tokens else "",
        ]
        words = f" {self.signs.dot} ".join(filter(None, facts))
        gutter = Part(trusted(f"{self.signs.open_gutter} "), StyleRole.QUIET)
        left = [gutter, Part(trusted(f"{words} "), StyleRole.QUIET)]
        right = [Part(trusted(f"enter Open  {self._more}"), StyleRole.QUIET)]
        yield (self.margin, *between(left, right, self.width + 1, self.signs))
        if agent.messages < PREVIEWED_FROM:
            return
        calls = self._cards.first_calls(agent.first, agent.last)
        yield from ((self.margin, gutter, *self._cards.preview(row, call, cells(gutter.text))) for call in calls)
        more = agent.messages - sum(2 if call.reply else 1 for call in calls)
        words = f"{self.signs.hidden} {counted(more, 'more message')} {self.signs.hidden}"
        yield (self.margin, gutter, Part(trusted(words), StyleRole.QUIET))

    def _notes(self, row: int) -> list[Line]:
        """Return the diagnostics of a row, one per line."""
        problems = self.facts.problems.of(row) if self.facts.problems is not None else []
        found = [note for note in problems if self.debug or note.severity != "info"]
        lines = [self._note(note) for note in found[:MOST_NOTES]]
        if len(found) > MOST_NOTES:
            more = f"{len(found) - MOST_NOTES} more ({self.facts.problems_key})"
            lines.append((self.margin, Part(trusted(f"{self.signs.ellipsis} {more}"), StyleRole.QUIET)))
        return lines

    def _note(self, note: ShownDiagnostic) -> Line:
        look = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}.get(note.severity, StyleRole.INFO)
        mark = Part(trusted(f"{self.signs.severity(note.severity)} "), look)
        words = described(note) if self.debug else note.sentence
        return (self.margin, *between([mark, Part(trusted(words), look)], [], self.width, self.signs))

    def _stray(self, row: int, stray: ShownStray) -> Block:
        lead = self.margin
        lines = [BlockLine((lead, Part(trusted("Text outside any message"), StyleRole.WARNING)))]
        request = LayoutRequest(stray.body, self.width, False, Rendering.PLAIN, False)
        if len(stray.body) > LONG:
            head = lay_out_head(request, SHORT_FOLD_TO)
            lines += [*RowLines(head.rows, lead, StyleRole.QUIET, []), self._rest(head, lead)]
            return Block(0, [*lines, SPACE], head.drawn.given)
        whole = lay_out_body(request)
        lines += RowLines(whole.rows, lead, StyleRole.QUIET, [])
        return Block(0, [*_folded(lines, True, None, lead, self._more), SPACE], whole.drawn.given)

    def _rest(self, head: Layout, lead: Part) -> BlockLine:
        """Return the line below the first rows of a body that is not laid out completely."""
        note = f"{self._more} {head.left:,} more character{'' if head.left == 1 else 's'}"
        return BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)

    @property
    def _more(self) -> str:
        return "+" if self.signs is not UNICODE else "▸"

    def _message(self, row: int, message: ShownMessage) -> Block:
        before = self._turn_rule(row, message.time, message.is_superseded)
        lead, number = self.margin, self.rows.value(row)
        drawn, body = self._body(number, message, lead)
        head = self._head(row, number, message)
        notes = [BlockLine(line) for line in self._notes(row)]
        pieces = [before, head, body, notes]
        grows = number in self.facts.growing
        if isinstance(body, RowLines):
            pending = [self._pending_line(lead)] if grows or (self.debug and message.ending == "open") else []
            return Block(
                *(number, Joined([*pieces, pending, [SPACE]]), drawn.given, len(before)),
                source=_source(drawn),
                origins=drawn.origins,
            )
        lines = [line for piece in pieces for line in piece]
        if self.debug and message.ending == "open":
            lines.append(self._pending_line(lead))
        elif grows and lines[-1].row is not None and cells(lines[-1].row.text) < self.width:
            last = lines[-1]
            lines[-1] = replace(last, parts=(*last.parts, Part(trusted(self.signs.caret), StyleRole.PENDING)))
        elif grows:
            lines.append(self._pending_line(lead))
        return Block(*(number, [*lines, SPACE], drawn.given, len(before)), source=_source(drawn), origins=drawn.origins)

    def _pending_line(self, lead: Part) -> BlockLine:
        words = f"{self.signs.ellipsis} pending" if self.debug else self.signs.caret
        return BlockLine((lead, Part(trusted(words), StyleRole.PENDING)))

    def _body(self, number: int, message: ShownMessage, lead: Part) -> tuple[BodyText, Sequence[BlockLine]]:
        width = self.width - cells(lead.text) + len(self.margin.text)
        json = self.debug and (message.content_type == "json" or message.role == "tool" or is_call(message))
        trim = FORMATS[self.projection.format_of(number)].display_trim
        markdown = self._rendering(message)
        look = StyleRole.SAID if message.visible else StyleRole.ASIDE
        is_raw = self.raw and self.debug
        body = self.projection.raw(number) if is_raw else message.body
        width = unwrapped_width(body, width) if self._unwrapped else width
        request = LayoutRequest(body, width, json, markdown, trim)
        overlays = [] if is_raw else [*self.facts.faults(number), *self.facts.matches(number)]
        quiet = self.debug and not message.visible
        unfolded = self.facts.folds.get(number, number in self.facts.growing or None)
        if quiet and not is_raw:
            unfolded = True if self.facts.depths.get(number) else None
        most, keep = _kept_rows(quiet, unfolded)
        is_being_read = message.ending == "open" and not unfolded
        if len(request.body) > (LONG_WHILE_READ if is_being_read else LONG):
            return self._long_body(number, request, lead, look, overlays, keep, unfolded)
        if is_raw:
            drawn = raw_text(self.projection.raw(number))
        else:
            fold = None if unfolded else (most, keep)
            drawn = drawn_text(message.body, width, json=json, markdown=markdown, trim=trim, fold=fold)
        rows = trimmed(lay_out(drawn.text, width), trim) if drawn.text else []
        if unfolded or len(rows) <= most:
            return drawn, _body_lines(drawn, rows, lead, look, overlays)
        lines = _body_lines(drawn, rows[:keep], lead, look, overlays)
        return drawn, [*lines, _fold_line(len(rows) - keep, lead, self._more)]

    def _rendering(self, message: ShownMessage) -> Rendering:
        if not message.visible or message.content_type not in MARKDOWN_TYPES:
            return Rendering.PLAIN
        if not self.facts.rendered:
            return Rendering.SOURCE if self.facts.markdown else Rendering.PLAIN
        return Rendering.ROWS if self.signs is UNICODE else Rendering.ASCII_ROWS

    def _long_body(
        self,
        number: int,
        request: LayoutRequest,
        lead: Part,
        look: StyleRole,
        overlays: Sequence[Styled],
        keep: int,
        unfolded: bool | None,
    ) -> tuple[BodyText, Sequence[BlockLine]]:
        """Return the head of a long body, or all of it once it is laid out."""
        layout = None
        if unfolded:
            layouts = self.facts.layouts
            layout = (layouts.grow if number in self.facts.growing else layouts.get)(number, request)
        shown = layout or lay_out_head(request, keep)
        lines = RowLines(shown.rows, lead, look, [*shown.drawn.layers, _moved(shown.drawn, overlays)])
        return shown.drawn, lines if layout else [*lines, self._rest(shown, lead)]

    def _head(self, row: int, number: int, message: ShownMessage) -> list[BlockLine]:
        head = head_of(message, self.projection.audience, self._cards.calls_of(number) if self.debug else ())
        is_growing = number in self.facts.growing
        time = self._times.of_message(row, message.time)
        has_number = self.facts.has_numbers
        line = name_line(head, self.width, self.signs, is_growing=is_growing, time=time, has_number=has_number)
        return [BlockLine((self.margin, *line), link=head.link)]

    def _turn_rule(self, row: int, time: str | None, is_superseded: bool) -> list[BlockLine]:
        """Return the rules above a message: where a superseded branch begins or ends, and before the first message of a
        turn."""
        before = row - 1
        while before >= 0 and self.rows.kind(before) is not RowKind.MESSAGE:
            before -= 1
        here = self.rows.transcript(row), self.rows.turn(row)
        branch = self._branch_rule(before, is_superseded)
        if before >= 0 and (self.rows.transcript(before), self.rows.turn(before)) == here:
            return branch
        turn = here[1] if self.facts.has_numbers else 0
        line = _turn_rule(turn, self._turn_facts(row, time), self.width, self.signs)
        return [*branch, BlockLine((self.margin, *line)), SPACE]

    def _turn_facts(self, row: int, time: str | None) -> list[str]:
        """Return the time of a turn, and the tokens that it used."""
        usages = self.facts.usages
        spent = usages.of_turn(self.rows.value(row)) if usages is not None else None
        return [self._times.of_turn(row, time), spent_words(spent.tokens, spent.cost) if spent is not None else ""]

    def _branch_rule(self, before: int, is_superseded: bool) -> list[BlockLine]:
        """Return the rule where a superseded branch begins or ends, or an empty list elsewhere."""
        was_left = before >= 0 and self.projection.is_superseded(self.rows.value(before))
        if is_superseded is was_left:
            return []
        words = Part(trusted(f" {branch_words(is_superseded)} "), StyleRole.QUIET)
        return [BlockLine((self.margin, *_rule(words, self.width, self.signs))), SPACE]


def hidden_words(count: int, faulty: int, *, elsewhere: bool = False) -> str:
    """Describe how many messages are hidden, and how many of them have problems.

    `elsewhere`: only messages of other threads are omitted."""
    words = f"{counted(count, 'message')} in other threads" if elsewhere else counted(count, "hidden message")
    if count == faulty == 1:
        return f"{words} with a problem"
    return f"{words}, {faulty:,} with {'a problem' if faulty == 1 else 'problems'}" if faulty else words


def _turn_rule(turn: int, facts: Sequence[str], width: int, glyphs: Glyphs) -> Line:
    """Return the rule before a turn. `turn` is 0 if its number is not known."""
    words = f" {glyphs.dot} ".join(filter(None, (f"turn {turn}" if turn else "", *facts)))
    return _rule(Part(trusted(f" {words} " if words else ""), StyleRole.QUIET), width, glyphs)


def _rule(words: Part, width: int, glyphs: Glyphs) -> Line:
    """Return a rule with words near its end."""
    stroke, filling = (Part(trusted(glyphs.rule * length), StyleRole.RULE) for length in (2, 1))
    room = max(width - cells(words.text) - 2, 0)
    return (Part(trusted(filling.text * room), StyleRole.RULE), words, stroke)


def _body_lines(
    drawn: BodyText, rows: Sequence[Row], lead: Part, look: StyleRole, overlays: Sequence[Styled]
) -> list[BlockLine]:
    """Return rows from the start of a body as lines. Each line begins with `lead`."""
    over = Overlays(*drawn.layers, _moved(drawn, overlays))
    lines = []
    for row in rows:
        parts = (lead, *styled_row(row, look, over.over(row)))
        lines.append(BlockLine(parts, row, len(lead.text)))
    return lines


def _source(drawn: BodyText) -> Source | None:
    """Return the source to copy, if it is not the drawn text."""
    return Source(drawn.source, drawn.origins) if drawn.source and drawn.origins is not None else None


def _moved(drawn: BodyText, overlays: Sequence[Styled]) -> list[Styled]:
    """Map the overlays to the drawn text, in order."""
    return sorted((drawn.moved(span) for span in overlays), key=lambda span: (span.start, span.end))


def _kept_rows(short: bool, unfolded: bool | None) -> tuple[int, int]:
    """Return the maximum number of rows of a body that is not folded, and the number of rows of a folded one."""
    if unfolded is False:
        return 1, 1
    return (SHORT_FOLD_FROM, SHORT_FOLD_TO) if short else (FOLD_FROM, FOLD_TO)


def _folded(lines: list[BlockLine], short: bool, unfolded: bool | None, lead: Part, more: str) -> list[BlockLine]:
    """Truncate a long body and add a line that states how many lines are missing."""
    most, keep = _kept_rows(short, unfolded)
    if unfolded or len(lines) <= most:
        return lines
    return [*lines[:keep], _fold_line(len(lines) - keep, lead, more)]


def _fold_line(rest: int, lead: Part, more: str) -> BlockLine:
    note = f"{more} {rest} more line{'s' if rest > 1 else ''}"
    return BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)
