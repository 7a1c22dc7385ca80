"""A lazily compiled pattern matches exactly like one that is compiled immediately."""

from __future__ import annotations

import functools
import re
from random import Random

import pytest

from viewer import cache
from viewer.cache import lazy_literals, lazy_regex
from viewer.reading.template_marks import MARK, MARK_PAIRS, MAY_BE_MARK, THINK_TAGS, any_of
from viewer.reading.thoughts import MAY_BE_MARK as MAY_BE_THOUGHT


def test_a_lazy_regex_behaves_like_a_pattern() -> None:
    pattern = lazy_regex("(a)(b)?", re.IGNORECASE)
    for _ in range(2):
        match = pattern.search("xA")
        assert match is not None
        assert match.span() == (1, 2)
    assert pattern.sub("-", "ab a") == "- -"
    assert (pattern.pattern, pattern.flags & re.IGNORECASE) == ("(a)(b)?", re.IGNORECASE)
    assert lazy_regex(rb"\d").findall(b"1a2") == [b"1", b"2"]


def test_a_lazy_regex_is_compiled_on_first_use() -> None:
    broken = lazy_regex("(")
    with pytest.raises(re.error):
        broken.search("")


def test_a_function_makes_a_long_pattern_on_first_use() -> None:
    made: list[str] = []

    def pattern() -> str:
        made.append("b+")
        return made[0]

    lazy = lazy_regex(pattern, re.IGNORECASE)
    assert made == []
    assert [lazy.findall("aBb"), lazy.pattern, made] == [["Bb"], "b+", ["b+"]]


def test_short_bytes_without_a_sign_need_no_pattern() -> None:
    pattern = lazy_regex(b"(", signs=(b"<Tag",))
    assert pattern.search(b"<ta g>") is None
    assert pattern.search(b"<tag>", 1) is None
    assert list(pattern.finditer(b"text")) == []
    for data in (b"a <tag>", b"x" * 200_000):
        with pytest.raises(re.error):
            pattern.search(data)


def test_signs_never_change_what_matches() -> None:
    for data in (b"", b"a<TAG>b<tag>", b"<ta", b"x" * 5_000 + b"<tag>", b"x" * 200_000 + b"<tag>"):
        found = [match.span() for match in re.finditer(b"<tag>", data, re.IGNORECASE)]
        pattern = lazy_regex(b"<tag>", re.IGNORECASE, (b"<tag",))
        for _ in range(300):
            assert [match.span() for match in pattern.finditer(data)] == found
            assert (pattern.search(data) is not None) is bool(found)


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("pattern", [MARK, MAY_BE_MARK, MAY_BE_THOUGHT], ids=["mark", "any mark", "thought"])
def test_every_mark_has_a_sign(pattern: re.Pattern[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_by_start", functools.cache(cache._by_start))  # every lazy pattern has the same signs
    marks = [spelling for pair in MARK_PAIRS for spelling in (*pair.opens, *pair.closes)]
    marks += [f"<{tag} a='b'>" for tag in THINK_TAGS] + [f"</{tag}\t>".upper() for tag in THINK_TAGS]
    eager = re.compile(pattern.pattern, pattern.flags)
    for data in (*(mark.encode() for mark in marks), b"[INST] a [/INST]", b"<s>", b"[gMASK]", b"plain"):
        lazy = lazy_regex(pattern.pattern, pattern.flags, vars(pattern)["signs"])
        assert (lazy.search(data) is None) is (eager.search(data) is None), data


LITERALS = (b"<a", b"<ab", b"<AC", b"&", b"[x]", b"[xy", "【".encode())


def test_literals_match_like_their_pattern() -> None:
    eager, chance = re.compile(any_of(LITERALS), re.IGNORECASE), Random(1)
    lazy = lazy_literals(lambda: b"(", LITERALS)
    for _ in range(300):
        data = bytes(chance.choices(b"<<aAbCxy[[]&\xe3\x80\x90 ", k=chance.randint(0, 12)))
        start, end = chance.randint(0, 12), chance.randint(0, 14)
        for bounds in ((), (start,), (start, end)):
            found, expected = lazy.search(data, *bounds), eager.search(data, *bounds)
            assert (found and found.span()) == (expected and expected.span()), (data, bounds)
        lazy = lazy_literals(lambda: b"(", LITERALS)


def test_many_places_compile_the_pattern_of_literals() -> None:
    made: list[bytes] = []

    def pattern() -> bytes:
        made.append(any_of(LITERALS))
        return made[0]

    lazy = lazy_literals(pattern, LITERALS)
    assert lazy.search(b"x" * 1_000) is None
    assert not made
    for _ in range(2):
        found = lazy.search(b"<" * 10_000 + b"<ab")
        assert found is not None
        assert found.span() == (10_000, 10_003)
    assert len(made) == 1
