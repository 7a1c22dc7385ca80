"""Ill-formed UTF-8 is found exactly where Python's decoder puts U+FFFD."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.syntax import utf8
from viewer.syntax.utf8 import ill_formed, is_utf8

EDGES = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF]
LEADS = [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]


def replaced(data: bytes) -> str:
    """Return the text of the spans."""
    parts, position = [], 0
    for start, end in ill_formed(data):
        assert position <= start < end <= len(data)
        parts += [data[position:start].decode(), "\ufffd"]
        position = end
    return "".join([*parts, data[position:].decode()])


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_every_combination_of_edge_bytes_reads_as_python_reads_it(length: int) -> None:
    for values in itertools.product(
        [*EDGES, *LEADS] if length < 4 else [0x41, 0x80, 0x90, 0xBF, *LEADS], repeat=length
    ):
        data = bytes(values)
        assert replaced(data) == data.decode("utf-8", "replace"), data


@given(st.binary(max_size=40))
def test_any_bytes_read_as_python_reads_them(data: bytes) -> None:
    assert replaced(data) == data.decode("utf-8", "replace")


def test_positions_count_from_the_base() -> None:
    assert list(ill_formed(b"a\xe2\x82b\xff", 100)) == [(101, 103), (104, 105)]
    assert list(ill_formed("gut, 漢字 🐈".encode(), 100)) == []


@pytest.mark.share(test=3)
@pytest.mark.parametrize("unit", [b"\xff", b"\xe2\x82", b"a\x80", "é\N{CAT}".encode() + b"\xf0"])
def test_hostile_bytes_take_linear_time(unit: bytes) -> None:
    begun = time.process_time()
    for _ in ill_formed(unit * (1_000_000 // len(unit))):
        pass
    assert time.process_time() - begun < 3


@pytest.mark.share(quick=8)
@pytest.mark.parametrize("longest", [1, 2, 3, 4, 5])
def test_long_text_is_well_formed_if_python_decodes_it(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utf8, "LONGEST_DECODED", longest)
    for values in itertools.product([0x41, 0x80, 0x90, 0xBF, *LEADS], repeat=4):
        for data in (bytes(values), b"ab" + bytes(values) + b"c", "a\u00e9\u6f22\N{CAT}".encode() + bytes(values)):
            assert is_utf8(data) is (data.decode("utf-8", "ignore").encode() == data), data
