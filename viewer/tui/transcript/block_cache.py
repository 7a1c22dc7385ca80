"""Block cache: rows of a projection as blocks of headings, links, bodies, hidden runs, diagnostics, and rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from viewer.document.calls import CallView, no_calls
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import HiddenRun, Item, ShownDiagnostic, ShownMessage, ShownStray
from viewer.formats import FORMATS
from viewer.render.diagnostic import described
from viewer.render.drawn_text import drawn_text
from viewer.render.letters import is_call, look_of
from viewer.render.line import cells
from viewer.render.markdown import Styled
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import UNICODE, Glyphs, Line, Part, StyleRole, trusted
from viewer.render.title import boundary_words
from viewer.tui.transcript.block import Block, BlockLine
from viewer.tui.transcript.body_layout import (
    LONG,
    LONG_WHILE_READ,
    Joined,
    Layout,
    LayoutRequest,
    Layouts,
    RowLines,
    lay_out_body,
    lay_out_head,
)
from viewer.tui.transcript.body_lines import SHORT_FOLD_TO, body_lines, folded, kept_rows, raw_text
from viewer.tui.transcript.head_lines import between, debug_head, details, link, rule, safe_head, short_head
from viewer.tui.transcript.row_problems import RowProblems
from viewer.values import mutable

MOST_EMPTY = 20
"""The number of consecutive boundaries of empty transcripts that are shown; of more, only the last one follows."""
MOST_NOTES = 3
"""The number of diagnostics at a message; the list of problems has the others."""


@mutable
class BlockFacts:
    """Facts for blocks in addition to the projection, made once per view."""

    calls: CallView = field(default_factory=no_calls)
    problems: RowProblems | None = None
    """Problems by row."""
    matches: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Matches of the search in a body."""
    faults: Callable[[int], Sequence[Styled]] = lambda number: ()
    """Spans of diagnostics in a body."""
    folds: dict[int, bool] = field(default_factory=dict)
    """Messages that the operator unfolded (True) or folded (False)."""
    layouts: Layouts = field(default_factory=Layouts)
    """Layouts of long unfolded bodies."""
    live: bool = False
    """True if the document grows."""
    growing: frozenset[int] = frozenset()
    """Open messages of a growing document."""
    markdown: bool = True
    """Style headings, emphasis, code and lists."""
    problems_key: str = "p"

    def update_growing(self, numbers: frozenset[int]) -> None:
        """Set the messages that grow now."""
        self.growing = numbers


@mutable
class BlockMaker:
    """Makes the block of any row."""

    projection: Projection
    rows: Rows
    width: int
    facts: BlockFacts = field(default_factory=BlockFacts)
    signs: Glyphs = UNICODE
    wide: bool = True
    """True if there is room for space between messages and for complete headings."""
    raw: bool = False
    """Show the exact bytes of messages with their headers."""

    @property
    def debug(self) -> bool:
        """True if headings and links are those of the debug view."""
        return not self.projection.audience.is_safe

    def make(self, row: int) -> Block:
        """Make the block of a row."""
        item = self.projection.item(self.rows, row)
        block = self._block(row, item)
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
        """The boundaries above a row: of its transcript, and of empty transcripts before it."""
        here = self.rows.transcript(row)
        before = self.rows.transcript(row - 1) if row else 0
        if here == before or len(self.rows.shown_transcripts) < 2:
            return []
        first = before + 1 if self.rows.is_whole else here
        return self._boundary_lines(self.rows.transcript_label(first), self.rows.transcript_label(here))

    def _last_boundaries(self, row: int) -> list[BlockLine]:
        """The boundaries of empty transcripts at the end."""
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

    def _space(self) -> list[BlockLine]:
        return [BlockLine(())] if self.wide else []

    def _notes(self, row: int) -> list[Line]:
        """The diagnostics of a row, one line each."""
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
            said = f"{note.sentence} ({note.code})"
            return between([mark, Part(trusted(said), look)], [], self.width, self.signs)
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
            lines += [*RowLines(head.rows, lead, StyleRole.QUIET, []), self._left(head, lead)]
            return Block(0, [*lines, *self._space()], head.drawn.given)
        whole = lay_out_body(request)
        lines += RowLines(whole.rows, lead, StyleRole.QUIET, [])
        return Block(0, [*folded(lines, True, None, lead, self._more), *self._space()], whole.drawn.given)

    def _left(self, head: Layout, lead: Part) -> BlockLine:
        """The line below the head of a body that is not laid out."""
        note = f"{self._more} {head.left:,} more character{'' if head.left == 1 else 's'}"
        return BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)

    @property
    def _more(self) -> str:
        return "+" if self.signs is not UNICODE else "▸"

    def _message(self, row: int, message: ShownMessage) -> Block:
        before = self._turn_rule(row, message)
        lead = self._lead(message)
        drawn, body = self._body(message, lead)
        head = self._debug_head(message, body, lead) if self.debug else self._safe_head(message, lead)
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
        look = look_of(message)
        if self.debug:
            return Part(trusted(self.signs.gutter + "   "), look)
        return Part(trusted(f" {self.signs.gutter} " if self.wide else f"{self.signs.gutter} "), look)

    def _body(self, message: ShownMessage, lead: Part) -> tuple[str, Sequence[BlockLine]]:
        number = self.rows_number(message)
        width = self.width - cells(lead.text) - 1
        json = self.debug and (message.content_type == "json" or message.role == "tool" or is_call(message))
        trim = FORMATS[self.projection.dialect_of(number)].display_trim
        markdown = self.facts.markdown and message.visible
        look = StyleRole.PLAIN if message.visible else look_of(message)
        is_raw = self.raw and self.debug
        request = LayoutRequest(self.projection.raw(number) if is_raw else message.body, width, json, markdown, trim)
        overlays = [] if is_raw else [*self.facts.faults(number), *self.facts.matches(number)]
        quiet = self.debug and not message.visible
        unfolded = self.facts.folds.get(number, number in self.facts.growing or None)
        is_being_read = message.ending == "open" and not unfolded
        if len(request.body) > (LONG_WHILE_READ if is_being_read else LONG):
            return self._long_body(number, request, lead, look, overlays, kept_rows(quiet, unfolded)[1], unfolded)
        if is_raw:
            drawn = raw_text(self.projection.raw(number))
        else:
            drawn = drawn_text(message.body, width, json=json, markdown=markdown, trim=trim)
        lines = body_lines(drawn, width, lead, look, overlays, trim) if drawn.text else []
        return drawn.given, folded(lines, quiet, unfolded, lead, self._more)

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
        """The head of a long body, or all of it if its layout is cached."""
        layout = None
        if unfolded:
            layouts = self.facts.layouts
            layout = (layouts.grow if number in self.facts.growing else layouts.get)(number, request)
        shown = layout or lay_out_head(request, keep)
        moved = sorted((shown.drawn.moved(span) for span in overlays), key=lambda span: span[:2])
        lines = RowLines(shown.rows, lead, look, [shown.drawn.spans, moved])
        return shown.drawn.given, lines if layout else [*lines, self._left(shown, lead)]

    def rows_number(self, message: ShownMessage) -> int:
        """The input number of a shown message; its label may count shown messages only."""
        return self.rows.value(message.number - 1) if self.projection.audience.strict else message.number

    def _safe_head(self, message: ShownMessage, lead: Part) -> list[BlockLine]:
        return [BlockLine(safe_head(message, self.width, lead, self.signs))]

    def _debug_head(self, message: ShownMessage, body: Sequence[BlockLine], lead: Part) -> list[BlockLine]:
        digits = max(2, len(str(self.projection.message_count)))
        gutter = Part(trusted(self.signs.gutter), lead.look)
        links = [link(message.number, call, self.signs) for call in self.facts.calls.of(message.number)]
        right = [part for said, _ in links for part in (Part(trusted("  ")), said)]
        target = links[0][1] if links else 0
        if not self.wide:
            return self._short_head(message, body, gutter, digits, right, target)
        head = [BlockLine(debug_head(message, self.width, gutter, self.signs, digits))]
        said = details(message, self.signs)
        if said or right:
            head.append(
                BlockLine(between([lead, Part(said, StyleRole.QUIET)], right, self.width, self.signs), link=target)
            )
        return head

    def _short_head(
        self,
        message: ShownMessage,
        body: Sequence[BlockLine],
        gutter: Part,
        digits: int,
        right: list[Part],
        target: int,
    ) -> list[BlockLine]:
        """On a narrow screen, a plain body begins on the line of its head."""
        head = short_head(message, self.signs, digits, gutter)
        return [BlockLine(between(head, right, self.width, self.signs), link=target)]

    def _is_last_turn(self, message: ShownMessage) -> bool:
        messages = (row for row in range(len(self.rows) - 1, -1, -1) if self.rows.kind(row) is RowKind.MESSAGE)
        last = next(messages, 0)
        label = self.rows.transcript_label(self.rows.transcript(last))
        return (message.transcript, message.turn) == (label, self.rows.turn(last))

    def _turn_rule(self, row: int, message: ShownMessage) -> list[BlockLine]:
        """The rule before the first message of each turn."""
        before = row - 1
        while before >= 0 and self.rows.kind(before) is not RowKind.MESSAGE:
            before -= 1
        here = self.rows.transcript(row), message.turn
        if before >= 0 and (self.rows.transcript(before), self.rows.turn(before)) == here:
            return []
        space = self._space() if before >= 0 else []
        lead = Part(trusted(" ")) if self.wide else Part(trusted(""))
        note = "live" if self.facts.live and self._is_last_turn(message) else ""
        line = rule(message.turn, message.time, self.width - len(lead.text), self.signs, note)
        return [BlockLine((lead, *line)), *(space if self.wide else [])]
