"""Details about a message in later events, unmapped events, and content that occurs only in closing events."""

from __future__ import annotations

from tests.support.cases import each
from tests.support.event_cases import CASES as PLAIN_CASES
from tests.support.event_cases import RESPONSE, assert_same_in_two, lines, told
from tests.support.late_cases import FOUND_CASES, HIDDEN_CASES, LATE_CASES

CASES = [*LATE_CASES, *HIDDEN_CASES, *FOUND_CASES]


@each("data, expected", [case[1:] for case in CASES], ids=[case[0] for case in CASES], quick=12, test=2)
def test_statements_of_events_become_headers(data: bytes, expected: list[str]) -> None:
    assert [line for line in told(data) if not line.startswith("transcript")] == expected


STREAMS = [*((case[0], case[1]) for case in (*PLAIN_CASES, *CASES)), ("a response", lines(*RESPONSE))]


@each("data", [data for _, data in STREAMS], ids=[name for name, _ in STREAMS], quick=0, test=0)
def test_a_stream_in_any_two_pieces_reads_like_the_whole(data: bytes) -> None:
    assert_same_in_two(data, range(len(data) + 1))
