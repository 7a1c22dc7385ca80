"""Align the messages of two transcripts: by anchors and runs, by similarity in gaps, and replies by their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from viewer.insight.compared import NO_MESSAGE, Part, Side
from viewer.insight.matching import MOST_CELLS, Gap, increasing, match
from viewer.insight.words import plain_words

LEAST_SIMILAR = 0.4
_SAME_TOOL = 0.35
"""The weight of equal recipients in the similarity of two messages. Their words have the remaining weight."""
_NEAR = 8
"""The distance within which two replies may have swapped places. Some replies up to twice as far apart are also
compared."""
MOST_WORDS = 20_000
"""The maximum number of words of a body to compare."""

Work = Callable[[], None]
Pairs = list[tuple[int, int]]


class Row(Struct, frozen=True, gc=False):
    """A pair of messages, or a message that only one side has; the position on the other side is then -1."""

    a: int
    b: int
    moved: bool = False
    """True if the pair is out of order."""


def align(a: Side, b: Side, work: Work = lambda: None) -> list[Row]:
    """Return the rows of a comparison, in the order of both sides. `work` is called regularly and may raise an
    exception to stop."""
    rows: list[Row] = []
    for first, second in _pair_parts(a.parts, b.parts):
        pairs = _align_parts(a, b, first, second, work)
        rows += _in_order(pairs, first, second)
    return rows


def _pair_parts(a: Sequence[Part], b: Sequence[Part]) -> Iterator[tuple[Part, Part]]:
    """Yield pairs of transcripts in the order of A: those with equal IDs in their headers belong together, and the
    others are paired in order. An empty part replaces a missing transcript."""
    by_id = {name: part for part in b if (name := _id_of(part))}
    used = set[int]()
    partners: list[Part | None] = []
    for part in a:
        partner = by_id.get(_id_of(part))
        if partner is not None and partner.first not in used:
            used.add(partner.first)
            partners.append(partner)
        else:
            partners.append(None)
    left = iter([part for part in b if part.first not in used])
    last = 0
    for part, partner in zip(a, partners, strict=True):
        found = partner or next(left, None)
        last = found.end if found else last
        yield part, found or Part(None, last, last)
    for part in left:
        yield Part(None, a[-1].end if a else 0, a[-1].end if a else 0), part


def _id_of(part: Part) -> str:
    value = part.transcript.header.get("id") if part.transcript and part.transcript.header else None
    return value if isinstance(value, str) else ""


def _align_parts(a: Side, b: Side, first: Part, second: Part, work: Work) -> Pairs:
    """Return the pairs of messages of two transcripts. A reply is paired through its call, if it has one."""
    in_a = [position for position in range(first.first, first.end) if position not in a.replies]
    in_b = [position for position in range(second.first, second.end) if position not in b.replies]
    runs, gaps = match([a.key[position] for position in in_a], [b.key[position] for position in in_b])
    pairs = [(in_a[i + step], in_b[j + step]) for i, j, length in runs for step in range(length)]
    for gap in gaps:
        work()
        pairs += _similar(a, b, in_a[gap[0] : gap[1]], in_b[gap[2] : gap[3]], work)
    pairs += [*_moved_calls(a, b, first, second, pairs)]
    replies = _by_content(a, b, [*_replies(a, b, first, second, dict(pairs))])
    return [*pairs, *replies, *_without_call(a, b, first, second, [*pairs, *replies], work)]


def _moved_calls(a: Side, b: Side, first: Part, second: Part, pairs: Pairs) -> Iterator[tuple[int, int]]:
    """Yield pairs of the remaining calls that are out of order: those with the same tool and ID, or identical calls."""
    paired_a, paired_b = {i for i, _ in pairs}, {j for _, j in pairs}
    left_a = [i for i in range(first.first, first.end) if i in a.calls and i not in paired_a]
    left_b = [j for j in range(second.first, second.end) if j in b.calls and j not in paired_b]
    used = set[int]()
    for of_key in (_by_id, _by_key):
        open_b: dict[object, list[int]] = {}
        for j in reversed(left_b):
            if j not in used and (key := of_key(b, j)) is not None:
                open_b.setdefault(key, []).append(j)
        rest = []
        for i in left_a:
            found = open_b.get(of_key(a, i))
            if found:
                used.add(found[-1])
                yield i, found.pop()
            else:
                rest.append(i)
        left_a = rest


def _by_id(side: Side, position: int) -> object:
    name = side.call_ids.get(position)
    return None if name is None else (side.tool[position], name)


def _by_key(side: Side, position: int) -> object:
    return side.key[position]


def _replies(a: Side, b: Side, first: Part, second: Part, pairs: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of replies to paired calls. A call may have several replies."""
    of_call: dict[int, list[int]] = {}
    for j in range(second.end - 1, second.first - 1, -1):
        if j in b.replies:
            of_call.setdefault(b.replies[j], []).append(j)
    for i in range(first.first, first.end):
        call = a.replies.get(i)
        left = of_call.get(pairs.get(call, NO_MESSAGE)) if call is not None else None
        if left:
            yield i, left.pop()


def _without_call(a: Side, b: Side, first: Part, second: Part, pairs: Pairs, work: Work) -> Pairs:
    """Return pairs of similar remaining replies where only one reply has a call, because the other's call was lost."""
    paired_a, paired_b = {i for i, _ in pairs}, {j for _, j in pairs}
    left_a = [i for i in range(first.first, first.end) if i not in paired_a]
    left_b = [j for j in range(second.first, second.end) if j not in paired_b]
    found: Pairs = []
    for has_call in (True, False):
        found += _similar(
            *(a, b, [i for i in left_a if (i in a.replies) is has_call]),
            *([j for j in left_b if (j in b.replies) is not has_call], work),
        )
    return found


def _by_content(a: Side, b: Side, pairs: Pairs) -> Pairs:
    """Return the pairs, with the partners of neighboring replies swapped if this pairs equal replies. Without call IDs,
    the order of replies means little."""
    found = dict(pairs)
    at_b = {j: i for i, j in pairs}
    odd = [(i, j) for i, j in pairs if a.key[i] != b.key[j] and not (_has_id(a, i) and _has_id(b, j))]
    open_b: dict[tuple[int, int], list[int]] = {}
    for _, j in odd:
        open_b.setdefault((b.key[j], j // _NEAR), []).append(j)
    for i, _ in odd:
        j = found[i]
        near = (open_b.get((a.key[i], j // _NEAR + step), ()) for step in (0, -1, 1))
        other = next((each for each in chain(*near) if a.key[at_b[each]] != b.key[each]), None)
        if other is not None and a.key[i] != b.key[j]:
            at_b[j], at_b[other] = at_b[other], i
            found[i], found[at_b[j]] = other, j
    return [*found.items()]


def _has_id(side: Side, reply: int) -> bool:
    return side.replies[reply] in side.call_ids


def _similar(a: Side, b: Side, in_a: Sequence[int], in_b: Sequence[int], work: Work) -> Pairs:
    """Return the pairs in a gap, in order, with the largest sum of similarities."""
    pairs: Pairs = []
    for gap in _small((0, len(in_a), 0, len(in_b))):
        work()
        pairs += _most_similar(a, b, in_a[gap[0] : gap[1]], in_b[gap[2] : gap[3]])
    return pairs


def _small(gap: Gap) -> Iterator[Gap]:
    """Yield the gap or, if it is too large, its parts after repeated halving."""
    waiting = [gap]
    while waiting:
        i, i_end, j, j_end = waiting.pop()
        if (i_end - i) * (j_end - j) <= MOST_CELLS:
            yield i, i_end, j, j_end
        else:
            i_middle, j_middle = (i + i_end) // 2, (j + j_end) // 2
            waiting += [(i_middle, i_end, j_middle, j_end), (i, i_middle, j, j_middle)]


def _most_similar(a: Side, b: Side, in_a: Sequence[int], in_b: Sequence[int]) -> Pairs:
    """Return the best pairs by the Needleman–Wunsch algorithm without a gap penalty. Only similar pairs within one
    group are considered."""
    bags = _Bags()
    second = [(b.group[j], b.tool[j], *bags.of(_words(b, j))) for j in in_b]
    by_group: dict[int, list[int]] = {}
    for column, (group, *_) in enumerate(second):
        by_group.setdefault(group, []).append(column)
    width = len(in_b)
    sums = [[0.0] * (width + 1)]
    chosen: list[dict[int, float]] = []
    for i in in_a:
        columns = by_group.get(a.group[i], ())
        found: dict[int, float] = {}
        if columns:
            bag, size = bags.of(_words(a, i))
            for column in columns:
                _, tool, other, other_size = second[column]
                both = size + other_size
                common = 2 * (bag & other).bit_count() / both if both else 1.0
                similarity = _SAME_TOOL * (a.tool[i] == tool) + (1 - _SAME_TOOL) * common
                if similarity >= LEAST_SIMILAR:
                    found[column] = similarity
        chosen.append(found)
        sums.append(_next_sums(sums[-1], found, width))
    return _traced(in_a, in_b, sums, chosen)


def _next_sums(above: list[float], found: dict[int, float], width: int) -> list[float]:
    """Return the next row of the table of best sums, which includes one more message."""
    if not found:
        return above
    row, best = [0.0], 0.0
    for column in range(width):
        up = above[column + 1]
        if up > best:
            best = up
        if column in found and above[column] + found[column] > best:
            best = above[column] + found[column]
        row.append(best)
    return row


def _traced(in_a: Sequence[int], in_b: Sequence[int], sums: list[list[float]], chosen: list[dict[int, float]]) -> Pairs:
    pairs: Pairs = []
    i, j = len(in_a), len(in_b)
    while i and j:
        if sums[i][j] == sums[i - 1][j]:
            i -= 1
        elif sums[i][j] == sums[i][j - 1]:
            j -= 1
        else:
            pairs.append((in_a[i - 1], in_b[j - 1]))
            i, j = i - 1, j - 1
    return pairs[::-1]


class _Bags:
    """Multisets of words as bits, so an intersection is a single operation. One bit represents the first occurrence of
    a word, another bit the second, and so on."""

    def __init__(self) -> None:
        self._bits: dict[tuple[str, int], int] = {}

    def of(self, words: Sequence[str]) -> tuple[int, int]:
        """Return the bits of a multiset and their number."""
        counts: dict[str, int] = {}
        bits = bytearray((len(self._bits) + len(words)) // 8 + 1)
        for word in words:
            count = counts[word] = counts.get(word, 0) + 1
            bit = self._bits.setdefault((word, count), len(self._bits))
            bits[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(bits, "little"), len(words)


def _words(side: Side, position: int) -> Sequence[str]:
    return plain_words(side.body(position))[:MOST_WORDS]


def _in_order(pairs: Pairs, first: Part, second: Part) -> Iterator[Row]:
    """Yield the rows of a comparison in order. Messages only in A come before messages only in B."""
    by_a = dict(pairs)
    in_order = set(increasing(sorted(pairs)))
    used = {j for _, j in pairs}
    j = second.first
    for i in range(first.first, first.end):
        partner = by_a.get(i)
        if partner is None:
            yield Row(i, NO_MESSAGE)
        elif (i, partner) in in_order:
            yield from (Row(NO_MESSAGE, other) for other in range(j, partner) if other not in used)
            yield Row(i, partner)
            j = partner + 1
        else:
            yield Row(i, partner, moved=True)
    yield from (Row(NO_MESSAGE, other) for other in range(j, second.end) if other not in used)
