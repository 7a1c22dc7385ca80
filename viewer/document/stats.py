"""Count what an audience sees: messages, bytes, and tokens by role and channel, and calls by tool. Reads few bodies."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import count as count_from
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.usage import Spent, UsageView, sum_of
from viewer.document.values import ShownCall
from viewer.index.calls import CallState
from viewer.model.messages import Coding, Message, Usage
from viewer.model.prices import NO_PRICES, Prices
from viewer.model.visibility import END_USER, Audience

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter

AT_ONCE = 64 * 1024
"""The number of messages that are processed together, as columns."""
FAILURES = frozenset(state.value for state in (CallState.FAILED, CallState.TIMEOUT, CallState.CANCELLED))
UNANSWERED = frozenset(state.value for state in (CallState.PENDING, CallState.UNANSWERED))


class Sum(Struct, gc=False):
    """Counts of the messages of one role in one channel."""

    role: str
    channel: str | None
    messages: int = 0
    bytes: int = 0
    calls: int = 0


class ToolSum(Struct, gc=False):
    """Counts of the calls of one tool."""

    tool: str
    calls: int = 0
    replies: int = 0
    failed: int = 0
    unanswered: int = 0
    tokens: int | None = None
    """The token usage of the model replies that contain the calls; None if the input does not state it."""
    cost: float | None = None
    """The cost; None if a model has no price."""


class ModelSum(Struct, frozen=True):
    """The usage of one model."""

    model: str | None
    usage: Usage
    cost: float | None


class Stats(Struct, frozen=True):
    """The counts of a document."""

    messages: list[Sum]
    tools: list[ToolSum]
    """The counts by tool. Empty for an audience that sees no calls."""
    hidden: int | None
    """The number of hidden messages; None for a strict audience."""
    usage: Usage | None = None
    """The token usage that the input reports; None for an audience that may not see it."""
    cost: float | None = None
    """The cost of the token usage; None if a model has no price."""
    models: list[ModelSum] = []
    """The usage of each model, largest first."""


def count(document: Document, audience: Audience, where: Filter | None = None, prices: Prices = NO_PRICES) -> Stats:
    """Count the content that this audience sees. Hidden messages are counted only in total. With a filter, only matches
    are counted."""
    projection = document.project(audience, where=where)
    calls = [call for call in projection.calls() if projection.selects(call.call, call.reply)]
    sums, hidden = _count_messages(document, projection, {call.call for call in calls})
    ordered = sorted(sums, key=lambda row: (-row.messages, row.role, row.channel or ""))
    usages = projection.usages(prices)
    spent = usages.total() if usages is not None else None
    return Stats(
        ordered,
        _by_tool(calls, usages),
        None if audience.strict or where else hidden,
        spent.usage if spent is not None else None,
        spent.cost if spent is not None else None,
        [ModelSum(row.model, row.spent.usage, row.spent.cost) for row in (usages.by_model() if usages else [])],
    )


def _count_messages(
    document: Document, projection: Projection, calling: Container[int | None]
) -> tuple[Iterable[Sum], int]:
    """Return the sums for the messages that the audience of the projection sees, and the number of hidden messages."""
    index, audience = document.index, projection.audience
    shown_sizes = {} if audience.sees_thoughts else _sizes_without_thoughts(document)
    sums: dict[tuple[str, str | None], Sum] = {}
    row_of: dict[int, Sum | None] = {}
    """The sum to which each kind of message belongs; None if the kind is hidden."""
    hidden = 0
    for first in range(1, len(index) + 1, AT_ONCE):
        last = min(len(index), first + AT_ONCE - 1)
        kinds = index.kinds[first : last + 1]
        for number, kind, start, end in zip(count_from(first), kinds, *index.bodies(first, last), strict=False):
            if kind not in row_of:
                message = index[number]
                row_of[kind] = _row(sums, message) if audience.sees(message) else None
            row = row_of[kind]
            if row is None:
                hidden += 1
                continue
            if not projection.selects(number):
                continue
            row.messages += 1
            row.calls += number in calling
            if number in shown_sizes:
                row.bytes += shown_sizes[number]
            else:
                row.bytes += end - start if index.regular_kinds[kind] else _size(projection, index[number])
    return [row for row in sums.values() if row.messages], hidden


def _row(sums: dict[tuple[str, str | None], Sum], message: Message) -> Sum:
    header = message.header
    channel = header.channel.value if header.channel else header.channel_given
    key = header.role, channel
    if key not in sums:
        sums[key] = Sum(*key)
    return sums[key]


def _size(projection: Projection, message: Message) -> int:
    """Return the size of the body in the input, in bytes. For an attachment, return the size of its label, because the
    part in the input contains more than is shown."""
    if any(piece.coding is Coding.LABEL for piece in message.pieces):
        shown = projection.message(message.number)
        return len(shown.body.encode("utf-8", "replace")) if shown else 0
    return sum(piece.end - piece.start for piece in message.pieces if piece.coding is not Coding.BREAK)


def _sizes_without_thoughts(document: Document) -> dict[int, int]:
    """Return, for each shown message with cut parts, its size without them. The index has only full sizes."""
    projection = document.project(END_USER)
    shown = ((number, projection.message(number)) for number in document.tally.cut)
    return {number: len(message.body.encode("utf-8", "replace")) for number, message in shown if message}


def _by_tool(calls: Iterable[ShownCall], usages: UsageView | None) -> list[ToolSum]:
    sums: dict[str, ToolSum] = {}
    spent: dict[str, list[Spent]] = {}
    for call in calls:
        row = sums.setdefault(call.tool, ToolSum(call.tool))
        row.calls += call.call is not None
        row.replies += call.reply is not None
        row.failed += call.state in FAILURES
        row.unanswered += call.state in UNANSWERED
        found = usages.of(call.call) if usages is not None and call.call is not None else None
        if found is not None:
            spent.setdefault(call.tool, []).append(found)
    for tool, each in spent.items():
        total = sum_of(each)
        if total is not None:
            sums[tool].tokens, sums[tool].cost = total.tokens, total.cost
    return sorted(sums.values(), key=lambda row: (-row.calls, row.tool))
