"""Index of hidden text for leak detection: word sequences of a transcript, and the passages of shown text that match
them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from msgspec import Struct
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from viewer.cache import lazy_regex
from viewer.insight.hidden.growth import APART, EDITED, EQUAL, GAP, MOST_SPARE, NO_WORD, SLIP, Sides, Texts, near_of
from viewer.insight.hidden.sequence_index import BITS, MOST_WORDS, Borders, SequenceIndex
from viewer.insight.hidden.word_keys import CONTENT, Keys, Positions, weight_of
from viewer.insight.hidden.word_sequences import SEED, Words
from viewer.model.messages import Span

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
    """The known sequences in a shown text, in order: where each begins in the text and in the sources."""

    at: Positions
    places: Positions
    is_hopeful: NDArray[np.bool_] | None
    """False for sequences that are in no passage; None if every sequence may be in one."""


_NOTHING = _Found(np.zeros(0, np.int64), np.zeros(0, np.int64), None)


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
        self._found: dict[Words, _Found] = {}

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
            self._found[text] = _NOTHING

    def passages(self, text: Words, covered: bytearray) -> list[Passage]:
        """Return the passages of the shown text, longest first. They do not overlap, and covered words do not count
        toward their length."""
        sequences = self._sequences(text, covered)
        if not sequences:
            return []
        found: list[_Chain] = []
        inside = [-1] * len(text)
        for chain in sorted(_chains(sequences), key=lambda chain: -chain.size):
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
        for text, start, first, end in zip(texts, starts, cuts.tolist(), cuts[1:].tolist(), strict=False):
            hopeful = None if is_hopeful is None else is_hopeful[first:end]
            self._found[text] = _Found(at[first:end] - start, places[first:end], hopeful) if end > first else _NOTHING

    def _sequences(self, text: Words, covered: bytearray) -> list[_Sequence]:
        """Return the sequences of a shown text that may be in a passage, in order. Sequences that are adjacent in both
        the text and its source are joined."""
        if text not in self._found:
            if text not in self._expected:
                self.expect(text)
            self._search()
        found = self._found.pop(text)
        at, places, is_hopeful = found.at, found.places, found.is_hopeful
        if not len(at):
            return []
        if 1 in covered:
            is_covered = np.frombuffer(covered, np.bool_)
            is_free = ~(is_covered[at] & is_covered[at + 1] & is_covered[at + 2])
            at, places = at[is_free], places[is_free]
            is_hopeful = None if is_hopeful is None else is_hopeful[is_free]
        is_many = len(at) >= _FEW
        if is_hopeful is not None:
            at, places = at[is_hopeful], places[is_hopeful]
        return _joined(at, places, is_many=is_many)

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

    def _complete(self, chain: _Chain, text: Words, covered: bytearray) -> bool:
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

    def _passage(self, chain: _Chain, text: Words) -> Passage:
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
    least = sliding_window_view(hashes, _WINDOW).min(axis=1)
    kept: Positions = places[sliding_window_view(least, _WINDOW).max(axis=1)[places] == grams]
    return kept


def _joined(at: Positions, places: Positions, *, is_many: bool) -> list[_Sequence]:
    """Return the sequences in order. If there are many, join those that overlap or touch in both the text and its
    source."""
    if not is_many or not len(at):
        return [(first, place, SEED, False) for first, place in zip(at.tolist(), places.tolist(), strict=True)]
    by_diagonal = np.sort((places - at << BITS) + at, kind="stable")
    begins = np.ones(len(at), np.bool_)
    begins[1:] = np.diff(by_diagonal) > SEED
    firsts = begins.nonzero()[0]
    starts = by_diagonal[firsts]
    lengths = np.append(by_diagonal[firsts[1:] - 1], by_diagonal[-1]) + SEED - starts
    diagonals, starts = starts >> BITS, starts & MOST_WORDS
    is_apart = np.ones(len(diagonals) + 1, np.bool_)
    is_apart[1:-1] = np.diff(diagonals) > SLIP
    is_alone = is_apart[1:] & is_apart[:-1]
    order = np.argsort((starts << BITS) + starts + diagonals)
    columns = starts, starts + diagonals, lengths, is_alone
    return [*zip(*(column[order].tolist() for column in columns), strict=True)]


_Sequence = tuple[int, int, int, bool]
"""A sequence of words: where it begins in the shown text and in the sources, its length, and whether it is certain that
no chain continues with it or from it."""
_SLIPS = (0, -1, 1, -2, 2, -3, 3)


def _chains(sequences: Sequence[_Sequence]) -> list[_Chain]:
    """Join sequences on or near the same diagonal into chains."""
    by_diagonal: dict[int, _Chain] = {}
    chains: list[_Chain] = []
    for at, place, length, is_alone in sequences:
        if is_alone:
            chains.append(_Chain(at, place, length))
            continue
        diagonal = place - at
        for slip in _SLIPS:
            chain = by_diagonal.get(diagonal + slip)
            if chain and at - chain.end <= GAP and place - chain.source_end <= GAP + SLIP:
                chain.join(at, place, length)
                by_diagonal[diagonal] = chain
                break
        else:
            chain = by_diagonal[diagonal] = _Chain(at, place, length)
            chains.append(chain)
    return chains


class _Chain:
    """Word sequences that occur in the same order in a shown text and in a source."""

    __slots__ = ("end", "first", "gaps", "size", "source_end", "source_first", "words")

    def __init__(self, at: int, place: int, length: int) -> None:
        self.first, self.end = at, at + length
        self.source_first, self.source_end = place, place + length
        self.size = length
        """The number of words of the shown text that are in a sequence of this chain."""
        self.gaps: list[tuple[int, int, int, int]] = []
        """Where the words between two sequences begin and end, in the shown text and in the source."""
        self.words = 0.0
        """The number of words of the passage that are in the source and not covered."""

    def join(self, at: int, place: int, length: int) -> None:
        """Add a sequence that does not begin before the previous one."""
        if at > self.end:
            self.gaps.append((self.end, at, self.source_end, place))
        if at + length > self.end:
            self.size += at + length - max(at, self.end)
            self.end, self.source_end = at + length, place + length

    def may_grow(self, text: Words, source: memoryview, base: int) -> bool:
        """True if a passage may extend beyond an end: the next words are equal, or a content word near the end occurs
        on both sides. The check is exact and cheap, because most chains cannot grow."""
        before, after = self.source_first - base, self.source_end - base
        words, first, end = text.listed, self.first, self.end
        if end < len(words):
            near = near_of(words[end])
            hidden = source[after : after + near].tolist()
            if hidden and (words[end] == hidden[0] or not text.contents(end, end + near).isdisjoint(hidden)):
                return True
        if first and before:
            near = near_of(words[first - 1])
            hidden = source[max(0, before - near) : before].tolist()
            if words[first - 1] == hidden[-1] or not text.contents(max(0, first - near), first).isdisjoint(hidden):
                return True
        return False

    def extend(self, sides: Sides) -> set[int]:
        """Add equal words between the sequences and beyond both ends. Return the positions in the shown text of all
        words that are in the source."""
        places = {*range(self.first, self.end)}
        for first, end, _, _ in self.gaps:
            places.difference_update(range(first, end))
        for first, end, source_first, source_end in self.gaps:
            for at in range(first, end):
                for place in (source_first + at - first, source_end + at - end):
                    if source_first <= place < source_end and sides.shown[at] == sides.source[place - sides.base]:
                        places.add(at)
        base, edited = sides.base, self.end - self.first - len(places)
        spare = min(MOST_SPARE, EQUAL * len(places) - EDITED * edited)
        found, first, source_first, spare = sides.grow(self.first - 1, self.source_first - 1 - base, -1, spare)
        places.update(found)
        found, self.end, source_end, _ = sides.grow(self.end, self.source_end - base, 1, min(MOST_SPARE, spare))
        places.update(found)
        self.first, self.source_first, self.source_end = first + 1, source_first + 1 + base, source_end + base
        return places
