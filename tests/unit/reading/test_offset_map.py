"""Offset maps: from bytes of the input to positions in the decoded text of a body."""

from __future__ import annotations

import pytest

from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, read_body
from viewer.reading.offset_map import all_characters_of, characters_of


@pytest.mark.parametrize(
    ("written", "coding", "marked", "meant"),
    [
        ("a light rain", Coding.PLAIN, "light", "light"),
        ("é light é", Coding.PLAIN, "light", "light"),
        ("<<|end|> light", Coding.ESCAPED, "light", "light"),
        ("<<|end|> light", Coding.ESCAPED, "<|end|>", "<|end|>"),
        ("a<|literal|>light<|endliteral|>b", Coding.ESCAPED, "light", "light"),
        (r'"\u00e9 light"', Coding.JSON_STRING, "light", "light"),
        (r'"\n\u00e9 light"', Coding.JSON_STRING, r"\u00e9", "é"),
        (r'"plain light"', Coding.JSON_STRING, "light", "light"),
    ],
)
def test_the_same_words_are_found_in_the_decoded_text(written: str, coding: Coding, marked: str, meant: str) -> None:
    data = written.encode()
    body = read_body((Piece(0, len(data), coding),), lambda start, end: data[start:end])
    start = data.index(marked.encode())
    first, last = characters_of(body, (start, start + len(marked.encode()))) or (0, 0)
    assert body.text[first:last] == meant


def test_text_outside_the_body_has_no_position() -> None:
    data = b"before body after"
    body = read_body((Piece(7, 11, Coding.PLAIN),), lambda start, end: data[start:end])
    assert characters_of(body, (7, 11)) == (0, 4)
    assert characters_of(body, (0, 6)) is None
    assert characters_of(body, (8, 17)) is None
    nothing = read_body((), lambda start, end: data[start:end])
    assert characters_of(nothing, (7, 11)) is None


def one_by_one(body: Body, span: tuple[int, int]) -> tuple[int, int] | None:
    """Map by definition: scan all runs, and decode everything before the span."""
    meant = []
    for source in span:
        runs = [run for run in body.runs if run.source <= source <= run.source + run.source_length]
        if not runs:
            return None
        meant.append(runs[0].at + min(source - runs[0].source, runs[0].length))
    first, last = (len(body.data[:place].decode("utf-8", "replace")) for place in meant)
    return first, max(first, last)


@pytest.mark.slow
def test_many_spans_are_found_like_single_ones() -> None:
    text = "aä<|literal|>€x<|endliteral|><<|end|>🙂\n".encode() * 5 + b"\xf0\x9f z"
    body = read_body((Piece(100, 100 + len(text), Coding.ESCAPED),), lambda start, end: text[start - 100 : end - 100])
    ends = range(95, 105 + len(text))
    spans = [(start, end) for start in ends for end in ends if start <= end]
    assert all_characters_of(body, spans) == [one_by_one(body, span) for span in spans]


def test_runs_out_of_order_are_found_too() -> None:
    text = b"later earlier"
    body = read_body((Piece(6, 13, Coding.PLAIN), Piece(0, 5, Coding.PLAIN)), lambda start, end: text[start:end])
    assert all_characters_of(body, [(0, 5), (6, 13), (7, 8)]) == [(7, 12), (0, 7), (1, 2)]
