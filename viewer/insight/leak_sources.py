"""Index of hidden text for leak detection: word sequences of a transcript, and the passages of shown text that match
them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from viewer.cache import lazy_regex
from viewer.insight.hidden.word_keys import CONTENT, UNSPACED_WORD, Hashes, Keys, Positions, is_content, weight_of
from viewer.insight.hidden.word_sequences import SEED, Words
from viewer.model.messages import Span

LEAST_MARKED = 6.0
"""The minimum number of words of a passage that must be in the source."""
_LEAST_DENSE = 0.6
"""The minimum share of the words of a passage that must be in the source."""
_EQUAL, _EDITED = 2, 3
"""The weights of equal and edited words where a passage is extended, so that it stays equally dense."""
_MOST_SPARE = 2 * _EDITED
"""The maximum credit with which an extension may skip edited words before equal words make up for them. More would
stretch the passage over text of another origin."""
_LEAST_CONTENT = 3
_MOST_PLACES = 8
"""The maximum number of positions of one sequence to take from each block."""
_MOST_FOUND = 2 * _MOST_PLACES
"""The maximum number of positions of one sequence to take from all blocks together."""
_KEPT = np.arange(_MOST_PLACES)
_GAP = 4
"""The maximum number of words between two sequences of a passage."""
_SLIP = 3
"""The maximum shift, in words, between a passage and its source."""
_APART = 16
"""The number of words left between two sources, so that no passage spans both."""
_BITS = 28
_MOST_WORDS = (1 << _BITS) - 1
_MOST_INDEXED = 200_000
"""Beyond this many words, only some sequences are kept. A copy can be extended from any one of them."""
_WINDOW = 4
"""One of every this many consecutive sequences is kept, so six equal words contain at least one."""
_PLACES = np.uint64(_MOST_WORDS)
"""The bits for the position of a sequence. The others contain its hash; the required density of a passage rules out
chance matches."""

_FEW = 256
"""With fewer sequences than this, joining costs more than it saves."""
_FEW_ALONE = 8
"""Below this number of sequences, checking them together costs more than checking each one."""
_SPARE = 32
"""When the array of keys grows, it gets spare room for one word per this many words."""
_NO_WORD = -1

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
"""The possible endings of an announcement in ASCII, before the colon."""
_ANNOUNCED = 64
"""The number of characters before a colon to check first."""


class Source(Struct, frozen=True, dict=True):
    """Hidden text of one message."""

    message: int
    kind: str
    """`analysis`, `system`, `developer`, `arguments`, or `tool`."""
    text: str

    def is_draft(self, start: int, end: int) -> bool:
        """True if most of these characters were meant to be shown."""
        covered = sum(max(0, min(end, last) - max(start, first)) for first, last in self._drafts)
        return 2 * covered > end - start

    @cached_property
    def _drafts(self) -> list[Span]:
        """The spans that are quoted, or announced as an answer. Only an analysis has them, and few are needed."""
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
    """Return the first announcement of an answer. The slow search runs only in lines whose first colon may end one."""
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
    """Short word sequences of hidden text, with their positions."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._starts: list[int] = []
        self._lengths: list[int] = []
        """The numbers of words of the sources."""
        self._words: list[Words] = []
        """The positions of their words."""
        self._keys = np.zeros(2 * _APART, np.int64)
        """The keys of the words of all sources, after `_APART` zeros. No word of a shown text equals a zero."""
        self._end = 0
        self._sorted: list[Hashes] = []
        """Hashes of sequences with their positions in the lowest bits, in sorted blocks of decreasing size."""
        self._unsorted: list[Hashes] = []

    def add(self, source: Source, words: Words) -> None:
        """Add hidden text and its words."""
        if len(words) < SEED or self._end + len(words) > _MOST_WORDS:
            return
        self._sources.append(source)
        self._starts.append(self._end)
        self._lengths.append(len(words))
        self._words.append(words.alone())
        self._keep(words.keys)
        grams = words.threes & ~_PLACES
        places = np.arange(self._end, self._end + len(grams), dtype=np.uint64)
        if self._end + len(words) > _MOST_INDEXED:
            kept = _winnowed(words)
            grams, places = grams[kept], places[kept]
        self._unsorted.append(grams | places)
        self._end += len(words) + _APART

    def _keep(self, keys: Keys) -> None:
        """Append the keys of a source."""
        first = self._end + _APART
        end = first + len(keys)
        if end + _APART > len(self._keys):
            room = np.zeros(end + _APART + self._end // _SPARE, np.int64)
            room[:first] = self._keys[:first]
            self._keys = room
        self._keys[first:end] = keys

    def _keys_of(self, source: int) -> Keys:
        first = self._starts[source] + _APART
        return self._keys[first : first + self._lengths[source]]

    def passages(self, text: Words, covered: bytearray) -> list[Passage]:
        """Return the passages of a shown text, longest first. They do not overlap and contain no covered words."""
        if not self._words:
            return []
        found: list[_Chain] = []
        inside = [-1] * len(text)
        for chain in sorted(self._chains(text, covered), key=lambda chain: -len(chain.places)):
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

    def _blocks(self) -> list[Hashes]:
        """Sort what was added. Each block is merged with the blocks before it that are not much longer, so each
        hash is sorted only a few times."""
        if self._unsorted:
            block = np.sort(np.concatenate(self._unsorted))
            self._unsorted.clear()
            while self._sorted and len(self._sorted[-1]) < 4 * len(block):
                block = np.sort(np.concatenate((self._sorted.pop(), block)))
            self._sorted.append(block)
        return self._sorted

    def _find(self, text: Words, covered: bytearray) -> list[tuple[int, int, int]]:
        """Return the known sequences in the shown text, in order: where each begins in it and in the sources, and its
        length in words. Sequences that are adjacent on both sides are joined."""
        wanted, grams = text.seeds
        if 1 in covered:
            at_each = np.frombuffer(covered, np.bool_)
            is_free = ~(at_each[wanted] & at_each[wanted + 1] & at_each[wanted + 2])
            wanted, grams = wanted[is_free], grams[is_free]
        grams = grams & ~_PLACES
        order = grams.argsort()  # lookups near each other are faster
        wanted, grams = wanted[order], grams[order]
        found: list[tuple[Positions, Positions]] = []
        for block in self._blocks():
            first = block.searchsorted(grams)
            known = (block.take(first, mode="clip") ^ grams <= _PLACES).nonzero()[0]
            if len(known):
                entries = block.take(first[known, None] + _KEPT, mode="clip")
                is_same = entries ^ grams[known, None] <= _PLACES
                is_same &= first[known, None] + _KEPT < len(block)
                found.append((np.repeat(wanted[known], is_same.sum(1)), (entries[is_same] & _PLACES).view(np.int64)))
        if not found:
            return []
        at, places = map(np.concatenate, zip(*found, strict=True))
        if len(found) > 1:
            at, places = _last_places(at, places)
        return _joined(*self._hopeful(text, covered, at, places), is_many=len(at) >= _FEW)

    def _hopeful(
        self, text: Words, covered: bytearray, at: Positions, places: Positions
    ) -> tuple[Positions, Positions]:
        """Return the sequences without those that are in no passage: common phrases of three to five words, with no
        other sequence on a diagonal near them and nothing at their ends that would continue a passage."""
        if not _FEW_ALONE <= len(at) < _FEW:
            return at, places  # too few, or repeated text, in which few sequences are alone
        order = np.argsort((places - at << _BITS) + at)
        diagonals, firsts = (places - at)[order], at[order]
        begins = np.ones(len(order), np.bool_)
        begins[1:] = np.diff(diagonals) > _SLIP
        first = begins.nonzero()[0]
        last = np.append(first[1:], len(order)) - 1
        starts, ends, shifts = firsts[first], firsts[last] + SEED, diagonals[first]
        is_alone = (ends - starts < LEAST_MARKED) & (shifts == diagonals[last])
        alone = is_alone.nonzero()[0]
        is_alone[alone] = ~self._may_grow(text, covered, starts[alone], ends[alone], shifts[alone])
        kept = order[np.repeat(~is_alone, last - first + 1)]
        return at[kept], places[kept]

    def _may_grow(
        self, text: Words, covered: bytearray, starts: Positions, ends: Positions, shifts: Positions
    ) -> NDArray[np.bool_]:
        """Return which sequences may continue at an end: with the next words, or after edited ones. See
        `_Sides.grow`."""
        near, detours = (_WIDE, _MAY_SKIP_WIDE) if text.is_unspaced else (_NARROW, _MAY_SKIP)
        at = np.concatenate((ends[:, None] + near, starts[:, None] - 1 - near))
        hidden = self._keys.take(at + np.concatenate((shifts, shifts))[:, None] + _APART, mode="clip")
        is_outside = (at < 0) | (at >= len(text))
        shown = text.keys.take(at, mode="clip")
        shown[is_outside] = _NO_WORD
        is_equal = shown[:, :, None] == hidden[:, None, :]
        has_content = shown & CONTENT > 0
        follows = is_equal[:, 1:, 1:] & (has_content[:, :-1] | has_content[:, 1:])[:, :, None]
        is_equal = is_equal[:, :-1, :-1]
        if 1 in covered:
            is_free = np.frombuffer(covered, np.bool_).take(at[:, :-1], mode="clip") == 0
            is_equal &= is_free[:, :, None]
        is_alike = is_equal.diagonal(axis1=1, axis2=2) & has_content[:, :-1]
        may: NDArray[np.bool_] = (
            is_equal[:, 0, 0] | is_alike.any(axis=1) | (is_equal & follows & detours).any(axis=(1, 2))
        )
        return may[: len(starts)] | may[len(starts) :]

    def _chains(self, text: Words, covered: bytearray) -> list[_Chain]:
        """Join sequences along a diagonal."""
        by_diagonal: dict[int, _Chain] = {}
        chains: list[_Chain] = []
        for at, place, length in self._find(text, covered):
            diagonal = place - at
            for slip in _SLIPS:
                chain = by_diagonal.get(diagonal + slip)
                if chain and at - chain.end <= _GAP and place - chain.source_end <= _GAP + _SLIP:
                    chain.join(at, place, length)
                    by_diagonal[diagonal] = chain
                    break
            else:
                chain = by_diagonal[diagonal] = _Chain(at, place, length)
                chains.append(chain)
        return chains

    def _complete(self, chain: _Chain, text: Words, covered: bytearray) -> bool:
        """Extend a chain at both ends. Return True if it is a passage."""
        source = self._place_of(chain.source_first)
        base, keys = self._starts[source], self._keys_of(source).data
        if len(chain.places) < LEAST_MARKED and not chain.may_grow(text, keys, base):
            return False  # the usual case: a common phrase
        chain.extend(_Sides(text.keys.data, keys, base, covered))
        if len(chain.places) < LEAST_MARKED:
            return False
        marked = [int(text.keys[place]) for place in chain.places if not covered[place]]
        chain.words = sum(map(weight_of, marked))
        whole = sum(map(weight_of, text.keys[chain.first : chain.end].tolist()))
        content = len({*filter(is_content, marked)})
        return chain.words >= max(LEAST_MARKED, _LEAST_DENSE * whole) and content >= _LEAST_CONTENT

    def _passage(self, chain: _Chain, text: Words) -> Passage:
        place = self._place_of(chain.source_first)
        base = self._starts[place]
        source_span = self._words[place].span(chain.source_first - base, chain.source_end - base)
        shown = text.span(chain.first, chain.end)
        return Passage(chain.first, chain.end, chain.words, shown, self._sources[place], source_span)

    def _place_of(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1


def _winnowed(words: Words) -> Positions:
    """Return the positions of the sequences with a content word that have the smallest hash in at least one window."""
    places, grams = words.seeds
    hashes = np.full(len(words.threes) + 2 * (_WINDOW - 1), np.iinfo(np.uint64).max, np.uint64)
    hashes[places + _WINDOW - 1] = grams
    least = sliding_window_view(hashes, _WINDOW).min(axis=1)
    kept: Positions = places[sliding_window_view(least, _WINDOW).max(axis=1)[places] == grams]
    return kept


def _last_places(at: Positions, places: Positions) -> tuple[Positions, Positions]:
    """Return the last positions of each sequence in the sources. Using all of them would make repeated text too
    expensive."""
    in_order = np.sort((at << _BITS) + places)
    at = in_order >> _BITS
    is_kept = np.ones(len(at), np.bool_)
    is_kept[:-_MOST_FOUND] = at[:-_MOST_FOUND] != at[_MOST_FOUND:]
    return at[is_kept], in_order[is_kept] & _MOST_WORDS


def _joined(at: Positions, places: Positions, *, is_many: bool) -> list[tuple[int, int, int]]:
    """Return sequences in order. If there are many, join those that overlap or touch on both sides."""
    if not is_many or not len(at):
        return [(first, place, SEED) for first, place in sorted(zip(at.tolist(), places.tolist(), strict=True))]
    by_diagonal = np.sort((places - at << _BITS) + at)
    begins = np.ones(len(at), np.bool_)
    begins[1:] = np.diff(by_diagonal) > SEED
    firsts = begins.nonzero()[0]
    starts = by_diagonal[firsts]
    lengths = np.append(by_diagonal[firsts[1:] - 1], by_diagonal[-1]) + SEED - starts
    diagonals, starts = starts >> _BITS, starts & _MOST_WORDS
    order = np.argsort((starts << _BITS) + starts + diagonals)
    found = (starts[order].tolist(), (starts + diagonals)[order].tolist(), lengths[order].tolist())
    return [*zip(*found, strict=True)]


_SLIPS = (0, -1, 1, -2, 2, -3, 3)


class _Sides(Struct, frozen=True):
    """The words of a shown text and of a source."""

    shown: memoryview
    source: memoryview
    base: int
    """The position of the first word of the source."""
    covered: bytearray
    """The words of the shown text that have a known origin."""

    def grow(self, at: int, place: int, step: int, spare: int) -> tuple[list[int], int, int, int]:
        """Follow equal words in one direction, past edited ones, as long as the passage stays dense. `spare` is the
        weight of its equal words minus the weight of its edited words.

        Return the equal words of the shown text, where the passage ends on both sides, and its remaining spare
        weight."""
        found: list[int] = []
        shown, source, covered = self.shown, self.source, self.covered
        dense = 0, at, place, spare
        while True:
            before = len(found)
            while 0 <= at < len(shown) and 0 <= place < len(source) and not covered[at] and shown[at] == source[place]:
                found.append(at)
                at, place = at + step, place + step
            spare += _EQUAL * (len(found) - before)
            if spare >= 0:
                dense = len(found), at, place, spare
            skipped, left = self._detour(at, place, step)
            spare -= _EDITED * skipped
            if spare < -_EDITED * _GAP or (not skipped and not left):
                return found[: dense[0]], *dense[1:]
            at, place = at + step * skipped, place + step * left

    def _detour(self, at: int, place: int, step: int) -> tuple[int, int]:
        """Return how many edited words precede the next equal words on each side: two in a row, or one at the same
        distance."""
        near = _near(self.shown[at]) if 0 <= at < len(self.shown) else 0
        ahead, before = _ahead(self.shown, at, step, near), _ahead(self.source, place, step, near)
        if not any(key & CONTENT for key in {*ahead}.intersection(before)):
            return 0, 0  # the usual case
        for skipped, left in _WIDE_DETOURS if ahead[0] & UNSPACED_WORD else _DETOURS:
            if skipped + 1 >= len(ahead) or left + 1 >= len(before):
                continue
            key = ahead[skipped]
            if key == before[left] and not self.covered[at + step * skipped]:
                after = ahead[skipped + 1]
                if (skipped == left and key & CONTENT) or (after == before[left + 1] and (key | after) & CONTENT):
                    return skipped, left
        return 0, 0


def _near(key: int) -> int:
    """Return how many words to look ahead from the end of a passage: past the edited words, to two equal ones."""
    return (2 * _GAP if key & UNSPACED_WORD else _GAP) + 2


def _ahead(keys: memoryview, at: int, step: int, near: int) -> list[int]:
    """Return the next words in one direction."""
    if step > 0:
        return keys[at : at + near].tolist()
    return keys[max(0, at + 1 - near) : at + 1].tolist()[::-1] if at >= 0 else []


def _detours(gap: int) -> Sequence[tuple[int, int]]:
    """Return the numbers of words to skip on both sides, nearest first."""
    both = [(skipped, left) for skipped in range(gap + 1) for left in range(gap + 1)]
    found = [(skipped, left) for skipped, left in both if skipped + left and abs(skipped - left) <= _SLIP]
    return sorted(found, key=lambda detour: (sum(detour), abs(detour[0] - detour[1])))


_DETOURS, _WIDE_DETOURS = _detours(_GAP), _detours(2 * _GAP)
_NARROW, _WIDE = np.arange(_near(0)), np.arange(_near(UNSPACED_WORD))
"""The words that a passage looks ahead to."""


def _may_skip(detours: Sequence[tuple[int, int]], near: int) -> NDArray[np.bool_]:
    """Return the detours as a Boolean table."""
    table = np.zeros((near - 1, near - 1), np.bool_)
    table[tuple(zip(*detours, strict=True))] = True
    return table


_MAY_SKIP, _MAY_SKIP_WIDE = _may_skip(_DETOURS, len(_NARROW)), _may_skip(_WIDE_DETOURS, len(_WIDE))


class _Chain:
    """Sequences of words in the same order in the shown text and in a source."""

    def __init__(self, at: int, place: int, length: int) -> None:
        self.first, self.end = at, at + length
        self.source_first, self.source_end = place, place + length
        self.places = set(range(at, at + length))
        """The words of the shown text that are in the source."""
        self.gaps: list[tuple[int, int, int, int]] = []
        """Where the words between two sequences begin and end, in the shown text and in the source."""
        self.words = 0.0
        """The number of words in `places` that are not covered."""

    def join(self, at: int, place: int, length: int) -> None:
        """Add a sequence that begins after the previous one."""
        if at > self.end:
            self.gaps.append((self.end, at, self.source_end, place))
        self.places.update(range(at, at + length))
        if at + length > self.end:
            self.end, self.source_end = at + length, place + length

    def may_grow(self, text: Words, source: memoryview, base: int) -> bool:
        """True if a passage may extend beyond an end: the next words are equal, or a nearby content word is. The check
        is exact and cheap, because most chains cannot grow."""
        before, after = self.source_first - base, self.source_end - base
        words, first, end = text.listed, self.first, self.end
        if end < len(words):
            near = _near(words[end])
            hidden = source[after : after + near].tolist()
            if hidden and (words[end] == hidden[0] or not text.contents(end, end + near).isdisjoint(hidden)):
                return True
        if first and before:
            near = _near(words[first - 1])
            hidden = source[max(0, before - near) : before].tolist()
            if words[first - 1] == hidden[-1] or not text.contents(max(0, first - near), first).isdisjoint(hidden):
                return True
        return False

    def extend(self, sides: _Sides) -> None:
        """Add equal words between the sequences and beyond both ends."""
        for first, end, source_first, source_end in self.gaps:
            for at in range(first, end):
                for place in (source_first + at - first, source_end + at - end):
                    if source_first <= place < source_end and sides.shown[at] == sides.source[place - sides.base]:
                        self.places.add(at)
        base, edited = sides.base, self.end - self.first - len(self.places)
        spare = min(_MOST_SPARE, _EQUAL * len(self.places) - _EDITED * edited)
        found, first, source_first, spare = sides.grow(self.first - 1, self.source_first - 1 - base, -1, spare)
        self.places.update(found)
        found, self.end, source_end, _ = sides.grow(self.end, self.source_end - base, 1, min(_MOST_SPARE, spare))
        self.places.update(found)
        self.first, self.source_first, self.source_end = first + 1, source_first + 1 + base, source_end + base
