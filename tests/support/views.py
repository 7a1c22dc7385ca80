"""Views of given calls and diagnostics, for testing the widgets that draw them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from viewer.columns.api import Column
from viewer.columns.plain import PlainColumns
from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.values import ShownCall, ShownDiagnostic
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.calls import CallLedger, CallLink, CallState
from viewer.index.findings import Findings
from viewer.index.messages import MessageIndex
from viewer.model.messages import Ending, Header, Message
from viewer.rules import RULES


class _GivenLedger(CallLedger):
    def __init__(self, calls: Sequence[ShownCall], index: MessageIndex) -> None:
        super().__init__(lambda *_: None, index)
        self.given = calls

    def ends(self) -> tuple[Column, Column]:
        return array("I", [one.call or 0 for one in self.given]), array("I", [one.reply or 0 for one in self.given])

    def states(self) -> Column:
        codes = list(CallState)
        return array("B", [codes.index(CallState(one.state)) for one in self.given])

    def inferred(self) -> Column:
        return array("B", [one.inferred for one in self.given])

    def link(self, row: int) -> CallLink:
        return CallLink(row, 0, None, "")


def call_view(calls: Sequence[ShownCall]) -> CallView:
    """Return a view of these calls."""
    index = MessageIndex()
    largest = max((end for one in calls for end in (one.call, one.reply) if end), default=0)
    for number in range(1, largest + 1):
        index.put(Message(number, 1, Header("user"), Ending.END, (number, number), ()))
    cache = VisibilityCache(index, lambda _: True)
    return CallView(_GivenLedger(calls, index), PlainColumns(), cache, lambda link: calls[link.transcript])


def diagnostic_view(diagnostics: Sequence[ShownDiagnostic]) -> DiagnosticView:
    """Return a view of these diagnostics, in this order."""
    findings = Findings(lambda start, end: b"x")
    for place, one in enumerate(diagnostics):
        findings.add(RULES[one.code], one.reason, 3 * place, 3 * place + 1, one.message)
    view = DiagnosticView(findings, lambda found: diagnostics[found.start // 3], lambda number: [], by_place=True)
    return view.extend(1 << 30)


def problems_of(projection: Projection) -> DiagnosticView:
    """Return all diagnostics of a projection."""
    return projection.problems(projection.rows()).extend(1 << 30)
