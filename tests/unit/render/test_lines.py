"""Widths, wrapping, tabs, and marks."""

from __future__ import annotations

from unicodedata import category, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.character_rows import has_one_cell_each
from viewer.render.layout import lay_out
from viewer.render.sanitize import SafeText
from viewer.render.width import cells, clusters_at, cut, lines_of, plain_line, wrap

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@each(
    "text, width",
    [
        ("", 0),
        ("plain", 5),
        ("日本", 4),
        ("e\u0301", 1),
        (FAMILY, 2),
        ("❤\ufe0f", 2),
        ("👍🏽", 2),
        ("🇯🇵", 2),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("naïve…", 6),
    ],
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a abcdefgh", 4, ["a", "abcd", "efgh"]),
        ("    indented text", 10, ["    ", "indented", "text"]),
        ("日本語日本語", 5, ["日本", "語日", "本語"]),
        ("größer als zuvor", 8, ["größer", "als", "zuvor"]),
    ],
)
def test_wrapping(line: str, width: int, rows: list[str]) -> None:
    assert [row.rstrip(" ") for row in wrap(SafeText(line), width)] == [row.rstrip(" ") for row in rows]


@pytest.mark.slow
@given(st.text(alphabet="ab  é日\u0301" + FAMILY, max_size=60), st.integers(4, 20))
def test_every_row_fits_and_no_word_is_lost(text: str, width: int) -> None:
    line = plain_line(SafeText(text))
    rows = list(wrap(line, width))
    assert all(cells(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


@pytest.mark.slow
def test_lines_marked_as_single_cell_have_one_cell_per_character() -> None:
    quick = [character for character in map(chr, range(0x110000)) if has_one_cell_each(character)]
    assert len(quick) > 2000
    for character in quick:
        assert [cluster for _, cluster in clusters_at("x" + character)] == ["x", character]
        assert category(character)[0] in "LNPSZ" and east_asian_width(character) not in ("W", "F")


@given(st.text(alphabet="ab  e", max_size=60), st.integers(4, 20))
def test_a_latin_line_breaks_like_a_plain_one(text: str, width: int) -> None:
    west = text.replace("e", "—").replace("b", "é")
    assert list(wrap(SafeText(west), width)) == [
        row.replace("e", "—").replace("b", "é") for row in wrap(SafeText(text), width)
    ]
    places = [(row.start, row.end, row.joined) for row in lay_out(SafeText(text), width)]
    assert [(row.start, row.end, row.joined) for row in lay_out(SafeText(west), width)] == places


def test_tabs_reach_the_next_stop() -> None:
    assert plain_line(SafeText("a\tb")) == "a       b"
    assert plain_line(SafeText("日\tb")) == "日      b"
    assert plain_line(SafeText("\t\tb")) == " " * 16 + "b"
    assert plain_line(SafeText("12345678\tb")) == "12345678        b"


def test_a_base_has_at_most_four_marks() -> None:
    assert plain_line(SafeText("Z" + "\u0301" * 50 + "algo")) == "Z" + "\u0301" * 4 + "algo"


def test_lines_are_safe_and_keep_their_text() -> None:
    assert lines_of("a\r\nb\x1b[31m\rc") == ["a", "b␛[31m␍c"]


def test_cut_lines_fit() -> None:
    dots = SafeText("…")
    assert cut(SafeText("abcdef"), 4, dots) == "abc…"
    assert cut(SafeText("日本語"), 4, dots) == "日…"
    assert cut(SafeText("abcd"), 4, dots) == "abcd"


@pytest.mark.slow
def test_long_lines_are_wrapped_in_linear_time() -> None:
    for line in ("word " * 200_000, "x" * 1_000_000, " " * 1_000_000, "é" * 200_000):
        assert sum(1 for _ in wrap(SafeText(line), 80)) >= 1
