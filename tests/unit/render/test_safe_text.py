"""Text made safe for a terminal: one code point in, one out, and nothing that a terminal would interpret."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.render.sanitize import normalize_newlines, sanitize, sanitize_copy, sanitize_line
from viewer.syntax.characters import find_hidden_characters

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
EMOJI = [FAMILY, SCOTLAND, "❤️", "1️⃣", "🧑🏻‍❤️‍💋‍🧑🏼", "🏳️‍🌈"]

TABLE = [
    ("plain\tand\nlines", "plain\tand\nlines", "plain\tand\nlines"),
    ("déjà vu 漢字 привет", "déjà vu 漢字 привет", "déjà vu 漢字 привет"),
    ("a\rb", "a␍b", "ab"),
    ("\x1b]52;c;eA==\x07", "␛]52;c;eA==␇", "]52;c;eA=="),
    ("\ta\x1b\nb", "\ta␛\nb", "\ta\nb"),
    ("\x00\x01\x1f\x7f", "␀␁␟␡", ""),
    ("\x9b31m\x85", "\ufffd31m\ufffd", "\ufffd31m\ufffd"),
    ("\ud800\udfff\uffff\ufdd0\U0010fffe", "\ufffd" * 5, "\ufffd" * 5),
    ("\u200e\u202a\u202d\u2066", "⇢⇢⇢⇢", ""),
    ("\u200f\u061c\u202b\u202e\u2067", "⇠⇠⇠⇠⇠", ""),
    ("\u202c\u2068\u2069", "⇄⇄⇄", ""),
    ("\u200b\u200c\u200d\u2060\ufeff\u00ad", "······", ""),
    ("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u180e", "········", ""),
    ("\U000e0001\U000e0041\U000e007f\U000e0100\ufff0", "·····", ""),
    ("\u2028\u2029", "␤␤", "\n\n"),
    ("a\u0600b", "a·b", "a\u0600b"),
    ("x\ufe0f 1\ufe0f", "x· 1·", "x 1"),
    ("e\u0301\u0301\u0301\u0301\u0301\u0301", "e" + "\u0301" * 6, "e" + "\u0301" * 6),
    ("[red]:smile:[/nope]", "[red]:smile:[/nope]", "[red]:smile:[/nope]"),
    ("\u2800 \u3000\u00a0\ue000", "\u2800 \u3000\u00a0\ue000", "\u2800 \u3000\u00a0\ue000"),
    (f"{FAMILY}\u200d", f"{FAMILY}·", FAMILY),
    (f"a\u200d{SCOTLAND}\u200db", f"a·{SCOTLAND}·b", f"a{SCOTLAND}b"),
]
LINES = [
    ("a\nb\tc\r\n", 200, "a␊b␉c␍␊"),
    ("x" * 200, 200, "x" * 200),
    ("x" * 201, 200, "x" * 199 + "…"),
    ("abcdef", 3, "ab…"),
    ("abc", 0, "…"),
    ("👨\u200d👩", 2, "👨…"),
    ("e" + "\u0301" * 9 + "x\u0301", 200, "e" + "\u0301" * 4 + "x\u0301"),
    ("e" + "\u20dd" * 9, 200, "e" + "\u20dd" * 4),
]

CHARACTERS = [*range(0x40010), *range(0x4FFF0, 0x50010), *range(0xDFFF0, 0x110000)]
"""All code points, except the inner ranges of ten planes in which no character has been assigned."""


@each("text, shown, copy", TABLE)
def test_each_character_has_its_replacement(text: str, shown: str, copy: str) -> None:
    assert sanitize(text) == shown
    assert sanitize_copy(text) == copy


@pytest.mark.parametrize("emoji", EMOJI)
def test_whole_emoji_stay_whole(emoji: str) -> None:
    assert sanitize(f"a {emoji} b") == f"a {emoji} b"
    assert sanitize_line(emoji) == emoji
    assert sanitize_copy(f"{emoji}{emoji}") == emoji * 2


@pytest.mark.slow
def test_every_code_point_becomes_one_harmless_character() -> None:
    text = " ".join(map(chr, CHARACTERS))
    shown = sanitize(text)
    assert len(shown) == len(text)
    assert set(shown[1::2]) == {" "}
    assert {character for character in set(shown) if is_obeyed(character)} == {"\t", "\n"}
    assert [shown[0x09 * 2], shown[0x0A * 2]] == ["\t", "\n"]
    assert not list(find_hidden_characters(shown.encode()))
    assert sanitize(shown) == shown


@pytest.mark.slow
def test_every_code_point_is_shown_alike_alone_and_in_text() -> None:
    shown = sanitize(" ".join(map(chr, CHARACTERS)))[::2]
    assert "".join(map(sanitize, map(chr, CHARACTERS))) == shown
    replaced = [(code, mark) for code, mark in zip(CHARACTERS, shown, strict=True) if chr(code) != mark]
    for code, mark in replaced:  # a long text may have no character that is replaced
        assert sanitize("—" * 512 + chr(code))[-1] == mark, hex(code)
    assert len(replaced) > 5000 and sanitize("—é東" * 512) == "—é東" * 512


@pytest.mark.slow
def test_no_copied_code_point_controls_a_terminal() -> None:
    visible = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    copy = sanitize_copy(" ".join(map(chr, CHARACTERS)))
    obeyed = {ord(character) for character in set(copy) if is_obeyed(character)}
    assert obeyed <= visible | {ord("\t"), ord("\n")}


def is_obeyed(character: str) -> bool:
    """True for a control, format, surrogate, or line or paragraph separator character, and for a noncharacter."""
    code = ord(character)
    no_character = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or no_character


@given(
    st.text(alphabet=st.characters(), max_size=50)
    | st.text("a1\ufe0f\u20e3\u200d\U0001f468\U0001f3fb\u202e\r\n\x1b", max_size=12)
)
def test_offsets_hold_and_nothing_hidden_is_left(text: str) -> None:
    shown = sanitize(text)
    assert len(shown) == len(text)
    assert sanitize(shown) == shown
    assert not list(find_hidden_characters(shown.replace("\n", "").encode()))


def test_newlines() -> None:
    assert normalize_newlines("a\r\nb\rc\r\r\n") == "a\nb\rc\r\n"
    assert sanitize_copy("a\r\nb\rc") == "a\nbc"
    assert sanitize("\r\n") == "␍\n"


@pytest.mark.parametrize(("text", "limit", "line"), LINES)
def test_a_line_is_one_line_capped_and_with_few_marks_on_a_base(text: str, limit: int, line: str) -> None:
    assert sanitize_line(text, limit) == line
    assert sanitize_line("x" * 201) == "x" * 199 + "…"


@pytest.mark.share(test=3)
@pytest.mark.parametrize("unit", ["\x1b[0m", "\u200d", "❤\u200d", "\U0001f3f4\U000e0067", "1\ufe0f", "\ud800", "漢字"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    begun = time.process_time()
    sanitize(text)
    sanitize_copy(text)
    assert time.process_time() - begun < 3
