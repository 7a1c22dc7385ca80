"""Decoded bodies, and the map back to the bytes of the input."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, read_body
from viewer.reading.thoughts import thought_spans, without_thoughts


def body_of(text: str, coding: Coding = Coding.ESCAPED) -> Body:
    data = text.encode()
    return read_body((Piece(0, len(data), coding),), lambda start, end: data[start:end])


ESCAPED = [
    ("plain", "plain"),
    ("<<|start|>", "<|start|>"),
    ("<<<|end|>", "<<|end|>"),
    ("<<<<|end|>", "<<<|end|>"),
    ("<<|start_reason|>", "<|start_reason|>"),
    ("<<|other|>", "<<|other|>"),
    ("a<|literal|><|start|> <<|end|><|endliteral|>b", "a<|start|> <<|end|>b"),
    ("a<|literal|>open <|end|>", "aopen <|end|>"),
    ("a<|endliteral|>b", "a<|endliteral|>b"),
    ("<<|literal|>x", "<|literal|>x"),
    ("<|literal|><|literal|><|endliteral|>x", "<|literal|>x"),
    ("", ""),
]


@each("written, meant", ESCAPED)
def test_escapes_are_undone_and_markers_of_literals_dropped(written: str, meant: str) -> None:
    assert body_of(written).text == meant
    assert body_of(written, Coding.PLAIN).text == written


def test_pieces_are_joined() -> None:
    data = b'ab"c\\nd"'
    pieces = (Piece(0, 2, Coding.PLAIN), Piece(0, 1, Coding.BREAK), Piece(2, 8, Coding.JSON_STRING))
    body = read_body(pieces, lambda start, end: data[start:end])
    assert body.text == "ab\n\nc\nd"


def test_character_references_are_undone_once() -> None:
    data = rb"a &amp; b&#x27;s\n&amp;lt; &nbsp; &#128512;\ud83d\ude00 &#0;&"
    body = read_body((Piece(0, len(data), Coding.HTML_TEXT),), lambda start, end: data[start:end])
    assert body.text == "a & b's\n&lt; &nbsp; \U0001f600\U0001f600 \ufffd&"
    for start, end in itertools.combinations(range(len(body.data) + 1), 2):
        part = read_body(tuple(body.pieces(start, end)), lambda first, last: data[first:last]).data
        assert body.data[start:end] in part, (start, end)


def test_ill_formed_bytes_are_replaced_one_by_one() -> None:
    data = b"a\xff\xfe\xe2\x82z"
    body = read_body((Piece(0, len(data), Coding.PLAIN),), lambda start, end: data[start:end])
    assert body.text == "a\ufffd\ufffd\ufffdz"


@pytest.mark.parametrize(
    ("written", "meant", "source"),
    [
        ("ab<<|end|>cd", "cd", "cd"),
        ("ab<<|end|>cd", "<|end|>", "<|end|>"),
        ("a<|literal|>bc<|endliteral|>d", "bc", "bc"),
        ("a<|literal|>bc<|endliteral|>d", "cd", "c<|endliteral|>d"),
    ],
)
def test_a_span_of_decoded_text_is_found_in_the_input(written: str, meant: str, source: str) -> None:
    body = body_of(written)
    at = body.data.index(meant.encode())
    start, end = body.source_span(at, at + len(meant))
    assert written[start:end] == source


JSON_PLACES = [
    ('"a\\nbc"', "bc", "bc"),
    ('"a\\nbc"', "\n", "\\n"),
    ('"a\\u00e9bc"', "é", "\\u00e9"),
    ('"\\ud83d\\ude00bc"', "😀", "\\ud83d\\ude00"),
    ('"\\ud83d\\ude00bc"', "c", "c"),
    ('"é\\"bc"', "bc", "bc"),
    ('“a\\nbc"', "bc", "bc"),
]


@pytest.mark.parametrize(("written", "meant", "source"), JSON_PLACES)
def test_a_span_inside_a_json_string_is_found_too(written: str, meant: str, source: str) -> None:
    body = body_of(written, Coding.JSON_STRING)
    at = body.data.index(meant.encode())
    start, end = body.source_span(at, at + len(meant.encode()))
    assert written.encode()[start:end].decode() == source


@pytest.mark.slow
@given(st.lists(st.sampled_from(["<", "<|end|>", "<|literal|>", "<|endliteral|>", "<|start_reason|>", "a", "é"])))
def test_spans_never_leave_the_body(parts: list[str]) -> None:
    text = "".join(parts)
    body = body_of(text)
    for at in range(len(body.data)):
        start, end = body.source_span(at, at + 1)
        assert 0 <= start < end <= len(text.encode())
        assert text.encode()[start] == body.data[at]


THOUGHTS = [
    ("no thoughts", "no thoughts"),
    ("a<|start_reason|>x<|end_reason|>b", "ab"),
    ("a<|start_reason|>x", "a"),
    ("a<|start_reason|>x<|start_reflect|>y<|end_reflect|>b", "a"),
    ("a<|start_reason|>x<|end_reflect|>b", "a"),
    ("a<|end_reason|>b", "b"),
    ("a<<|start_reason|>x<<|end_reason|>b", "a<|start_reason|>x<|end_reason|>b"),
    ("a<|literal|><|start_reason|>x<|endliteral|>b", "a<|start_reason|>xb"),
    ("<think>x</think>b", "b"),
    (" \n<THINKING>x</thinking>b", "b"),
    ("<think>x", ""),
    ("x</think>b", "b"),
    ("a <think>x</think>b", "a <think>x</think>b"),
    ("<think>x<think>y</think>z</think>b", "b"),
    ("<think>x<think>y</think>b", "b"),
    ("<think>x</think> <think>y</think>b", "b"),
    ("<think>x</think>use </think> to close", " to close"),
    ("<literal><think>", "<literal>"),
    ("<|literal|><think>x</think><|endliteral|>b", "<think>x</think>b"),
    ("<think>x<|start_reason|>y</think>z<|end_reason|>b", "b"),
]


@each("written, left", THOUGHTS)
def test_thoughts_are_cut_out(written: str, left: str) -> None:
    assert without_thoughts(body_of(written)) == left


def test_the_spans_of_thoughts_are_apart_and_in_order() -> None:
    spans = thought_spans(body_of("<think>x</think>a<|start_reason|>b<|end_reason|>c<|start_reflect|>d"))
    assert spans == sorted(spans)
    assert all(first[1] < second[0] for first, second in itertools.pairwise(spans))
