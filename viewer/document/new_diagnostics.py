"""New diagnostics while following: each is returned once, when its message is settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from viewer.document.values import ShownDiagnostic
from viewer.index.findings import Findings
from viewer.model.diagnostic import Diagnostic
from viewer.rules import RULES

_KINDS = [(code, reason) for code, rule in RULES.items() for reason in (None, *rule.reasons)]
_KIND_OF = {kind: number for number, kind in enumerate(_KINDS)}

Show = Callable[[Diagnostic], ShownDiagnostic | None]


class NewDiagnostics:
    """The diagnostics of one audience, in the order of `Projection.diagnostics` as far as known."""

    def __init__(self, findings: Findings, show: Show, *, by_place: bool) -> None:
        self._findings = findings
        self._show = show
        self._by_place = by_place
        self._taken = 0
        self._waiting: list[int] = []
        """Rows of messages that are not settled yet."""

    def up_to(self, number: int) -> list[ShownDiagnostic]:
        """The new diagnostics of messages up to this one; and those without a message, if positions are disclosed. For
        the end user those come last."""
        rows = [*self._waiting, *range(self._taken, len(self._findings))]
        self._taken = len(self._findings)
        self._waiting = [row for row in rows if (self._findings[row].message or 0) > number]
        return self._shown(row for row in rows if self._is_of(row, number))

    def rest(self) -> list[ShownDiagnostic]:
        """All diagnostics that were not returned yet."""
        rows = [*self._waiting, *range(self._taken, len(self._findings))]
        if not self._by_place:
            of_none = (row for row in range(self._taken) if self._findings[row].message is None)
            rows = [*of_none, *rows]
        self._taken, self._waiting = len(self._findings), []
        return self._shown(rows)

    def _is_of(self, row: int, number: int) -> bool:
        message = self._findings[row].message
        return self._by_place if message is None else message <= number

    def _shown(self, rows: Iterable[int]) -> list[ShownDiagnostic]:
        found = [self._findings[row] for row in rows if not (self._by_place and self._findings.is_spare(row))]
        if self._by_place:
            found.sort(key=_by_place)
        shown = [one for one in map(self._show, found) if one is not None]
        return shown if self._by_place else sorted(shown, key=by_message)


def _by_place(found: Diagnostic) -> tuple[int, int, int]:
    return found.start, found.end, _KIND_OF[found.code, found.reason]


def by_message(found: ShownDiagnostic) -> tuple[int, str, str, int]:
    """The sort key for an end user, who gets no positions."""
    return found.message or 0, found.code, found.reason or "", found.count or 0
