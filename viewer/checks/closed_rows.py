"""Check complete messages of record formats together: anything ruled out for a whole block is not tested per
message."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import partial
from itertools import pairwise
from operator import le
from typing import TYPE_CHECKING

from viewer import native
from viewer.cache import lazy_regex
from viewer.checks.context import BEGINS_OBJECT
from viewer.checks.plain_calls import PlainKind, PlainRows
from viewer.checks.prefilter_block import Block, compile_block
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, joined_text, read_body, string_data, string_read, verbatim_body
from viewer.scan.joined_text import join_pieces
from viewer.scan.text_signs import MAY_SPELL
from viewer.syntax.utf8 import is_utf8

if TYPE_CHECKING:
    from viewer.checks.context import CheckContext
    from viewer.checks.queue import CheckQueue, ClosedRows
    from viewer.columns.api import Column

MOST_BYTES = 256 * 1024
_CONSTRAINT = b"<|constrain|>"
_DEADLINE = b"deadline_ms"
_BRACE = ord("{")
_MAY_BEGIN = b" \\"
"""The first bytes of strings that may, once decoded, begin with whitespace or an escaped brace."""
_MAY_BEGIN_OBJECT = lazy_regex(rb"(?>[ ]|\\[nrt])*+(?:\{|\\u)")
"""A pattern that matches the start of any string, without its quote, whose text begins with whitespace and a brace, and
of some other strings."""


def check_rows(checker: CheckQueue, work: ClosedRows, size: int) -> int:
    """Check the first messages of `work`: about `size` bytes, but no more than can be checked together. Return the
    number of the last message checked."""
    _start_transcripts(checker, work, work.first)
    last = _last_together(checker, work, size)
    rows = _Rows(checker, work.first, last, work.signed[work.first - work.last - 1 :])
    first = work.first
    for border in _borders(work, last):
        rows.check(first, border)
        first = border
        while work.found and work.found[0][0] < border:
            one = work.found.pop(0)[1]
            checker.report(one.rule, one.reason, one.start, one.end, one.message, one.count)
        if border <= last or last == work.last:
            _start_transcripts(checker, work, border)
    return last


def _start_transcripts(checker: CheckQueue, work: ClosedRows, number: int) -> None:
    while work.started and work.started[0][0] <= number:
        checker.start_transcript(work.started.pop(0)[1])


def _last_together(checker: CheckQueue, work: ClosedRows, size: int) -> int:
    """Return the number of the last message to check together with the first one. It is about `size` bytes later, or
    directly before a transcript for which `has_facts_of` is false."""
    starts, _ = checker.index.bounds(work.first, work.last)
    last = work.first + max(1, bisect_left(starts, starts[0] + min(size, MOST_BYTES))) - 1
    for number, transcript in work.started:
        if number > last:
            break
        if not checker.has_facts_of(transcript):
            return number - 1
    return last


def _borders(work: ClosedRows, last: int) -> list[int]:
    """Return, in order, the numbers of the messages before which a problem is reported or a transcript starts. The
    final entry is the number after `last`."""
    found = {number + 1 for number, _ in work.found if number <= last}
    return sorted({*found, *(number for number, _ in work.started if number <= last), last + 1})


class _Rows:
    """Messages that are checked together."""

    def __init__(self, checker: CheckQueue, first: int, last: int, signed: bytearray) -> None:
        index = checker.index
        self._checker = checker
        self._first = first
        starts, ends = index.bounds(first, last)
        self._base = base = starts[0]
        self._data = data = checker.read(base, ends[-1])
        self._ends = ends
        self._opaque: dict[tuple[int, int], int] = {}
        """The masks for bodies that are labels of encrypted data, by header key and size."""
        body_starts, body_ends = index.bodies(first, last)
        self._irregular = {number - first for number in index.irregular(first, last)}
        """The indices of the messages with bodies that are not one run of bytes. These are checked one by one."""
        irregular = sorted(self._irregular)
        for row in irregular:
            body_starts[row] = body_ends[row] = body_ends[row - 1] if row else base
        is_ordered = all(map(le, body_starts, body_starts[1:]))
        order = None if is_ordered else sorted(range(len(body_starts)), key=body_starts.__getitem__)
        is_apart = order is None or all(body_ends[row] <= body_starts[later] for row, later in pairwise(order))
        self._is_whole = is_apart and b"\0" not in data and (data.isascii() or is_utf8(data))
        if not self._is_whole:
            return
        self._starts = [start - base for start in body_starts]
        self._stops = [end - base for end in body_ends]
        kinds = index.kinds[first : last + 1]
        self._signed = signed[: len(kinds)]
        self._turns = index.turns(first, last)
        self._strings = [index.has_string(kind) for kind in kinds]
        firsts = [start + is_string for start, is_string in zip(self._starts, self._strings, strict=True)]
        answer_of = {kind: checker.answers.of(first + kinds.index(kind), kind) for kind in set(kinds)}
        block = Block(data, self._starts, self._stops, firsts, order)
        answers = [answer_of[kind] for kind in kinds]
        masks = compile_block(checker.checks).masks(answers, self._signed, block, self._text)
        self._irregular -= self._plain_irregular(kinds)
        for row in irregular:
            masks[row] = checker.every_check if row in self._irregular else 0
        self._rows = [row for row, mask in enumerate(masks) if mask]
        self._masks = [masks[row] for row in self._rows]
        self._plain = self._plain_rows(kinds, firsts)

    def _plain_irregular(self, kinds: Column) -> set[int]:
        """Return the irregular messages to which no check applies, and whose bodies are either the text of their pieces
        or only a label in place of data that is never read."""
        checker, base, end = self._checker, self._base, self._base + len(self._data)
        plain, rows, texts = set[int](), list[int](), list[bytes]()
        accelerator = native.load()
        for row in self._irregular:
            pieces = checker.index.irregular_pieces(self._first + row)
            if len(pieces) == 1 and pieces[0].coding is Coding.OPAQUE:
                if self._is_plain_label(kinds[row], self._first + row, pieces[0].end - pieces[0].start - 2):
                    plain.add(row)
                continue
            text = join_pieces(accelerator, pieces, self._data, base)
            if text is None and all(base <= piece.start <= piece.end <= end for piece in pieces):
                text = joined_text(pieces, self._read)
            if text is not None:
                rows.append(row)
                texts.append(text)
        if texts:
            masks = checker.masks_of_texts([kinds[row] for row in rows], [self._first + row for row in rows], texts)
            plain.update(row for row, mask in zip(rows, masks, strict=True) if not mask)
        return plain

    def _is_plain_label(self, kind: int, number: int, size: int) -> bool:
        """True if a message whose body is the label of encrypted data of this size needs no check."""
        checker = self._checker
        from viewer.syntax.attachments import opaque_label  # lazy: few inputs have encrypted data

        mask = self._opaque.get((kind, size))
        if mask is None:
            mask = self._opaque[kind, size] = checker.mask_of_text(kind, number, opaque_label(size).encode())
        return not mask

    def _read(self, start: int, end: int) -> bytes:
        return self._data[start - self._base : end - self._base]

    def _plain_rows(self, kinds: Column, firsts: list[int]) -> PlainRows:
        """Return the messages that need a check, as columns. The kind of a message that may need more than a link is
        None."""
        checker, data, rows = self._checker, self._data, self._rows
        kind_of = {kind: checker.plain_kind(kind) for kind in set(kinds)}
        may_be_plain = [mask & ~checker.of_plain_calls == 0 for mask in self._masks]
        signed = self._signed
        if any(signed):  # a constraint begins like a mark
            signs = [signed[row] for row in rows]
            places = zip(rows, may_be_plain, signs, strict=True)
            may_be_plain = [may and not (sign and self._may_have_constraint(row)) for row, may, sign in places]
        ids = checker.index.call_ids(self._first, self._first + len(kinds) - 1)
        plain = [kind_of[kinds[row]] if may_be else None for row, may_be in zip(rows, may_be_plain, strict=True)]
        are_objects = self._are_objects(firsts)
        objects = self._native_objects(plain, are_objects)
        return PlainRows(
            [self._first + row for row in rows],
            plain,
            [self._turns[row] for row in rows],
            [ids[row] for row in rows],
            are_objects,
            [],
            [self._starts[row] for row in rows],
            [self._stops[row] for row in rows],
            data,
            self._base,
            _DEADLINE in data or self._may_spell_any(plain, objects),
            [self._strings[row] for row in rows],
            objects,
        )

    def _native_objects(self, kinds: list[PlainKind | None], are_objects: list[bool]) -> bytes:
        """Return the flags of the bodies that begin like objects, as `Native.string_objects` does; nothing without the
        accelerator. `kinds` has the kind of each message that needs a check."""
        accelerator = native.load()
        if accelerator is None:
            return b""
        flags, bounds, strings, places = bytearray(len(kinds)), array("q"), bytearray(), list[int]()
        for place, (kind, is_object) in enumerate(zip(kinds, are_objects, strict=True)):
            if kind is not None and (is_object or kind.is_json):
                row = self._rows[place]
                bounds.extend((self._starts[row], self._stops[row]))
                strings.append(self._strings[row])
                places.append(place)
        for place, flag in zip(places, accelerator.string_objects(self._data, bounds, strings), strict=True):
            flags[place] = flag
        return bytes(flags)

    def _may_have_constraint(self, row: int) -> bool:
        raw = self._data[self._starts[row] : self._stops[row]]
        return _CONSTRAINT in raw or b"\\u" in raw or b"\\/" in raw

    def _may_spell_any(self, kinds: list[PlainKind | None], objects: bytes) -> bool:
        """True if a call contains an escape that may be part of a deadline key. `kinds` has the kind of each
        message that needs a check, and `objects` contains its flags if known. A string with flags has no escape."""
        data = self._data
        for row, kind, flags in zip(self._rows, kinds, objects or bytes(len(kinds)), strict=True):
            is_unknown = kind is not None and kind.is_call and not flags
            if is_unknown and MAY_SPELL.search(data, self._starts[row], self._stops[row]) is not None:
                return True
        return False

    def _are_objects(self, firsts: list[int]) -> list[bool]:
        """Return a flag for each message that needs a check: true if its body begins like a JSON object."""
        data, begins, may_begin = self._data, BEGINS_OBJECT.match, _MAY_BEGIN_OBJECT.match
        leads = [data[firsts[row]] for row in self._rows]
        return [
            lead == _BRACE
            or (lead in _MAY_BEGIN and may_begin(data, firsts[row]) is not None and begins(self._text(row)) is not None)
            for row, lead in zip(self._rows, leads, strict=True)
        ]

    def _text(self, row: int) -> bytes:
        return self._body(row).data if self._strings[row] else self._data[self._starts[row] : self._stops[row]]

    def _body(self, row: int) -> Body:
        start, stop = self._starts[row], self._stops[row]
        raw, offset = self._data[start:stop], self._base + start
        if not self._strings[row]:
            return verbatim_body(raw, offset)
        text = string_data(raw)
        if text is not None:
            return string_read(text, raw, offset)
        return read_body((Piece(offset, self._base + stop, Coding.JSON_STRING),), self._checker.read)

    def _repeats_instruction(self, row: int) -> bool:
        """True for an instruction with the same text as the last one that declared no tools."""
        if not self._checker.is_instruction(self._first + row):
            return False
        return self._text(row) == self._checker.tools.last_without_tools

    def _case(self, row: int) -> CheckContext:
        checker = self._checker
        return checker.case_of(checker.index[self._first + row], self._body(row))

    def check(self, first: int, last: int) -> None:
        """Check the messages from `first` up to, but not including, `last`."""
        if first == last:
            return
        if self._is_whole:
            self._check_rows(first - self._first, last - self._first)
        else:
            for number in range(first, last):
                self._checker.check_closed(self._checker.index[number])
        self._checker.checked_to = max(self._checker.checked_to, self._ends[last - 1 - self._first])

    def _check_rows(self, first: int, end: int) -> None:
        checker, rows, plain, turns = self._checker, self._rows, self._plain, self._turns
        tools = checker.tools
        place, last = bisect_left(rows, first), bisect_left(rows, end)
        before, tried, has_times = first - 1, 0, checker.index.has_times
        while place < last:
            row = rows[place]
            kind = None if has_times and checker.calls.has_deadlines else plain.kinds[place]
            if row > before + 1:
                tools.skip_messages(turns[row - 1])
            if row in self._irregular:
                before = row
                checker.check_closed(checker.index[self._first + row])
                place += 1
                continue
            call_id = plain.ids[place]
            if kind is not None and call_id is not None and place >= tried and place + 1 < last:
                linked, tried = tools.link_pairs(plain, place, last)
                if linked > place:
                    before, place = rows[linked - 1], linked
                    continue
                kind = plain.kinds[place]
            before = row
            case = partial(self._case, row)
            if self._masks[place] == checker.of_calls and self._repeats_instruction(row):
                tools.skip_messages(turns[row])
                place += 1
                continue
            if kind is None or not tools.link_plain(
                kind, self._first + row, turns[row], call_id, plain.text(place), case
            ):
                checker.run_checks(self._masks[place], case())
            place += 1
        if before < end - 1:
            tools.skip_messages(turns[end - 1])
