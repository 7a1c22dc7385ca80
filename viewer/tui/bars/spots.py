"""Spots: parts of a bar with click actions. No Textual import, because the first page uses them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from viewer.render.style import Part, StyleRole, trusted
from viewer.render.width import cells


class Spot(Struct, frozen=True):
    """A part of a bar and its click action."""

    part: Part
    action: str = ""


def spot(text: str, look: StyleRole = StyleRole.PLAIN, action: str = "") -> Spot:
    """Return a part with trusted text."""
    return Spot(Part(trusted(text), look), action)


def width_of(spots: Iterable[Spot]) -> int:
    """Return the width of the parts in cells."""
    return sum(cells(spot.part.text) for spot in spots)


def apart(left: list[Spot], right: list[Spot], width: int) -> list[Spot]:
    """Put one group of parts at the left end of the line, and the other at the right end."""
    gap = max(width - width_of(left) - width_of(right), 0)
    return [*left, spot(" " * gap), *right]
