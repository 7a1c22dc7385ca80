"""Index of hidden text for leak detection: word sequences of a transcript, and the passages of shown text that match
them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.insight.hidden.chains import Candidates, Chain, candidates, few_candidates
from viewer.insight.hidden.growth import APART, GAP, NO_WORD, SLIP, Sides, Texts
from viewer.insight.hidden.sequence_index import BITS, MOST_WORDS, Borders, SequenceIndex
from viewer.insight.hidden.word_keys import CONTENT, Hashes, Keys, Positions, weight_of
from viewer.insight.hidden.word_sequences import SEED, Words
from viewer.model.messages import Span
from viewer.numeric import NDArray, np

LEAST_MARKED = 6.0
"""The minimum number of words that a passage must share with its source."""
_LEAST_DENSE = 0.6
"""The minimum share of a passage's words that must be in its source."""
_LEAST_CONTENT = 3
_MOST_INDEXED = 200_000
"""The number of words beyond which only some sequences are indexed. A copy can be extended from any one of them."""
_WINDOW = 4
"""Of this many consecutive sequences, at least one is indexed, so any six consecutive words contain an indexed
sequence."""
_FEW_ALONE = 8
"""The minimum number of sequences to check together. With fewer, checking each one costs less."""
_REPEATED = 4
"""If sequences occur at least this many times on average, they are not checked together, because few are isolated."""
_FEW = 256
"""The minimum number of sequences to join. With fewer, joining costs more than it saves."""
_SPARE = 32
"""When the array of keys grows, room for one extra word is added per this many words."""

_QUOTES = lazy_regex(
    r'```.*?(?:```|\Z)|"[^"\n]{2,2000}"|“[^”]{2,2000}”|«[^»]{2,2000}»|„[^“”]{2,2000}[“”]|「[^」]{2,2000}」|『[^』]{2,2000}』',
    re.DOTALL,
)
"""Quoted and fenced text."""
_QUOTE = lazy_regex('[`"“«„「『]')
"""The marks that begin quoted or fenced text."""
_OPENED = lazy_regex(r':[ \t]*"')
_DRAFT = lazy_regex(
    r"(?im)^[ \t>*#_-]*(?:final |the |my |suggested |possible )?"
    r"(?:answer|draft|reply|response|antwort|entwurf|réponse|brouillon|respuesta|borrador|回答|回复|草稿|答案|返信|下書き|返答|답변|초안)"
    r"[ \t*_]*[:：]"
)
"""Words in an analysis that announce the wording of an answer."""
_COLON = lazy_regex("[:：]")
_ASCII_ENDS = ("answer", "draft", "reply", "response", "antwort", "entwurf", "brouillon", "respuesta", "borrador")
"""The possible endings of an ASCII announcement, before the colon."""
_ANNOUNCED = 64
"""The number of characters before a colon to check first."""


class Source(Struct, frozen=True, dict=True):
    """Hidden text of one message."""

    message: int
    kind: str
    """`analysis`, `system`, `developer`, `arguments`, or `tool`."""
    text: str

    def is_draft(self, start: int, end: int) -> bool:
        """True if most of these characters are quoted, or announced as an answer."""
        drafts, reach = self._drafts_in_order
        near = drafts[bisect_right(reach, start) : bisect_left(drafts, (end,))]
        return 2 * sum(max(0, min(end, last) - max(start, first)) for first, last in near) > end - start

    @cached_property
    def _drafts_in_order(self) -> tuple[list[Span], list[int]]:
        """The drafts in order and, for each draft, the furthest end of any draft up to it."""
        drafts = sorted(self._drafts)
        return drafts, [*accumulate((last for _, last in drafts), max)]

    @cached_property
    def _drafts(self) -> list[Span]:
        """The spans that are quoted, or announced as an answer. Only an analysis has any. Computed on demand, because
        few are needed."""
        if self.kind != "analysis":
            return []
        text = self.text
        drafts = [found.span() for found in _QUOTES.finditer(text)] if _QUOTE.search(text) else []
        drafts += _quoted_ends(text) if _OPENED.search(text) else []
        announced = _announced(text)
        if announced:
            drafts = [(start, min(end, announced.end())) for start, end in drafts if start < announced.end()]
            drafts.append((announced.end(), len(text)))
        return drafts


def _announced(text: str) -> re.Match[str] | None:
    """Return the first announcement of an answer, or None if there is none. The slow search runs only in lines in which
    the first colon may end an announcement."""
    start = 0
    while colon := _COLON.search(text, start):
        at = colon.start()
        start = text.rfind("\n", start, at) + 1 or start
        ending = text[max(start, at - _ANNOUNCED) : at].rstrip(" \t*_")
        may_end = at - start > _ANNOUNCED or not ending.isascii() or ending.lower().endswith(_ASCII_ENDS)
        found = _DRAFT.match(text, start) if may_end else None
        end = text.find("\n", at) + 1
        if found or not end:
            return found
        start = end
    return None


def _quoted_ends(text: str) -> Iterator[Span]:
    """Yield each quotation that begins after a colon and ends with its line. `_QUOTES` would end it at the first
    quotation mark inside it."""
    start = 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip()
        opened = _OPENED.search(body) if body.endswith('"') else None
        if opened and opened.end() < len(body):
            yield start + opened.start(), start + len(body)
        start += len(line)


class Passage(Struct, frozen=True):
    """A passage of shown text that is also in a source. Spans are character offsets."""

    first: int
    """The index of the first word in the shown text."""
    end: int
    words: float
    """The number of words that are in the source. A character of a script without spaces counts as half a word."""
    shown: Span
    source: Source
    source_span: Span


class _Found(Struct, frozen=True):
    """The known sequences in several shown texts that were searched together."""

    at: Positions
    """Where each sequence begins in the texts, in order."""
    places: Positions
    """Where it begins in the sources."""
    is_hopeful: NDArray[np.bool_] | None
    """False for sequences that are in no passage; None if every sequence may be in one."""


class _FoundIn(Struct, frozen=True):
    """The known sequences in one shown text."""

    candidates: Candidates
    found: _Found
    rows: slice
    """The rows of this text."""
    start: int
    """Where the text begins among those that were searched together."""

    def without(self, covered: bytearray) -> Candidates:
        """Return the sequences that may be in a passage, without those whose words are all covered."""
        if 1 not in covered:
            return self.candidates
        at = self.found.at[self.rows] - self.start
        is_covered = np.frombuffer(covered, np.bool_)
        is_free = ~(is_covered[at] & is_covered[at + 1] & is_covered[at + 2])
        if is_free.all():
            return self.candidates
        if self.found.is_hopeful is not None:
            is_free &= self.found.is_hopeful[self.rows]
        at, places = at[is_free], self.found.places[self.rows][is_free]
        return few_candidates(at, places) if len(at) < _FEW else next(candidates(at, places, (0, len(covered))))


class Grams:
    """Short word sequences of hidden text, with their positions."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._starts: list[int] = []
        self._lengths: list[int] = []
        """The number of words in each source."""
        self._words: list[Words] = []
        """The positions of the words in each source."""
        self._keys = np.zeros(2 * APART, np.int64)
        """The word keys of all sources, after `APART` zeros. No word of a shown text has the key 0."""
        self._first = self._end = 0
        """The positions where the searched sources begin and end."""
        self._index = SequenceIndex()
        self._expected: dict[Words, Borders] = {}
        self._found: dict[Words, _FoundIn | None] = {}

    def begin(self) -> None:
        """Exclude everything added so far from later searches."""
        self._first = self._end
        self._index.begin()

    def add(self, source: Source, words: Words) -> None:
        """Index hidden text by its words. Text that is too short, or for which there is no room, is ignored."""
        if len(words) < SEED or self._end + len(words) > MOST_WORDS:
            return
        self._sources.append(source)
        self._starts.append(self._end)
        self._lengths.append(len(words))
        self._words.append(words.alone())
        self._keep(words.keys)
        grams = words.threes
        places = np.arange(self._end, self._end + len(grams))
        if self._end - self._first + len(words) > _MOST_INDEXED:
            kept = _winnowed(words)
            grams, places = grams[kept], places[kept]
        self._index.add(grams, places, self._end)
        self._end += len(words) + APART

    def _keep(self, keys: Keys) -> None:
        first = self._end + APART
        end = first + len(keys)
        if end + APART > len(self._keys):
            room = np.zeros(end + APART + self._end // _SPARE, np.int64)
            room[:first] = self._keys[:first]
            self._keys = room
        self._keys[first:end] = keys

    def _keys_of(self, source: int) -> Keys:
        first = self._starts[source] + APART
        return self._keys[first : first + self._lengths[source]]

    def expect(self, text: Words) -> None:
        """Announce a shown text, to be compared with everything added so far. Texts that are announced before the first
        call of `passages` are searched together."""
        if self._end > self._first:
            self._expected[text] = self._index.borders(self._end)
        else:
            self._found[text] = None

    def passages(self, text: Words, covered: bytearray) -> list[Passage]:
        """Return the passages of the shown text, longest first. They do not overlap, and covered words do not count
        toward their length."""
        candidates = self._candidates(text, covered)
        if candidates is None:
            return []
        found: list[Chain] = []
        inside = [-1] * len(text)
        for chain in candidates.chains(inside):
            if inside[chain.first] == inside[chain.end - 1] >= 0:
                continue  # the same words elsewhere in the sources
            if self._complete(chain, text, covered):
                inside[chain.first : chain.end] = [len(found)] * (chain.end - chain.first)
                found.append(chain)
        found.sort(key=lambda chain: (-chain.words, chain.first))
        taken = bytearray(len(text))
        kept = []
        for chain in found:
            if not any(taken[chain.first : chain.end]):
                taken[chain.first : chain.end] = b"\1" * (chain.end - chain.first)
                kept.append(self._passage(chain, text))
        return kept

    def _search(self) -> None:
        """Find the known sequences in all announced texts."""
        if not self._expected:
            return
        texts, borders = [*self._expected], [*self._expected.values()]
        self._expected.clear()
        starts = [APART]
        for text in texts:
            starts.append(starts[-1] + len(text) + APART)
        seeds = [text.seeds for text in texts]
        at = np.concatenate([places + start for (places, _), start in zip(seeds, starts, strict=False)])
        hashes = np.concatenate([hashes for _, hashes in seeds])
        searches = np.repeat(np.arange(len(texts)), [len(places) for places, _ in seeds])
        rows, places = self._index.find(hashes, searches, borders)
        at = at[rows]
        cuts = at.searchsorted(starts)
        is_hopeful: NDArray[np.bool_] | None = None
        if _FEW_ALONE <= len(at) < _REPEATED * len(hashes):
            shown = _side_by_side([text.keys for text in texts], starts)
            has_unspaced = any(text.is_unspaced for text in texts)
            is_hopeful = self._are_hopeful(Texts(shown, shown, self._keys, has_unspaced), at, places)
        found = _Found(at, places, is_hopeful)
        if is_hopeful is not None:
            at, places = at[is_hopeful], places[is_hopeful]
        parts = map(slice, cuts.tolist(), cuts[1:].tolist())
        for text, each, own, start in zip(texts, candidates(at, places, starts), parts, starts, strict=False):
            self._found[text] = _FoundIn(each, found, own, start) if each else None

    def _candidates(self, text: Words, covered: bytearray) -> Candidates | None:
        """Return the sequences of a shown text that may be in a passage, or None if there are none."""
        if text not in self._found:
            if text not in self._expected:
                self.expect(text)
            self._search()
        found = self._found.pop(text)
        return found.without(covered) if found is not None else None

    @staticmethod
    def _are_hopeful(texts: Texts, at: Positions, places: Positions) -> NDArray[np.bool_]:
        """Return a flag for each sequence: false if it is in no passage, because it belongs to a common phrase of three
        to five words with no other sequence near it, and too few equal words around it."""
        order, first = _groups(at, places)
        diagonals = (places - at)[order]
        last = np.append(first[1:], len(order)) - 1
        starts, ends = at[order[first]], at[order[last]] + SEED
        shifts = diagonals[first]
        lengths = ends - starts
        is_single = np.minimum.reduceat(diagonals, first) == np.maximum.reduceat(diagonals, first)
        alone = ((lengths < LEAST_MARKED) & is_single).nonzero()[0]
        shifts = shifts[alone] + APART
        starts, ends, needed = starts[alone], ends[alone], int(LEAST_MARKED) - lengths[alone]
        gained = texts.most_gained(ends, ends + shifts, 1, int(LEAST_MARKED) - SEED)
        short = (gained < needed).nonzero()[0]
        starts, shifts = starts[short] - 1, shifts[short]
        gained[short] += texts.most_gained(starts, starts + shifts, -1, int(LEAST_MARKED) - SEED)
        is_kept = np.ones(len(first), np.bool_)
        is_kept[alone[gained < needed]] = False
        is_hopeful = np.empty(len(order), np.bool_)
        is_hopeful[order] = np.repeat(is_kept, last - first + 1)
        return is_hopeful

    def _complete(self, chain: Chain, text: Words, covered: bytearray) -> bool:
        """Extend a chain at both ends. Return True if it is a passage."""
        source = self._place_of(chain.source_first)
        base, keys = self._starts[source], self._keys_of(source).data
        if chain.size < LEAST_MARKED and not chain.may_grow(text, keys, base):
            return False  # the usual case: a common phrase
        places = chain.extend(Sides(text.keys.data, keys, base, covered))
        if len(places) < LEAST_MARKED:
            return False
        words = text.listed
        marked = [words[place] for place in places if not covered[place]]
        if text.is_unspaced:
            chain.words = sum(map(weight_of, marked))
            whole = sum(map(weight_of, words[chain.first : chain.end]))
        else:
            chain.words, whole = float(len(marked)), float(chain.end - chain.first)
        content = len({key for key in marked if key & CONTENT})
        return chain.words >= max(LEAST_MARKED, _LEAST_DENSE * whole) and content >= _LEAST_CONTENT

    def _passage(self, chain: Chain, text: Words) -> Passage:
        place = self._place_of(chain.source_first)
        base = self._starts[place]
        source_span = self._words[place].span(chain.source_first - base, chain.source_end - base)
        shown = text.span(chain.first, chain.end)
        return Passage(chain.first, chain.end, chain.words, shown, self._sources[place], source_span)

    def _place_of(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1


def _side_by_side(texts: Sequence[Keys], starts: Sequence[int]) -> Keys:
    """Return an array that contains the keys of each text at its start position, and `NO_WORD` everywhere else."""
    found = np.full(starts[-1], NO_WORD, np.int64)
    for keys, start in zip(texts, starts, strict=False):
        found[start : start + len(keys)] = keys
    return found


def _groups(at: Positions, places: Positions) -> tuple[Positions, Positions]:
    """Return an order that sorts the sequences into groups, and where in that order each group begins. The sequences of
    a group have nearby diagonals, and are near each other in the shown text, so no chain connects two groups.

    A sequence of another group cannot cut off a chain either: all sequences on a diagonal between two sequences of a
    group belong to that group."""
    diagonals = places - at
    order = diagonals.argsort()
    group = np.zeros(len(at), np.int64)
    np.cumsum(np.diff(diagonals[order]) > SLIP, out=group[1:])
    by_text = ((group << BITS) + at[order]).argsort()
    order, group = order[by_text], group[by_text]
    begins = np.ones(len(at), np.bool_)
    begins[1:] = (np.diff(group) > 0) | (np.diff(at[order]) > SEED + GAP)
    return order, begins.nonzero()[0]


def _winnowed(words: Words) -> Positions:
    """Return the positions of the sequences with a content word that have the smallest hash in at least one window."""
    places, grams = words.seeds
    hashes = np.full(len(words.threes) + 2 * (_WINDOW - 1), np.iinfo(np.uint64).max, np.uint64)
    hashes[places + _WINDOW - 1] = grams
    least = _over_windows(np.maximum, _over_windows(np.minimum, hashes))
    kept: Positions = places[least[places] == grams]
    return kept


def _over_windows(function: Callable[[Hashes, Hashes], Hashes], hashes: Hashes) -> Hashes:
    """Return the result of the function for each window."""
    end = len(hashes) - _WINDOW + 1
    found = hashes[:end]
    for place in range(1, _WINDOW):
        found = function(found, hashes[place : place + end])
    return found
