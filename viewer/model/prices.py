"""Prices of tokens by model, and the cost of token usage. There are no built-in prices: the settings define them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from viewer.model.messages import Usage

TOKENS = 1_000_000
"""The number of tokens to which prices refer."""
ANY = "*"
"""A wildcard: a name that ends with it covers all models whose names start with the part before it."""


class Price(Struct, frozen=True, gc=False):
    """The prices of one model per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """The price of input that was read from a cache; None if it costs the same as other input."""

    def of(self, usage: Usage) -> float | None:
        """Return the cost of token usage, or None if its input or output is unknown."""
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        for_cached = self.input if self.cached is None else self.cached
        return ((usage.input - cached) * self.input + cached * for_cached + usage.output * self.output) / TOKENS


class Prices(Struct, frozen=True):
    """The prices of models."""

    by_model: Mapping[str, Price] = field(default_factory=dict)
    """Prices by model name, or by the prefix of a name followed by `*`."""

    def price(self, model: str | None) -> Price | None:
        """Return the price of a model: the one for its exact name, or else the one for the longest matching prefix.
        Return None if there is none."""
        if model is None:
            return None
        if model in self.by_model:
            return self.by_model[model]
        near = [name for name in self.by_model if name.endswith(ANY) and model.startswith(name[:-1])]
        return self.by_model[max(near, key=len)] if near else None

    def cost(self, usage: Usage, model: str | None) -> float | None:
        """Return the cost of token usage, or None if there is no price, or if the input or output is unknown."""
        price = self.price(model)
        return price.of(usage) if price is not None else None


NO_PRICES = Prices()
