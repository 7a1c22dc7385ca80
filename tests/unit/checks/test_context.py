"""Positions of header words if several messages share one object."""

from __future__ import annotations

import json

import pytest

from tests.support.reading import examine


def places(text: bytes, format: str, code: str) -> list[str]:
    """Return the bytes of each of these diagnostics, with their offset."""
    found = examine([text], text, format).findings.by_position()
    return [text[d.start : d.end].decode() + "@" + str(d.start) for d in found if d.code == code]


def calling(ids: list[str], content: str = "") -> bytes:
    calls = [{"id": each, "function": {"name": "f", "arguments": "{}"}} for each in ids]
    return json.dumps([{"role": "assistant", "content": content, "tool_calls": calls}]).encode()


@pytest.mark.parametrize("content", ["", 'It says "same".', "x" * 100_000])
def test_a_duplicate_id_is_reported_at_the_second_call(content: str) -> None:
    text = calling(["same", "same"], content)
    assert places(text, "json", "W-CALL-ID-DUPLICATE") == [f'"same"@{text.rindex(b"same") - 1}']


def test_an_id_may_follow_the_arguments() -> None:
    text = b'[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"},"id":"a"}]},'
    text += b'{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"},"id":"a"}]}]'
    assert places(text, "json", "W-CALL-ID-DUPLICATE") == [f'"a"@{text.rindex(b"a") - 1}']


@pytest.mark.slow
def test_the_id_of_each_of_many_calls_is_found_anywhere_in_the_object() -> None:
    text = calling([f"c{number}" for number in [*range(1_500), 1_499]])
    assert places(text, "json", "W-CALL-ID-DUPLICATE") == [f'"c1499"@{text.rindex(b"c1499") - 1}']


def test_an_id_that_is_too_far_away_is_reported_at_the_start_of_its_object() -> None:
    text = calling(["same", "same"]).replace(b'"same"', b'"s\\u0061me"')
    assert places(text, "json", "W-CALL-ID-DUPLICATE") == ["@1"]
