"""Invisible and bidirectional characters: a table of them, their byte positions, and names without them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from viewer.cache import lazy_regex


def _class_of(ranges: str) -> str:
    """Return the inside of a character class, given as hexadecimal code points and ranges.

    It consists of the characters themselves, because escapes take several times as long to compile."""
    ends = (item.split("-") for item in ranges.split())
    return "".join("-".join(chr(int(end, 16)) for end in item) for item in ends)


def _items(inside: str) -> list[str]:
    """Return the characters and ranges of a class."""
    starts = [at for at in range(len(inside)) if "-" not in inside[max(0, at - 1) : at + 1]]
    return [inside[at : at + (3 if inside[at + 1 : at + 2] == "-" else 1)] for at in starts]


def _up_to_ffff(inside: str) -> str:
    """Return the characters and ranges of a class that do not exceed U+FFFF. A regular expression that selects them
    would take 8 ms to compile."""
    return "".join(item for item in _items(inside) if item[-1] <= "\uffff")


LEFT_TO_RIGHT = _class_of("200E 202A 202D 2066")
RIGHT_TO_LEFT = _class_of("061C 200F 202B 202E 2067")
DIRECTION_ENDS = _class_of("202C 2068 2069")
"""The ends of embeddings and isolates, and the isolate that takes its direction from its text."""
BIDI = LEFT_TO_RIGHT + RIGHT_TO_LEFT + DIRECTION_ENDS
TAGS = _class_of("E0000-E007F")
ZERO_WIDTH = _class_of(
    # soft hyphen, grapheme joiner, Hangul and Khmer fillers, Mongolian selectors; zero-width, joiners, invisible
    # operators; variation selectors, byte order mark, interlinear and musical marks; unassigned but ignorable
    "00AD 034F 115F-1160 17B4-17B5 180B-180F 200B-200D 2060-2065 206A-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFFB"
    " 1BCA0-1BCA3 1D173-1D17A E0080-E0FFF"
)
"""Zero-width characters, including joiners and variation selectors, and blank letters."""
FORMAT = _class_of("0600-0605 06DD 070F 0890-0891 08E2 110BD 110CD 13430-1343F")
"""Format characters that are visible or shape visible text. They do not count as hidden."""
C0 = "\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f"
"""Control characters except NUL, tab, line feed, and carriage return."""
C1 = "\\x80-\\x9f"

_PICTOGRAPH = (
    "["
    + _class_of(
        "A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA 24C2 25AA-25AB 25B6"
        " 25C0 25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626 262A 262E-262F 2638-263A 2640"
        " 2642 2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F 2692-2697 2699 269B-269C 26A0-26A1 26A7"
        " 26AA-26AB 26B0-26B1 26BD-26BE 26C4-26C5 26C8 26CE-26CF 26D1 26D3-26D4 26E9-26EA 26F0-26F5 26F7-26FA 26FD"
        " 2702 2705 2708-270D 270F 2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757"
        " 2763-2764 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299 1F004"
        " 1F0CF 1F170-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F201-1F202 1F21A 1F22F 1F232-1F23A 1F250-1F251"
        " 1F300-1F64F 1F680-1F6FF 1F7E0-1F7F0 1F900-1F9FF 1FA70-1FAFF"
    )
    + "]"
)
_PART = _PICTOGRAPH + "[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]?"
_FLAG = "\U0001f3f4[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}\U000e007f"  # of a region
_SEQUENCE = f"{_PART}(?>\u200d{_PART})*+"
PICTOGRAPHS = tuple((ord(item[0]), ord(item[-1])) for item in _items(_PICTOGRAPH[1:-1]))
"""The first and last code points of the characters that begin a sequence. A selector directly after one of them is not
hidden, unless the character changes the skin color of another one. Neither is a joiner between two of them."""
SKIN_COLORS = (0x1F3FB, 0x1F3FF)
EMOJI = f"(?:{_FLAG}|[#*0-9]\ufe0f\u20e3|{_SEQUENCE})"
"""An emoji with its joiners, selectors, and tags, which do not count as hidden characters."""

UNSEEN = lazy_regex(f"[{BIDI}{TAGS}{ZERO_WIDTH}]")

_CONTROLS = bytes([*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_LONE_RETURN = lazy_regex(rb"\r(?!\n)")
_MAY_HIDE = {
    b"\xd8": rb"\xD8\x9C",
    b"\xcd": rb"\xCD\x8F",
    b"\xc2": rb"\xC2[\x80-\x9F\xAD]",
    b"\xe1": rb"\xE1(?:\x85[\x9F\xA0]|\x9E[\xB4\xB5]|\xA0[\x8B-\x8F])",
    b"\xe2": rb"\xE2(?:\x80[\x8B-\x8F\xAA-\xAE]|\x81[\xA0-\xAF])",
    b"\xe3": rb"\xE3\x85\xA4",
    b"\xef": rb"\xEF(?:\xB8[\x80-\x8F]|\xBB\xBF|\xBE\xA0|\xBF[\xB0-\xBB])",
    b"\xf0": rb"\xF0(?:\x9B\xB2|\x9D\x85)",
    b"\xf3": rb"\xF3\xA0",
}
"""Patterns, by first byte, that together match every hidden character beyond ASCII, and a few others.

The order matters: the native accelerator groups each first byte with the seventh one after it, and is fastest if the
first bytes of a group have few different second bytes."""
MAY_HIDE = lazy_regex(b"|".join(_MAY_HIDE.values()))
MAY_HIDE_BY_LEAD = tuple((lead, lazy_regex(pattern)) for lead, pattern in _MAY_HIDE.items())
"""The patterns of `_MAY_HIDE` by first byte. In a large block, it is faster to search for them one after another,
because most first bytes are rare."""
HIDING_LEADS = b"".join(_MAY_HIDE)
"""First bytes of hidden characters beyond ASCII."""
_SIDES = 64
"""The number of values of the low bits of a byte."""
_BASIC = _up_to_ffff(_PICTOGRAPH.strip("[]") + ZERO_WIDTH)
_ORDINARY = f"[^{BIDI}{C0}{C1}\r{_BASIC}\U00010000-\U0010ffff]"
"""A character that begins no emoji and no hidden run. Ranges beyond U+FFFF would be tried one by one."""
_HIDDEN = lazy_regex(
    f"{_ORDINARY}*+"  # most text; fast, because it involves no alternatives
    f"(?:(?P<bidi>[{BIDI}]+)|(?P<tags>[{TAGS}]+)|(?P<control>(?>[{C0}{C1}]|\r(?!\n))++)|{_FLAG}|{_SEQUENCE}"
    f"|(?<=[#*0-9])\ufe0f\u20e3|(?P<zero_width>[{ZERO_WIDTH}]+)|[\r\U00010000-\U0010ffff]|\\Z)"
)
"""A pattern that matches text up to the next emoji or run of hidden characters. Only a hidden run is in a group."""


def find_hidden_characters(data: bytes, base: int = 0) -> Iterator[tuple[str, int, int]]:
    """Find runs of hidden characters: the kind (`bidi`, `zero-width`, `tags`, `control`) and the byte span of each."""
    if not may_hide(data):
        return
    yield from search_hidden_characters(data, base)


def search_hidden_characters(data: bytes, base: int = 0) -> Iterator[tuple[str, int, int]]:
    """Like `find_hidden_characters`, but without its prefilter, for data that probably has such characters."""
    text = data.decode("utf-8", "surrogateescape")  # ill-formed bytes keep their positions
    position = 0
    for match in _HIDDEN.finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        start = base + _size(text[position : match.start(kind)])
        base = start + _size(match[kind])
        position = match.end()
        yield kind.replace("_", "-"), start, base


def may_hide(data: bytes) -> bool:
    """True unless the data certainly has no hidden characters. This is an inexpensive prefilter."""
    if len(data.translate(None, _CONTROLS)) != len(data) or _LONE_RETURN.search(data):
        return True
    return not data.isascii() and MAY_HIDE.search(data) is not None


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


_UNPRINTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""The categories of characters without a glyph."""


def plain_name(text: str, longest: int) -> str:
    """Return the name on one line, without hidden characters, truncated to `longest` characters."""
    cut = text[: longest + 1]
    if not cut.isprintable():
        printed = (char for char in cut if char.isspace() or unicodedata.category(char) not in _UNPRINTED)
        cut = "".join(" " if char.isspace() else char for char in printed)
    return cut.strip() if len(text) <= longest else cut[: longest - 1] + "…"


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def hidden_spellings() -> bytes:
    """Return a bit for each first byte in `HIDING_LEADS` and the low bits of the next two bytes: 1 if they may begin a
    hidden character."""
    count = len(HIDING_LEADS) * _SIDES * _SIDES
    text, others = bytearray(b" " * 4 * count), bytes(range(0x80, 0x80 + _SIDES))
    text[0::4] = b"".join(bytes((lead,)) * _SIDES * _SIDES for lead in HIDING_LEADS)
    text[1::4] = b"".join(bytes((other,)) * _SIDES for other in others) * len(HIDING_LEADS)
    text[2::4] = others * _SIDES * len(HIDING_LEADS)
    flags = bytearray(count // 8)
    for found in MAY_HIDE.finditer(bytes(text)):
        place = found.start() // 4
        flags[place >> 3] |= 1 << (place & 7)
    return bytes(flags)
