"""Check a batch of messages: a few passes over all bytes select the messages for each check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewer.checks.prefilter_numpy import Batch, compile_numpy
from viewer.reading.bodies import read_body, verbatim_body

if TYPE_CHECKING:
    from viewer.checks.context import CheckContext
    from viewer.checks.queue import CheckQueue, Messages
    from viewer.reading.grammar import TextGrammar

MOST_BYTES = 1024 * 1024
MOST_ROWS = 8192


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
    is_verbatim = np.frombuffer(checker.index.verbatim(first, first + count - 1), bool)
    masks[~is_verbatim] |= checker.every_check
    _check_rows(checker, work.grammar, first, masks, is_verbatim, batch, base)
    checker.checked_to = max(checker.checked_to, int(ends[-1]))
    return first + count - 1


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
    index, tools, of_plain_calls = checker.index, checker.tools, checker.of_plain_calls
    rows = np.flatnonzero(masks)
    before = -1
    columns = (masks, is_verbatim, batch.body_starts, batch.body_ends)
    for row, mask, verbatim, start, end in zip(rows.tolist(), *(each[rows].tolist() for each in columns), strict=True):
        if row > before + 1:
            tools.skip_messages(index.turn(first + row - 1))
        before = row
        number, text = first + row, batch.data[start:end]

        def case(number: int = number, text: bytes = text, start: int = start) -> CheckContext:
            return checker.case_of(index[number], verbatim_body(text, base + start), grammar)

        if not verbatim:
            message = index[number]
            checker.run_checks(mask, checker.case_of(message, read_body(message.pieces, checker.read), grammar))
            continue
        kind = checker.plain_kind(index.kinds[number]) if not mask & ~of_plain_calls else None
        if kind is None or not tools.link_plain(kind, number, index.turn(number), index.call_id(number), text, case):
            checker.run_checks(mask, case())
    if before < len(masks) - 1:
        tools.skip_messages(index.turn(first + len(masks) - 1))
