"""Check batches of messages: a few passes over all bytes select the messages for each check."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from viewer import native
from viewer.checks.call_columns import CallColumns, linked_runs
from viewer.checks.context import BEGINS_OBJECT
from viewer.checks.plain_calls import (
    DEADLINE,
    FAILS,
    FITS,
    HAS_OK,
    MISFITS,
    KindCode,
    PlainRows,
    id_place,
    read_objects,
)
from viewer.checks.prefilter_numpy import Batch, compile_numpy
from viewer.columns.numpy_backend import column_of
from viewer.index.calls import is_function
from viewer.numeric import NDArray, np
from viewer.reading.bodies import read_body, verbatim_body
from viewer.rules.errors import E_CALL_SCHEMA
from viewer.rules.notes import I_CALL_INFERRED
from viewer.scan.blocks import Positions
from viewer.scan.json_members import UNCERTAIN, most_members
from viewer.syntax.json_text import LONGEST_GLANCED, plain_object
from viewer.tools.arguments import ArgumentFault
from viewer.tools.schema_columns import UNKNOWN

if TYPE_CHECKING:
    from viewer.checks.context import CheckContext
    from viewer.checks.queue import CheckQueue, Messages
    from viewer.native import Native
    from viewer.reading.grammar import TextGrammar
    from viewer.tools.argument_types import ArgumentTypes

MOST_BYTES, MOST_ROWS = 1024 * 1024, 8192
"""The maximum number of bytes and of rows in a batch. NumPy is slower if its per-byte results do not fit into the
cache."""
MOST_BYTES_NATIVE, MOST_ROWS_NATIVE = 4 * MOST_BYTES, 4 * MOST_ROWS
"""The maximum number of bytes and of rows in a batch with the accelerator. Larger batches are faster, because each
NumPy operation on a batch has a fixed cost."""
REASONS = ("", "wrong-type", "not-in-enum", "missing-argument", "unknown-argument")
"""Reasons for faults, indexed by the numbers that `Native.objects` returns."""
_MOST_SPACES = 8
"""Bodies that begin with more whitespace bytes than this are searched one by one."""
LONGEST_WORD = 8
"""The number of bytes that are read together. As many bytes follow the last frame of a chat template, which may have no
stop token."""
LEAST_TOGETHER = 32
"""If there are fewer messages than this between two instructions, it is faster to check them one by one."""
_UNDECLARED, _FREE = -5, -4
"""Part numbers for undeclared tools: one for functions, and one for all other tools, which need no declaration."""
assert _FREE < UNKNOWN
_MOST_BYTES_BETWEEN = 1024
"""If there are more bytes than this per object, counting their members together is slower than one by one."""
_NO_PLACES = np.zeros(0, np.int64)
_IS_SPACE = np.zeros(256, bool)
_IS_SPACE[list(b" \t\r\n")] = True


def check_run(checker: CheckQueue, work: Messages, size: int) -> int:
    """Check the first messages of `work`: about `size` bytes, but at most one batch. Return the number of the last
    message checked."""
    first, is_native = work.first, native.load() is not None
    most_bytes, most_rows = (MOST_BYTES_NATIVE, MOST_ROWS_NATIVE) if is_native else (MOST_BYTES, MOST_ROWS)
    columns = checker.index.bounds(first, min(work.last, first + most_rows - 1))
    starts, ends = (np.frombuffer(column, np.int64) for column in columns)
    count = max(1, int(starts.searchsorted(starts[0] + min(size, most_bytes), "left")))
    starts, ends = starts[:count], ends[:count]
    base = int(starts[0])
    data = checker.read(base, int(ends[-1]) + (0 if work.grammar is not None else LONGEST_WORD))
    bodies = checker.index.bodies(first, first + count - 1)
    body_starts, body_ends = (np.frombuffer(column, np.int64) for column in bodies)
    batch = Batch(data, starts - base, body_starts - base, body_ends - base)
    all_noted = np.frombuffer(work.noted, np.uint32).astype(np.int64)
    noted = all_noted[all_noted.searchsorted(first) : all_noted.searchsorted(first + count)] - first
    if checker.batch_prefilter is None:
        checker.batch_prefilter = compile_numpy(checker.checks)
    masks = checker.batch_prefilter.masks(batch, _answers(checker, first, count), noted)
    is_verbatim = _verbatim(checker, first, batch)
    masks[~is_verbatim] |= checker.every_check
    _Rows(checker, work.grammar, first, masks, is_verbatim, batch, base).check()
    checker.checked_to = max(checker.checked_to, int(ends[-1]))
    return first + count - 1


def _verbatim(checker: CheckQueue, first: int, batch: Batch) -> NDArray[np.bool_]:
    """Return a mask of the messages with text that equals the bytes of the body."""
    index = checker.index
    is_verbatim = np.frombuffer(index.verbatim(first, first + len(batch) - 1), bool)
    others = np.flatnonzero(~is_verbatim)
    kinds = np.frombuffer(index.kinds[first : first + len(batch)], np.uint32)[others]
    for row in others[np.frombuffer(index.regular_kinds, bool)[kinds]].tolist():
        is_verbatim[row] = batch.data.find(b"<|", batch.body_starts[row], batch.body_ends[row]) < 0
    return is_verbatim


def _answers(checker: CheckQueue, first: int, count: int) -> NDArray[np.int64]:
    """Return the results of the header predicates for each message, as bits."""
    kinds = np.frombuffer(checker.index.kinds[first : first + count], np.uint32)
    examples: list[int] = []
    """For each kind, the number of a message of this kind."""

    def answers_of(key: int) -> int:
        if not examples:
            last = np.zeros(int(kinds.max()) + 1, np.int64)
            last[kinds] = np.arange(first, first + count)
            examples.extend(last.tolist())
        return checker.answers.of(examples[key], key)

    return checker.kind_columns.answers.of(kinds, answers_of)


class _Rows:
    """Runs the checks of one batch. Its methods refer to a message by its index among those that need a check."""

    def __init__(
        self,
        checker: CheckQueue,
        grammar: TextGrammar | None,
        first: int,
        masks: NDArray[np.int64],
        is_verbatim: NDArray[np.bool_],
        batch: Batch,
        base: int,
    ) -> None:
        index, last = checker.index, first + len(masks) - 1
        self._checker, self._grammar, self._first, self._batch, self._base = checker, grammar, first, batch, base
        self._count = len(masks)
        self._rows = rows = np.flatnonzero(masks)
        self._masks, self._is_verbatim = masks[rows], is_verbatim[rows]
        self._starts, self._ends = batch.body_starts[rows], batch.body_ends[rows]
        self._turns = index.turns(first, last)
        ids = index.call_ids(first, last)
        self._ids = ids if len(rows) == len(ids) else [*map(ids.__getitem__, rows.tolist())]
        self._keys = np.frombuffer(index.kinds[first : last + 1], np.uint32)[rows]
        self._kind_columns = checker.kind_columns
        self._codes = self._kind_columns.codes.of(self._keys, checker.kind_code)
        self._is_plain = self._has_code(KindCode.PLAIN) & self._is_verbatim
        self._is_plain &= self._masks & ~checker.of_plain_calls == 0
        leads = batch.block[self._starts]
        self._is_brace = leads == ord("{")
        self._are_json = self._is_brace | self._begin_objects_after_space(np.flatnonzero(_IS_SPACE[leads]))
        accelerator = native.load()
        if accelerator is not None:  # ten times as fast as Python, for these bytes
            self._have_deadline = accelerator.find(batch.data, DEADLINE, DEADLINE) != b""
        else:
            self._have_deadline = DEADLINE in batch.data
        self._objects, self._all_faults = self._native_objects()
        self._members = np.full(len(rows), UNCERTAIN, np.int64)
        """The maximum number of members of each body that was read as an object."""
        self._faults: dict[int, list[ArgumentFault]] = {}
        """The faults in the arguments of each faulty call, by the index of the call. Offsets are relative to the
        body."""
        self._faulty = np.zeros(0, np.int64)
        """The indices of the calls in `_faults`, in order."""
        self._before = -1
        """The last row that was checked or linked."""

    def _begin_objects_after_space(self, places: Positions) -> NDArray[np.bool_]:
        """Return a flag for each body: true if it begins with whitespace and then an object. `places` are the indices
        of the bodies that begin with whitespace."""
        block, at = self._batch.block, self._starts[places]
        for _ in range(_MOST_SPACES):
            at = at + _IS_SPACE[block[at]]  # a stop token follows every body
        flags = np.zeros(len(self._rows), bool)
        flags[places] = block[at] == ord("{")
        for place in places[_IS_SPACE[block[at]]].tolist():
            flags[place] = BEGINS_OBJECT.match(self._batch.data, self._starts[place]) is not None
        return flags

    def _has_code(self, code: KindCode) -> NDArray[np.bool_]:
        return self._codes & code.value > 0

    def _native_objects(self) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
        """Return the `Native.objects` flags of the bodies (all 0 without the accelerator), and the faults in arguments.
        The faults are None if there is no accelerator or no declared tool, or if an instruction may declare other tools
        before a call."""
        flags = np.zeros(len(self._rows), np.uint8)
        accelerator = native.load()
        if accelerator is None:
            return flags, None
        places = np.flatnonzero(self._is_brace & self._is_plain)
        parts, may_judge = np.zeros(0, np.int64), bool(self._checker.tools.declarations)
        if may_judge and not self._has_code(KindCode.INSTRUCTION).any():
            parts = np.where(self._has_code(KindCode.CALL)[places], self._parts(self._keys[places]), UNKNOWN)
        flags[places], faults = self._judged(accelerator, places, parts)
        return flags, faults if len(parts) == len(places) else None

    def _parts(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return, for each call, the part number of its tool's schema, or `_UNDECLARED`, `_FREE`, or `UNKNOWN`. Without
        the accelerator, the number belongs to the types of its arguments."""
        declared, tool_of = self._checker.tools.declarations, self._checker.tool_of
        columns, is_native = self._kind_columns, native.load() is not None

        def part_of(key: int) -> int:
            name = tool_of(key)
            if not declared.knows(name):
                return _UNDECLARED if is_function(name) else _FREE
            return declared.part(name) if is_native else columns.number_types(declared.types(name))

        return columns.parts(declared).of(keys, part_of)

    def _judged(
        self, accelerator: Native, places: Positions, parts: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the `Native.objects` flags of the bodies at these indices, and the faults in bodies that have a part
        number."""
        bounds = np.stack((self._starts[places], self._ends[places]), axis=-1).astype(np.int64)
        columns, wanted = self._checker.tools.declarations.columns, np.maximum(parts, UNKNOWN).astype(np.int32)
        found, faults = accelerator.objects(
            self._batch.data, bounds.tobytes(), columns.parts, columns.names, columns.text, wanted.tobytes()
        )
        table = np.frombuffer(faults, np.int64).reshape(-1, 4).copy()
        table[:, 0] = places[table[:, 0]]
        return np.frombuffer(found, np.uint8), table

    def check(self) -> None:
        """Check all messages, in order."""
        count = len(self._rows)
        waits = 0
        for before, end in pairwise([-1, *np.flatnonzero(self._has_code(KindCode.INSTRUCTION)).tolist(), count]):
            if end - before > LEAST_TOGETHER:  # an instruction may declare tools, so later messages must wait
                self._check_each(waits, before + 1)
                self._check_together(before + 1, end)
                waits = end
        self._check_each(waits, count)
        if self._before < self._count - 1:
            self._checker.tools.skip_messages(self._turns[-1])

    def _check_together(self, first: int, end: int) -> None:
        """Check the messages in this range, and link calls and replies in bulk if possible.

        The ledger does not see the other messages, so they may be checked after the calls around them."""
        checker, tools, at = self._checker, self._checker.tools, first
        is_call = self._masks[first:end] & checker.of_calls > 0
        places, others = first + np.flatnonzero(is_call), (first + np.flatnonzero(~is_call)).tolist()
        columns = self._columns(places)
        faulty, bounds, numbers = self._faulty.tolist(), places.tolist(), None
        for run in linked_runs(columns, checker.calls):
            run_first, run_last = bounds[run.first], bounds[run.end - 1]
            self._check_each(at, run_first)
            at = run_first
            self._skip_to(int(self._rows[at]))
            lacking = places[run.lacking] if len(run.lacking) else _NO_PLACES
            bare_tools = map(checker.bare_tool_of, dict.fromkeys(self._keys[lacking].tolist()))
            if numbers is None:
                numbers = self._tool_numbers()
            if not tools.link_run(run, column_of("I", numbers[places[run.places]]), bare_tools):
                continue
            noted = set(self._noted(places[run.lacking + 1])) if len(lacking) else set[int]()
            between = (each[bisect_left(each, run_first) : bisect_left(each, run_last)] for each in (others, faulty))
            for place in sorted([*chain(*between), *noted]):
                if place in noted:
                    self._note(place)
                elif place in self._faults:
                    self._report(place)
                else:
                    checker.run_checks(int(self._masks[place]), self._case(place), is_linked=True)
            at = run_last + 1
            self._before = int(self._rows[run_last])
        self._check_each(at, end)

    def _tool_numbers(self) -> NDArray[np.int64]:
        """Return the number of the tool in the ledger for each message."""
        checker = self._checker
        return self._kind_columns.tools.of(self._keys, lambda key: checker.calls.tool_number(checker.tool_of(key)))

    def _noted(self, places: Positions) -> list[int]:
        """Return the indices of those replies, among the given ones without an ID, whose missing ID must be reported.
        If such reports are already omitted, only count the replies, and return an empty list."""
        noted = places[self._has_code(KindCode.NOTED)[places]]
        findings = self._checker.findings
        if len(noted) and findings.omits(I_CALL_INFERRED.code):
            findings.count_omitted(I_CALL_INFERRED, None, len(noted))
            return []
        rows: list[int] = noted.tolist()
        return rows

    def _note(self, place: int) -> None:
        """Report the missing ID of a linked reply."""
        row = int(self._rows[place])
        header, body = self._batch.starts[row], self._batch.body_starts[row]
        at = self._base + id_place(self._batch.data, int(header), int(body))
        self._checker.report(I_CALL_INFERRED, None, at, at, self._first + row)

    def _report(self, place: int) -> None:
        """Report the faults in the arguments of a call that has no other problem."""
        body, number = self._base + int(self._starts[place]), self._first + int(self._rows[place])
        for fault in self._faults[place]:
            self._checker.report(E_CALL_SCHEMA, fault.reason, body + fault.start, body + fault.end, number)

    def _case(self, place: int) -> CheckContext:
        number, text = self._first + int(self._rows[place]), self._text(place)
        body = verbatim_body(text, self._base + int(self._starts[place]))
        return self._checker.case_of(self._checker.index[number], body, self._grammar)

    def _skip_to(self, row: int) -> None:
        """Skip the messages before this row that need no check."""
        if row > self._before + 1:
            self._checker.tools.skip_messages(self._turns[row - 1])

    def _columns(self, places: Positions) -> CallColumns:
        """Return the calls and replies at these indices as columns, and find the faults in the arguments of the
        calls."""
        is_call, objects = self._has_code(KindCode.CALL)[places], self._objects[places]
        ids = [*map(self._ids.__getitem__, places.tolist())]
        may_lack_id = self._has_code(KindCode.MAY_LACK_ID)[places]
        is_plain = self._is_plain[places] & self._has_code(KindCode.HAS_ID)[places]
        if None in ids:
            is_plain &= may_lack_id | np.array([call_id is not None for call_id in ids], bool)
        if self._have_deadline:
            for row in np.flatnonzero(is_plain & is_call).tolist():
                is_plain[row] = DEADLINE not in self._text(places[row])
        must_be_object = self._are_json[places] | self._has_code(KindCode.JSON)[places]
        unread = np.flatnonzero(is_plain & must_be_object & (objects == 0))
        values: dict[int, dict[str, object]] = {}
        if len(unread):
            objects[unread], values = self._read_objects(places[unread], is_call[unread])
        is_plain[unread] = objects[unread] > 0
        self._objects[places] = objects
        is_plain &= is_call | (objects & FAILS == 0)
        if self._checker.tools.declarations:
            rows = np.flatnonzero(is_plain & is_call)
            is_plain[rows] = self._judge_arguments(places[rows], objects[rows] > 0, values)
        numbers = self._rows[places]
        return CallColumns(
            numbers + self._first,
            np.frombuffer(self._turns, np.uint32)[numbers].astype(np.int64),
            ids,
            is_plain,
            is_call,
            ~is_call & (objects & HAS_OK > 0),
            is_call & self._has_code(KindCode.CALL_STOP)[places],
            may_lack_id,
            self._bare_tools()[places] if None in ids else np.zeros(len(ids), np.int64),
        )

    def _read_objects(
        self, places: Positions, is_call: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint8], dict[int, dict[str, object]]]:
        """Return the flags of the bodies at these indices, and the values of the calls that were decoded."""
        starts, ends, is_native = self._starts[places], self._ends[places], native.load() is not None
        types: list[ArgumentTypes | None] = [None] * len(places)
        if not is_native and ends[-1] - starts[0] < _MOST_BYTES_BETWEEN * len(places):
            self._members[places] = most_members(self._batch.block, starts, ends, LONGEST_GLANCED)
        if not is_native and self._checker.tools.declarations:
            parts = np.where(is_call, self._parts(self._keys[places]), UNKNOWN)
            types = [self._kind_columns.types[part] if part >= 0 else None for part in parts.tolist()]
        calls = is_call.tolist()
        flags, read = read_objects(self._texts(places), self._members[places].tolist(), calls, types)
        known = zip(places.tolist(), calls, read, strict=True)
        values = {place: value for place, one, value in known if one and value is not None}
        return np.frombuffer(flags, np.uint8), values

    def _bare_tools(self) -> Positions:
        """Return a number for each call or reply. Equal numbers mean equal bare tool names."""
        columns, checker = self._kind_columns, self._checker
        return columns.bare_tools.of(self._keys, lambda key: columns.number_tool(checker.bare_tool_of(key)))

    def _judge_arguments(
        self, places: Positions, are_objects: NDArray[np.bool_], values: dict[int, dict[str, object]]
    ) -> NDArray[np.bool_]:
        """Find the faults in the arguments of the calls at these indices. `values` contains the bodies that are already
        parsed. Return a flag for each call: true if it cannot have any other problem."""
        declared, accelerator = self._checker.tools.declarations, native.load()
        parts = self._parts(self._keys[places])
        undeclared, known = parts == _UNDECLARED, parts > _FREE
        self._faults = {}
        left = known & are_objects & (self._objects[places] & FITS == 0)
        if accelerator is not None and left.any():
            flags, faults = self._objects[places], self._all_faults
            if faults is None:
                flags, faults = self._judged(accelerator, places, np.where(left, parts, UNKNOWN))
            left &= flags & (FITS | MISFITS) == 0
            for place, reason, start, end in faults[np.isin(faults[:, 0], places)].tolist():
                body = int(self._starts[place])
                fault = ArgumentFault(REASONS[reason], start - body, end - body)
                self._faults.setdefault(place, []).append(fault)
        unjudged = places[left]
        for place, key in zip(unjudged.tolist(), self._keys[unjudged].tolist(), strict=True):
            value, name = values.get(place), self._checker.tool_of(key)
            if value is None:
                value = plain_object(self._text(place))
            if value is None:
                self._faults[place] = declared.check(name, self._text(place), 0)
            elif not declared.accepts(name, value):
                self._faults[place] = declared.check_object(name, self._text(place))
            elif self._members[place] >= 0 and (types := declared.types(name)):
                types.learn(value, int(self._members[place]))
        self._faulty = np.array(sorted(self._faults), np.int64)
        may_be_plain: NDArray[np.bool_] = ~undeclared & (~known | are_objects)
        return may_be_plain

    def _texts(self, places: Positions) -> Iterator[bytes]:
        data = self._batch.data
        bounds = zip(self._starts[places].tolist(), self._ends[places].tolist(), strict=True)
        return (data[start:end] for start, end in bounds)

    def _text(self, place: int) -> bytes:
        return self._batch.data[self._starts[place] : self._ends[place]]

    def _check_each(self, first: int, end: int) -> None:
        """Check the messages in this range one by one, but link consecutive plain calls and replies together if
        possible."""
        if first == end:
            return
        checker, tools, index = self._checker, self._checker.tools, self._checker.index
        plain = self._plain_rows(first, end)
        linked = tried = 0
        part = slice(first, end)
        columns = (self._rows[part], self._masks[part], self._is_verbatim[part])
        for place, (row, mask, verbatim) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
            if place < linked:
                continue
            self._skip_to(row)
            has_next = place + 1 < len(plain.kinds) and plain.kinds[place + 1] is not None
            if has_next and plain.kinds[place] is not None and place >= tried:
                linked, tried = tools.link_pairs(plain, place, len(plain.numbers))
                if linked > place:
                    self._before = plain.numbers[linked - 1] - self._first
                    continue
            self._before, number, kind = row, self._first + row, plain.kinds[place]
            if not verbatim:
                message = index[number]
                body = read_body(message.pieces, checker.read)
                checker.run_checks(mask, checker.case_of(message, body, self._grammar))
                continue
            case = partial(self._case, first + place)
            if kind is None or not tools.link_plain(
                kind, number, plain.turns[place], plain.ids[place], plain.text(place), case
            ):
                checker.run_checks(mask, case())

    def _plain_rows(self, first: int, end: int) -> PlainRows:
        """Return the messages in this range as columns. The kind of a message that needs more than a check of its bytes
        is None."""
        part = slice(first, end)
        rows = self._rows[part]
        kind_of = self._checker.plain_kind
        kinds = zip(self._keys[part].tolist(), self._is_plain[part].tolist(), strict=True)
        columns = (rows + self._first, self._batch.starts[rows], self._starts[part], self._ends[part])
        numbers, headers, body_starts, body_ends = (each.tolist() for each in columns)
        return PlainRows(
            numbers,
            [kind_of(key) if is_plain else None for key, is_plain in kinds],
            [self._turns[row] for row in rows.tolist()],
            self._ids[part],
            self._are_json[part].tolist(),
            headers,
            body_starts,
            body_ends,
            self._batch.data,
            self._base,
            self._have_deadline,
            objects=self._objects[part].tobytes(),
        )
