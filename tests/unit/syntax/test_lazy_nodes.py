"""Values of regular objects: where each begins and ends, and the cost of finding out."""

from __future__ import annotations

import json

import pytest

from viewer.syntax import json_lines
from viewer.syntax.json_lines import DEEPEST_SKIPPED, WIDE, LazyNode, read_regular
from viewer.syntax.json_text import read_json

MANY = 4 * WIDE


def wide(count: int) -> bytes:
    deep = json.loads("[" * DEEPEST_SKIPPED + '{"]": ["a", "\\\\"], "b": 12.5}' + "]" * DEEPEST_SKIPPED)
    members = {f"key {at}": [at, {"a": "\\", "b": [{}]}, "é", deep][at % 4] for at in range(count)}
    return json.dumps({"deep": {"first": deep, "second": members}} | members, indent=1, ensure_ascii=False).encode()


def lazily(data: bytes) -> LazyNode:
    node = read_regular(data, 7)
    assert node is not None
    return node


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, WIDE, MANY])
def test_a_member_is_where_the_careful_reader_finds_it(count: int) -> None:
    node = lazily(wide(count))
    read = read_json(wide(count), 7).node
    assert read is not None
    assert node.to_python() == read.to_python()
    below, wanted = node.below(("deep", "second", "key 0"), 0), read.members[0].value.members[1].value.members[0].value
    assert (below.start, below.end) == (wanted.start, wanted.end)
    for careful, member in zip(read.members, lazily(wide(count)).members, strict=True):
        value = node.get(careful.key)
        assert value is not None
        expected = careful.value.start, careful.value.end
        assert (value.start, value.end) == expected == (member.value.start, member.value.end)
        assert (member.key_start, member.key_end) == (careful.key_start, careful.key_end)


def test_the_members_of_a_wide_object_are_found_together() -> None:
    node = lazily(wide(MANY))
    json_lines._before.cache_clear()
    assert len({value.start for member in node.members if (value := node.get(member.key))}) == MANY + 1
    assert json_lines._before.cache_info().misses == 0
