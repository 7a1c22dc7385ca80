"""The header cache gives each frame the kind that the parser would give it."""

from __future__ import annotations

import re
from random import Random

import pytest
from msgspec.structs import replace

from tests.support.native import BOTH_WAYS, using
from viewer.formats.text.harmony import GRAMMAR
from viewer.formats.text.openchatml import GRAMMAR_1_X, GRAMMAR_2_0, GRAMMAR_2_2
from viewer.reading.grammar import TextGrammar
from viewer.reading.header import is_stop_expected, read_header
from viewer.scan import headers
from viewer.scan.blocks import ENDINGS
from viewer.scan.frames import scan_frames
from viewer.scan.headers import HeaderMemo

ROLES = ("assistant", "assistant", "tool", "user", "functions.%", "browser.open", "")
ATTRIBUTES = (
    *(" to=functions.%", " name=functions.%", " to=assistant", " call_id=c%", " to=functions.%.a", " to=%"),
    *(" into=functions.%", " intent=preamble", " x=functions.%", "  name=functions.%\t", " json", " to=functions.é"),
)
MARKS = ("<|channel|>commentary", "<|channel|>analysis", "<|constrain|>json", "<|channel|>%", " json", "")
NAMES = ("a", "b", "get_weather", "x" * 65, "python")


def pattern(chance: Random) -> str:
    """Return a header in which each `%` is the place of a name."""
    return "".join(
        [chance.choice(ROLES), *chance.choices(ATTRIBUTES, k=chance.randrange(4)), *chance.choices(MARKS, k=2)]
    )


def filled(chance: Random, pattern: str) -> bytes:
    """Return a header in which names often repeat."""
    return re.sub("%", lambda _: chance.choice(NAMES[: chance.choice((2, 2, len(NAMES)))]), pattern).encode()


def compare(grammar: TextGrammar, seeds: range) -> None:
    for seed in seeds:
        chance = Random(seed)
        patterns = [pattern(chance) for _ in range(8)]
        given = [filled(chance, chance.choice(patterns)) for _ in range(80)]
        data = b"".join(b"<|start|>" + each + b"<|message|>x<|end|>\n" for each in given)
        frames = scan_frames(data, escapes=grammar.literals)
        memo = HeaderMemo(grammar)
        found = memo.read(data, frames)
        for row, number in enumerate(found.kinds.tolist()):
            if number < 0:
                continue
            kind, reading = memo.kinds[number], read_header(given[row], grammar.header)
            call_id = data[found.id_starts[row] : found.id_ends[row]].decode() or None
            assert kind.header == replace(reading.header, call_id=None if call_id else reading.header.call_id), given[
                row
            ]
            assert reading.header.call_id in (call_id, None) and kind.is_noted is bool(reading.problems), given[row]
            for code, ending in enumerate(ENDINGS):
                assert kind.endings >> code & 1 == is_stop_expected(reading.header, ending, grammar), given[row]


GRAMMARS = (GRAMMAR_2_2, GRAMMAR_2_0, GRAMMAR_1_X, GRAMMAR)


def test_headers_that_differ_in_the_name_of_a_function_are_read_as_one_by_one() -> None:
    for way in BOTH_WAYS:
        with using(way):
            for grammar in GRAMMARS:
                compare(grammar, range(15))


def test_a_name_on_which_more_depends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "PREFIX", b"<|channel|>")  # so that a header may have several functions
    with pytest.raises(AssertionError):
        compare(GRAMMAR_2_2, range(60))
