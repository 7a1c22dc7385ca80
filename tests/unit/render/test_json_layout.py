"""JSON on several lines: whitespace is new, and every token is unchanged."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewer.render.body import laid_out
from viewer.render.sanitize import SafeText


def test_entries_are_on_their_own_lines() -> None:
    assert laid_out(SafeText('{"a":[1,2],"b":{},"c":{"d":null}}')) == (
        '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": {\n    "d": null\n  }\n}'
    )


@pytest.mark.parametrize("value", ["12345678901234567890.10", '"\\u00e9 \\/"', "1E400", "NaN", '"{,}:"'])
def test_values_keep_their_spelling(value: str) -> None:
    assert f'"a": {value}' in (laid_out(SafeText(f'{{"a":{value},"a":{value}}}')) or "")


@pytest.mark.parametrize(
    "text", ["", "plain", '"text"', "{", "{]", '{"a":1}}', '{"a":1} x', '{"a', "[" * 300 + "]" * 300, "]"]
)
def test_text_that_is_not_one_value_stays_unchanged(text: str) -> None:
    assert laid_out(SafeText(text)) is None


@pytest.mark.slow
@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_only_white_space_changes(value: object) -> None:
    text = SafeText(json.dumps([value]))
    laid = laid_out(text)
    assert laid is not None
    assert json.loads(laid) == [value]
    assert re.sub(r"\s", "", laid) == re.sub(r"\s", "", text)
