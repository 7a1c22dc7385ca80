"""Session: one document as it is viewed now, with its marks and folds. Every change returns what to redraw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Flag, auto
from itertools import chain

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import MessageSet, RowKind, Rows
from viewer.tui.display_state import DisplayState

LONGEST_KEPT_UNFOLDED = 128 * 1024
"""A growing message of fewer bytes stays unfolded when it ends."""
MOST_TRIED = 10_000
"""Rows in each direction among which the nearest shown message is searched."""


class Changed(Flag):
    """What must be redrawn."""

    NOTHING = 0
    ROWS = auto()
    """Other rows, or blocks of another width: make all blocks again."""
    GROWN = auto()
    """The same rows; those from `Session.grown_from` on are new or different."""
    BLOCKS = auto()
    """Folds or matches: make the visible blocks again."""
    LISTS = auto()
    """The outline and the message strip."""
    CALLS = auto()
    PROBLEMS = auto()
    PENDING = auto()
    """How long the open message has been quiet."""
    SELECTION = auto()
    """The selected problem."""
    NOTES = auto()
    """The sentences of a view without messages."""
    MARKS = auto()
    """Marked messages."""
    MATCHES = auto()
    """The matches of the search, from `SearchController.changed_from` on."""
    FOCUS = auto()
    """The cursor or the place on the screen."""
    TITLE = auto()
    STATUS = auto()
    """The lines that name the view: safe or debug."""
    KEYS = auto()
    """The footer."""
    LAYOUT = auto()
    """Which panes are open."""
    TAB = auto()
    """The tab of the inspector."""
    DOCUMENT = auto()
    """The document was read again from the start: layouts of bodies are stale."""


VIEW = Changed.ROWS | Changed.LISTS | Changed.PROBLEMS | Changed.CALLS | Changed.STATUS | Changed.KEYS | Changed.FOCUS
"""Everything that depends on the audience."""


class Session:
    """A document, its audience, and the choices of the operator. Only this class writes its attributes."""

    def __init__(self, document: Document, display: DisplayState) -> None:
        self.document = document
        self.display = display
        self.marks: frozenset[int] = frozenset()
        """Numbers of marked messages."""
        self.folds: dict[int, bool] = {}
        """Messages that the operator unfolded (True) or folded (False)."""
        self.grown_from = 0
        """The first row that the last growth may have changed."""
        self._reusable_rows: Sequence[Rows] = ()
        """The rows of the view before this one. Operators switch back and forth, and computing the rows of millions of
        messages takes time. Rows are numbers, no text."""
        self._build_view()

    def _build_view(self) -> None:
        self.projection: Projection = self.document.project(self.display.audience)
        self.rows: Rows = self.projection.rows(again=self._reusable_rows)
        self._reusable_rows = ()  # rows of an earlier reading are released
        self.calls: CallView = self.projection.calls()
        self.diagnostics: DiagnosticView = self.projection.problems(self.rows).extend(self.rows.settled_number)

    @property
    def message_total(self) -> int:
        """The number of messages that this audience may know of."""
        return self.rows.shown_count if self.display.strict else self.rows.reach

    def apply(self, display: DisplayState) -> Changed:
        """Use another display, the only way to another audience. Leaving the debug view forgets the folds."""
        if self.display.debug and not display.debug:
            self.folds.clear()
        rows = self.rows
        self.display = display
        self._reusable_rows = (rows, *self._reusable_rows)
        self._build_view()
        self._reusable_rows = (rows,)
        return VIEW

    def replace_document(self, document: Document) -> Changed:
        """View another document with the same messages so far: marks and folds stay."""
        self.document = document
        return self.rebuild_view()

    def rebuild_view(self) -> Changed:
        """Project the document again."""
        self._build_view()
        return VIEW

    def restart(self) -> Changed:
        """Project a document that was read again from the start: message numbers are new, so marks and folds go."""
        self.folds.clear()
        self.marks = frozenset()
        self._build_view()
        return VIEW | Changed.DOCUMENT

    def extend(self) -> Changed:
        """Add the rows of new bytes."""
        self.grown_from = self.rows.extend()
        return Changed.GROWN

    def refresh_lists(self) -> Changed:
        """Update calls and diagnostics to the rows."""
        self.calls = self.projection.calls()
        self.diagnostics.extend(self.rows.settled_number)
        return Changed.CALLS | Changed.PROBLEMS

    def filter_rows(self, only: MessageSet) -> Changed:
        """Show only these messages."""
        return self.show_rows(self.projection.rows(only=only))

    def show_rows(self, rows: Rows) -> Changed:
        """Show other rows of the same projection."""
        self.rows, self.grown_from = rows, 0
        return VIEW

    def toggle_mark(self, number: int) -> Changed:
        """Mark a message, or remove its mark."""
        self.marks ^= {number}
        return Changed.MARKS

    def fold(self, number: int, unfolded: bool) -> Changed:
        """Unfold a message, or fold it."""
        self.folds[number] = unfolded
        return Changed.BLOCKS

    def toggle_all_folds(self) -> Changed:
        """Forget all folds; without folds, unfold every message."""
        if self.folds:
            self.folds.clear()
        else:
            rows = self.rows
            self.folds.update({rows.value(row): True for row in range(len(rows)) if rows.label(row)})
        return Changed.BLOCKS

    def keep_unfolded(self, numbers: Iterable[int]) -> None:
        """Do not fold messages when they end, unless they are very long: the operator watches them grow."""
        for number in numbers:
            headline = self.projection.headline(number)
            if headline.seen and headline.body_bytes < LONGEST_KEPT_UNFOLDED:
                self.folds.setdefault(number, True)

    def partners(self, number: int) -> frozenset[int]:
        """The other messages of the calls of a message."""
        ends = {end for call in self.calls.of(number) for end in (call.call, call.reply)}
        return frozenset(end for end in ends if end is not None and end != number)

    def nearest_shown(self, number: int) -> int:
        """This message, or the next shown one, or the one before; 0 if nothing is shown."""
        rows = self.rows
        if not len(rows):
            return 0
        row = rows.row_of(number)
        after, before = range(row, len(rows)), range(row - 1, -1, -1)
        near = chain(after[:MOST_TRIED], before[:MOST_TRIED])
        return next((rows.value(row) for row in near if rows.kind(row) is RowKind.MESSAGE), 0)
