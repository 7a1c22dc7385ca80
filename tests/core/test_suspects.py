"""The quick look at a whole run: it must find what the plain pattern finds."""

from __future__ import annotations

import random
import sys

import pytest

from viewer.checks.prefilter_numpy import SELDOM, hiding_places
from viewer.syntax.characters import MAY_HIDE

FEW = b"a" * 40 * SELDOM


def agreed(data: bytes) -> list[int]:
    """Where both find something; they must agree."""
    assert list(hiding_places(FEW + data)) == [len(FEW) + match.start() for match in MAY_HIDE.finditer(data)]
    found = list(hiding_places(data))
    assert found == [match.start() for match in MAY_HIDE.finditer(data)]
    return found


def test_every_character_is_judged_alike() -> None:
    characters = (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    assert len(agreed("".join(characters).encode())) > 500
    assert sum(len(agreed(chr(code).encode())) for code in range(0x80, 0x3000)) > 50


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9])
def test_wherever_it_stands(size: int) -> None:
    for end in (0, 1, 6, 7, 8, 9):
        assert agreed(b"a" * size + "\u200b".encode() + b"z" * end) == [size]


def test_bytes_by_chance() -> None:
    chance = random.Random(7)
    likely = bytes(range(0x80, 0xC0)) + bytes([0x61, 0xC2, 0xCD, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3]) * 5
    assert sum(len(agreed(bytes(chance.choices(likely, k=chance.randrange(40))))) for _ in range(3000)) > 500
