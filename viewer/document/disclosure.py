"""Disclosure: redact diagnostics for one audience. For a hidden message, only the code, severity, and number remain."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from viewer.checks.analysis import Analysis
from viewer.document.diagnostics import Show, by_message
from viewer.document.positions import Positions
from viewer.document.rows import Rows
from viewer.document.values import ShownDiagnostic
from viewer.document.vault import Vault
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.calls import CallLedger
from viewer.model.diagnostic import Diagnostic
from viewer.model.visibility import Audience
from viewer.rules.errors import E_TOOL_TIMEOUT


class Disclosure(Struct, frozen=True):
    """Discloses diagnostics to one audience. A strict audience learns nothing about hidden messages."""

    audience: Audience
    _analysis: Analysis
    _places: Positions
    _vault: Vault

    @property
    def discloses_places(self) -> bool:
        """True if the audience may know positions. Diagnostics are then sorted by position."""
        return not self.audience.is_safe

    def all(self) -> list[ShownDiagnostic]:
        """Return the disclosed diagnostics, sorted by position if the audience may know positions, otherwise by
        message."""
        cache = VisibilityCache(self._analysis.index, self.audience.sees)
        if self.discloses_places:
            by_position = self._analysis.findings.by_position()
            return [
                for_developer(diagnostic, cache, self.audience, self._places, self._vault, self._analysis.calls)
                for diagnostic in by_position
            ]
        label_of: Callable[[int], int] = _identity
        reach = self._reach
        found: Iterable[Diagnostic] = self._analysis.findings
        if self.audience.strict:
            label_of = self._strict_labels(cache).__getitem__
            found = (diagnostic for diagnostic in found if _is_disclosed(diagnostic, cache, reach))
        return sorted((for_end_user(diagnostic, cache, label_of) for diagnostic in found), key=by_message)

    @property
    def _reach(self) -> int:
        """The number of the last message that this audience may know of. An open message may still turn out to be a
        thought."""
        analysis, last = self._analysis, len(self._analysis.index)
        if analysis.is_partial and not self.audience.sees_thoughts:
            return min(analysis.unsettled, default=last + 1) - 1
        return last

    def show(self, rows: Rows) -> Show:
        """Return a function that returns a diagnostic as disclosed to the audience, or None if it is not disclosed.
        `rows` are all rows of the projection."""
        cache = VisibilityCache(self._analysis.index, self.audience.sees)
        label_of = (lambda number: rows.label(rows.row_of(number))) if self.audience.strict else _identity

        def show(diagnostic: Diagnostic) -> ShownDiagnostic | None:
            if self.discloses_places:
                return for_developer(diagnostic, cache, self.audience, self._places, self._vault, self._analysis.calls)
            if self.audience.strict and not _is_disclosed(diagnostic, cache, rows.reach):
                return None
            return for_end_user(diagnostic, cache, label_of)

        return show

    def _strict_labels(self, cache: VisibilityCache) -> dict[int, int]:
        """Return the numbers of the shown messages in a strict view, which does not count hidden ones."""
        seen = filter(cache.sees, range(1, len(self._analysis.index) + 1))
        return {number: position for position, number in enumerate(seen, 1)}


def _is_disclosed(diagnostic: Diagnostic, cache: VisibilityCache, reach: int) -> bool:
    """True if a strict audience may know of this diagnostic because its message is in the audience's rows."""
    message = diagnostic.message
    return message is not None and message <= reach and cache.sees(message)


def _identity(number: int) -> int:
    return number


def for_end_user(diagnostic: Diagnostic, cache: VisibilityCache, label_of: Callable[[int], int]) -> ShownDiagnostic:
    """Return the diagnostic as disclosed to the end user, without positions."""
    code, severity, message = diagnostic.code, diagnostic.rule.severity.value, diagnostic.message
    if message is None or not cache.sees(message):
        return ShownDiagnostic(code, None, severity, message, True, None, None, None, None)
    number = label_of(message)
    return ShownDiagnostic(code, diagnostic.reason, severity, number, False, None, None, None, diagnostic.count)


def for_developer(
    diagnostic: Diagnostic,
    cache: VisibilityCache,
    audience: Audience,
    places: Positions,
    vault: Vault,
    calls: CallLedger,
) -> ShownDiagnostic:
    """Return the diagnostic as disclosed to a developer, with its position if the audience sees its message."""
    code, severity, message = diagnostic.code, diagnostic.rule.severity.value, diagnostic.message
    if not (audience.sees_stray if message is None else cache.sees(message)):
        return ShownDiagnostic(code, None, severity, message, True, None, None, None, None)
    line, column = places.line_and_column(diagnostic.start)
    span = diagnostic.start, diagnostic.end
    value = vault.value_for(audience, diagnostic)
    delay = (
        calls.delay_ms(message)
        if (diagnostic.rule, diagnostic.reason) == (E_TOOL_TIMEOUT, "late") and message
        else None
    )
    return ShownDiagnostic(
        code, diagnostic.reason, severity, message, False, span, line, column, diagnostic.count, value, delay
    )
