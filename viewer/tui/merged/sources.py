"""Inputs of the merged view: reads them in turn, and keeps the rows that each shows to the audience."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from viewer.document.calls import CallView
from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.document.projection import Projection
from viewer.document.rows import Folding, Rows
from viewer.errors import ViewerError
from viewer.insight.merge import Arrivals, MergedRows
from viewer.model.visibility import Audience
from viewer.render.blocks.block import BlockFacts, RowProblems
from viewer.render.style import Styled
from viewer.render.title import FollowState
from viewer.tui.files.live_sources import LiveSource
from viewer.tui.startup import Opener

SLICE = 64 * 1024
"""How many bytes of one input to read before handling events and the next input."""


class MergedSource:
    """One input: its document, and its rows for the audience."""

    def __init__(self, path: str, document: Document, stalled_after: float, audience: Audience) -> None:
        self.path = path
        self.document = document
        self.arrivals = Arrivals()
        self.folds: dict[int, bool] = {}
        """Messages that the operator unfolded (True) or folded (False)."""
        self.failure = ""
        """Why the input cannot be read, worded as on the command line; empty if it can."""
        self._live = LiveSource(document, stalled_after) if isinstance(document, LiveDocument) else None
        self._is_stale = False
        """True if the file was rewritten, so it must be read again."""
        document.rewrites.withhold(self._note_rewrite)
        self.show(audience)

    def _note_rewrite(self) -> None:
        self._is_stale = True

    def show(self, audience: Audience) -> None:
        """Show the input to another audience, or again from the start. Folds are dropped."""
        self.folds.clear()
        self.has_restarted = False
        self.projection: Projection = self.document.project(audience)
        self.rows: Rows = self.projection.rows(folding=Folding())
        self._refresh()

    def _refresh(self) -> None:
        self.calls: CallView = self.projection.calls()
        self.diagnostics = self.projection.problems(self.rows).extend(self.rows.settled_number)

    def restart(self) -> None:
        """Record that the input is being read again from the start. Until the next redraw, the earlier rows are
        kept."""
        self.arrivals, self.has_restarted = Arrivals(), True

    def extend(self) -> int:
        """Add the rows of new bytes; return the first changed row."""
        changed = self.rows.extend()
        self._refresh()
        return changed

    def facts(self, matches: Callable[[int], Sequence[Styled]]) -> BlockFacts:
        """Return the facts that the blocks need in addition to the rows. `matches` returns the spans to highlight in a
        body."""
        growing = frozenset(self.document.open_numbers) if isinstance(self.document, LiveDocument) else frozenset()
        problems = RowProblems(self.rows, self.diagnostics)
        is_live = isinstance(self.document, LiveDocument) and not self.document.is_complete
        return BlockFacts(self.calls, problems, matches, folds=self.folds, live=is_live, growing=growing)

    def step(self) -> tuple[bool, bool, bool]:
        """Read a slice. Return whether anything has changed, whether reading restarted, and whether there is more. An
        error is recorded in `failure`."""
        if self.failure:
            return False, False, False
        try:
            return self._step()
        except ViewerError as error:
            self.failure = str(error)
            return True, False, False

    def _step(self) -> tuple[bool, bool, bool]:
        document = self.document
        if document.needs_backend:
            document.load_backend()
        if isinstance(document, LiveDocument):
            assert self._live is not None
            change = self._live.step_on(SLICE)
            return change.grew, change.restarted, change.more
        if self._is_stale:
            self._is_stale = False
            document.begin_again()
            return True, True, True
        if document.is_complete:
            return False, False, False
        document.read_some(SLICE)
        return True, False, not document.is_complete

    @property
    def is_followed(self) -> bool:
        """True if the input may grow."""
        return self._live is not None

    @property
    def is_live(self) -> bool:
        """True if the input is followed and live."""
        return self._live is not None and self._live.state.state is FollowState.LIVE

    def check_for_rewrite(self) -> None:
        """Detect that a file that is not followed was rewritten."""
        document = self.document
        if self._live is None and document.is_complete and document.stored.is_rewritten():
            self._is_stale = True

    def close(self) -> None:
        """Stop following the input."""
        if isinstance(self.document, LiveDocument):
            self.document.following.close()


class MergedSources:
    """Owns the inputs and the order of their rows."""

    def __init__(
        self,
        opener: Opener,
        paths: Sequence[str],
        stalled_after: float,
        audience: Audience,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.sources = [MergedSource(path, opener.document(path), stalled_after, audience) for path in paths]
        self.rows = MergedRows(len(self.sources))
        self._clock = clock
        self._round = 0
        """The arrival time of everything that arrives before all inputs have caught up again; 0 between rounds."""
        self.show(audience)

    def show(self, audience: Audience) -> None:
        """Show all inputs to another audience."""
        for place, source in enumerate(self.sources):
            source.show(audience)
            self.rows.show(place, source.projection, source.rows, source.arrivals)
        self.rows.sort()

    def step(self, place: int) -> tuple[bool, bool]:
        """Read a slice of one input, and return whether anything arrived, and whether there is more."""
        source = self.sources[place]
        self._round = self._round or round(self._clock() * 1000)
        known = source.projection.message_count
        grew, restarted, more = source.step()
        if restarted:
            source.restart()
            known = 0
        if grew or restarted:
            source.arrivals.note(known, self._round)
        return grew or restarted, more

    def end_round(self) -> None:
        """Record that all inputs have caught up: what arrives from now on is later."""
        self._round = 0

    def extend(self, changed: set[int]) -> int:
        """Merge the new rows of these inputs; return the first merged row that may have changed."""
        first: list[int | None] = [None] * len(self.sources)
        for place in changed:
            source = self.sources[place]
            if source.has_restarted:
                source.show(source.projection.audience)
                self.rows.show(place, source.projection, source.rows, source.arrivals)
            first[place] = source.extend()
        return self.rows.extend(first)

    @property
    def live_count(self) -> int:
        """The number of inputs that are live."""
        return sum(source.is_live for source in self.sources)

    @property
    def is_read(self) -> bool:
        """True if every input that does not grow has been read."""
        return all(isinstance(each.document, LiveDocument) or each.document.is_complete for each in self.sources)

    def close(self) -> None:
        """Stop following the inputs."""
        for source in self.sources:
            source.close()
