"""Thoughts in a growing message: shown text stays shown, and no part of a thought is shown."""

from __future__ import annotations

from tests.support.cases import each
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, read_body
from viewer.reading.thoughts import text_so_far, without_thoughts_so_far


def body_of(data: bytes) -> Body:
    return read_body((Piece(0, len(data), Coding.ESCAPED),), lambda start, end: data[start:end])


@each(
    "written, shown",
    [
        ("", ""),
        ("a", "a"),
        ("<", ""),
        ("<thin", ""),
        ("a[THI", "a"),
        ('a<think time="3', "a"),
        ("a<think about", "a"),
        ("a <think>x", "a "),
        ("a <think>x</think>b", "a <think>x</think>b"),
        ("<THINKIN", ""),
        ("a</thi", "a"),
        ("a<|start_re", "a"),
        ("a<|end_introspec", "a"),
        ("a <y", "a <y"),
        ("<think>x</think>b", "b"),
        ("<think>x<think>y</think>z", ""),
        ("x</think>b", "b"),
        ("a<|start_reason|>x<|end_reason|>b<", "ab"),
        ("a<|start_reason|>x<|end_rea", "a"),
        ("a\n[REASO", "a\n"),
        ("a\n[Analysis]\nx", "a\n"),
        ("a\n< th", "a\n"),
        ("a＜thin", "a"),
        ("a\n:::thin", "a\n"),
        ("a\n:", "a\n"),
        ("a:", "a:"),
        ("a\\u003cth", "a"),
        ("a 【新", "a 【新"),
    ],
)
def test_only_certain_text_is_shown(written: str, shown: str) -> None:
    assert without_thoughts_so_far(body_of(written.encode())) == shown


def test_an_incomplete_character_waits() -> None:
    data = "a€".encode()
    assert [text_so_far(body_of(data[:length])) for length in range(5)] == ["", "a", "a", "a", "a€"]
    assert text_so_far(body_of(b"a\xffb")) == "a\ufffdb"
