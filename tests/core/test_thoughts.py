"""Thoughts in a message that still grows: what is shown stays shown, and nothing of a thought is."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from viewer.core.bodies import Body, read_body
from viewer.core.messages import Coding, Piece
from viewer.core.thoughts import text_so_far, without_thoughts, without_thoughts_so_far

MARKS = ["<think>", "</think>", "<THINKING>", "</thinking>", "<|start_reason|>", "<|end_reason|>", "<|end_reflect|>"]
PARTS = st.lists(
    st.sampled_from([*MARKS, "<<|start_reason|>", "<", "a", " ", "\n", "é", "😀", "<|", "</"]), max_size=12
)
TAG = re.compile("<(/?)think(?:ing)?>", re.IGNORECASE)


def body_of(data: bytes) -> Body:
    return read_body((Piece(0, len(data), Coding.ESCAPED),), lambda start, end: data[start:end])


@given(PARTS)
def test_what_is_shown_stays_shown(parts: list[str]) -> None:
    text = "".join(parts)
    first = TAG.search(text)
    assume(not first or not first[1])  # that all was a thought is known only when the closing tag comes
    data = text.encode()
    settled = without_thoughts(body_of(data))
    for length in range(len(data) + 1):
        assert settled.startswith(without_thoughts_so_far(body_of(data[:length]))), data[:length]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", ""),
        ("a", "a"),
        ("<", ""),
        ("<thin", ""),
        ("<THINKIN", ""),
        ("a</thi", "a"),
        ("a<|start_re", "a"),
        ("a<|end_introspec", "a"),
        ("a <b", "a <b"),
        ("<think>x</think>b", "b"),
        ("<think>x<think>y</think>z", ""),
        ("x</think>b", "b"),
        ("a<|start_reason|>x<|end_reason|>b<", "ab"),
        ("a<|start_reason|>x<|end_rea", "a"),
    ],
)
def test_so_much_is_certain(written: str, shown: str) -> None:
    assert without_thoughts_so_far(body_of(written.encode())) == shown


def test_a_character_that_has_only_begun_waits() -> None:
    data = "a€".encode()
    assert [text_so_far(body_of(data[:length])) for length in range(5)] == ["", "a", "a", "a", "a€"]
    assert text_so_far(body_of(b"a\xffb")) == "a\ufffdb"
