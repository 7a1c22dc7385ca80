"""Jump list: places to go back and forward to after jumps. It stores numbers, never text."""

from __future__ import annotations

from msgspec import Struct

from viewer.tui.cursor import Cursor

MOST = 100
"""The maximum number of remembered places."""


class JumpPlace(Struct, frozen=True):
    """The cursor, and the first line on the screen."""

    cursor: Cursor
    top: Cursor
    """The first row on the screen."""
    line: int
    """The first visible line of that row."""
    level: str = "safe"


class JumpList:
    """Remembered places, in order. The current place comes after the last one or, after going back, is one of them."""

    def __init__(self) -> None:
        self._places: list[JumpPlace] = []
        self._at = 0

    def leave(self, place: JumpPlace) -> None:
        """Remember the place where a jump starts, and forget the places ahead of it."""
        del self._places[self._at :]
        if not self._places or self._places[-1] != place:
            self._places.append(place)
        del self._places[:-MOST]
        self._at = len(self._places)

    def back(self, here: JumpPlace) -> JumpPlace | None:
        """Return the previous place, or None if there is none. Remember `here` so that `forward` can return to it."""
        if not self._at:
            return None
        if self._at == len(self._places):
            self._places.append(here)
        else:
            self._places[self._at] = here
        self._at -= 1
        return self._places[self._at]

    def forward(self, here: JumpPlace) -> JumpPlace | None:
        """Return the next place, or None if there is none."""
        if self._at + 1 >= len(self._places):
            return None
        self._places[self._at] = here
        self._at += 1
        return self._places[self._at]

    def forget(self, level: str) -> None:
        """Forget the places of one level."""
        ahead = sum(place.level != level for place in self._places[: self._at])
        self._places = [place for place in self._places if place.level != level]
        self._at = ahead

    def clear(self) -> None:
        """Forget every place."""
        self._places.clear()
        self._at = 0
