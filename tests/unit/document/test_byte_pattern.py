"""A byte pattern finds in bytes what `re` finds in the text, or reports where it is uncertain."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from tests.support.native import BOTH_WAYS, WAYS, using
from viewer.document.search.block_search import PatternFinder
from viewer.document.search.byte_pattern import BytePattern, _letters_with_case, byte_pattern

LETTERS = "aAkKsSiIzZ[{@`\0 \u212a\u017f\u0130\u0131éÉßẞрРѐЀѠѡⱥȺ日😀ǅǄǆΣσς\u0345ιΙ\u1fbeµμ"


def found(text: str, word: str, ignores_case: bool) -> tuple[set[int], set[int], bool]:
    """Return the matches and the uncertain positions, in code points."""
    pattern = BytePattern(word, ignores_case)
    needle = PatternFinder(pattern)
    data = text.encode()
    places = needle.find(np.frombuffer(data, np.uint8)).tolist(), needle.doubts(data).tolist()
    hits, doubts = ({len(data[:at].decode()) for at in those} for those in places)
    return hits, doubts, pattern.is_exact


def expected(text: str, word: str, ignores_case: bool) -> set[int]:
    flags = re.IGNORECASE if ignores_case else 0
    return {match.start() for match in re.finditer(f"(?={re.escape(word)})", text, flags)}


@pytest.mark.slow
@pytest.mark.share(quick=9, test=2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ignores_case", [True, False])
def test_every_match_is_found_or_marked_as_doubtful(ignores_case: bool, way: str) -> None:
    with using(way):
        assert_found_or_doubtful(ignores_case)


def assert_found_or_doubtful(ignores_case: bool) -> None:
    chance = random.Random(3)
    for _ in range(1500):
        text = "".join(chance.choices(LETTERS, k=chance.randrange(30)))
        word = "".join(chance.choices(LETTERS, k=chance.randrange(1, 4)))
        hits, doubts, is_exact = found(text, word, ignores_case)
        wanted = expected(text, word, ignores_case)
        missed = wanted - hits
        assert all(doubts & set(range(at, at + len(word))) for at in missed), (text, word)
        assert hits <= wanted or not is_exact, (text, word)
        assert ignores_case or (hits == wanted and not doubts)


@pytest.mark.parametrize(
    ("word", "ignores_case", "is_exact"),
    [("word", True, True), ("é", True, True), ("р", True, False), ("р", False, True)],
)
def test_letters_whose_cases_differ_in_length_are_doubtful(word: str, ignores_case: bool, is_exact: bool) -> None:
    assert BytePattern(word, ignores_case).is_exact == is_exact


@pytest.mark.parametrize(
    ("word", "overlaps"), [("aa", True), ("that", True), ("the", False), ("aBA", True), ("x", False)]
)
def test_knows_whether_matches_overlap(word: str, overlaps: bool) -> None:
    assert BytePattern(word.lower(), True).overlaps == overlaps


@pytest.mark.parametrize("text", ["", "\ufffd", "a\ud800", "\udc80"])
def test_some_patterns_cannot_be_searched_in_bytes(text: str) -> None:
    assert byte_pattern(text, False) is None


@pytest.mark.slow
def test_no_letter_with_two_cases_is_forgotten() -> None:
    everything = [chr(at) for at in range(0x110000) if not 0xD800 <= at < 0xE000]
    letters = "".join(one for one in everything if one.lower() != one or one.upper() != one)
    assert set(letters) == set(_letters_with_case())
    assert set(re.findall(f"[{letters}]", "".join(everything), re.IGNORECASE)) == set(letters)


@pytest.mark.slow
@pytest.mark.parametrize("way", BOTH_WAYS)
def test_each_letter_is_found_in_each_case(way: str) -> None:
    with using(way):
        assert_each_letter_is_found()


def assert_each_letter_is_found() -> None:
    for letter in _letters_with_case():
        wanted = {match[0].encode() for match in re.finditer(re.escape(letter), _letters_with_case(), re.IGNORECASE)}
        needle = PatternFinder(BytePattern(letter, True))
        assert all(needle.doubts(one).size or needle.find(np.frombuffer(one, np.uint8)).size for one in wanted), letter
