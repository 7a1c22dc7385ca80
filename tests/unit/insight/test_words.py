"""Words and their keys: NumPy finds the same words in a text as the regular expression."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.support.planted_copies import LANGUAGES, texts
from viewer.insight.hidden.word_keys import CONTENT, UNSPACED_WORD, WordKeys, keys_of, spans_of, weight_of
from viewer.insight.hidden.word_sequences import SEED, Words, hashes_of, words_of
from viewer.insight.words import is_content_word, is_unspaced, normal, word_regex, word_spans

PIECES = (
    *("a", "The", "THE", "the", "word", "_", "x9", "7", "\u2018quoted\u2019", "\u2014", "caf\u00e9", "CAFE\u0301"),
    *(
        "\u00df",
        "STRASSE",
        "stra\u00dfe",
        "\u212a",
        "k",
        "K",
        "\u4f60\u597d",
        "x\u4f60y",
        "\u0e01\u0e34",
        "\U0001f642",
        "\ud800",
    ),
    *(" ", "  ", "\n", ".", ", ", "-", "\x00", "x" * 4096, "x" * 4097, "X" * 4097),
)


def some_texts() -> list[str]:
    chance = Random(4)
    made = ["".join(chance.choices(PIECES[:-3], k=chance.randint(0, 30))) for _ in range(200)]
    made += ["".join(chance.choices(PIECES, k=40)) + " plain words" * 900 for _ in range(4)]
    return made + [" ".join(chance.sample(texts(language), 8)) for language in LANGUAGES]


def test_keys_are_those_of_single_words_and_tell_words_apart() -> None:
    known = WordKeys()
    keys: dict[str, int] = {}
    for text in some_texts():
        words = [normal(word) for word in word_regex(text).findall(text)]
        found = keys_of(text, known).tolist()
        assert found == [known[word] for word in word_regex(text).findall(text)], text
        for word, key in zip(words, found, strict=True):
            assert keys.setdefault(word, key) == key, word
            assert (key & CONTENT > 0) == is_content_word(word), word
            assert (key & UNSPACED_WORD > 0) == (len(word) == 1 and is_unspaced(word)), word
            assert weight_of(key) == (0.5 if key & UNSPACED_WORD else 1), word
    assert len({*keys.values()}) == len(keys)


def test_spans_are_those_of_the_regular_expression() -> None:
    for text in some_texts():
        assert spans_of(text).tolist() == [[*span] for span in word_spans(text)], text


def test_texts_that_are_split_together_have_the_same_words() -> None:
    made, known = some_texts(), WordKeys()
    for text, words in zip(made, words_of(made, known), strict=True):
        single = Words(text, keys_of(text, known))
        assert np.array_equal(words.keys, single.keys), text
        assert np.array_equal(words.threes, hashes_of(single.keys, SEED)), text
        assert words.origins == single.origins, text
        assert [part.tolist() for part in words.seeds] == [part.tolist() for part in single.seeds], text
        for each in (words, words.alone()):
            spans = [each.span(first, first + 2) for first in range(len(single) - 1)]
            assert spans == [single.span(first, first + 2) for first in range(len(single) - 1)], text
