"""Lines and columns of offsets, however the input arrived, and in whatever order they are requested."""

from __future__ import annotations

import random

import pytest

from viewer.columns.api import Columns
from viewer.columns.plain import PlainColumns
from viewer.document.positions import BLOCK, Positions

PLAIN = PlainColumns()


def places_of(data: bytes, step: int = 1000, columns: Columns = PLAIN) -> Positions:
    places = Positions(lambda start, end: data[start:end])
    for start in range(0, len(data), step):
        places.feed(data[start : start + step], columns)
    return places


def plainly(data: bytes, offset: int) -> tuple[int, int]:
    line_start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[line_start:offset].decode("utf-8", "replace")) + 1


TEXTS = [
    b"",
    b"one\ntwo\nthree",
    "é\n\n日本\r\n😀x\n".encode(),
    b"x" * (3 * BLOCK),
    b"a line\n" * (BLOCK // 3),
    ("日本語" * BLOCK).encode(),
    b"\xff\xfe\n\xe2\x82" + b"y" * BLOCK + b"\nz",
]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("data", TEXTS, ids=range(len(TEXTS)))
def test_every_offset_has_its_line_and_column(data: bytes) -> None:
    chosen = random.Random(7)
    offsets = [chosen.randint(0, len(data)) for _ in range(60)]
    places = places_of(data)
    for offset in [*offsets, *sorted(offsets), len(data), 0]:
        if _is_boundary(data, offset):
            assert places.line_and_column(offset) == plainly(data, offset)
            assert places.line(offset) == plainly(data, offset)[0]


def _is_boundary(data: bytes, offset: int) -> bool:
    return offset == len(data) or not 0x80 <= data[offset] < 0xC0


def test_many_positions_on_one_long_line_take_linear_time() -> None:
    data = "é".encode() * 500_000
    places = places_of(data, 1 << 20)
    assert [places.line_and_column(offset)[1] for offset in range(0, len(data), 1000)] == [
        offset // 2 + 1 for offset in range(0, len(data), 1000)
    ]
