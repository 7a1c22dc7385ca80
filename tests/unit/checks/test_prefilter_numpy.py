"""The NumPy prefilter finds in a whole batch what a pattern finds message by message."""

from __future__ import annotations

import random
import re
import sys
from itertools import accumulate

import numpy as np
import pytest

from tests.support.cases import each
from viewer.checks import CHECKS
from viewer.checks.check import (
    AllOf,
    Always,
    AnyOf,
    BodyStarts,
    Check,
    Contains,
    HasByte,
    IllFormed,
    LoneByte,
    Matches,
    Scope,
    Trigger,
)
from viewer.checks.hidden_numpy import find_unexplained
from viewer.checks.prefilter import compile_plain
from viewer.checks.prefilter_numpy import SELDOM, Batch, compile_numpy
from viewer.checks.text import CONTROLS, HIDDEN_CHARACTERS
from viewer.syntax.characters import HIDING_LEADS, MAY_HIDE, find_hidden_characters

HEAD, STOP = b"<|start|>user<|message|>", b"<|end|>\n"
HIDING = Matches(HIDING_LEADS, MAY_HIDE)


def judged_together(trigger: Trigger, bodies: list[bytes]) -> list[bool]:
    frames = [HEAD + body + STOP for body in bodies]
    ends = np.array(list(accumulate(map(len, frames))), np.int64)
    starts = ends - np.array(list(map(len, frames)), np.int64)
    batch = Batch(b"".join(frames), starts, starts + len(HEAD), ends - len(STOP))
    check = Check((), Scope.MESSAGE, trigger, lambda _: ())
    none = np.zeros(0, np.int64)
    return [mask == 1 for mask in compile_numpy([check]).masks(batch, np.zeros(len(bodies), np.int64), none).tolist()]


def judged_alone(trigger: Trigger, bodies: list[bytes]) -> list[bool]:
    prefilter = compile_plain([Check((), Scope.MESSAGE, trigger, lambda _: ())])
    return [prefilter.mask(0, HEAD + body + STOP, len(HEAD), len(HEAD + body)) == 1 for body in bodies]


@pytest.mark.slow
def test_both_prefilters_agree_on_every_character() -> None:
    unassigned = range(0x40010, 0xDFFF0)  # ten planes without a character
    codes = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000 and code not in unassigned]
    bodies = [chr(code).encode() for code in codes]
    filler = b"a" * 40 * SELDOM  # makes lead bytes rare, which selects another search
    for first in range(0, len(bodies), 50_000):
        some = bodies[first : first + 50_000]
        assert judged_together(HIDING, some) == judged_alone(HIDING, some)
        assert judged_together(HIDING, [filler * 10 + one for one in some[:20]]) == judged_alone(HIDING, some[:20])
    assert sum(judged_alone(HIDING, bodies)) > 500


PIECES = [
    *(b"<", b"<|", b"[", b"</", b"<think", b"<THINK", b"think", b"<|st", b"<|Start_", b"```", b"`", b"a", b" ", b"\n"),
    *(b"\r", b"\r\n", b"\0", b"\x07", b"\x7f", "é".encode(), "\u200b".encode(), "日".encode(), "◁".encode()),
    *(b"\xff", b"\xe2", b"\x80", b"\x8b", b"analysis", b"com", b"mentary"),
    *(b":", b"::", b":::", b"0", b"03c", b"003C", b"003c", b"&#", "日".encode()[:1], b"\x97"),
]
TRIGGERS: dict[str, Trigger] = {
    "always": Always(),
    "literals": Contains(b"```", b"think"),
    "words": Contains(b"<think", b"<|Start_", b"<|", "◁".encode(), b"a ", ignore_case=True),
    "doubled bytes": Contains(b":::", b"003c", b"``", "◁".encode(), b"&#60;", ignore_case=True),
    "bytes": HasByte(CONTROLS),
    "nul": HasByte(b"\0"),
    "a lone byte": LoneByte(b"\r", b"\n"),
    "a pattern": HIDING,
    "the start": BodyStarts(b"<ac", re.compile(rb"<think|analysis")),
    "faults": IllFormed(),
    "any": AnyOf(HasByte(b"\0"), Contains(b"```")),
    "all": AllOf(HasByte(b"\r"), Contains(b"```")),
    "never": AnyOf(),
}


@each("name", TRIGGERS)
def test_both_prefilters_agree_on_random_bytes(name: str) -> None:
    """The passes over a batch may select more, because they compare four bytes of a literal and stop counting
    faults."""
    chance = random.Random(7)
    for _ in range(40):
        bodies = [b"".join(chance.choices(PIECES, k=chance.randrange(6))) for _ in range(40)]
        together, alone = judged_together(TRIGGERS[name], bodies), judged_alone(TRIGGERS[name], bodies)
        missed = [body for body, quick, careful in zip(bodies, together, alone, strict=True) if careful and not quick]
        assert missed == [], name
        if name not in ("words", "doubled bytes", "faults"):
            assert together == alone


def test_among_many_emoji_only_a_body_with_hidden_characters_is_selected() -> None:
    chance = random.Random(3)
    pieces = ["👩‍💻", "❤️", "1️⃣", "日本語ㅤ", "é", "\u200d", "\ufe0f", "x", "\udcff", "한국어", "\u202e", "\x85"]
    weights = [9, 9, 9, 1, 9, 1, 1, 9, 1, 9, 1, 1]
    for _ in range(30):
        bodies = ["".join(chance.choices(pieces, weights, k=8)).encode("utf-8", "surrogateescape") for _ in range(50)]
        found = [any(True for _ in find_hidden_characters(body)) for body in bodies]
        assert judged_together(HIDDEN_CHARACTERS.trigger, bodies) == found


@each("seed", range(30), quick=10, test=4)
def test_a_character_that_is_left_out_is_in_an_emoji(seed: int) -> None:
    """Emoji that are cut, doubled, or unfinished, among whole ones."""
    chance = random.Random(seed)
    parts = [
        char.encode() for char in "👩💻🏽🏿🏴❤☺1#*\u20e3\u200d\ufe0f\ufe0e\U000e0067\U000e007fx日©\u200b\U0001f1e6"
    ]
    parts += [b"\xf0\x9f\x98\x41", b"\xf0\x9f\x98", b"\xe2\x9d", b"\x98\x80", b"\xf0\x82\x9d\xa4", b"\xff"]
    weights = [6] * 13 + [1] * (len(parts) - 13)
    for _ in range(60):
        bodies = [b"".join(chance.choices(parts, weights, k=chance.randrange(1, 9))) for _ in range(60)]
        found = [{start for _, start, _ in find_hidden_characters(body) if body[start] >= 0x80} for body in bodies]
        data = HEAD + (STOP + HEAD).join(bodies) + STOP
        leads = np.array([at for at, byte in enumerate(data) if byte in HIDING_LEADS], np.int64)
        kept, start = set(find_unexplained(data, leads).tolist()), len(HEAD)
        for body, hidden in zip(bodies, found, strict=True):
            assert {at + start for at in hidden} <= kept, body
            start += len(body) + len(STOP + HEAD)


def test_no_body_is_selected_for_what_its_header_has() -> None:
    """Every message contains the marks of its frame."""
    trigger = Contains(b"<|message|>", b"<|", b"user", ignore_case=True)
    assert judged_together(trigger, [b"a", b"b"]) == judged_alone(trigger, [b"a", b"b"]) == [False, False]


@pytest.mark.slow
def test_the_leads_are_the_first_bytes_of_hidden_characters() -> None:
    hidden = [chr(code).encode() for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    leads = {body[0] for body in hidden if len(body) > 1 and MAY_HIDE.match(body)}
    assert leads == set(HIDING_LEADS)


def test_every_check_has_its_own_bit() -> None:
    assert len(CHECKS) < 63


def test_documents_share_their_prefilters() -> None:
    for compiled in (compile_plain, compile_numpy):
        assert compiled(CHECKS) is compiled(list(CHECKS))
        assert compiled(CHECKS) is not compiled(CHECKS[1:])
