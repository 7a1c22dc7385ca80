"""Disclosure: diagnostics redacted for one audience, all at once or incrementally."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from viewer.checks.analysis import Analysis
from viewer.document.disclosed import for_developer, for_end_user
from viewer.document.new_diagnostics import Show, by_message
from viewer.document.positions import Positions
from viewer.document.rows import Rows
from viewer.document.values import ShownDiagnostic
from viewer.document.vault import Vault
from viewer.document.visibility_cache import VisibilityCache
from viewer.model.diagnostic import Diagnostic
from viewer.model.visibility import Audience
from viewer.values import frozen


@frozen
class Disclosure:
    """Disclosure of diagnostics to one audience; a strict one learns nothing about hidden messages."""

    audience: Audience
    _analysis: Analysis
    _places: Positions
    _vault: Vault

    @property
    def tells_places(self) -> bool:
        """True if the audience may know positions; diagnostics are then sorted by them."""
        return not self.audience.is_safe

    def all(self) -> list[ShownDiagnostic]:
        """All diagnostics, by position if the audience may know positions, otherwise by message."""
        sight = VisibilityCache(self._analysis.index, self.audience.sees)
        if self.tells_places:
            by_position = self._analysis.findings.by_position()
            return [
                for_developer(diagnostic, sight, self.audience, self._places, self._vault, self._analysis.calls)
                for diagnostic in by_position
            ]
        label_of: Callable[[int], int] = _same
        reach = self._reach
        found: Iterable[Diagnostic] = self._analysis.findings
        if self.audience.strict:
            label_of = self._strict_labels(sight).__getitem__
            found = (diagnostic for diagnostic in found if _is_disclosed(diagnostic, sight, reach))
        return sorted((for_end_user(diagnostic, sight, label_of) for diagnostic in found), key=by_message)

    @property
    def _reach(self) -> int:
        """The last message that this audience may know of: an open one may turn out to be a thought."""
        analysis, last = self._analysis, len(self._analysis.index)
        if analysis.is_partial and not self.audience.sees_thoughts:
            return min(analysis.unsettled, default=last + 1) - 1
        return last

    def show(self, rows: Rows) -> Show:
        """A function that returns the disclosed value of a diagnostic, or None. `rows` are all rows of the
        projection."""
        sight = VisibilityCache(self._analysis.index, self.audience.sees)
        label_of = (lambda number: rows.label(rows.row_of(number))) if self.audience.strict else _same

        def show(diagnostic: Diagnostic) -> ShownDiagnostic | None:
            if self.tells_places:
                return for_developer(diagnostic, sight, self.audience, self._places, self._vault, self._analysis.calls)
            if self.audience.strict and not _is_disclosed(diagnostic, sight, rows.reach):
                return None
            return for_end_user(diagnostic, sight, label_of)

        return show

    def _strict_labels(self, sight: VisibilityCache) -> dict[int, int]:
        """Numbers of shown messages, counting only shown messages."""
        seen = filter(sight.sees, range(1, len(self._analysis.index) + 1))
        return {number: position for position, number in enumerate(seen, 1)}


def _is_disclosed(diagnostic: Diagnostic, sight: VisibilityCache, reach: int) -> bool:
    """True if a strict audience may know of this diagnostic: it belongs to a message in its rows."""
    message = diagnostic.message
    return message is not None and message <= reach and sight.sees(message)


def _same(number: int) -> int:
    return number
