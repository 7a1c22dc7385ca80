"""`signs` finds what the prefilter of the checks searches for, and `counts` counts a byte, at each level."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.native import LEVELS, WAYS, accelerator, needs_native, using
from tests.support.native_rows import assert_counts, assert_emoji, assert_signs
from viewer.checks.prefilter_numpy import Batch

CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])
PARTS = (
    *(b"<think", b"<THINK", b"[/X", b"<|C|>", b"<|c|>", b'"ab"', "◁".encode(), "<｜".encode(), b"tag", b"Tag", b"TAG"),
    *(b":::", b":: :", b"00A", b"00a", b"0a"),
    *(b"\r\n", b"\r", b"\0", b"\x1f", b"\x7f", b"a", b"plain text, and more of it " * 3, b" " * 70),
    *(
        "é🐙漢\xad\u034f\u061c\u115f\u200b".encode(),
        b"\xe2\x97",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\x80",
        b"\x80",
    ),
    *(b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xc2", b"\xf0\x9f\x98"),
)
BORDERS = bytes.fromhex("007f80818f909fa0afbfc0c1c2dfe0e1ecedeeeff0f1f3f4f5f8ff41")
"""The first and last bytes of each kind of UTF-8."""
EMOJI = (
    *(
        char.encode()
        for char in "👩💻🏽🏿🏴❤☺1#*\u20e3\u200d\ufe0f\ufe0e\U000e0067\U000e007fx日©\u200b\u3164\U0001f1e6é"
    ),
    *(
        b"\xf0\x9f\x98\x41",
        b"\xf0\x9f\x98",
        b"\xe2\x9d",
        b"\x98\x80",
        b"\xf0\x82\x9d\xa4",
        b"\xe0\x82\xa9",
        b"\xff",
        b"\xef\xb8",
    ),
)


def text(chance: random.Random) -> bytes:
    """Return text with signs, some of them damaged."""
    data = b"".join(chance.choices(PARTS, k=chance.randrange(40)))
    if chance.random() < 0.3:
        data += bytes(chance.choices(BORDERS, k=chance.randrange(200)))
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.randrange(3) :]


@pytest.mark.share(quick=3)
@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_the_signs_of_messages_are_those_found_character_by_character(level: str) -> None:
    chance = random.Random(level)
    with using(level):
        for _ in range(150):
            assert_signs(text(chance), chance)


BORDER = 128
CHARACTERS = (
    "🙂".encode(),
    b"\xf0\x80\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\x80\x80\x80\x80\x80",
)


def cut_characters() -> Iterator[bytes]:
    """Yield ASCII around a character that is whole, or cut after any of its bytes, near the border of two steps."""
    for at in range(BORDER - 5, BORDER + 4):
        for character in CHARACTERS:
            for size in range(1, len(character) + 1):
                yield b"a" * at + character[:size] + b"a" * 130


@pytest.mark.share(quick=3)
@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_a_character_may_be_cut_between_two_steps(level: str) -> None:
    with using(level):
        for data in cut_characters():
            for cut in range(BORDER - 2, BORDER + 3):  # a fault counts for the message that has the byte
                assert_signs(data, random.Random(level), (0, 0, cut, cut, cut, len(data)))


def emoji(chance: random.Random) -> bytes:
    """Return emoji that are cut, doubled, or unfinished, among whole ones."""
    return b"".join(chance.choices(EMOJI, [6] * 14 + [1] * (len(EMOJI) - 14), k=chance.randrange(60)))


@pytest.mark.share(quick=3)
@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_a_character_that_is_left_out_is_in_an_emoji(level: str) -> None:
    chance = random.Random(level)
    with using(level):
        for _ in range(200):
            assert_emoji(emoji(chance))


@needs_native
def test_bytes_are_counted_between_cuts() -> None:
    chance = random.Random(1)
    for size in (0, 1, 254, 255, 256, 2000):
        data = bytes(chance.choices(b"a\n", k=size))
        assert_counts(data, sorted(chance.randrange(size + 1) for _ in range(9)), 10)
    assert_counts(b"\n" * 1000, [0, 1000, 1000], 10)
    outside = np.array([-1, 2, 1, 9], np.int64).tobytes()
    assert np.frombuffer(accelerator().counts(b"\n\n\n", b"\n", outside), np.int64).tolist() == [0, 0, 0]


@needs_native
def test_messages_that_are_not_in_order_have_no_signs() -> None:
    rest = (bytes(1024), b"", b"", b"")
    for messages in ([(0, 2, 1)], [(2, 1, 3)], [(0, 1, 4)], [(0, 1, 3), (2, 3, 3)], [(-1, 0, 1)]):
        assert accelerator().signs(b"abc", np.array(messages, np.int64).tobytes(), *rest) == (b"", b"")
    good = np.array([(0, 1, 2)], np.int64).tobytes()
    assert accelerator().signs(b"abc", good, *rest) == (bytes(4), b"")
    for damaged in (
        (bytes(9), b"", b"", b""),
        (bytes(1024), bytes(32), b"", b""),
        (bytes(1024), b"", b"\xe2", bytes(9)),
        (*rest, bytes(9)),
    ):
        assert accelerator().signs(b"abc", good, *damaged) == (b"", b"")


@pytest.mark.share(quick=4)
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
