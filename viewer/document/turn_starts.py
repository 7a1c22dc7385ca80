"""Starts of turns among consecutive messages: a few in Python, thousands with NumPy."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from viewer.document.visibility_cache import MANY


class Border(NamedTuple):
    """The start of a transcript among messages."""

    place: int
    transcript: int


class TurnStarts(NamedTuple):
    """One entry per turn."""

    places: array[int]
    turns: array[int]
    transcripts: array[int]


def turn_starts(
    turns: array[int], borders: Sequence[Border], turn: int = 0, transcript: int = 0, *, base: int = 0
) -> TurnStarts:
    """The places where the turn changes. A turn of 0 is that of the message before; at the start of a transcript it is
    the first turn. Places count from `base`."""
    starts = TurnStarts(array("I"), array("I"), array("I"))
    for border, after in pairwise([*borders, Border(len(turns), 0)]):
        if border.transcript != transcript:
            turn, transcript = 0, border.transcript
        part = turns[border.place : after.place]
        places, found = (_few if len(part) < MANY else _many)(part, turn, base + border.place)
        its = array("I", [transcript]) * len(found)
        if len(borders) == 1:
            return TurnStarts(places, found, its)
        starts.places.extend(places)
        starts.turns.extend(found)
        starts.transcripts.extend(its)
        turn = found[-1] if len(found) else turn
    return starts


def _few(turns: array[int], turn: int, base: int) -> tuple[array[int], array[int]]:
    places, found = array("I"), array("I")
    for place, own in enumerate(turns, base):
        now = own or turn or 1
        if now != turn:
            places.append(place)
            found.append(now)
            turn = now
    return places, found


def _many(turns: array[int], turn: int, base: int) -> tuple[array[int], array[int]]:
    import numpy as np

    own = np.frombuffer(turns, np.uint32)
    found = np.flatnonzero(own) if not own.all() else None
    known = own if found is None else own[found]
    first = []
    if not turn and not own[0]:
        turn, first = 1, [1]
    begins = np.empty(len(known), bool)
    begins[:1] = known[:1] != turn
    np.not_equal(known[1:], known[:-1], out=begins[1:])
    places = np.flatnonzero(begins)
    begun = known[places]
    if found is not None:
        places = found[places]
    starts, its = array("I", [base] * len(first)), array("I", first)
    starts.frombytes((places + base).astype(np.uint32).view(np.uint8).data)
    its.frombytes(begun.view(np.uint8).data)
    return starts, its
