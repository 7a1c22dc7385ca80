"""Repeated keys in an object of a record: one diagnostic per object, with a position and the number of keys."""

from __future__ import annotations

import pytest

from tests.support.reading import examine

RECORD = b"""{"type":"assistant","uuid":"2","sessionId":"s","message":{"role":"assistant","id":"m","content":[%s]}%s}
"""
TEXT = b'{"type":"text","text":"Hi."}'
CALL = b'{"type":"tool_use","id":"t","name":"f","input":{"a":1,"a":2}}'


def places(data: bytes) -> list[tuple[bytes, int]]:
    """Return the text at the span of each diagnostic, and its count."""
    found = examine([data], data, "claude-code").findings
    return [(data[one.start : one.end], one.count) for one in found if one.code == "W-JSON-DUPLICATE-KEY"]


@pytest.mark.parametrize("more", [b',"zz":1,"zz":2', b',"o":{"k":[{"zz":1,"zz":1}]}'], ids=["record", "inside"])
def test_the_first_repeated_key_is_named(more: bytes) -> None:
    assert places(RECORD % (TEXT, more)) == [(b'"zz"', 1)]


def test_each_object_has_one_diagnostic_with_the_number_of_its_keys() -> None:
    many = b',"zz":' + b',"zz":'.join(b"%d" % number for number in range(2000))
    assert places(RECORD % (TEXT, b',"o":{"a":1,"a":2}' + many)) == [(b'"zz"', 1999), (b'"a"', 1)]


def test_arguments_of_a_call_are_checked_only_as_its_body() -> None:
    assert [count for _, count in places(RECORD % (CALL, b""))] == [1]
