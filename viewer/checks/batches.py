"""Check batches of messages: a few passes over all bytes select the messages for each check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewer import native
from viewer.checks.context import BEGINS_OBJECT
from viewer.checks.plain_calls import DEADLINE, PlainKind, PlainRows
from viewer.checks.prefilter_numpy import Batch, compile_numpy
from viewer.reading.bodies import read_body, verbatim_body
from viewer.scan.blocks import Positions

if TYPE_CHECKING:
    from viewer.checks.context import CheckContext
    from viewer.checks.queue import CheckQueue, Messages
    from viewer.reading.grammar import TextGrammar

MOST_BYTES = 1024 * 1024
MOST_ROWS = 8192
_IS_SPACE = np.zeros(256, bool)
_IS_SPACE[list(b" \t\r\n")] = True


def check_run(checker: CheckQueue, work: Messages, size: int) -> int:
    """Check about `size` bytes of the first messages. Return the number of the last one checked."""
    first = work.first
    columns = checker.index.bounds(first, min(work.last, first + MOST_ROWS - 1))
    starts, ends = (np.frombuffer(column, np.int64) for column in columns)
    count = max(1, int(starts.searchsorted(starts[0] + min(size, MOST_BYTES), "left")))
    starts, ends = starts[:count], ends[:count]
    base = int(starts[0])
    data = checker.read(base, int(ends[-1]))
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
    _check_rows(checker, work.grammar, first, masks, is_verbatim, batch, base)
    checker.checked_to = max(checker.checked_to, int(ends[-1]))
    return first + count - 1


def _verbatim(checker: CheckQueue, first: int, batch: Batch) -> NDArray[np.bool_]:
    """Return a mask of the messages whose text equals the bytes of the body."""
    index = checker.index
    is_verbatim = np.frombuffer(index.verbatim(first, first + len(batch) - 1), bool)
    others = np.flatnonzero(~is_verbatim)
    kinds = np.frombuffer(index.kinds[first : first + len(batch)], np.uint32)[others]
    for row in others[np.frombuffer(index.regular_kinds, bool)[kinds]].tolist():
        is_verbatim[row] = batch.data.find(b"<|", batch.body_starts[row], batch.body_ends[row]) < 0
    return is_verbatim


def _answers(checker: CheckQueue, first: int, count: int) -> NDArray[np.int64]:
    """Return the answers of the header predicates for each message."""
    kinds = np.frombuffer(checker.index.kinds[first : first + count], np.uint32)
    distinct, examples, rows = np.unique(kinds, return_index=True, return_inverse=True)
    pairs = zip(examples.tolist(), distinct.tolist(), strict=True)
    answers: NDArray[np.int64] = np.array([checker.answers.of(first + row, key) for row, key in pairs], np.int64)[rows]
    return answers


def _check_rows(
    checker: CheckQueue,
    grammar: TextGrammar,
    first: int,
    masks: NDArray[np.int64],
    is_verbatim: NDArray[np.bool_],
    batch: Batch,
    base: int,
) -> None:
    index, tools = checker.index, checker.tools
    rows = np.flatnonzero(masks)
    turns = index.turns(first, first + len(masks) - 1).tolist()
    plain = _plain_rows(checker, first, rows, masks[rows], is_verbatim, batch, base, turns)
    columns = (rows, masks[rows], is_verbatim[rows])
    before, linked, tried = -1, 0, 0
    for place, (row, mask, verbatim) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
        if place < linked:
            continue
        if row > before + 1:
            tools.skip_messages(turns[row - 1])
        if plain.kinds[place] is not None and place >= tried:
            linked, tried = tools.link_pairs(plain, place, len(plain.numbers))
            if linked > place:
                before = plain.numbers[linked - 1] - first
                continue
        before, number, kind = row, first + row, plain.kinds[place]
        if not verbatim:
            message = index[number]
            checker.run_checks(mask, checker.case_of(message, read_body(message.pieces, checker.read), grammar))
            continue
        start, text = base + plain.starts[place], plain.text(place)

        def case(number: int = number, text: bytes = text, start: int = start) -> CheckContext:
            return checker.case_of(index[number], verbatim_body(text, start), grammar)

        if kind is None or not tools.link_plain(kind, number, turns[row], plain.ids[place], text, case):
            checker.run_checks(mask, case())
    if before < len(masks) - 1:
        tools.skip_messages(turns[-1])


def _plain_rows(
    checker: CheckQueue,
    first: int,
    rows: NDArray[np.intp],
    masks: NDArray[np.int64],
    is_verbatim: NDArray[np.bool_],
    batch: Batch,
    base: int,
    turns: list[int],
) -> PlainRows:
    """Return the messages in these rows. A message that cannot be checked by its bytes has no kind."""
    last = first + len(turns) - 1
    starts, ends = batch.body_starts[rows], batch.body_ends[rows]
    keys = np.frombuffer(checker.index.kinds[first : last + 1], np.uint32)[rows].tolist()
    kind_of = {key: checker.plain_kind(key) for key in set(keys)}
    may_be_plain = is_verbatim[rows] & (masks & ~checker.of_plain_calls == 0)
    kinds = [kind_of[key] if may_be else None for key, may_be in zip(keys, may_be_plain.tolist(), strict=True)]
    leads = batch.block[starts]
    are_json = leads == ord("{")
    for place in np.flatnonzero(_IS_SPACE[leads]).tolist():
        are_json[place] = BEGINS_OBJECT.match(batch.data, starts[place]) is not None
    objects = _objects(batch, starts, ends, leads == ord("{"), kinds)
    ids = checker.index.call_ids(first, last)
    columns = (rows + first, batch.starts[rows], starts, ends)
    numbers, headers, body_starts, body_ends = (each.tolist() for each in columns)
    return PlainRows(
        numbers,
        kinds,
        [turns[row] for row in rows.tolist()],
        [ids[row] for row in rows.tolist()],
        are_json.tolist(),
        headers,
        body_starts,
        body_ends,
        batch.data,
        base,
        DEADLINE in batch.data,
        objects=objects,
    )


def _objects(
    batch: Batch, starts: Positions, ends: Positions, are_json: NDArray[np.bool_], kinds: list[PlainKind | None]
) -> bytes:
    """Return the flags of the bodies that are JSON objects, or nothing without the accelerator."""
    accelerator = native.load()
    if accelerator is None or not are_json.any():
        return b""
    rows = np.flatnonzero(are_json & np.array([kind is not None for kind in kinds], bool))
    flags = np.zeros(len(kinds), np.uint8)
    bounds = np.stack((starts[rows], ends[rows]), axis=-1).astype(np.int64)
    flags[rows] = np.frombuffer(accelerator.objects(batch.data, bounds.tobytes()), np.uint8)
    return flags.tobytes()
