"""What later events say of a message, what no rule maps, and what only closing events hold."""

from __future__ import annotations

from tests.support.cases import each
from tests.support.event_cases import told
from tests.support.late_cases import FOUND_CASES, HIDDEN_CASES, LATE_CASES

CASES = [*LATE_CASES, *HIDDEN_CASES, *FOUND_CASES]


@each("data, expected", [case[1:] for case in CASES], ids=[case[0] for case in CASES], quick=4)
def test_what_an_event_stream_is_read_as(data: bytes, expected: list[str]) -> None:
    assert [line for line in told(data) if not line.startswith("transcript")] == expected
