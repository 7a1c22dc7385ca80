"""Invisible characters in bytes: one span for each run of a kind. Characters in whole emoji are not hidden."""

import re
import time
import unicodedata
from collections import Counter
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.render.sanitize import sanitize, sanitize_copy
from viewer.syntax.characters import (
    BIDI,
    C0,
    C1,
    EMOJI,
    TAGS,
    ZERO_WIDTH,
    find_hidden_characters,
    search_hidden_characters,
)

CAT, RUNE, PIRATE = "\U0001f408", "\u16a0", "\U0001f3f4\u200d\u2620\ufe0f"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

SHOWN = [
    "",
    "plain text\twith\ttabs\nand lines\r\nof both kinds\r\n",
    "déjà vu, 漢字, привет, it’s 20 °C, “quotes” – dashes … ﷲ",
    "❤️ and ❤︎ and 1️⃣ #️⃣ *️⃣ and ©️",
    "👨‍👩‍👧‍👦 🧑🏻‍❤️‍💋‍🧑🏼 🏳️‍🌈 🐈‍⬛",
    PIRATE,
    SCOTLAND,
    "\u0600123 \u06dd",
    "\x00",
]

FOUND = [
    ("\u202eabc\u202c", [("bidi", 0, 3), ("bidi", 6, 9)]),
    ("\u2066\u2067\u2068\u2069\u061c\u200e", [("bidi", 0, 17)]),
    ("a\u200b\u200d\ufeffb", [("zero-width", 1, 10)]),
    ("a\u200b\u202e\u200b", [("zero-width", 1, 4), ("bidi", 4, 7), ("zero-width", 7, 10)]),
    (
        "\u00ad \u034f \u3164 \uffa0",
        [("zero-width", 0, 2), ("zero-width", 3, 5), ("zero-width", 6, 9), ("zero-width", 10, 13)],
    ),
    ("a\U000e0041\U000e0042", [("tags", 1, 9)]),
    ("a\x1b[0m\x07\x7f", [("control", 1, 2), ("control", 5, 7)]),
    ("\x80\x9f\x85", [("control", 0, 6)]),
    ("a\rb\r\nc\r\r\n\r", [("control", 1, 2), ("control", 6, 7), ("control", 9, 10)]),
    ("\x01\x00\x02", [("control", 0, 1), ("control", 2, 3)]),
    ("x\ufe0f", [("zero-width", 1, 4)]),
    ("1\ufe0f", [("zero-width", 1, 4)]),
    (f"{CAT}\u200d", [("zero-width", 4, 7)]),
    (f"{CAT}\u200d{RUNE}", [("zero-width", 4, 7)]),
    (f"{CAT}\ufe0f\ufe0f", [("zero-width", 7, 10)]),
    ("\U0001f3f4\U000e0067\U000e0062", [("tags", 4, 12)]),
    (f"{SCOTLAND}\U000e0041", [("tags", 28, 32)]),
    ("\U0001f3f4" + "\U000e0061" * 7 + "\U000e007f", [("tags", 4, 36)]),
]


DEFINED = re.compile(
    f"(?P<bidi>[{BIDI}]+)|(?P<tags>[{TAGS}]+)|(?P<control>(?>[{C0}{C1}]|\r(?!\n))++)|{EMOJI}|(?P<zero_width>[{ZERO_WIDTH}]+)"
)
HIDDEN = re.compile(f"[{BIDI}{TAGS}{C0}{C1}{ZERO_WIDTH}\r]")
KINDS_OF_EMOJI = (
    "❤️",
    "1️⃣",
    "#",
    "🐈‍⬛",
    "🧑🏻‍❤️‍💋‍🧑🏼",
    SCOTLAND,
    PIRATE,
    "©",
    "🇯🇵",
    "〰️",
    "a",
    "漢",
    "1",
    "\U00010348",
    "\r\n",
)


def defined(text: str) -> list[tuple[str, int, int]]:
    """Find hidden characters by definition: all that are not part of an emoji. This tries each alternative at each
    character."""
    found = []
    for match in DEFINED.finditer(text):
        if match.lastgroup:
            start, end = (len(text[:at].encode()) for at in match.span())
            found.append((match.lastgroup.replace("_", "-"), start, end))
    return found


@pytest.mark.slow
def test_each_hidden_character_is_found_around_and_inside_every_kind_of_emoji() -> None:
    hidden = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and HIDDEN.match(chr(code))]
    for emoji in KINDS_OF_EMOJI:
        places = range(len(emoji) + 1)
        step = 1 if emoji in KINDS_OF_EMOJI[:2] else 23  # most are unassigned and alike
        for char in [*hidden[::step], "\u200d", "\ufe0f", "\ufe0e", "\u20e3", "\U000e007f", "\r", "\u200b", "\u202e"]:
            text = "\n".join(emoji[:at] + char + emoji[at:] for at in places) + char + char
            assert list(search_hidden_characters(text.encode())) == defined(text), ascii(text)


def test_mixed_text_hides_what_the_definition_says() -> None:
    chance = Random(5)
    parts = [
        *KINDS_OF_EMOJI,
        "\u200d",
        "\ufe0f",
        "\ufe0e",
        "\u20e3",
        "\U000e0067",
        "\U000e007f",
        "\u200b",
        "\u202e",
        "\x85",
        "\x07",
    ]
    for _ in range(3000):
        text = "".join(chance.choices(parts, k=chance.randrange(9)))
        assert list(find_hidden_characters(text.encode())) == defined(text), ascii(text)


@each("text", SHOWN, ids=ascii)
def test_plain_text_has_no_hidden_characters(text: str) -> None:
    assert list(find_hidden_characters(text.encode(), 7)) == []


@each("text,found", FOUND, ids=ascii)
def test_hidden_characters_are_found(text: str, found: list[tuple[str, int, int]]) -> None:
    assert list(find_hidden_characters(text.encode())) == found
    assert list(find_hidden_characters(text.encode(), 50)) == [(kind, a + 50, b + 50) for kind, a, b in found]


@each("text,found", FOUND, ids=ascii)
def test_invalid_utf8_does_not_shift_positions(text: str, found: list[tuple[str, int, int]]) -> None:
    data = b"\xff\xe2\x80 " + text.encode() + b" \x9f\xe2"
    assert list(find_hidden_characters(data)) == [(kind, start + 4, end + 4) for kind, start, end in found]


IGNORABLE = (
    "AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8"
    " 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
"""The property `Default_Ignorable_Code_Point` of Unicode."""
INTERLINEAR = "FFF9-FFFB"
OTHERS = {0x2028, 0x2029, 0xFFFF, 0xDFFFF}
"""Neighbors that are shown as something else: line ends, and noncharacters."""


def test_both_ends_of_every_range_of_hidden_characters_are_hidden_and_their_neighbors_are_not() -> None:
    ends = [
        (int(first, 16), int(last or first, 16))
        for first, _, last in (each.partition("-") for each in f"{IGNORABLE} {INTERLINEAR}".split())
    ]
    for first, last in ends:
        for code in {first, (first + last) // 2, last, first - 1, last + 1} - OTHERS:
            is_hidden = any(start <= code <= end for start, end in ends)
            for text in (chr(code), f"a{chr(code)} é"):
                found = list(find_hidden_characters(text.encode()))
                assert bool(found) is is_hidden, hex(code)
                assert (chr(code) in sanitize(text)) is not is_hidden, hex(code)
                assert (chr(code) in sanitize_copy(text)) is not is_hidden, hex(code)


@cache
def kinds_of_all_code_points() -> dict[int, str]:
    """Return the kind of each code point that has one, found in one text with spaces in between."""
    codes = [*range(1, 0xD800), *range(0xE000, 0x110000)]
    data = " ".join(map(chr, codes)).encode()
    return {ord(data[start:end].decode()): kind for kind, start, end in find_hidden_characters(data)}


@pytest.mark.slow
def test_every_invisible_character_has_a_kind() -> None:
    visible = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    hidden = {code for code in range(1, 0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf")}
    assert kinds_of_all_code_points().keys() >= hidden - visible - {ord("\t"), ord("\n")}
    assert not kinds_of_all_code_points().keys() & visible


@pytest.mark.slow
def test_the_fast_test_accepts_every_character_with_a_kind() -> None:
    for code, kind in kinds_of_all_code_points().items():
        data = chr(code).encode()
        assert list(find_hidden_characters(data)) == [(kind, 0, len(data))], hex(code)


@pytest.mark.slow
def test_each_kind_has_its_number_of_characters() -> None:
    counts = Counter(kinds_of_all_code_points().values())
    assert {kind: counts[kind] for kind in ("bidi", "tags", "control")} == {"bidi": 12, "tags": 128, "control": 62}
    assert counts["zero-width"] == 4037


@given(st.binary(max_size=60))
def test_spans_of_any_bytes_are_sorted_and_inside(data: bytes) -> None:
    position = 0
    for _, start, end in find_hidden_characters(data):
        assert position <= start < end <= len(data)
        position = end


@pytest.mark.share(test=3)
@pytest.mark.parametrize(
    "unit",
    ["\u200d", "\u200d\u202e", "\x1b[", "\r", "\r\n", "❤\u200d", "❤\ufe0f\u200d", "\U0001f3f4\U000e0067", "1\ufe0f"],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    data = unit.encode() * (1_000_000 // len(unit.encode()))
    begun = time.process_time()
    for _ in find_hidden_characters(data):
        pass
    assert time.process_time() - begun < 3
