"""A plain schema is checked without the validator, but with the same result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.tools.plain_schemas import is_plain, judge_of
from viewer.tools.schema import write_out
from viewer.tools.validate import Schema, compiled, is_valid

WORDS = st.sampled_from(["a", "b", "c", "deadline_ms"])
KINDS = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.one_of(KINDS, st.lists(KINDS, min_size=1, max_size=3)),
        "enum": st.lists(WORDS, min_size=1, max_size=3),
        "required": st.lists(WORDS, max_size=3),
        "additionalProperties": st.booleans(),
        "description": st.just("words"),
    },
)
SCHEMAS = st.recursive(
    st.one_of(st.booleans(), PARTS),
    lambda inner: st.builds(
        lambda part, properties, items: {**part, "properties": properties, "items": items},
        PARTS,
        st.dictionaries(WORDS, inner, max_size=3),
        inner,
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)


@pytest.mark.slow
@given(SCHEMAS, VALUES)
def test_the_verdict_equals_that_of_the_validator(schema: Schema | bool, value: object) -> None:
    written = write_out(schema).schema
    validator = compiled(written)
    assert is_plain(written)
    assert validator is not None
    judge = judge_of(written)
    assert judge is not None
    assert judge(value) == is_valid(validator, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": 3},
        {"pattern": "a"},
        {"enum": [1]},
        {"enum": ["é"]},
        {"properties": {"a": {"maxLength": 3}}},
        {"items": {"anyOf": [{"type": "string"}]}},
        {"required": ["\ud800"]},
        {"enum": [f"word {number}" for number in range(65)]},
        {"additionalProperties": {"const": 1}},
    ],
)
def test_a_schema_with_more_keywords_is_not_plain(schema: object) -> None:
    assert not is_plain(write_out(schema).schema)


def test_an_invalid_schema_is_not_plain() -> None:
    assert not any(map(is_plain, [None, "true", [], {"type": ["float"]}]))
