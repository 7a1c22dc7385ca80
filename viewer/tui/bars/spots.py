"""Parts of a bar with their actions. The first page uses them, so they load no Textual."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from viewer.render.style import Part, StyleRole, trusted
from viewer.render.width import cells


class Spot(Struct, frozen=True):
    """A part of a bar, and the action of a click on it."""

    part: Part
    action: str = ""


def spot(text: str, look: StyleRole = StyleRole.PLAIN, action: str = "") -> Spot:
    """A part with words of the program."""
    return Spot(Part(trusted(text), look), action)


def width_of(spots: Iterable[Spot]) -> int:
    """The number of cells of the parts."""
    return sum(cells(spot.part.text) for spot in spots)


def apart(left: list[Spot], right: list[Spot], width: int) -> list[Spot]:
    """One group at the left end, the other at the right end."""
    gap = max(width - width_of(left) - width_of(right), 0)
    return [*left, spot(" " * gap), *right]
