"""Index of hidden text for leak detection: word sequences of a transcript, and the passages of a shown text in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.insight.words import Words, is_unspaced, words_of
from viewer.model.messages import Span

LEAST_MARKED = 6.0
"""The minimum number of words of a passage that must be in the source."""
_LEAST_DENSE = 0.6
"""The minimum share of words of a passage that are in the source."""
_LEAST_CONTENT = 3
_SEED = 3
"""The length of the sequences to look up, in words, or in characters of a script without spaces."""
_MOST_PLACES = 8
"""The maximum number of places that are kept for one sequence."""
_GAP = 4
"""The maximum number of words between two sequences of a passage."""
_SLIP = 3
"""The maximum difference in words between a passage and its source."""
_APART = 16
"""The distance in words between two sources, which keeps a passage from spanning both."""

_STOP_WORDS = """
a about after all also an and any are as at be been but by can could did do does for from had has have he her his how
i if in into is it its may more most must my no not of on one only or other our out over she should so some such than
that the their them then there these they this those to up use used was we were what when where which who will with
would you your aber als am an auch auf aus bei bin bis das dass dem den der des die doch ein eine einem einen einer er
es für hat ich im in ist ja kann man mit nach nicht noch nur oder sich sie sind so um und uns von vor war was wenn wie
wir zu zum zur au aux avec ce ces dans de des du elle en est et il je la le les leur lui mais ne nous on ou par pas
pour qu que qui sa se ses son sur un une vous al como con de del el ella en es esta este la las lo los más no o para
pero por que se sin su sus un una y
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that identify no source. A sequence of nothing else is not looked up."""
_EMPTY_CHARACTERS = frozenset("的了是在和也就不都而及与着或我你他她它们这那有个一之")
_QUOTES = lazy_regex(
    r'```.*?(?:```|\Z)|"[^"\n]{2,2000}"|“[^”]{2,2000}”|«[^»]{2,2000}»|„[^“”]{2,2000}[“”]|「[^」]{2,2000}」|『[^』]{2,2000}』',
    re.DOTALL,
)
"""Quoted and fenced text."""
_DRAFT = lazy_regex(
    r"(?im)^[ \t>*#_-]*(?:final |the |my |suggested |possible )?"
    r"(?:answer|draft|reply|response|antwort|entwurf|réponse|brouillon|respuesta|borrador|回答|回复|草稿|答案|返信|下書き|返答|답변|초안)"
    r"[ \t*_]*[:：]"
)
"""Words in an analysis that announce the wording of an answer."""


class Source(Struct, frozen=True):
    """A hidden text."""

    message: int
    kind: str
    """`analysis`, `system`, `developer`, `arguments` or `tool`."""
    text: str
    drafts: Sequence[Span]
    """The spans that are quoted, or announced as an answer."""

    def is_draft(self, start: int, end: int) -> bool:
        """True if most of these characters were meant to be shown."""
        covered = sum(max(0, min(end, last) - max(start, first)) for first, last in self.drafts)
        return 2 * covered > end - start


def source_of(message: int, kind: str, text: str) -> Source:
    """Return a source with its drafts. Only an analysis has drafts."""
    drafts: list[Span] = []
    if kind == "analysis":
        drafts = [found.span() for found in _QUOTES.finditer(text)]
        announced = _DRAFT.search(text)
        if announced:
            drafts = [(start, min(end, announced.end())) for start, end in drafts if start < announced.end()]
            drafts.append((announced.end(), len(text)))
    return Source(message, kind, text, drafts)


class Passage(Struct, frozen=True):
    """A passage of a shown text that is in a source. Spans count characters."""

    first: int
    """The index of the first word in the shown text."""
    end: int
    words: float
    """The number of words that are in the source. A character of a script without spaces counts as half a word."""
    shown: Span
    source: Source
    source_span: Span


class Grams:
    """Short word sequences of hidden texts, with their places."""

    def __init__(self) -> None:
        self._places: dict[int, list[int]] = {}
        self._sources: list[Source] = []
        self._starts: list[int] = []
        self._words: list[Words] = []
        self._end = 0

    def add(self, source: Source) -> None:
        """Add a hidden text."""
        words = words_of(source.text)
        if not len(words):
            return
        self._sources.append(source)
        self._starts.append(self._end)
        self._words.append(words)
        for place, gram in seeds(words.words):
            known = self._places.setdefault(gram, [])
            if len(known) < _MOST_PLACES:
                known.append(self._end + place)
        self._end += len(words) + _APART

    def passages(self, text: Words, covered: bytearray) -> list[Passage]:
        """Return the passages of a shown text, longest first. They do not overlap and contain no covered words."""
        if not self._places:
            return []
        chains = self._chains(text.words, covered)
        found = [passage for chain in chains if (passage := self._passage(chain, text, covered))]
        found.sort(key=lambda passage: (-passage.words, passage.first))
        taken = bytearray(len(text))
        kept = []
        for passage in found:
            if not any(taken[passage.first : passage.end]):
                taken[passage.first : passage.end] = b"\1" * (passage.end - passage.first)
                kept.append(passage)
        return kept

    def _chains(self, words: Sequence[str], covered: bytearray) -> list[_Chain]:
        """Join sequences along a diagonal."""
        by_diagonal: dict[int, _Chain] = {}
        chains: list[_Chain] = []
        for at, gram in seeds(words):
            places = self._places.get(gram)
            if not places or all(covered[at : at + _SEED]):
                continue
            for place in places:
                diagonal = place - at
                for slip in _SLIPS:
                    chain = by_diagonal.get(diagonal + slip)
                    if chain and at - chain.end <= _GAP and place - chain.source_end <= _GAP + _SLIP:
                        chain.join(at, place)
                        by_diagonal[diagonal] = chain
                        break
                else:
                    chain = by_diagonal[diagonal] = _Chain(at, place)
                    chains.append(chain)
        return chains

    def _passage(self, chain: _Chain, text: Words, covered: bytearray) -> Passage | None:
        place = self._place_of(chain.source_first)
        source_words, base = self._words[place], self._starts[place]
        first, end = chain.first, chain.end
        source_first, source_end = chain.source_first - base, min(chain.source_end - base, len(source_words))
        words = text.words
        while (
            first
            and source_first
            and not covered[first - 1]
            and words[first - 1] == source_words.words[source_first - 1]
        ):
            first, source_first = first - 1, source_first - 1
            chain.places.add(first)
        while (
            end < len(words)
            and source_end < len(source_words)
            and not covered[end]
            and words[end] == source_words.words[source_end]
        ):
            chain.places.add(end)
            end, source_end = end + 1, source_end + 1
        marked = [word for word in chain.places if not covered[word]]
        weight = sum(map(weight_of, (words[word] for word in marked)))
        whole = sum(map(weight_of, words[first:end]))
        content = len({words[word] for word in marked if is_content(words[word])})
        if weight < LEAST_MARKED or weight < _LEAST_DENSE * whole or content < _LEAST_CONTENT:
            return None
        return Passage(
            first,
            end,
            weight,
            (text.starts[first], text.ends[end - 1]),
            self._sources[place],
            (source_words.starts[source_first], source_words.ends[source_end - 1]),
        )

    def _place_of(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1


_SLIPS = (0, -1, 1, -2, 2, -3, 3)


class _Chain:
    """Sequences of words in the same order in the shown text and in a source."""

    def __init__(self, at: int, place: int) -> None:
        self.first, self.end = at, at + _SEED
        self.source_first, self.source_end = place, place + _SEED
        self.places = set(range(at, at + _SEED))
        """The words of the shown text that are in the source."""

    def join(self, at: int, place: int) -> None:
        """Add a sequence that begins after the previous one."""
        self.places.update(range(at, at + _SEED))
        self.end = at + _SEED
        self.source_end = place + _SEED


def seeds(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the sequences to look up: place and hash."""
    contents = [is_content(word) for word in words]
    for place in range(len(words) - _SEED + 1):
        end = place + _SEED
        if any(contents[place:end]):
            yield place, hash(tuple(words[place:end]))


def fourgrams(words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the sequences that identify the origin of a text: four words, or twice as many characters."""
    for place in range(len(words) - _SEED):
        length = 8 if len(words[place]) == 1 and is_unspaced(words[place]) else 4
        if place + length <= len(words):
            yield place, hash(tuple(words[place : place + length])), length


def cover(words: Sequence[str], known: set[int], covered: bytearray) -> None:
    """Mark the words in known sequences."""
    for place, gram, length in fourgrams(words):
        if gram in known:
            covered[place : place + length] = b"\1" * length


def weight_of(word: str) -> float:
    """Return the fraction of a word that this counts as."""
    return 0.5 if len(word) == 1 and is_unspaced(word) else 1.0


def is_content(word: str) -> bool:
    """True if a word carries meaning."""
    if len(word) == 1:
        return is_unspaced(word) and word not in _EMPTY_CHARACTERS and not _is_hiragana(word)
    return word not in STOP_WORDS


def _is_hiragana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"
