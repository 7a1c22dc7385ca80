"""The patterns for JSON strings match exactly the valid strings without lone surrogates."""

from __future__ import annotations

import json
import random
import re

from tests.support.cases import each
from viewer.formats.json.known.values import MARKED_STRING, STRING

PARTS = (
    *(
        b'"',
        b"\\",
        b"\\u",
        b"d8",
        b"DC",
        b"0",
        b"00",
        b"n",
        b"a ",
        b"\x01",
        b"\xff",
        b"\\ud83d",
        b"\\ude00",
        b"\\u00e9",
    ),
    *(b"\\r\\n", b"\\r", b"\\n", b"\\t", b'\\"', b"\\\\", b"\\/", b"\\b", b"r", b"/"),
)
_ESCAPE = re.compile(rb"\\(u....|.)", re.DOTALL)


def is_string(text: bytes) -> bool:
    """True for a valid string in which every surrogate belongs to a pair."""
    try:
        return not re.search("[\ud800-\udfff]", json.loads(text.decode("latin-1")))
    except ValueError:
        return False


def is_spelled(text: bytes) -> bool:
    """True if a valid string has an escape that may spell any character, or a control character."""
    escapes = [(found[1], text[found.end() : found.end() + 2]) for found in _ESCAPE.finditer(text)]
    return any(found[:1] in (b"u", b"/", b"b", b"f") or (found == b"r" and after != b"\\n") for found, after in escapes)


@each("seed", range(8), quick=6)
def test_patterns_match_valid_strings(seed: int) -> None:
    chance = random.Random(seed)
    plain, marked = re.compile(STRING, re.DOTALL), re.compile(MARKED_STRING, re.DOTALL)
    valid = spelled = 0
    for _ in range(8000):
        text = b'"' + b"".join(chance.choices(PARTS, k=chance.randrange(8))) + b'"'
        found, other = plain.fullmatch(text), marked.fullmatch(text)
        assert (found is not None) is (other is not None) is is_string(text), text
        if other is not None:
            valid += 1
            assert (other.start(1) >= 0) is is_spelled(text), text
            spelled += is_spelled(text)
    assert valid - spelled > 1000
    assert spelled > 1000
