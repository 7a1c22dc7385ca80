"""`UsageView`: tokens and cost of messages, turns, models, and the whole input, for an audience that sees them.

Usage measures hidden text, so no other audience gets a view."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace

from viewer.checks.analysis import Analysis
from viewer.document.rows import MessageSet
from viewer.model.messages import Usage
from viewer.model.prices import NO_PRICES, Prices


class Spent(Struct, frozen=True):
    """Token usage and its cost."""

    usage: Usage
    cost: float | None = None
    """The cost; None if a model has no price."""

    @property
    def tokens(self) -> int | None:
        """The total number of tokens: the reported total, or else the sum of input and output; None if neither is
        known."""
        usage = self.usage
        if usage.total is not None:
            return usage.total
        if usage.input is None and usage.output is None:
            return None
        return (usage.input or 0) + (usage.output or 0)


class ModelUsage(Struct, frozen=True):
    """The usage of one model."""

    model: str | None
    """The name of the model; None if the input does not name it."""
    spent: Spent


class UsageView:
    """The token usage in one reading of a document, kept up to date as the input grows."""

    def __init__(self, analysis: Analysis, only: MessageSet | None = None, prices: Prices = NO_PRICES) -> None:
        self._analysis = analysis
        self._only = only
        self._prices = prices
        self._known: tuple[int, list[ModelUsage]] = (0, [])

    def of(self, number: int) -> Spent | None:
        """Return the usage that a message reports for its model reply, or None if it reports none."""
        usage = self._analysis.index.usages.by_message.get(number)
        return Spent(usage, self._prices.cost(usage, self._model(number))) if usage is not None else None

    def between(self, first: int, last: int) -> Spent | None:
        """Return the usage of the messages in a range, or None if none of them reports any."""
        return sum_of(found for number in self._numbers(first, last) if (found := self.of(number)) is not None)

    def of_turn(self, number: int) -> Spent | None:
        """Return the usage of a message's turn, or None if no message in the turn reports any."""
        return self.between(*self._analysis.index.turn_span(number))

    def by_model(self) -> list[ModelUsage]:
        """Return the usage of each model, the largest first. A transcript that reports its total is counted with that
        total."""
        version = self._analysis.index.usages.version
        if self._known[0] != version:
            sums = self._all_sums() if self._only is None else self._selected_sums(self._only)
            found = [ModelUsage(model, Spent(usage, self._prices.cost(usage, model))) for model, usage in sums.items()]
            self._known = version, sorted(found, key=lambda row: (-(row.spent.tokens or 0), row.model or ""))
        return self._known[1]

    def total(self) -> Spent | None:
        """Return the total usage, or None if no usage is reported."""
        return sum_of(row.spent for row in self.by_model())

    def _numbers(self, first: int, last: int) -> Iterable[int]:
        numbers = self._analysis.index.usages.between(first, last)
        return numbers if self._only is None else (number for number in numbers if number in self._only)

    def _model(self, number: int) -> str | None:
        index = self._analysis.index
        return index.usages.model(number) or self._analysis.transcripts[index.transcript(number) - 1].model

    def _all_sums(self) -> dict[str | None, Usage]:
        table, sums = self._analysis.index.usages, dict[str | None, Usage]()
        for transcript in {**table.sums, **table.totals}:
            stated = self._analysis.transcripts[transcript - 1].model
            found = [(model or stated, usage) for model, usage in table.sums.get(transcript, {}).items()]
            if transcript in table.totals:
                models = {model for model, _ in found} or {stated}
                found = [(models.pop() if len(models) == 1 else None, table.totals[transcript])]
            for model, usage in found:
                sums[model] = sums[model].plus(usage) if model in sums else usage
        return sums

    def _selected_sums(self, only: MessageSet) -> dict[str | None, Usage]:
        table, sums = self._analysis.index.usages, dict[str | None, Usage]()
        for number in only:
            usage = table.by_message.get(number)
            if usage is not None:
                model = self._model(number)
                sums[model] = sums[model].plus(usage) if model in sums else usage
        return sums


def sum_of(found: Iterable[Spent]) -> Spent | None:
    """Return the sum, or None if there is nothing to add. The cost is known only if every individual cost is."""
    every = [*found]
    if not every:
        return None
    usage = reduce(Usage.plus, (one.usage for one in every))
    if usage.total is not None:  # some may not report a total
        usage = replace(usage, total=sum(one.tokens or 0 for one in every))
    costs = [one.cost for one in every]
    return Spent(usage, None if None in costs else sum(cost for cost in costs if cost is not None))
