"""Twice the input takes at most 2.3 times as long, and memory is a bounded multiple of the input size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.support.growth import assert_growth
from tests.support.hostile import SHAPES, Shape, pieces
from tests.support.reading import examine

KB, MB = 1024, 1024 * 1024
RATIO = 2.3
WHOLE, PIECES, BYTES = 1 << 40, 64 * KB, 1
LARGEST_MULTIPLE = 450
"""The allowed multiple for JSON that consists of one-digit numbers, where two bytes yield a value and two diagnostics
with positions."""
CONSTANT = 48 * MB

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)


def assert_ratio(shape: Shape, small: int, large: int, cut: int, most: float) -> None:
    """Compare the times that it takes to read text of these sizes, cut into pieces."""

    def read(text: bytes) -> None:
        examine(pieces(text, cut), text, shape.format)

    assert_growth(read, shape.text(small), shape.text(large), most)


@pytest.mark.share(test=150)
@every_shape
def test_reading_takes_linear_time(shape: Shape) -> None:
    assert_ratio(shape, 12 * KB, 96 * KB, WHOLE, 20)


@pytest.mark.share(test=150)
@every_shape
def test_reading_in_small_pieces_takes_linear_time(shape: Shape) -> None:
    assert_ratio(shape, 8 * KB, 48 * KB, 16, 14)


@pytest.mark.lab
@every_shape
def test_twice_the_input_at_once_takes_about_twice_the_time(shape: Shape) -> None:
    size = 16 * MB if shape.is_named else 4 * MB
    assert_ratio(shape, size // 2, size, WHOLE, RATIO)


@pytest.mark.lab
@every_shape
def test_twice_the_input_in_pieces_takes_about_twice_the_time(shape: Shape) -> None:
    size = 16 * MB if shape.is_named else 4 * MB
    assert_ratio(shape, size // 2, size, PIECES, RATIO)


@pytest.mark.lab
@every_shape
def test_twice_the_input_byte_by_byte_takes_about_twice_the_time(shape: Shape) -> None:
    assert_ratio(shape, 256 * KB, 512 * KB, BYTES, RATIO)


def peak(shape: Shape, size: int) -> tuple[int, int]:
    """Return the length of the text, and the cost of reading it in a separate process."""
    command = [sys.executable, "-m", "tests.support.hostile", shape.title, str(size)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=600)
    length, needed = done.stdout.split()
    return int(length), int(needed)


@pytest.mark.lab
@every_shape
def test_memory_is_a_multiple_of_the_input(shape: Shape) -> None:
    length, needed = peak(shape, 16 * MB if shape.is_named else 2 * MB)
    assert needed <= LARGEST_MULTIPLE * length + CONSTANT


HOLDS_NOTHING: list[tuple[str, Callable[[Shape], bool]]] = [
    ("openchatml-2.2", lambda shape: shape.name in ("unclosed literals", "starts", "a header that is one word")),
    ("events", lambda shape: shape.name == "lines that are no events"),
    ("openchatml-0.1", lambda shape: shape.name == "stray text"),
]


@pytest.mark.share(test=2)
@pytest.mark.parametrize(
    "shape",
    [shape for shape in SHAPES if any(shape.format == name and holds(shape) for name, holds in HOLDS_NOTHING)],
    ids=lambda shape: shape.title,
)
def test_a_single_message_or_none_needs_little_memory(shape: Shape) -> None:
    length, needed = peak(shape, 4 * MB)
    assert needed <= 8 * length + CONSTANT


def test_shapes_have_distinct_titles() -> None:
    assert len({shape.title for shape in SHAPES}) == len(SHAPES)
