"""Surrogate pairs that are split between two strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.event_cases import body_of, delta, done, lines, read
from viewer.document.vault import body_blocks
from viewer.model.events import Closed
from viewer.model.messages import Coding, Ending, Header, Message, Piece
from viewer.reading.bodies import Body, read_body

FACE = "\U0001f600"


def strings(*parts: str) -> tuple[bytes, tuple[Piece, ...]]:
    """Return JSON strings with these contents, one after another with a byte in between, and their pieces."""
    data, pieces = b"", []
    for part in parts:
        raw = b'"' + part.encode() + b'"'
        pieces.append(Piece(len(data), len(data) + len(raw), Coding.JSON_STRING))
        data += raw + b","
    return data, tuple(pieces)


def body(*parts: str) -> tuple[bytes, Body]:
    data, pieces = strings(*parts)
    return data, read_body(pieces, lambda start, end: data[start:end])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((r"a\ud83d", r"\ude00b"), f"a{FACE}b"),
        ((r"\uD83D", r"\uDE00", r"\ud83d", r"\ude00"), FACE * 2),
        ((r"\ud83d", "", r"\ude00"), FACE),
        ((r"\ud83d", "x"), "�x"),
        ((r"\ud83d",), "�"),
        ((r"\ud83d", r"\ud83d", r"\ude00"), f"�{FACE}"),
        ((r"a\ude00", "b"), "a�b"),
        ((r"\ude00\ud83d",), "��"),
        ((r"\ud83d", r"\ude00\ude00"), f"{FACE}�"),
        ((r"\\ud83d", r"\ude00"), r"\ud83d�"),
    ],
)
def test_surrogate_halves_become_one_character(parts: tuple[str, ...], text: str) -> None:
    assert body(*parts)[1].text == text


def test_positions_lead_back_to_both_strings() -> None:
    data, read_ = body(r"ab\ud83d", r"\ude00c\nd")
    face = read_.data.index(FACE.encode())
    assert data[slice(*read_.source_span(face, face + 4))] == rb'\ud83d","\ude00'
    assert data[slice(*read_.source_span(0, 2))] == b"ab"
    for mark, source in ((b"c", b"c"), (b"\n", rb"\n"), (b"d", b"d")):
        at = read_.data.index(mark)
        assert data[slice(*read_.source_span(at, at + 1))] == source


@pytest.mark.parametrize("between", [[], [{"type": "response.in_progress"}]])
def test_two_deltas_make_one_character(between: list[dict[str, object]]) -> None:
    high, low = (f'{{"type":"response.delta","delta":"{half}"}}\n'.encode() for half in (r"Hi \ud83d", r"\ude00!"))
    data = high + lines(*between) + low + lines(done("response.done"))
    (message,) = [event.message for event in read([data]) if isinstance(event, Closed)]
    assert body_of(message, data) == f"Hi {FACE}!"


def test_a_break_between_halves_keeps_them_apart() -> None:
    high, low = (f'{{"type":"response.delta","delta":"{half}"}}\n'.encode() for half in (r"\ud83d", r"\ude00"))
    data = high + lines({"type": "response.delta.flush"}) + low + lines(delta("."), done("response.done"))
    (message,) = [event.message for event in read([data]) if isinstance(event, Closed)]
    assert body_of(message, data) == "�\n\n�."


def utf_16(text: str) -> list[str]:
    raw = text.encode("utf-16-le", "surrogatepass")
    return [f"\\u{int.from_bytes(raw[at : at + 2], 'little'):04x}" for at in range(0, len(raw), 2)]


@pytest.mark.slow
@given(st.text(max_size=12), st.data())
def test_however_escapes_are_cut_the_text_is_the_same(text: str, draw: st.DataObject) -> None:
    escapes = utf_16(text)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(escapes)), max_size=6)))
    parts = ["".join(escapes[low:high]) for low, high in zip([0, *cuts], [*cuts, len(escapes)], strict=True)]
    data, pieces = strings(*parts)
    assert read_body(pieces, lambda start, end: data[start:end]).text == text
    blocks = body_blocks(_message(pieces), lambda start, end: data[start:end], str, cuts=False)
    assert "".join(blocks) == text


def _message(pieces: tuple[Piece, ...]) -> Message:
    return Message(1, 1, Header("user"), Ending.END, (0, 0), pieces)
