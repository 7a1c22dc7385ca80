"""Values of regular objects: where each begins and ends, and the cost of finding out."""

from __future__ import annotations

import json

import pytest

from viewer.syntax import json_lines
from viewer.syntax.json_lines import WIDE, LazyNode, read_regular

MANY = 4 * WIDE


def wide(count: int) -> bytes:
    members = {f"key {at}": [at, {"a": "\\", "b": [{}]}, "é"][at % 3] for at in range(count)}
    return json.dumps(members, indent=1, ensure_ascii=False).encode()


def lazily(data: bytes) -> LazyNode:
    node = read_regular(data, 7)
    assert node is not None
    return node


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, WIDE, MANY])
def test_a_member_is_where_the_careful_reader_finds_it(count: int) -> None:
    node = lazily(wide(count))
    for careful, member in zip(node.careful().members, lazily(wide(count)).members, strict=True):
        value = node.get(careful.key)
        assert value is not None
        expected = careful.value.start, careful.value.end
        assert (value.start, value.end) == expected == (member.value.start, member.value.end)
        assert (member.key_start, member.key_end) == (careful.key_start, careful.key_end)


def test_the_members_of_a_wide_object_are_found_together() -> None:
    node = lazily(wide(MANY))
    json_lines._before.cache_clear()
    assert len({value.start for member in node.members if (value := node.get(member.key))}) == MANY
    assert json_lines._before.cache_info().misses == 0
