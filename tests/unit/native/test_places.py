"""`places` gives the offsets of all bytes in a set, at each level, and the prefilter of checks uses it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.native import LEVELS, WAYS, accelerator, needs_native, using
from tests.support.native_rows import assert_places
from viewer.checks.prefilter_numpy import Batch

CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])


@pytest.mark.share(quick=3)
@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_every_byte_of_a_set_is_found(level: str) -> None:
    chance = random.Random(level)
    with using(level):
        for _ in range(500):
            data = bytes(
                chance.choices(chance.choice((b"ab", bytes(range(256)))), k=chance.choice((0, 1, 63, 64, 200)))
            )
            wanted = bytes(chance.choices(chance.choice((b"ab", bytes(range(256)))), k=chance.choice((0, 2, 4, 32))))
            assert_places(memoryview(data)[chance.randrange(len(data) + 1) :], wanted)
        for at in range(200):
            assert_places(b"." * at + b"x" + b"." * (199 - at), b"xx")


@needs_native
def test_ranges_that_make_no_sense_are_refused() -> None:
    for ranges in (b"a", b"ba", bytes(34)):
        with pytest.raises(ValueError, match="the ranges are not pairs of a low and a high byte, or too many"):
            accelerator().places(b"abc", ranges)


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_finds_the_bytes_of_any_set(way: str) -> None:
    chance = random.Random(4)
    none = np.zeros(0, np.int64)
    with using(way):
        for number in range(100):
            data = bytes(chance.choices(range(256), k=200))
            sets = (
                CONTROLS,
                b"\0",
                bytes(range(0, 256, 3)),
                bytes([0xE2, 0xF0]),
                bytes(chance.choices(range(256), k=5)),
            )
            for wanted in sets:
                places = Batch(data, none, none, none).places_in(wanted)
                assert sorted(places.tolist()) == [at for at, byte in enumerate(data) if byte in wanted], number
