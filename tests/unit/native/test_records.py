"""A record program matches the same bytes as the equivalent pattern."""

from __future__ import annotations

import random
from array import array

from tests.support.native import EVERY_LEVEL, NUMPY, accelerator, needs_native, using
from tests.support.native_records import assert_records, assert_steps, assert_texts, hostile, in_strings
from tests.support.native_rows import assert_string_objects
from tests.unit.native.test_objects import bodies_for
from viewer.scan.records import Saying, ShapePrograms, Step, items, literal, match_records, step
from viewer.scan.text_signs import SIGNS, places_with_signs, signs_of

pytestmark = needs_native


@EVERY_LEVEL
def test_each_step_equals_its_pattern(levels: tuple[str, ...]) -> None:
    chance = random.Random(1)
    for level in levels:
        with using(level):
            assert sum(assert_steps(hostile(chance)) for _ in range(150)) > 1000
    for text in in_strings():
        assert_steps(text)


def test_the_first_program_that_matches_is_taken_and_tried_first_next_time() -> None:
    chance = random.Random(2)
    for _ in range(300):
        assert_records(chance)


@EVERY_LEVEL
def test_objects_in_strings_have_the_flags_of_their_text(levels: tuple[str, ...]) -> None:
    for level in levels:
        with using(level):
            assert assert_string_objects(bodies_for(random.Random(3), 1500)) > 500


@EVERY_LEVEL
def test_joined_texts_are_those_of_their_parts(levels: tuple[str, ...]) -> None:
    chance = random.Random(4)
    for level in levels:
        with using(level):
            assert assert_texts(chance) > 1000


def test_numbers_out_of_bounds_are_refused() -> None:
    native, data = accelerator(), b'"a""b"'
    text, record = step(Step.TEXT), items(None)
    good = ShapePrograms([text], [[Saying(1, 1, 0, 0, 0, 0)]])
    assert len(match_records(native, data, 0, 0, good, [0], 0, [record], 9, (9, 9))) == 2
    for saying in (
        Saying(1, 3, 0, 0, 0, 0),
        Saying(1, 0, 0, 0, 0, 0),
        Saying(1, 1, 9, 0, 0, 0),
        Saying(1, 1, 0, 0, 0, 1),
    ):
        shapes = ShapePrograms([text], [[saying]])
        assert not len(match_records(native, data, 0, 0, shapes, [0], 0, [record], 9, (9, 9)))
    for at, nexts, last in (
        (7, [0], 0),
        (-1, [0], 0),
        (0, [1], 0),
        (0, [-1], 0),
        (0, [0, 0], 0),
        (0, [0], 1),
        (0, [0], -1),
    ):
        assert not len(match_records(native, data, at, 0, good, nexts, last, [record], 9, (9, 9)))
    for program in (
        b"\x63",
        b"\0",
        b"\0\xff\xff\xff\xff",
        b"\x0e\1",
        step(Step.CLOSES),
        literal(b"x" * 9),
        step(Step.TEXT),
    ):
        assert not len(match_records(native, data, 0, 0, good, [0], 0, [program], 9, (9, 9)))
    assert not len(match_records(native, data, 0, 0, good, [0], 0, [record], 9, (2, 9)))
    assert not len(match_records(native, data, 0, 0, good, [0], 0, [items(b"") + record], 9, (9, 9)))
    for bounds in ((0, 9), (-1, 2), (3, 2)):
        assert native.string_objects(data, array("q", bounds), b"\1") == b"\0"
    assert native.string_objects(data, array("q", (0, 2, 0, 2)), b"\0") == b"\0\0"


def test_signs_are_found_as_in_one_pass_over_the_strings() -> None:
    chance = random.Random(4)
    for _ in range(400):
        words = [*chance.sample(sorted(SIGNS), 3), b"x", b" ", "é".encode(), b"<", b"&", b"[", b"~", b"`"]
        strings = [b"".join(chance.choices(words, k=chance.randrange(5))) for _ in range(6)]
        strings = [chance.choice((bytes.upper, bytes.lower, bytes))(one) for one in strings]
        block, texts, at = b", ".join(strings), array("q"), 0
        for one in strings:
            texts.extend((at, at, at + len(one)))
            at += len(one) + 2
        with using(NUMPY):
            wanted = places_with_signs(block, texts[0::3], texts[2::3], set())
        assert places_with_signs(block, texts[0::3], texts[2::3], set()) == wanted, block
        found = signs_of(accelerator(), memoryview(block), texts, bytes(6))
        assert found is not None and {place for place, flag in enumerate(found) if flag} == wanted, block
    assert signs_of(accelerator(), memoryview(b"\xff"), array("q", (0, 0, 1)), b"\0") is None
