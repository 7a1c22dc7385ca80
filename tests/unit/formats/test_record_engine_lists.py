"""The record engine: parts of a list, text that repeats other text, and JSON in strings."""

from __future__ import annotations

import json

from tests.support.record_checks import shown
from viewer.formats.engine.conditions import holds
from viewer.formats.engine.inner import read_inner_strings
from viewer.formats.engine.paths import members_of, path
from viewer.formats.engine.repeats import repeated_length
from viewer.formats.json.fields import Source
from viewer.formats.tables.model import Inner, RecordRule, is_
from viewer.syntax.json_text import JsonNode, read_json


def parsed(value: object) -> tuple[JsonNode, Source]:
    data = json.dumps(value).encode()
    node = read_json(data).node
    assert node is not None
    return node, Source(data, 0)


def test_a_path_goes_to_the_items_after_the_first() -> None:
    node, _ = parsed({"a": [1, 2, 3], "b": []})
    assert [value.text for value in path("a[1:]").all(node)] == ["2", "3"]
    assert path("b[1:]").all(node) == path("c[1:]").all(node) == path("b[-1]").all(node) == []
    assert [value.text for value in path("a[-1]").all(node)] == ["3"]
    assert [holds(is_("a[-1]", text), node) for text in ("3", "1")] == [True, False]
    assert not holds(is_("b[-1]", "1"), node)


def test_the_members_that_rules_read_are_known() -> None:
    rule = RecordRule((), body="a.b|c", then=("d",), also=(RecordRule((), each="e[].f"),))
    assert set(members_of([rule])) == {"a", "c", "d", "e"}


def test_the_beginning_of_a_list_may_repeat_the_beginning_or_the_end_of_another() -> None:
    a, b, c = ({"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"), ("user", "c")))
    cases = [
        ([a, b], [a, b, c], 2),
        ([a, b, c], [a], 1),
        ([b, c], [a, b], 1),
        ([b, c], [a, b, c], 2),
        ([b], [a, b, c], 0),
        ([c], [a, b], 0),
        ([a], ["a"], 1),
        ([{"role": "assistant", "content": "a"}], [a], 0),
        ([{**b, "tool_calls": [1]}], [b], 0),
        ([], [a], 0),
    ]
    for items, others, length in cases:
        node, _ = parsed({"items": items, "others": others})
        assert repeated_length(path("items[]").all(node), ("missing", "others[]"), node) == length, (items, others)


def test_json_in_a_string_is_read_where_the_conditions_hold() -> None:
    node, source = parsed([{"type": "a", "v": '{"k": "x\\"y"}'}, {"type": "b", "v": "{}"}])
    assert read_inner_strings([Inner("[]", "v", (is_("type", "a"),))], node, source) == []
    inner = path("[0].v.k").first(node)
    assert inner is not None and inner.text == 'x"y'
    assert source.data[inner.start : inner.end] == rb"\"x\\\"y\""
    kept = path("[1].v").first(node)
    assert kept is not None and kept.text == "{}"


def test_broken_json_in_a_string_is_reported() -> None:
    for text, problem, is_read in (
        ('[{"a": "b', "E-STREAM-TRUNCATED/log", True),
        ('{"a": }', "E-BODY-CONSTRAINT-VIOLATION/json-malformed", False),
        ('{"a": 1} and more', "E-BODY-CONSTRAINT-VIOLATION/json-malformed", False),
        ("plain {text}", None, False),
        ("", None, False),
    ):
        node, source = parsed({"v": text})
        found = [f"{each.rule.code}/{each.reason}" for each in read_inner_strings(["v"], node, source)]
        assert found == ([problem] if problem else [])
        assert (path("v.a|v[0].a").first(node) is not None) is is_read


def test_a_record_that_repeats_a_member_and_is_cut_is_hidden() -> None:
    for text in ('{"rows":[{"row":{}}],"rows":[', '{"messages":[{"role":"user","content":"a"}],"rows":1,"rows":[{"'):
        assert shown(text, "rows") == []
