"""Index of hidden text for leak detection: word sequences of a transcript, and the passages of a shown text in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.insight.words import Words, is_content, trigrams, weight_of
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

_QUOTES = lazy_regex(
    r'```.*?(?:```|\Z)|"[^"\n]{2,2000}"|“[^”]{2,2000}”|«[^»]{2,2000}»|„[^“”]{2,2000}[“”]|「[^」]{2,2000}」|『[^』]{2,2000}』',
    re.DOTALL,
)
"""Quoted and fenced text."""
_OPENED = lazy_regex(r':[ \t]*"')
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
        drafts = [*(found.span() for found in _QUOTES.finditer(text)), *_quoted_ends(text)]
        announced = _DRAFT.search(text)
        if announced:
            drafts = [(start, min(end, announced.end())) for start, end in drafts if start < announced.end()]
            drafts.append((announced.end(), len(text)))
    return Source(message, kind, text, drafts)


def _quoted_ends(text: str) -> Iterator[Span]:
    """Yield the ends of lines that are quoted after a colon. Quotation marks inside one would end a quotation early."""
    start = 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip()
        opened = _OPENED.search(body) if body.endswith('"') else None
        if opened and opened.end() < len(body):
            yield start + opened.start(), start + len(body)
        start += len(line)


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
        self._places: dict[int, int] = {}
        self._more: dict[int, list[int]] = {}
        """The further places of the few sequences that occur more than once."""
        self._sources: list[Source] = []
        self._starts: list[int] = []
        self._words: list[Words] = []
        self._end = 0

    def add(self, source: Source, words: Words) -> None:
        """Add a hidden text and its words."""
        if not len(words):
            return
        self._sources.append(source)
        self._starts.append(self._end)
        self._words.append(words)
        set_first = self._places.setdefault
        for place, gram in enumerate(trigrams(words.keys), self._end):
            if set_first(gram, place) != place:
                more = self._more.setdefault(gram, [])
                if len(more) < _MOST_PLACES - 1:
                    more.append(place)
        self._end += len(words) + _APART

    def passages(self, text: Words, covered: bytearray) -> list[Passage]:
        """Return the passages of a shown text, longest first. They do not overlap and contain no covered words."""
        if not self._places:
            return []
        chains = self._chains(text, covered)
        found = [passage for chain in chains if (passage := self._passage(chain, text, covered))]
        found.sort(key=lambda passage: (-passage.words, passage.first))
        taken = bytearray(len(text))
        kept = []
        for passage in found:
            if not any(taken[passage.first : passage.end]):
                taken[passage.first : passage.end] = b"\1" * (passage.end - passage.first)
                kept.append(passage)
        return kept

    def _chains(self, text: Words, covered: bytearray) -> list[_Chain]:
        """Join sequences along a diagonal."""
        by_diagonal: dict[int, _Chain] = {}
        chains: list[_Chain] = []
        known, keys = self._places, text.keys
        for at, gram in [(at, gram) for at, gram in enumerate(text.trigrams) if gram in known]:
            if all(covered[at : at + _SEED]) or not any(map(is_content, keys[at : at + _SEED])):
                continue
            for place in (known[gram], *self._more.get(gram, ())):
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
        keys = text.keys
        while (
            first and source_first and not covered[first - 1] and keys[first - 1] == source_words.keys[source_first - 1]
        ):
            first, source_first = first - 1, source_first - 1
            chain.places.add(first)
        while (
            end < len(keys)
            and source_end < len(source_words)
            and not covered[end]
            and keys[end] == source_words.keys[source_end]
        ):
            chain.places.add(end)
            end, source_end = end + 1, source_end + 1
        marked = [keys[place] for place in chain.places if not covered[place]]
        weight = sum(map(weight_of, marked))
        whole = sum(map(weight_of, keys[first:end]))
        content = len({*filter(is_content, marked)})
        if weight < LEAST_MARKED or weight < _LEAST_DENSE * whole or content < _LEAST_CONTENT:
            return None
        return Passage(
            first,
            end,
            weight,
            (text.spans[first][0], text.spans[end - 1][1]),
            self._sources[place],
            (source_words.spans[source_first][0], source_words.spans[source_end - 1][1]),
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
