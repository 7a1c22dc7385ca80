"""Checks of text: the bytes that may begin a hidden character, and thoughts in formats that put them first."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.reading import codes, read
from tests.unit.syntax.test_characters import kinds_of_all_code_points
from viewer.checks.text import CONTROLS
from viewer.reading.bodies import verbatim_body
from viewer.reading.hidden_spans import hidden_blocks
from viewer.reading.template_marks import ESCAPABLE_MARKS, MARK_PAIRS, TEXT_SIGNS
from viewer.syntax.characters import HIDING_LEADS

THOUGHTS = [
    ("<think>a</think>b", 0),
    ("<think>a</think><think>b</think>c", 0),
    ("a<think>b</think>c", 0),
    ("text\n<think>b</think>c", 1),
    ("<think>a</think>b\n<think>c</think>d", 1),
    ("a</think>b", 0),
    ("</think>a</think>b", 1),
]


@pytest.mark.slow
def test_the_prefilter_knows_the_first_byte_of_every_hidden_character() -> None:
    hidden = [chr(code).encode() for code in kinds_of_all_code_points()]
    assert {data[0] for data in hidden if data[0] >= 0x80} == set(HIDING_LEADS)
    assert {data[0] for data in hidden if data[0] < 0x80} - {ord("\r")} == set(CONTROLS)


def token(name: str) -> dict[str, str]:
    return {"token": f"<|{name}|>"}


@pytest.mark.parametrize(("content", "count"), THOUGHTS)
def test_a_thought_after_text_is_reported_where_thoughts_come_first(content: str, count: int) -> None:
    parts = [token("start"), "assistant", token("message"), content, token("end_message")]
    found = codes(read(json.dumps(parts), "chatml-json"))
    assert found.count("E-PERM-VISIBILITY/cot-in-final") == count, found


@pytest.mark.slow
def test_every_body_with_a_hidden_part_has_a_sign() -> None:
    """A token that belongs to no template, as in code about tokens, does not count as a sign."""
    chance = random.Random(5)
    marks = [mark for pair in MARK_PAIRS[1:] for mark in (*pair.opens, *pair.closes)]
    turn = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"
    escaped = (mark.decode() for mark in ESCAPABLE_MARKS)
    pieces = [*marks, turn, *escaped, "text", "\n", "<|im_start|>", "<|$x|>", "a <| b", "<|endoftext|>"]
    found = 0
    for _ in range(3000):
        body = verbatim_body("".join(chance.choices(pieces, k=4)).encode(), 0)
        has_sign = any(sign.lower() in body.data.lower() for sign in TEXT_SIGNS)
        is_hiding = any(hidden_blocks(body, role) for role in ("assistant", "user"))
        assert has_sign or not is_hiding, body.data
        found += is_hiding
    assert found > 1000
    assert not any(sign.lower() in b"<|im_start|>user <|fim_prefix|> sum <| f <|endoftext|>" for sign in TEXT_SIGNS)
