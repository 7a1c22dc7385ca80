"""The fast path for plain YAML agrees with the library, which parses everything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.syntax.yaml_events import read_events
from viewer.syntax.yaml_plain import read_plain

SAMPLES = Path(__file__).parents[3] / "samples"

TAKEN = [
    "version: 2.2\n",
    "---\nversion: 2.2\nmodel: gpt-oss-120b",
    "\n\nversion: 2.2\n\n\nmodel: a b c\n\n",
    "a: \"x: # {y}\"\nb: 'it is'\nc: ''\nd:\ne: 2024-06-01\n",
    "a:\n  b:\n      c: 1\n  d: [x, 'y',\"z, w\"]\ne: []\n",
    "a:\n",
    "# first\n\na: {b: c, d: 'e', f: \"#123\"}\n# between\nc: d\n#",
    "a:\n# between\n  b: 1\n",
    "---\nversion: 2.2\nmodel: m\n---\n",
    "---\nversion: 2.2\n\n# last\n---",
    "a:\n---\n",
]
LEFT = [
    "",
    "\n",
    "text",
    "a:1",
    "a: b: c",
    "a: b\n  c: d",
    "a: 1\na: 2",
    "a:\n    b: 1\n  c: 2",
    " a: 1\nb: 2",
    "a: b \n",
    "a: *x",
    "a: &x b",
    "a: !!int 3",
    "<<: {a: 1}",
    "a: {b: c, b: d}",
    "a: {b: {c: d}}",
    "a: {}",
    "a: {b, c}",
    "a: |\n  b",
    "a:\n- b",
    "a: 'it''s'",
    'a: "\\e"',
    "a: [b,]",
    "a: [b: c]",
    "a: [[b]]",
    "a: b # c",
    "---\n---\n",
    "a: b\n---\n---\n",
    "a: b\n---\n\n",
    "a: b\n--- \n",
    "a: b\n---x\n",
    "a: b\n...\n",
    "? a\n: b",
    "a: é",
    "a:\tb",
    "a: b\r\n",
    "a: [b,\n c]",
    "a: b\n c",
    "".join(f"{'  ' * depth}k:\n" for depth in range(9)),
]
PIECES = [
    *(
        "\n",
        "  ",
        "    ",
        " ",
        "a:",
        "b:",
        "c-d:",
        "_e: ",
        "version: ",
        "2.2",
        "x",
        "two words",
        "'",
        '"',
        "[",
        "]",
        ", ",
    ),
    *(
        "- ",
        "#",
        ":",
        "---\n",
        "\n---",
        "...\n",
        "''",
        '"q: r"',
        "[x, 'y']",
        "é",
        "\t",
        "&z ",
        "*z",
        "!t ",
        "{",
        "}",
        "|",
        ">",
        "?",
    ),
]
LINES = st.tuples(
    st.sampled_from(["", "", "  ", "    ", "   ", "#", "  # "]),
    st.sampled_from(["a", "b", "c", "true", "on-off"]),
    st.sampled_from(
        [
            ":",
            ": ",
            ": x",
            ": 1.5",
            ": y z",
            ": ''",
            ': "#"',
            ": [p, 'q']",
            ": []",
            ": x: y",
            ": x #",
            ": -",
            ": {p: q, r: 's'}",
            ": {p: q, p: s}",
        ]
    ),
).map(lambda parts: "".join(parts) + "\n")


def agrees(text: str) -> None:
    """Check that accepted text is also accepted by the library, with the same value and end."""
    data = text.encode("utf-8", "replace")
    plain = read_plain(data)
    if plain is None:
        return
    reading = read_events(data)
    assert (plain.value, (), (plain.start, plain.end)) == (reading.value, reading.faults, reading.span)


@each("text", TAKEN)
def test_plain_text_is_read_without_the_library(text: str) -> None:
    assert read_plain(text.encode()) is not None
    agrees(text)


@each("text", LEFT)
def test_other_text_is_left_to_the_library(text: str) -> None:
    assert read_plain(text.encode()) is None


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_pieces_agree_with_the_library(text: str) -> None:
    agrees(text)


@pytest.mark.slow
@given(st.lists(LINES, max_size=8).map("".join))
def test_lines_agree_with_the_library(text: str) -> None:
    agrees(text)


def test_the_headers_of_the_samples_agree_and_most_are_plain() -> None:
    texts = [path.read_bytes().split(b"\n<|start|>")[0] for path in sorted(SAMPLES.rglob("*.ocml"))]
    headers = [text.decode("utf-8", "replace") + "\n" for text in texts if text.startswith(b"version:")]
    for header in headers:
        agrees(header)
    assert sum(read_plain(header.encode()) is not None for header in headers) > 0.9 * len(headers) > 0
