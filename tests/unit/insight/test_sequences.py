"""Search for word sequences: the positions that are used, how far passages may grow, and searches done together."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.support.edited_runs import sentences
from viewer.insight.hidden.growth import APART, NO_WORD, SLIP, Sides, Texts
from viewer.insight.hidden.sequence_index import MOST_PLACES, Borders, SequenceIndex
from viewer.insight.hidden.word_keys import CONTENT, UNSPACED_WORD, WordKeys, keys_of
from viewer.insight.hidden.word_sequences import SEED, Words
from viewer.insight.leak_sources import Grams, Passage, Source, _groups
from viewer.insight.leaks import META, _meta_wording

PHRASES = (
    *("the user asks", "The User wants to", "we need to answer", "we must checking", "i have to comply"),
    *("-- we need to", "according to our policy", "according to the weather", "analysisFoo", "ANALYSISfoo"),
    *("assistantfinal", "commentary to=", "my system prompt", "el usuario quiere", "der nutzer will", "i must call"),
    *("\u00e9", "\u212a", "word", "*" * 60, "\n"),
)


class SlowIndex:
    """Uses the first positions in each block, and of these the last ones."""

    def __init__(self) -> None:
        self.blocks: list[list[tuple[int, int]]] = []
        self.new: list[tuple[int, int]] = []

    def find(self, gram: int) -> list[int]:
        if self.new:
            block, self.new = self.new, []
            while self.blocks and len(self.blocks[-1]) < 4 * len(block):
                block = self.blocks.pop() + block
            self.blocks.append(block)
        found = [
            place for block in self.blocks for place in sorted(at for each, at in block if each == gram)[:MOST_PLACES]
        ]
        return found[-2 * MOST_PLACES :]


@pytest.mark.parametrize("seed", range(12))
def test_the_positions_of_a_sequence_are_those_of_the_slow_index(seed: int) -> None:
    chance = Random(seed)
    grams = [chance.getrandbits(36) << 28 for _ in range(chance.choice((2, 9, 60)))]
    index, slow, end = SequenceIndex(), SlowIndex(), 0
    for _ in range(6):
        hashes: list[int] = []
        searches: list[int] = []
        borders: list[Borders] = []
        wanted: list[list[int]] = []
        for _ in range(chance.randint(1, 4)):
            for _ in range(chance.randint(1, 5)):
                added = chance.choices(grams, k=chance.choice((1, 5, 90)))
                index.add(np.array(added, np.uint64), np.arange(end, end + len(added)), end)
                slow.new += zip(added, range(end, end + len(added)), strict=True)
                end += len(added) + 16
            if chance.random() < 0.2:
                index.begin()
                slow = SlowIndex()
                continue
            asked = [*grams, chance.getrandbits(36) << 28]
            searches += [len(borders)] * len(asked)
            borders.append(index.borders(end))
            hashes += asked
            wanted += [slow.find(gram) for gram in asked]
        if borders:
            rows, places = index.find(np.array(hashes, np.uint64), np.array(searches), borders)
            found: list[list[int]] = [[] for _ in wanted]
            for row, place in zip(rows.tolist(), places.tolist(), strict=True):
                found[row].append(place)
            assert found == wanted
            assert rows.tolist() == sorted(rows.tolist())


@pytest.mark.slow
def test_a_passage_does_not_grow_further_than_predicted() -> None:
    chance, grown = Random(3), 0
    for _ in range(1500):
        kinds = chance.choice(((CONTENT,), (0, CONTENT), (0, CONTENT, CONTENT | UNSPACED_WORD)))
        known = [number << 4 | chance.choice(kinds) for number in range(1, 14)]
        source, text = (chance.choices(known, k=chance.randint(4, 20)) for _ in range(2))
        if chance.random() < 0.7:
            text = [word for word in source if chance.random() < 0.8]
        covered = bytearray(chance.choices((0, 1), (9, 1), k=len(text)))
        shown, hidden = np.array(text, np.int64), np.array(source, np.int64)
        around = [np.pad(each, APART, constant_values=other) for each, other in ((shown, NO_WORD), (hidden, 0))]
        free = around[0].copy()
        free[APART : APART + len(text)][np.frombuffer(covered, np.bool_)] = NO_WORD
        texts = Texts(around[0], free, around[1], any(word & UNSPACED_WORD for word in text))
        step = chance.choice((1, -1))
        at, place = (chance.randint(0, len(words)) - (step < 0) for words in (text, source))
        start = np.array([at + APART]), np.array([place + APART])
        most = int(texts.most_gained(*start, step, 3)[0])
        found = len(Sides(shown.data, hidden.data, 0, covered).grow(at, place, step, 10**6)[0])
        assert most == min(3, found)
        grown += found > 0
    assert grown > 250


def test_no_chain_connects_two_groups() -> None:
    chance = Random(4)
    for _ in range(300):
        pairs = sorted({(chance.randrange(60), chance.randrange(300)) for _ in range(chance.randint(1, 60))})
        at, places = np.array(pairs).T
        order, first = _groups(at, places)
        group = np.empty(len(at), np.int64)
        group[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(at))))
        for one in range(len(at)):
            for other in range(one):
                near = (
                    abs(at[one] - at[other]) <= SEED and abs(places[one] - at[one] - places[other] + at[other]) <= SLIP
                )
                assert not near or group[one] == group[other]


@pytest.mark.slow
def test_answers_that_are_searched_together_have_the_same_passages() -> None:
    chance, keys, found = Random(6), WordKeys(), 0
    for _ in range(40):
        pool = chance.sample(sentences(), chance.choice((3, 30)))
        together, alone = Grams(), Grams()
        wanted: list[list[Passage]] = []
        answers = []
        for number in range(40):
            text = " ".join(chance.choices(pool, k=3))
            words = Words(text, keys_of(text, keys))
            kind = chance.random()
            if kind < 0.1:
                together.begin()
                alone = Grams()
            elif kind < 0.6:
                for grams in (together, alone):
                    grams.add(Source(number, "analysis", text), words)
            else:
                together.expect(words)
                answers.append(words)
                wanted.append(alone.passages(words, bytearray(len(words))))
        assert [together.passages(words, bytearray(len(words))) for words in answers] == wanted
        found += sum(map(len, wanted))
    assert found > 300


def test_wording_of_reasoning_is_found_near_its_signs() -> None:
    chance, count = Random(7), 0
    for _ in range(4000):
        words = (chance.choice(PHRASES) + chance.choice(("", " ", ".", "x" * 50)) for _ in range(chance.randint(0, 9)))
        text = "".join(words)
        wanted = [found.span() for found in META.finditer(text)]
        assert [found.span() for found in _meta_wording(text)] == wanted, text
        count += len(wanted)
    assert count > 2000


def test_most_of_a_passage_is_compared_with_all_drafts() -> None:
    chance = Random(8)
    pieces = ('"', "word ", "Answer: ", "```", "\n", "said: ", "\u201cso\u201d ")
    for _ in range(2000):
        source = Source(1, "analysis", "".join(chance.choices(pieces, k=chance.randint(0, 20))))
        start = chance.randint(0, len(source.text))
        end = chance.randint(start, len(source.text))
        covered = sum(max(0, min(end, last) - max(start, first)) for first, last in source._drafts)
        assert source.is_draft(start, end) == (2 * covered > end - start)
