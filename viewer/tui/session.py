"""Session: a document, its audience, marks, and folds. Every change returns what to redraw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Flag, auto
from itertools import chain

from msgspec.structs import replace

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import FOLDED_KINDS, PLACE_KINDS, Folding, MessageSet, RowKind, Rows
from viewer.errors import HiddenError
from viewer.model.prices import NO_PRICES, Prices
from viewer.model.visibility import Pane
from viewer.render.blocks.cards import call_of_reply
from viewer.render.blocks.json_rows import ALL_NODES
from viewer.render.blocks.times import Times
from viewer.tui.display_state import DisplayState

LONGEST_KEPT_UNFOLDED = 128 * 1024
"""The size in bytes below which a growing message stays unfolded when it ends."""
KEPT_ROWS = 5
"""The number of other views whose rows are kept: one for each key that toggles a channel, and one for the safe view."""
FEW_MESSAGES = 50_000
"""The number of messages below which rows are computed within a single frame."""
MOST_TRIED = 10_000
"""How many rows to search in each direction for the nearest shown message."""


_UNSEEN = (RowKind.HIDDEN, RowKind.CALL)
"""Kinds of rows that represent hidden messages."""


class Changed(Flag):
    """The parts that must be redrawn."""

    NOTHING = 0
    ROWS = auto()
    """The rows are new: rebuild all blocks."""
    WIDTH = auto()
    """The size may have changed: if so, rebuild all blocks."""
    GROWN = auto()
    """Rows were added or changed: those from `Session.grown_from` on are new or different."""
    BLOCKS = auto()
    """Folds or matches changed: rebuild the visible blocks."""
    LISTS = auto()
    """The outline and the timeline."""
    CALLS = auto()
    PROBLEMS = auto()
    PENDING = auto()
    """The time since the open message last grew."""
    SELECTION = auto()
    """The selected problem."""
    NOTES = auto()
    """The text of a view without messages."""
    MARKS = auto()
    """Marked messages."""
    MATCHES = auto()
    """The matches of the search, from `SearchController.changed_from` on."""
    FOCUS = auto()
    """The cursor or the scroll position."""
    TITLE = auto()
    KEYS = auto()
    """The footer."""
    LAYOUT = auto()
    """The open panes."""
    TAB = auto()
    """The tab of the inspector."""
    DOCUMENT = auto()
    """The document was read again from the start, so layouts of bodies are stale."""


VIEW = Changed.ROWS | Changed.LISTS | Changed.PROBLEMS | Changed.CALLS | Changed.KEYS | Changed.FOCUS
"""Everything that depends on the audience."""


class Session:
    """The state of a view: document, audience, and the operator's choices. Only this class writes its attributes."""

    def __init__(
        self, document: Document, display: DisplayState, marks: Iterable[int] = (), prices: Prices = NO_PRICES
    ) -> None:
        self._prices = prices
        self.document = document
        self.display = display
        self.marks: frozenset[int] = frozenset(marks)
        """Numbers of marked messages."""
        self.folds: dict[int, bool] = {}
        """Messages that the operator unfolded (True) or folded (False)."""
        self.depths: dict[int, int] = {}
        """How many levels the operator opened in each unfolded message."""
        self.turned: dict[int, frozenset[int]] = {}
        """For each message, the values that the operator folded or unfolded individually."""
        self.unfolded: frozenset[int] = frozenset()
        """Messages whose superseded branches are unfolded."""
        self.markdown: bool | None = None
        """True to render Markdown, False to show its source, None to follow the setting."""
        self.wrapped = True
        """True if long lines are wrapped."""
        self.times = Times.OFF
        self.agent = 0
        """A message of the sub-agent whose transcript is open; 0 for the main transcript."""
        self.grown_from = 0
        """The first row that the last growth may have changed."""
        self._reusable_rows: Sequence[Rows] = ()
        """The rows of the previous views. Operators switch back and forth, and computing the rows of millions of
        messages takes time. Rows are only numbers, without text."""
        self._counted_steps: tuple[object, int] = (None, 0)
        self._build_view()

    def _build_view(self) -> None:
        self.projection: Projection = self.document.project(self.display.audience)
        self._agent_messages = self.projection.agent_messages(self.agent) if self.agent else MessageSet()
        self.rows: Rows = self._make_rows()
        self._all_rows: Rows | None = None
        """The unfiltered rows; None if there is no filter."""
        self.filtered_by = ""
        """The active filter, as typed; empty if there is none."""
        self.leak_scores: Mapping[int, int] = {}
        """The scores of answers that leak hidden text, by message number, once the operator has looked for leaks.
        Always empty in the safe view."""
        self._reusable_rows, self._counted_steps = (), (None, 0)  # release the rows of an earlier reading
        self.calls: CallView = self.projection.calls()
        self.usages = self.projection.usages(self._prices)
        """Tokens and cost; None if the audience sees none."""
        self.diagnostics: DiagnosticView = self.projection.problems(self.rows).extend(self.rows.settled_number)

    def _make_rows(self) -> Rows:
        if self.agent:
            return self.projection.rows(only=self._agent_messages)
        return self.projection.rows(folding=Folding(self.unfolded), again=self._reusable_rows)

    def prepare_rows(self) -> Iterator[None]:
        """Compute, step by step, the rows of the views that the next key press may show."""
        here, everything = self.rows, self.all_rows
        if self.agent or not everything.is_whole or everything.reach < FEW_MESSAGES:
            return
        for display in self.display.next_views:
            rows = everything.seen_by(display.audience)
            if not display.is_within(self.document.under) or any(each.is_like(rows) for each in self._reusable_rows):
                continue
            while rows.extend_some():
                yield
                if self.rows is not here:
                    return
            self._reusable_rows = (rows, *self._reusable_rows)[:KEPT_ROWS]

    @property
    def hidden_steps(self) -> int:
        """The number of hidden messages with errors or warnings, cached until rows or problems change."""
        rows, diagnostics = self.rows, self.diagnostics
        state = len(rows), rows.reach, len(diagnostics)
        if self._counted_steps[0] != (rows, state):
            numbers = {*diagnostics.numbers("error"), *diagnostics.numbers("warning")} if len(rows) else set()
            count = sum(rows.kind(rows.row_of(number)) in _UNSEEN for number in numbers)
            self._counted_steps = (rows, state), count
        return self._counted_steps[1]

    @property
    def all_rows(self) -> Rows:
        """The rows that the view has without a filter."""
        return self.rows if self._all_rows is None else self._all_rows

    @property
    def searched_total(self) -> int:
        """The number of messages from which a filter selects."""
        counts_shown = self.projection.audience.is_safe or bool(self.agent)
        return self.all_rows.shown_count if counts_shown else self.all_rows.reach

    @property
    def message_total(self) -> int:
        """The number of messages that this audience may know about."""
        return self.rows.shown_count if self.display.strict else self.rows.reach

    def apply(self, display: DisplayState) -> Changed:
        """Apply another display state. This is the only way to change the audience. A lower level drops the folds and
        closes a sub-agent's transcript. A sealed document refuses every state that would show more."""
        if not display.is_within(self.document.under):
            raise HiddenError
        if display.reveals_less(self.display):
            self._forget_folds()
            self.agent = 0
        rows, scores = self.rows, self.leak_scores
        self.display = display
        kept = (rows, *(each for each in self._reusable_rows if each is not rows))
        self._reusable_rows = kept
        self._build_view()
        self._reusable_rows = kept[:KEPT_ROWS]
        self.score_leaks(scores)
        return VIEW

    def replace_document(self, document: Document) -> Changed:
        """Replace the document with another that begins with the same messages. Keep marks and folds."""
        self.document = document
        return self.rebuild_view()

    def rebuild_view(self) -> Changed:
        """Project the document again."""
        self._build_view()
        return VIEW

    def restart(self) -> Changed:
        """Project a document that was read again from the start. Message numbers are new, so marks and folds are
        dropped."""
        self._forget_folds()
        self.marks = self.unfolded = frozenset()
        self.agent = 0
        self._build_view()
        return VIEW | Changed.DOCUMENT

    def extend(self) -> Changed:
        """Add the rows of new bytes."""
        if self.agent:
            messages = self.projection.agent_messages(self.agent)
            if messages != self._agent_messages and self.rows.is_only(self._agent_messages):
                self._agent_messages = messages
                return self.show_rows(self._make_rows())
        self.grown_from = self.rows.extend()
        return Changed.GROWN

    def refresh_lists(self) -> Changed:
        """Update calls and diagnostics to match the rows."""
        self.calls = self.projection.calls()
        self.diagnostics.extend(self.rows.settled_number)
        return Changed.CALLS | Changed.PROBLEMS

    def filter_rows(self, only: MessageSet, typed: str) -> Changed:
        """Show only these messages, which a filter found."""
        everything = self.all_rows
        changed = self.show_rows(self.projection.rows(only=only))
        self.filtered_by, self._all_rows = typed, everything
        return changed

    def show_rows(self, rows: Rows) -> Changed:
        """Show these rows of the current projection, without a filter."""
        self.rows, self.grown_from, self.filtered_by, self._all_rows = rows, 0, "", None
        return VIEW

    def fold_branch(self, number: int, unfolded: bool) -> Changed:
        """Unfold or fold the superseded branch of a message."""
        first, last = self.projection.branch_of(number) or (number, number)
        others = frozenset(each for each in self.unfolded if not first <= each <= last)
        return self._fold_branches(others | {number} if unfolded else others)

    def unfold_branches(self) -> Changed:
        """Unfold every branch."""
        return self._fold_branches(frozenset(first for first, _ in self.projection.branches))

    def _fold_branches(self, unfolded: frozenset[int]) -> Changed:
        if unfolded == self.unfolded:
            return Changed.NOTHING
        self.unfolded, self._reusable_rows = unfolded, ()
        return Changed.NOTHING if self.agent else self.show_rows(self._make_rows())

    def open_agent(self, number: int) -> Changed:
        """Show the transcript of a message's sub-agent; 0 returns to the main transcript."""
        self.agent, self._reusable_rows = number, ()
        return self.rebuild_view()

    def folded_at(self, row: int | None) -> RowKind | None:
        """Return the kind of a row that can be unfolded, or None for any other row."""
        kind = self.rows.kind(row) if row is not None and len(self.rows) else None
        return kind if kind in FOLDED_KINDS else None

    def is_place(self, row: int) -> bool:
        """True if a cursor on this row selects the row itself (a folded row, or a call), and not a message."""
        kind = self.rows.kind(row)
        return kind in PLACE_KINDS and kind is not RowKind.MESSAGE

    def toggle_mark(self, number: int) -> Changed:
        """Mark a message, or remove its mark."""
        self.marks ^= {number}
        return Changed.MARKS

    def card_of(self, number: int) -> int:
        """Return the call whose card contains this message, or the message itself."""
        if not self.display.debug or self.display.raw or not len(self.rows):
            return number
        return call_of_reply(self.rows, self.calls.of, self.rows.row_of(number)) or number

    def is_unfolded(self, number: int) -> bool:
        """True if a message is unfolded. In the side pane, thoughts are unfolded unless the operator folded them."""
        number = self.card_of(number)
        is_thought = self.display.side_panes and self.projection.pane_of(number) is Pane.ANALYSIS
        return self.folds.get(number, is_thought)

    def fold(self, number: int, unfolded: bool) -> Changed:
        """Fold or unfold a message."""
        number = self.card_of(number)
        self.folds[number] = unfolded
        self.depths.pop(number, None)
        self.turned.pop(number, None)
        return Changed.BLOCKS

    def unfold_more(self, number: int, levels: int = 1) -> Changed:
        """Unfold a message or, if it is already unfolded, open one more level."""
        number = self.card_of(number)
        if self.folds.get(number) or levels > 1:
            self.depths[number] = min(self.depths.get(number, 0) + levels, ALL_NODES)
            self.turned.pop(number, None)
        self.folds[number] = True
        return Changed.BLOCKS

    def fold_less(self, number: int) -> Changed:
        """Close the open levels of a message. If there are none, fold it."""
        number = self.card_of(number)
        are_open = [self.depths.pop(number, None), self.turned.pop(number, None)]
        if not any(are_open):
            self.folds[number] = False
        return Changed.BLOCKS

    def turn_node(self, number: int, node: int) -> Changed:
        """Fold or unfold one value of a message."""
        number = self.card_of(number)
        self.turned[number] = self.turned.get(number, frozenset()) ^ {node}
        return Changed.BLOCKS

    def reveal(self, number: int, levels: int = 0) -> Changed:
        """Unfold a message that is shown as one line, and open `levels` levels in it, so that its body can be shown.
        Leave any other message unchanged."""
        card = self.card_of(number)
        is_line = self.display.debug and not self.display.raw and not self.projection.headline(card).visible
        if not is_line or (self.folds.get(card) and self.depths.get(card, 0) >= levels):
            return Changed.NOTHING
        self.folds[card] = True
        if levels:
            self.depths[card] = levels
        return Changed.BLOCKS

    def _forget_folds(self) -> None:
        self.folds.clear()
        self.depths.clear()
        self.turned.clear()

    def render_markdown(self, is_rendered: bool) -> Changed:
        """Render Markdown in all messages, or show its source."""
        self.markdown = is_rendered
        return Changed.ROWS

    def wrap_lines(self, is_wrapped: bool) -> Changed:
        """Wrap long lines, or show them unwrapped."""
        self.wrapped = is_wrapped
        return Changed.ROWS

    def show_times(self, times: Times) -> Changed:
        """Set how the times of messages are shown."""
        self.times = times
        return Changed.ROWS

    def score_leaks(self, scores: Mapping[int, int]) -> Changed:
        """Show the scores of answers that leak hidden text in the outline, in the debug view only."""
        if not self.display.audience.is_safe:
            self.leak_scores = scores
        return Changed.LISTS

    def show_usage(self, is_shown: bool) -> Changed:
        """Show or hide tokens and cost. The rows do not change, even if a filter is active."""
        self.display = replace(self.display, usage=is_shown)
        return Changed.ROWS | Changed.LISTS | Changed.CALLS

    def toggle_all_folds(self) -> Changed:
        """Reset all folds. If there are none, unfold every message and every branch."""
        if self.folds or self.unfolded:
            self._forget_folds()
            return Changed.BLOCKS | self._fold_branches(frozenset())
        changed = self.unfold_branches()
        rows = self.rows
        self.folds.update({rows.value(row): True for row in range(len(rows)) if rows.label(row)})
        return Changed.BLOCKS | changed

    def keep_unfolded(self, numbers: Iterable[int]) -> None:
        """Keep these messages, which the operator watched grow, unfolded when they end, unless they are very long."""
        for number in numbers:
            headline = self.projection.headline(number)
            if headline.seen and headline.visible and headline.body_bytes < LONGEST_KEPT_UNFOLDED:
                self.folds.setdefault(number, True)

    def partners(self, number: int) -> frozenset[int]:
        """Return the other messages of this message's calls."""
        ends = {end for call in self.calls.of(number) for end in (call.call, call.reply)}
        return frozenset(end for end in ends if end is not None and end != number)

    def nearest_shown(self, number: int) -> int:
        """Return this message, or else the next shown one or the previous one. Return 0 if none is shown nearby."""
        rows = self.rows
        if not len(rows):
            return 0
        row = rows.row_of(number)
        after, before = range(row, len(rows)), range(row - 1, -1, -1)
        near = chain(after[:MOST_TRIED], before[:MOST_TRIED])
        return next((rows.value(row) for row in near if rows.kind(row) is RowKind.MESSAGE), 0)
