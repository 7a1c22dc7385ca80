"""Find runs of plain frames: frames of a chat template with one plain text. They become batches, so their readers need
not read them token by token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

from msgspec import Struct

from viewer.model.messages import Ending, Header
from viewer.reading.cursor import Window
from viewer.reading.recorder import Recorder
from viewer.reading.template_marks import LONGEST_FOLD
from viewer.scan.text_signs import places_with_signs

LEAST_SCANNED = 4 * LONGEST_FOLD
"""The minimum number of bytes that are worth a scan."""
LONGEST_TOLD_APART = 4096
"""The number of bytes at the start of text that decide whether the text is held back."""
MOST_HEADS = 1024
_LONGEST_GAP = 64
"""Before a frame with more whitespace than this, no run begins."""
SPACE = b" \t\r\n"


class PlainHead(Struct, frozen=True):
    """The header of a plain frame."""

    header: Header
    may_be: Callable[[bytes], bool] | None = None
    """A function that returns True if the text may be more than plain words; None if it never is."""
    is_open_ended: bool = False
    """True if the frame may end where the next frame begins."""
    begins_at_text: bool = True
    """True if the body begins at the first nonblank character."""


class FrameRules(Struct, frozen=True):
    """The frames of one format."""

    starts: frozenset[bytes]
    ends: frozenset[bytes]
    others: frozenset[bytes]
    """Tokens in whose presence a frame is not plain."""
    header_ends: tuple[bytes, ...]
    """The marks after a header; empty if the format has no headers."""
    longest_header: int
    read_head: Callable[[bytes, bytes], PlainHead | None]
    """A function that returns the header of a frame, given its start token and its words. It returns None for the
    header of a frame that is not plain."""
    also_ends: frozenset[bytes] = frozenset()
    """Start tokens that also end the frame before them, whichever it is."""


class PlainFrames:
    """The plain frames in the window of a reader. Each byte is scanned once."""

    def __init__(self, rules: FrameRules) -> None:
        self._rules = rules
        self._patterns: list[re.Pattern[bytes]] = []
        """The patterns of all tokens, compiled by the first scan."""
        self._heads: dict[tuple[bytes, bytes], PlainHead | None] = {}
        self._scanned_to = 0
        self._frames: list[_Frame] = []
        """The plain frames that have been found and not taken."""
        self._next = 0

    def take(self, window: Window, at: int, record: Recorder, begin: Callable[[int], None] | None = None) -> int:
        """Add the plain frames that begin here to a batch. Return where the last one ends, or `at` if there is none.

        `begin` is called with the offset of the first frame, if there is one."""
        if not record.has_batches:
            return at
        if at >= self._scanned_to and window.end - at >= LEAST_SCANNED:
            self._scan(window, at)
        frames, place = self._frames, self._next
        while place < len(frames) and frames[place][0] < at:
            place += 1
        self._next = place
        if place == len(frames):
            return at
        start = frames[place][0]
        if start - at > _LONGEST_GAP or window.text(at, start).strip(SPACE):
            return at
        end = place + 1
        while end < len(frames) and frames[end][-1]:
            end += 1
        if begin is not None:
            begin(start)
        record.start_if_none(start)
        self._add(record, frames[place:end])
        self._next = end
        return frames[end - 1][1]

    def _add(self, record: Recorder, frames: list[_Frame]) -> None:
        batch = record.verbatim_batch()
        codes = batch.numbers
        for start, end, first, last, stop, head, _ in frames:
            key = id(head.header), stop >= 0  # the batch keeps the header, so no other one has its identity
            code = codes.get(key)
            if code is None:
                code = codes[key] = len(batch.headers)
                batch.headers.append((head.header, Ending.END))
                if stop < 0:
                    batch.stopless.add(code)
            batch.codes.append(code)
            batch.starts.append(start)
            batch.ends.append(end)
            batch.body_starts.append(first)
            batch.body_ends.append(last)
            batch.stops.append(stop if stop >= 0 else end)
        batch.escaped.extend(bytes(len(frames)))
        batch.signed.extend(bytes(len(frames)))
        record.count_batch(batch)

    def _scan(self, window: Window, at: int) -> None:
        """Find the plain frames from this offset on, but not at the end of the window, where more bytes might change
        the meaning of a token."""
        base, limit = at, window.end - LONGEST_FOLD - 1
        data = window.text(at, limit)
        self._scanned_to, self._next = limit, 0
        frames = self._find(data, base)
        firsts, lasts = [each[2] - base for each in frames], [each[3] - base for each in frames]
        signed = places_with_signs(data, firsts, lasts, set())
        kept: list[_Frame] = []
        end = -1
        for place, frame in enumerate(frames):
            if place in signed:
                continue
            start = frame[0]
            follows = end >= 0 and (start == end or not data[end - base : start - base].strip(SPACE))
            kept.append((*frame, follows))
            end = frame[1]
        self._frames = kept

    def _find(self, data: bytes, base: int) -> list[tuple[int, int, int, int, int, PlainHead]]:
        """Return the start and end of each frame without further tokens, the bounds of its body, the offset of its stop
        token, or -1 if it has none, and its header."""
        rules, heads = self._rules, self._heads
        starts, ends, also_ends = rules.starts, rules.ends, rules.also_ends
        found: list[tuple[int, int, int, int, int, PlainHead]] = []
        tokens = self._tokens(data)
        for (at, spelled), (to, next_spelled) in pairwise(tokens):
            if spelled not in starts:
                continue
            words, body = self._words(data, at + len(spelled), to)
            head = heads.get((spelled, words), _UNKNOWN) if words is not None else None
            if head is _UNKNOWN and words is not None:
                head = rules.read_head(spelled, words)
                if len(heads) < MOST_HEADS:
                    heads[spelled, words] = head
            if head is None:
                continue
            has_stop = next_spelled in ends
            if not (has_stop or (next_spelled in starts and (head.is_open_ended or next_spelled in also_ends))):
                continue
            if head.may_be is not None and head.may_be(data[body : min(to, body + LONGEST_TOLD_APART)]):
                continue
            first, last = body, to
            if data[first] in SPACE or data[last - 1] in SPACE:
                bare = data[body:to].rstrip(SPACE)
                first, last = to - len(data[body:to].lstrip(SPACE)), body + len(bare)
            if first >= last:
                continue
            start = base + at
            first = base + (first if head.begins_at_text else body)
            stop = base + to
            if has_stop:
                found.append((start, stop + len(next_spelled), first, base + last, stop, head))
            else:
                found.append((start, stop, first, base + last, -1, head))
        return found

    def _words(self, data: bytes, at: int, to: int) -> tuple[bytes | None, int]:
        """Return the words of the header that begins here, and where the body begins. The words are None if the header
        does not end before the next token."""
        marks = self._rules.header_ends
        if not marks:
            return b"", at
        to = min(to, at + self._rules.longest_header)
        place, size = data.find(marks[0], at, to), len(marks[0])
        for mark in marks[1:]:
            other = data.find(mark, at, to if place < 0 else place)
            if other >= 0:
                place, size = other, len(mark)
        return (data[at:place], place + size) if place >= 0 else (None, at)

    def _tokens(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the offsets and spellings of all tokens, in order."""
        if not self._patterns:
            self._patterns = _patterns((*self._rules.starts, *self._rules.ends, *self._rules.others))
        found = [[(each.start(), each[0]) for each in pattern.finditer(data)] for pattern in self._patterns]
        return found[0] if len(found) == 1 else sorted(token for tokens in found for token in tokens)


_Frame = tuple[int, int, int, int, int, PlainHead, bool]
"""The start and end of a frame, the bounds of its body, the offset of its stop token or -1, its header, and True if
only whitespace separates it from the plain frame before it."""
_UNKNOWN = PlainHead(Header(""))


def _patterns(spellings: Iterable[bytes]) -> list[re.Pattern[bytes]]:
    """Return patterns that together match these tokens. There is one for each beginning of two bytes, which the engine
    finds quickly."""
    rests: dict[bytes, set[bytes]] = {}
    for spelling in spellings:
        rests.setdefault(spelling[:2], set()).add(spelling[2:])
    return [
        re.compile(re.escape(first) + b"(?:" + b"|".join(map(re.escape, sorted(rest, reverse=True))) + b")")
        for first, rest in rests.items()
    ]
