"""YAML is written without needless quotes, with escapes for hostile strings, and is read back unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.syntax.yaml_reader import read_yaml
from viewer.syntax.yaml_writer import write_yaml


def test_yaml_is_written_plainly() -> None:
    values: dict[str, object] = {
        "version": "2.2",
        "settings": {
            "temperature": "0.7",
            "tools": ["browser", "functions.*", "a: b", "- a", ""],
            "none": {},
            "no": [],
        },
        "tokens": ["<|start|>", {"a": "b"}, ["c"]],
        "url": "http://x/y#z",
    }
    assert (
        write_yaml(values)
        == """\
version: 2.2
settings:
  temperature: 0.7
  tools:
    - browser
    - functions.*
    - "a: b"
    - "- a"
    - ""
  none: {}
  no: []
tokens:
  - "<|start|>"
  -
    a: b
  -
    - c
url: http://x/y#z
"""
    )
    assert read_yaml(write_yaml(values).encode()).value == values
    assert write_yaml({}) == "{}\n"


def test_hostile_strings_are_written_with_escapes() -> None:
    hostile = '\x1b[0m\n\u202e\u200b\u3164\U000e0041"\\'
    written = write_yaml({hostile: hostile, "k" * 2000: "v"})
    assert '"\\x1B[0m\\x0A\\u202E\\u200B\\u3164\\U000E0041\\"\\\\"' in written
    assert read_yaml(written.encode()).value == {hostile: hostile, "k" * 2000: "v"}


STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    "ab:# -?[]{},&*!|>'\"%@`~<.=\n\t\\", max_size=6
)
TREES = st.recursive(STRINGS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3))


@pytest.mark.slow
@given(st.dictionaries(STRINGS, TREES, max_size=4))
def test_written_values_are_read_back(values: dict[str, object]) -> None:
    reading = read_yaml(write_yaml(values).encode())
    assert reading.faults == ()
    assert reading.value == values
