"""Expected results of the steps of record programs, computed with equivalent patterns."""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Iterator

from tests.support.native import accelerator
from viewer.formats.json.known.values import ANY, ID, LIST, NAME, NUMBER, PLAIN_LIST, SCALAR, STRING, TEXT, WORDS
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import joined_text
from viewer.scan.records import (
    HAS_ESCAPE,
    MAY_LEAD,
    Saying,
    ShapePrograms,
    Step,
    items,
    literal,
    match_records,
    match_values,
    step,
)
from viewer.scan.text_signs import IS_SPELLED
from viewer.syntax.utf8 import is_utf8

_STRING = rb'"[^"\\\x00-\x1f]*+(?>\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"'
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
PATTERNS = {
    Step.ID: ID,
    Step.NAME: NAME,
    Step.WORDS: WORDS,
    Step.NUMBER: NUMBER,
    Step.ANY: ANY,
    Step.LIST: PLAIN_LIST,
    Step.SCALAR: SCALAR,
    Step.SCALARS: LIST,
    Step.SPACE: rb"[ \t\r\n]*+",
    Step.GOES_ON: rb"[,\]]",
}
_PAIRS = re.compile(rb'\\["\\nt]|\\r(?=\\n)|(\\(?:[/bfr]|u(?:[dD][89abAB]..\\u[dD]...|....)))', re.DOTALL)
_WORDS = r"""
" " " \ \" \\ \n \t \r \r\n \/ \b \f \x \u \u12 \u00e9 \ud83d \ude00 \ud83d\ude00 \uD83D\uDE00 \ud83d\u0041 \ud7ff
\ue000 \ud83d\\ \u00g0 a Z 0 9 _.:/- é 🙂 < > | = c an - 1 12 0.5 1. .5 1e5 1E+12 e 1e1234 01
123456789012345 1234567890123456789 true false null tru [ ] [1] [] , { } "x" ""
"""
PARTS = (*_WORDS.split(), " ", "  ", ", ", ",  ", "\t", "\n", "\r", "\x00", "\x1f", "\x7f", '["a", 1, true]')
"""Parts of hostile text."""


def hostile(chance: random.Random) -> bytes:
    """Return a few parts, often in quotes or brackets."""
    parts = chance.choices(PARTS, k=chance.choice((1, 2, 3, 6, 40)))
    before, after = chance.choice((("", ""), ('"', '"'), ('"', '"'), ("[", "]"), ("-", "")))
    between = chance.choice(("", "", ", "))
    text = (before + between.join(parts) + after).encode()
    return text.replace(b"9", chance.choice((b"9", b"\xff")), 1)


def in_strings() -> Iterator[bytes]:
    """Yield each part, both alone and in strings and lists."""
    for part in PARTS:
        yield from map(str.encode, (part, f'"{part}"', f'"an{part}{part}"', f"[{part}, {part}]", f"[1,{part}1]x"))
    for count in (31, 32, 33, 34):
        yield b"[" + b", ".join([b"1"] * count) + b"]"


def cut(text: bytes) -> memoryview:
    """Return the text before bytes that would complete an escape, a string, and a list."""
    return memoryview(text + b'0041\\ude00"]')[: len(text)]


def assert_steps(text: bytes) -> int:
    """Check each step at every offset. Return the number of matches."""
    native, count, data = accelerator(), 0, cut(text)
    for kind, pattern in PATTERNS.items():
        match = re.compile(pattern, re.DOTALL).match
        for at in range(len(text) + 1):
            wanted = match(text, at)
            found = match_values(native, data, at, 7, step(Step.OPENS, kind, Step.CLOSES), most=1)
            assert [*found.values] == ([at + 7, wanted.end() + 7] if wanted else []), (kind, text, at)
            assert [*found.ends] == ([wanted.end()] if wanted else [])
            count += wanted is not None
    return count + assert_strings(text)


def assert_strings(text: bytes) -> int:
    """Check the steps of strings. Return the number of matches."""
    native, count, data = accelerator(), 0, cut(text)
    strings, texts = re.compile(_STRING).match, re.compile(b"(" + TEXT + b")").match
    for at in range(len(text) + 1):
        wanted = strings(text, at)
        found = match_values(native, data, at, 7, step(Step.BODY), most=1)
        if wanted is None:
            assert not len(found), (text, at)
        else:
            flags, is_plain = flags_of(wanted[0]), b"\\" not in wanted[0]
            bounds = [at + 7 + is_plain, wanted.end() + 7 - is_plain]
            assert [*found.values] == [*bounds, flags & ~MAY_LEAD], (text, at)
        is_whole = wanted is not None and not _SURROGATE.search(wanted[0])
        assert len(match_values(native, data, at, 7, step(Step.DELTA), most=1)) == is_whole, (text, at)
        count += wanted is not None
        wanted = texts(text, at)
        shapes = ShapePrograms([step(Step.TEXT)], [[Saying(5, 1, 0, 0, 0, 0)]])
        rows = match_records(native, data, at, 7, shapes, [0], 0, [items(None)], 1, (1 << 20, 1 << 20))
        if wanted is None:
            assert not len(rows) and not rows.texts and not rows.numbers, (text, at)
            continue
        assert [*rows.groups] == [at, wanted.end(), *last_spelled(wanted)], (text, at)
        assert rows.flags == bytes([flags_of(wanted[0])]), (text, at)
        assert [*rows.texts] == [0, 0, wanted.end() - at]
        is_plain = b"\\" not in wanted[0]
        columns = rows.numbers, rows.message_starts, rows.message_ends, rows.bodies, rows.body_ends, rows.of_text
        assert [column[0] for column in columns] == [
            *(5, at + 7, wanted.end() + 7, at + 7 + is_plain, wanted.end() + 7 - is_plain, 0)
        ]
        count += 1
    return count


def flags_of(source: bytes) -> int:
    """Return the flags of a string."""
    is_spelled = any(found[1] for found in _PAIRS.finditer(source))
    may_lead = source[1:2] in (b" ", b"\\", b"a", b"c")
    return (b"\\" in source) * HAS_ESCAPE | is_spelled * IS_SPELLED | may_lead * MAY_LEAD


def last_spelled(found: re.Match[bytes]) -> tuple[int, int]:
    """Return the span of the last escape that may spell any character."""
    return found.span(2)


def assert_records(chance: random.Random) -> None:
    """Check which program of several matches, and how far they match, against one pattern for each."""
    words = [b"a", b"ab", b"b", b'"x"', b"1", b" "]
    texts = [[chance.choice(words) for _ in range(chance.randrange(1, 4))] for _ in range(3)]
    programs = [b"".join(map(literal, parts)) + step(Step.SPACE) for parts in texts]
    patterns = [re.compile(re.escape(b"".join(parts)) + rb"[ \t\r\n]*+") for parts in texts]
    data = b"".join(chance.choice([*map(b"".join, texts), b" ", b"c"]) for _ in range(12))
    found = match_records(accelerator(), data, 0, 0, ShapePrograms((), ()), (), 0, programs, 9, (0, 0))
    at, order = 0, [0, 1, 2]
    for number, end in zip(found.programs, found.ends, strict=True):
        wanted = next(place for place in order if patterns[place].match(data, at))
        assert number == wanted, data
        order.remove(wanted)
        order.insert(0, wanted)
        match = patterns[wanted].match(data, at)
        assert match and match.end() == end, data
        at = end
    assert len(found) == 9 or not any(pattern.match(data, at) for pattern in patterns), data


def assert_joined(parts: list[tuple[bytes, bool]]) -> bool:
    """Check the joined text of parts, each with a flag for JSON strings with their quotes. Return True if there is a
    text."""
    data, rows, pieces, base = b"\xe9", array("q"), list[Piece](), 7
    for text, is_string in parts:
        start = base + len(data)
        data += text + b'\xa9\\"'
        rows.extend((start, start + len(text), is_string | 6))
        pieces.append(Piece(start, start + len(text), Coding.JSON_STRING if is_string else Coding.PLAIN))
    found = accelerator().joined(data, base, rows)
    plain = re.compile(STRING).fullmatch
    is_sure = all(is_utf8(text) and (plain(text) or not is_string) for text, is_string in parts)
    wanted = joined_text(pieces, lambda start, end: data[start - base : end - base])
    assert found == wanted if found is not None else not is_sure, parts
    last = base + len(data)
    for start, end in ((6, 8), (9, 8), (last, last + 1), (-9, 8), (7, 1 << 62), (1 << 62, -1 << 62)):
        assert accelerator().joined(data, base, array("q", (*rows, start, end, 0))) is None
    return found is not None


def assert_texts(chance: random.Random) -> int:
    """Check the text of hostile parts. Return the number of texts."""
    count = 0
    for text in (*in_strings(), *(hostile(chance) for _ in range(300))):
        count += assert_joined([(text, True)]) + assert_joined([(text, False), (b'"' + text + b'"', True)])
        pair = b"\\u%04x\\u%04x" % (chance.randrange(0xD7F0, 0xE010), chance.randrange(0xDBF0, 0xE010))
        codes = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, chance.randrange(1 << 16)]
        one = b"\\u%04X" % chance.choice(codes)
        for inner in (pair, pair[:6], pair[:6] + text, one, b"\\ud83d" + one, b"x" * 9 + text):
            count += assert_joined([(b"\xc3\xa9", False), (b'"%s"' % inner, True), (b"", False), (b'""', True)])
    return count
