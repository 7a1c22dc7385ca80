"""The checks of a run of plain messages: one look at all their bytes clears most of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewer.checks.context import CheckContext
from viewer.checks.prefilter import Need
from viewer.checks.prefilter_numpy import suspects
from viewer.checks.text import MESSAGE_CHECKS, check_json
from viewer.reading.header import is_stop_expected, read_header
from viewer.scan.blocks import MESSAGE_LENGTH, START_LENGTH

if TYPE_CHECKING:
    from viewer.checks.queue import CheckQueue, Messages
    from viewer.reading.grammar import TextGrammar

MOST_BYTES = 1024 * 1024
MOST_ROWS = 8192

_JSON_AND_TOOLS, _ALL, _ALL_AND_HEADER = Need.JSON_AND_TOOLS.value, Need.ALL.value, Need.ALL_AND_HEADER.value


def check_run(checker: CheckQueue, work: Messages, size: int) -> int:
    """Check the first of these messages, about so many bytes of them; returns the number of the last one checked."""
    first = work.first
    columns = checker.index.bounds(first, min(work.last, first + MOST_ROWS - 1))
    starts, ends = (np.frombuffer(column, np.uint64).astype(np.int64) for column in columns)
    count = max(1, int(starts.searchsorted(starts[0] + min(size, MOST_BYTES), "left")))
    starts, ends = starts[:count], ends[:count]
    base = int(starts[0])
    data = checker.read(base, int(ends[-1]))
    needs = _needs(checker, first, count)
    needs[suspects(data, starts - base)] = _ALL
    noted = work.noted[work.noted.searchsorted(first) : work.noted.searchsorted(first + count)] - first
    needs[noted] = _ALL_AND_HEADER
    _check_rows(checker, work.grammar, first, needs, data, base)
    checker.checked_to = max(checker.checked_to, int(ends[-1]))
    return first + count - 1


def _needs(checker: CheckQueue, first: int, count: int) -> NDArray[np.uint8]:
    """What each message needs by its header and ending alone."""
    headers, flags = checker.index.kinds(first, first + count - 1)
    keys = np.frombuffer(headers, np.uint32).astype(np.int64) << 8 | np.frombuffer(flags, np.uint8)
    distinct, examples, rows = np.unique(keys, return_index=True, return_inverse=True)
    pairs = zip(examples.tolist(), distinct.tolist(), strict=True)
    found = [checker.needs.of(first + row, key) for row, key in pairs]
    needs: NDArray[np.uint8] = np.array(found, np.uint8)[rows]
    return needs


def _check_rows(
    checker: CheckQueue, grammar: TextGrammar, first: int, needs: NDArray[np.uint8], data: bytes, base: int
) -> None:
    index, tools = checker.index, checker.tools
    rows = np.flatnonzero(needs)
    before = -1
    for row, need in zip(rows.tolist(), needs[rows].tolist(), strict=True):
        if row > before + 1:
            tools.skip_messages(index.turn(first + row - 1))
        before = row
        message = index[first + row]
        start, end = message.pieces[0].start - base, message.pieces[0].end - base
        case = checker.case_of(message, data[start:end])
        if need == _ALL_AND_HEADER:
            _report_header(case, grammar, data, base)
        for check in (check_json,) if need == _JSON_AND_TOOLS else MESSAGE_CHECKS:
            check(case)
        tools.take(case)
    if before < len(needs) - 1:
        tools.skip_messages(index.turn(first + len(needs) - 1))


def _report_header(case: CheckContext, grammar: TextGrammar, data: bytes, base: int) -> None:
    """What the parser reports of the header and the stop of a plain message."""
    message, number = case.message, case.message.number
    assert message.body_span is not None and message.stop is not None
    first, last = message.span[0] + START_LENGTH, message.body_span[0] - MESSAGE_LENGTH
    for problem in read_header(data[first - base : last - base], grammar.header).problems:
        case.add(problem.code, problem.reason, first + problem.start, first + problem.end, number)
    if not is_stop_expected(message.header, message.ending, grammar):
        case.report("W-STOP-UNEXPECTED", None, message.stop)
