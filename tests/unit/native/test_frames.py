"""`frames` returns the rows that the definition requires and that NumPy finds, at each level and block boundary."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.laws.test_scan_equals_parse import HEADER, ODD, TURNS
from tests.support.hostile import SHAPES
from tests.support.native import LEVELS, accelerator, needs_native, using
from tests.support.native_rows import assert_as_numpy, assert_defined, table_of
from viewer.scan.blocks import ENDINGS
from viewer.scan.headers import IRREGULAR
from viewer.scan.native_frames import ROW

pytestmark = needs_native

SOUP = [
    *(f"<|{name}|>".encode() for name in ("start", "start", "message", "message", "end", "end", "return", "call")),
    *(f"<|{name}|>".encode() for name in ("channel", "constrain", "literal", "endliteral", "im_end", "endoftext")),
    *(b"<|", b"<", b"|>", b"<|start", b"<|messag", b"<|messages|>", b"<|constrainX", b"<|endliteral", b"<|end |>"),
    *(
        b"user",
        b"assistant to=f",
        b" call_id=c1",
        b" call_id=",
        b"=",
        b"call_id=x",
        b" call_id=" + b"c" * 64,
        b"c" * 70,
    ),
    *(b" ", b"\n", b"\r\n\t", b" " * 63, b"text", b"\xff\0", "é😀".encode()),
    *([b"<|start|>user<|message|>a<|end|>\n", b"<|start|>assistant to=f call_id=c2<|message|>{}<|call|>"] * 2),
]


def soup(chance: random.Random) -> bytes:
    return b"".join(chance.choices(SOUP, k=chance.choice((1, 3, 8, 20, 60))))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_random_blocks_have_the_rows_of_the_definition_and_of_numpy(level: str) -> None:
    chance = random.Random(level)
    with using(level):
        for _ in range(400):
            data = soup(chance)
            assert_defined(data)
            assert_as_numpy(data)


@pytest.mark.share(test=2)
@pytest.mark.parametrize("level", LEVELS)
def test_every_cut_of_a_document_has_the_rows_of_numpy(level: str) -> None:
    text = HEADER + TURNS[:400] + b"".join(soup(random.Random(seed)) for seed in range(5)) + TURNS[:150]
    with using(level):
        for cut in range(0, len(text), 5 if level == LEVELS[-1] else 35):
            assert_as_numpy(text[:cut])
            assert_as_numpy(text[cut:])


@pytest.mark.slow
def test_odd_documents_and_hostile_shapes_have_the_rows_of_numpy() -> None:
    for level in LEVELS:
        with using(level):
            for data in (*ODD.values(), *(shape.text(600) for shape in SHAPES)):
                assert_as_numpy(TURNS[:300] + data + TURNS[:300])


def test_white_space_of_any_length_between_frames_is_as_with_numpy() -> None:
    frame = b"<|start|>user<|message|>a<|end|>"
    for gap in (b"", b" ", b"x", b" x", b"\n\n", b" " * 64, b" " * 65, b" " * 63 + b"x", b"<", b"<|", b"<|x|>"):
        assert_as_numpy(frame + gap + frame + gap)


def test_there_are_at_most_3000_kinds_in_a_block() -> None:
    data = b"".join(b"<|start|>user name=%d call_id=c1<|message|>a<|end|>" % number for number in range(3100)) * 2
    kinds = table_of(data)["kind"]
    assert kinds[:3000].tolist() == kinds[3100:6100].tolist() == list(range(3000))
    assert set(kinds[3000:3100].tolist() + kinds[6100:].tolist()) == {IRREGULAR}


def slot_of(words: bytes) -> int:
    """Return where the source looks up the kind of a header without a call ID."""
    value = len(words)
    for at in range(0, len(words), 8):
        value = (value ^ int.from_bytes(words[at : at + 8], "little")) * 0x9E3779B97F4A7C15 % (1 << 64)
        value ^= value >> 29
    return value % 8192


def test_words_that_were_chosen_to_collide_are_irregular() -> None:
    numbers = (number for number in range(10**6) if slot_of(b"user name=%d" % number) < 4)
    data = b"".join(b"<|start|>user name=%d<|message|>a<|end|>" % number for number in islice(numbers, 90))
    kinds = table_of(data * 2)["kind"].tolist()
    assert kinds[:64] == list(range(64)) and kinds[90:] == kinds[:90]
    assert kinds[:90].count(IRREGULAR) in range(22, 27)


def test_long_words_and_long_call_ids_are_irregular_or_words() -> None:
    frame = b"<|start|>user call_id=%s<|message|>a<|end|>"
    for size in (1, 64, 65, 180, 190, 65_535, 65_536, 70_000):
        row = table_of(frame % (b"c" * size))[0]
        assert row["id_length"] == (size if size <= 64 else 0)
        assert (row["kind"] >= 0) == (len(b"user call_id=") + size <= 192)


def test_the_endings_are_those_of_numpy() -> None:
    stops = b"".join(b"<|start|>user<|message|>a<|%s|>" % stop.encode() for stop in ("end", "return", "call"))
    assert table_of(stops)["ending"].tolist() == [*range(len(ENDINGS))]


def test_a_row_has_48_bytes() -> None:
    assert ROW.itemsize == 48
    with pytest.raises(TypeError):
        accelerator().frames("text", 0, False)  # type: ignore[arg-type]
