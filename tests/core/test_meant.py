"""Where bytes of the input stand in the text that a body means."""

from __future__ import annotations

import pytest

from viewer.core.bodies import read_body
from viewer.core.meant import characters_of
from viewer.core.messages import Coding, Piece


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
def test_the_same_words_are_found_in_what_was_meant(written: str, coding: Coding, marked: str, meant: str) -> None:
    data = written.encode()
    body = read_body((Piece(0, len(data), coding),), lambda start, end: data[start:end])
    start = data.index(marked.encode())
    first, last = characters_of(body, (start, start + len(marked.encode()))) or (0, 0)
    assert body.text[first:last] == meant


def test_what_is_elsewhere_has_no_place() -> None:
    data = b"before body after"
    body = read_body((Piece(7, 11, Coding.PLAIN),), lambda start, end: data[start:end])
    assert characters_of(body, (7, 11)) == (0, 4)
    assert characters_of(body, (0, 6)) is None
    assert characters_of(body, (8, 17)) is None
    nothing = read_body((), lambda start, end: data[start:end])
    assert characters_of(nothing, (7, 11)) is None
