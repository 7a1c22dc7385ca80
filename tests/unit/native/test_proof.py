"""`prove` finds the same header lines and literal tokens as the search without the accelerator."""

from __future__ import annotations

import random

import pytest

from tests.support.native import EVERY_LEVEL, accelerator, needs_native, using
from viewer import native
from viewer.scan.end_proof import EndProof

pytestmark = needs_native
PARTS = (
    *(b"<|start|>", b"<|channel|>", b"<|message|>", b"<|end|>", b"<|return|>", b"<|call|>", b"<", b"{", b" ", b"\t"),
    *(b"\n---", b"\n--", b"\nversion", b"\nvers", b'\n"version', b"\n'version", b"literal|>", b"literal|", b"\n", b"x"),
    *(
        b"<|endliteral|>",
        b"\n\r",
        b"\nuser<|message|>text\n",
        b"words ",
        b"\n{<|message|>",
        b"\n <|message|>\n---",
        b"\n <<|start|>\n---",
    ),
)
STEP = 128 * 1024
"""The accelerator searches this many bytes at a time."""


def assert_proofs(chance: random.Random, count: int) -> None:
    for _ in range(count):
        data = b"".join(chance.choices(PARTS, k=chance.choice((1, 4, 4, 20))))
        if chance.random() < 0.1:
            far = b"\nuser<|message|>" + b"." * (STEP - chance.randrange(60)) + b"\n---\n"
            data = far + data if chance.random() < 0.5 else far.replace(b"\n---", b"<|message|>") + data
        after = data.find(b"\n---") + len(b"\n---")
        first = chance.choice((0, 1, 3, 9, after, after + 1, chance.randrange(len(data) + 1)))
        for back in (0, 7, 20, 64 * 1024):
            (header, literal), wanted = accelerator().prove(data, first, back), expected(data, first, back)
            assert header == wanted[0], (data, first, back)
            assert header >= 0 or literal == wanted[1], (data, first, back)


def expected(data: bytes, first: int, back: int) -> tuple[int, int]:
    """Return what the search without the accelerator finds, with the same reach."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "load", lambda: None)
        patched.setattr("viewer.scan.end_proof._BACK", back)
        patched.setattr("viewer.scan.end_proof._SIGNS", (b"\nversion", b'\n"version', b"\n'version", b"\n---"))
        proof = EndProof(lambda start, end: data[start:end], len(data), is_harmony=False)
        literals = [at for at in proof._literals(data, first) if at + len(b"literal|>") > first]
        return min(proof._headers(data, first), default=-1), max(literals, default=-1)


@EVERY_LEVEL
def test_lines_and_literals_are_found_as_without_the_accelerator(levels: tuple[str, ...]) -> None:
    for level in levels:
        with using(level):
            assert_proofs(random.Random(level), 400)


def test_bounds_that_make_no_sense_find_nothing() -> None:
    for first, back in ((-1, 5), (0, -1), (50, 5)):
        assert accelerator().prove(b"\n---\nliteral|>", first, back) == (-1, -1)
