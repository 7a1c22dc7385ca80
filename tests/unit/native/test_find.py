"""`find` returns the offsets that the definition requires, at each level, for matches at any position."""

from __future__ import annotations

import random
import threading
import time

import pytest

from tests.support.native import EVERY_LEVEL, LEVELS, accelerator, needs_native, using
from tests.support.native_rows import assert_matches, found

pytestmark = needs_native


@EVERY_LEVEL
def test_every_match_is_found_in_random_bytes(levels: tuple[str, ...]) -> None:
    for level in levels:
        chance = random.Random(level)
        with using(level):
            for _ in range(1200):
                letters = chance.choice((b"aA", b"abAB", b"<|>e", bytes(range(256))))
                data = bytes(chance.choices(letters, k=chance.choice((0, 1, 20, 63, 64, 65, 130, 300))))
                needle = bytes(chance.choices(letters, k=chance.choice((1, 1, 2, 3, 9, 70))))
                fold = chance.choice((needle, needle.swapcase(), bytes(chance.choices(letters, k=len(needle)))))
                start = chance.randrange(len(data) + 1)
                assert_matches(data, needle, fold)
                assert_matches(memoryview(data)[start:], needle, fold)


def test_a_match_is_found_at_every_offset_of_a_block() -> None:
    for level in LEVELS:
        with using(level):
            for needle in (b"x", b"xyz", b"y" * 40):
                for size in (len(needle), 64, 65, 127, 200):
                    for at in range(size - len(needle) + 1):
                        data = bytearray(b"." * size)
                        data[at : at + len(needle)] = needle.upper()
                        assert found(bytes(data), needle, needle.upper()) == [at], (level, needle, size)


def test_arguments_that_make_no_sense_are_refused() -> None:
    for needle, fold in ((b"", b""), (b"a", b""), (b"a", b"bc")):
        with pytest.raises(ValueError, match="the needle is empty, or its other spelling differs in length"):
            accelerator().find(b"abc", needle, fold)
    with pytest.raises(TypeError):
        accelerator().find("abc", b"a", b"a")  # type: ignore[arg-type]


@pytest.mark.slow
def test_other_threads_run_during_a_search() -> None:
    """Every byte begins a match, so the call takes a tenth of a second."""
    data, needle = bytes(1 << 17), bytes(1000)
    thread = threading.Thread(target=accelerator().find, args=(data, needle, needle))
    thread.start()
    steps, begun = 0, time.perf_counter()
    while thread.is_alive() and time.perf_counter() - begun < 60:
        steps += 1
    thread.join()
    assert steps > 100
