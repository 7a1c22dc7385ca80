"""Projections built by hand, so tests of printing need no parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec.structs import replace

from tests.support.views import call_view
from viewer.document.calls import CallLines, CallView
from viewer.document.projection import Projection
from viewer.document.values import Boundary, Item, ShownCall, ShownDiagnostic, ShownMessage, ShownTranscript
from viewer.index.calls import CallLedger
from viewer.index.messages import MessageIndex
from viewer.model.visibility import END_USER, Audience

_MESSAGE = ShownMessage(
    transcript=1,
    number=1,
    turn=1,
    role="user",
    name=None,
    recipient=None,
    channel="final",
    channel_given=None,
    intent=None,
    call_id=None,
    content_type=None,
    constrained=False,
    ending="end",
    body="Hello",
    span=None,
    body_span=None,
    line=None,
    time=None,
    visible=True,
    cancelled=False,
    extra={},
    has_stop_token=True,
)
_DIAGNOSTIC = ShownDiagnostic("E-BODY-CONSTRAINT-VIOLATION", "json-malformed", "error", 1, False, None, None, None, 1)


def message(number: int = 1, **changes: Any) -> ShownMessage:
    return replace(_MESSAGE, number=number, **changes)


def problem(number: int | None, **changes: Any) -> ShownDiagnostic:
    return replace(_DIAGNOSTIC, message=number, **changes)


def call(first: int | None, second: int | None, **changes: Any) -> ShownCall:
    return replace(ShownCall(1, "c1", "functions.f", first, second, "ok", False, None, None), **changes)


@dataclass
class HandMadeRows:
    shown_transcripts: range
    count: int

    def __len__(self) -> int:
        return self.count

    def extend(self) -> None:
        pass

    def last_number(self, row: int) -> int:
        return row

    @property
    def call_lines(self) -> CallLines:
        index = MessageIndex()
        return CallLines(CallLedger(lambda *_: None, index), index)


@dataclass
class HandMade:
    shown: list[Item]
    audience: Audience = END_USER
    problems: list[ShownDiagnostic] = field(default_factory=list)
    links: list[ShownCall] = field(default_factory=list)
    heads: list[ShownTranscript] = field(
        default_factory=lambda: [ShownTranscript(1, "openchatml-2.2", "2.2", None, None)]
    )

    titles: dict[int, str] = field(default_factory=dict)

    def selects(self, *numbers: int | None) -> bool:
        return True

    def has_transcript(self, rows: object, label: int) -> bool:
        return True

    def transcripts(self) -> list[ShownTranscript]:
        return self.heads

    def rows(self) -> HandMadeRows:
        return HandMadeRows(range(1, len(self.heads) + 1), len(self.shown))

    def boundary(self, rows: HandMadeRows, label: int, *, grows: bool = False, before: int = 0) -> Boundary:
        return Boundary(self.heads[label - 1], len(self.heads), self.titles.get(label, ""))

    def item(self, rows: HandMadeRows, row: int) -> Item:
        return self.shown[row]

    def new_diagnostics(self, rows: HandMadeRows) -> None:
        pass

    def items(self, rows: HandMadeRows | None = None, first: int = 0) -> Iterator[Item]:
        return iter(self.shown[first:])

    def diagnostics(self) -> list[ShownDiagnostic]:
        return self.problems

    def calls(self) -> CallView:
        return call_view(self.links)


def projection(*shown: Item, **changes: Any) -> Projection:
    return cast(Projection, HandMade(list(shown), **changes))
