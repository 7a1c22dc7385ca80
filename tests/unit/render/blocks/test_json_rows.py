"""JSON as rows of keys and values."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from viewer.render.blocks.json_rows import (
    ALL_NODES,
    MOST_NODES,
    MOST_ROWS,
    JsonRow,
    JsonRows,
    NotJsonError,
    arguments_line,
    first_children,
    is_container,
    only_error,
)
from viewer.render.sanitize import sanitize
from viewer.render.style import ASCII
from viewer.render.width import cells

WIDTH = 60
REPLY = (
    '{"ok":false,"exit_code":1,"output":"FAILED a\\nFAILED b\\t\\u00e9 \\ud83d\\ude00\\n","files":["a","b"],'
    '"result":"{\\"x\\": {\\"y\\": [1,2]}}","dup":1,"dup":2,"n":1.50e3,"none":null}'
)
ROWS = """\
├ ok        false
├ exit_code 1
├ output    text, 2 lines, 41 B
│ ╭────────────────────────────────────────────────────────╮
│ │ FAILED a                                               │
│ │ FAILED b        é \N{GRINNING FACE}                                   │
│ ╰────────────────────────────────────────────────────────╯
├ files     array, 2 items
│ ├ a
│ └ b
├ result    JSON in a string, 1 key
│ └ x         object, 1 key
│   └ y         array, 2 items
│     ├ 1
│     └ 2
├ dup       1
├ dup       2
├ n         1.50e3
└ none      null"""


def drawn(rows: list[JsonRow]) -> list[str]:
    return [
        "".join(
            [*(part.text for part in row.lead), row.row.text if row.row else "", *(part.text for part in row.parts)]
        )
        for row in rows
    ]


def rows_of(text: str, depth: int = 0) -> list[JsonRow]:
    return JsonRows(text, WIDTH, depth).rows("", is_last=True)


def test_values_are_rows_with_their_keys_and_stay_as_written() -> None:
    assert "\n".join(drawn(rows_of(REPLY))) == ROWS


def test_each_character_has_its_place_in_the_source() -> None:
    for row in rows_of(REPLY, ALL_NODES):
        if row.row is None:
            continue
        for at, character in enumerate(row.row.text.strip()):
            source = REPLY[row.row.offset_of(at) :]
            assert source.startswith((character, "\\")), (row.row.text, source[:10])


def test_a_container_folds_and_opens_level_by_level() -> None:
    text = json.dumps({"a": {"b": {"c": list(range(100))}}})
    assert drawn(rows_of(text)) == ["└ a         object, 1 key ▸"]
    assert drawn(rows_of(text, 1))[-1] == "  └ b         object, 1 key ▸"
    assert len(rows_of(text, 3)) == 103


def test_each_value_folds_on_its_own() -> None:
    text = json.dumps({"a": {"b": list(range(100))}, "c": "d\n" * 40})
    first, second = (row.node for row in rows_of(text) if row.node >= 0)
    assert (text[first], text[second]) == ("{", '"')
    turned = JsonRows(text, WIDTH, 0, turned={first}).rows("", is_last=True)
    assert drawn(turned)[:2] == ["├ a         object, 1 key", "│ └ b         array, 100 items ▸"]
    assert len(JsonRows(text, WIDTH, 0, turned={second}).rows("", is_last=True)) == len(rows_of(text)) + 28
    assert drawn(JsonRows(text, WIDTH, 1, turned={first}).rows("", is_last=True))[0] == "├ a         object, 1 key ▸"


def test_a_string_in_brackets_that_is_not_json_is_text() -> None:
    for text in ("[:-1]", "[INFO] [x]", "{name}", '{"a": [INFO]}', "[1, 2", "[[1], [:-1]]"):
        rows = drawn(rows_of(json.dumps({"file": "a.py", "old": text, "new": ""})))
        assert rows == ["├ file      a.py", f"├ old       {text}", "└ new       "], text


def test_many_values_end_with_their_count() -> None:
    text = json.dumps(list(range(MOST_ROWS + 50)))
    assert drawn(rows_of(text))[-1] == f"└ ▸ {MOST_ROWS + 50 - MOST_NODES:,} more"
    everything = rows_of(text, ALL_NODES)
    assert (len(everything), drawn(everything)[-1]) == (MOST_ROWS + 1, "└ ▸ 50 more")


def test_values_beyond_the_drawn_ones_are_counted() -> None:
    rest: list[Any] = [{"a,": [1, {"b": "],{"}]}, "c,d", [[], {}], None, "\\", 5]
    values: tuple[Any, ...] = (
        rest * 50,
        ["x"] * 300,
        [[]] * 300,
        {f"k{number}": rest for number in range(300)},
        [rest, [[[[[[[[[[1, 2]]]]]]]]]]] * 150,
    )
    for value in values:
        for text in (json.dumps(value), json.dumps(value, indent=1)):
            found, count = first_children(text, 0, len(text), 100)
            assert (len(found), count) == (100, len(value))


def test_a_long_text_shows_its_first_lines() -> None:
    text = json.dumps({"output": "\n".join(f"line {number}" for number in range(214))})
    lines = drawn(rows_of(text))
    assert len(lines) == 1 + 1 + 12 + 1
    assert lines[-1].endswith("─ 202 more lines · l unfolds it ╯")
    assert len(rows_of(text, 1)) == 1 + 1 + 214 + 1


def test_ascii_rows_have_no_other_glyphs() -> None:
    for depth in (0, ALL_NODES):
        lines = drawn(JsonRows(REPLY.replace("\\u00e9 \\ud83d\\ude00", ""), WIDTH, depth, ASCII).rows("", is_last=True))
        assert all(line.isascii() for line in lines), lines


def test_arguments_are_words_on_one_line() -> None:
    assert arguments_line('{"location":"Osaka","format":"kelvin"}') == "location=Osaka format=kelvin"
    assert arguments_line('{"a":{"x":1},"b":[],"c":"two\\nlines","d":"cut he') == "a={…} b=[] c=two lines d=cut he"
    assert arguments_line('  {"a": 1') == "a=1"
    assert arguments_line("*** Begin Patch\n*** Add") == "*** Begin Patch *** Add"
    assert arguments_line("") == ""


def test_a_reply_that_holds_only_an_error_is_its_text() -> None:
    text = '{"ok":false,"content":null,"error":"no such city"}'
    start, end = only_error(text) or (0, 0)
    assert text[start:end] == "no such city"
    for other in ('{"ok":false,"content":"x","error":"y"}', '{"error":"y"}', "[]", "text", '{"ok":false,"error":{}}'):
        assert only_error(other) is None, other


def test_text_that_is_not_a_json_value_has_no_rows() -> None:
    for text in ("", "plain", "{", '{"a":1}x', "[1", '{"a":', "{]", '"text"', "1"):
        assert not is_container(text), text
    for text in ('{"a" 1}', '{"a":1 "b":2}', "[1 2]", "{1:2}"):
        with pytest.raises(NotJsonError):
            rows_of(text)


@pytest.mark.parametrize(
    "count", [pytest.param(3000, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.lab)]
)
def test_rows_of_any_text_are_safe_and_in_order(count: int) -> None:
    pieces = (
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"',
        '"a"',
        "\\n",
        "\\",
        "1",
        "null",
        " ",
        "\x1b",
        "\u202e",
        "\N{CAT}",
        "\\ud800",
        "\r\n",
    )
    chance = random.Random(4)
    made = 0
    for _ in range(count):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        text = chance.choice((text, f'{{"a":[{text}]}}', f'{{"a":"{text}"}}'))
        arguments_line(text)
        only_error(text)
        if not is_container(text):
            continue
        try:
            rows = rows_of(text, chance.choice((0, 1, ALL_NODES)))
        except NotJsonError:
            continue
        made += 1
        starts = [row.row.start for row in rows if row.row]
        assert starts == sorted(starts), text
        for line in drawn(rows):
            assert line == sanitize(line), text
            assert "\n" not in line, text
            assert cells(line) <= WIDTH + 20, text
    assert made > count // 10


@pytest.mark.slow
def test_a_large_reply_is_read_in_linear_time() -> None:
    def seconds(count: int) -> float:
        text = json.dumps(
            {"rows": [{"id": number, "name": f"name {number}", "tags": ["a", "b"]} for number in range(count)]}
        )
        began = time.process_time()
        assert len(rows_of(text, 1)) > 100
        return time.process_time() - began

    seconds(100)
    assert seconds(16_000) < 12 * max(seconds(4_000), 0.01)
