"""Times in a transcript, and their display."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.syntax.json_text import read_json
from viewer.syntax.times import LATEST_MS, format_time, parse_time, parse_time_pair

NEW_YEAR = 1_767_225_600_000


@each(
    "value, ms",
    [
        (1_767_225_600, NEW_YEAR),
        (1_767_225_600.25, NEW_YEAR + 250),
        (NEW_YEAR, NEW_YEAR),
        ("1767225600", NEW_YEAR),
        ("2026-01-01T00:00:00Z", NEW_YEAR),
        ("2026-01-01t00:00:00.5z", NEW_YEAR + 500),
        ("2026-01-01T02:00:00.123456+02:00", NEW_YEAR + 123),
        ("2025-12-31 19:00:00-05:00", NEW_YEAR),
        ("2026-01-01T00:00:00", NEW_YEAR),
        ("2025-12-31T23:59:60Z", NEW_YEAR),
        (0, 0),
    ],
)
def test_seconds_milliseconds_and_rfc_3339_are_read(value: object, ms: int) -> None:
    assert parse_time(value) == ms


@each(
    "value",
    [
        None,
        True,
        -1,
        float("nan"),
        float("inf"),
        10**30,
        "",
        "soon",
        "2026-13-01T00:00:00Z",
        "2026-01-01",
        "1" * 5000,
        [],
        "2026-01-01T00:00:00+99:00",
    ],
)
def test_anything_else_is_not_a_time(value: object) -> None:
    assert parse_time(value) is None


@pytest.mark.parametrize("text", ["1767225600", '"2026-01-01T00:00:00Z"', "1767225600.0"])
def test_a_json_value_may_be_a_time(text: str) -> None:
    assert parse_time(read_json(text.encode()).node) == NEW_YEAR


@pytest.mark.parametrize("text", ["true", "null", "{}", "1e999"])
def test_other_json_values_are_not_times(text: str) -> None:
    assert parse_time(read_json(text.encode()).node) is None


def test_times_are_printed_in_utc_with_a_fraction_only_if_there_is_one() -> None:
    assert format_time(NEW_YEAR) == "2026-01-01T00:00:00Z"
    assert format_time(NEW_YEAR + 250) == "2026-01-01T00:00:00.250Z"


@given(st.integers(0, LATEST_MS))
def test_a_printed_time_is_read_back(ms: int) -> None:
    assert parse_time(format_time(ms)) == ms


@each(
    "text, ms",
    [
        ("[1767225600, 250999999]", NEW_YEAR + 250),
        ("[0, 0]", 0),
        ("[1767225600]", None),
        ("[1767225600, 0, 0]", None),
        ("[1767225600, 1000000000]", None),
        ("[1767225600, -1]", None),
        ("[-1, 0]", None),
        ("[1767225600.5, 0]", None),
        ('["1767225600", 0]', None),
        ("[" + "9" * 5000 + ", 0]", None),
        ("1767225600", None),
    ],
)
def test_a_list_of_seconds_and_nanoseconds_is_a_time(text: str, ms: int | None) -> None:
    node = read_json(text.encode()).node
    assert node is not None
    assert parse_time_pair(node) == ms
