"""Checks of text: the bytes that may begin a hidden character, and thoughts in formats that put them first."""

from __future__ import annotations

import json

import pytest

from tests.support.reading import codes, read
from tests.unit.syntax.test_characters import kinds_of_all_code_points
from viewer.checks.text import CONTROLS
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
