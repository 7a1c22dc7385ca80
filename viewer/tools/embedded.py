"""Find JSON and YAML embedded in prose: as the whole text, in fenced blocks, or inline."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator, Iterator

from viewer.cache import lazy_regex
from viewer.syntax.json_text import exact_value, read_json
from viewer.syntax.yaml_reader import read_yaml

MOST_YAML_BLOCKS = 64
LARGEST_YAML = 64 * 1024

_KEYS = re.compile(r'"(?:name|paths)"')
_BRACKETS = lazy_regex(r'"(?>[^"\\\n]|\\.)*+"?|[\[\]{}]')
_NEXT_VALUE = lazy_regex(rb"[\s,;]*+[\[{]")
_CLOSES = {"]": "[", "}": "{"}
_YAML_FENCE = lazy_regex(r"^[ \t]*(?:```|~~~)[ \t]*ya?ml[ \t]*\r?\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.M | re.S | re.I)
_YAML_START = lazy_regex(
    r"^(?:(?:openapi|swagger|paths|tools|functions|name)[ \t]*:|-[ \t]+(?:name|type)[ \t]*:)", re.M
)
_YAML_LINE = lazy_regex(r"(?:[ \t]+[^\n]*|-[ \t][^\n]*|[\w$-]{1,64}[ \t]*:(?:[ \t][^\n]*)?|#[^\n]*|---)?\r?(?:\n|\Z)")


def json_values(text: str) -> Iterator[object]:
    """Yield the outermost JSON objects and arrays of text that may contain declarations, in linear time."""
    keys = [found.start() for found in _KEYS.finditer(text)]
    if not keys:
        return
    budget = 4 * len(text) + 4096
    done = 0
    if text.lstrip().startswith(("{", "[")):
        done = yield from _first(text)
        if done == len(text):
            return
    for start, end in sorted(_pairs(text)):
        at = bisect_left(keys, start)
        if start < done or at == len(keys) or keys[at] >= end:
            continue
        budget -= end - start
        if budget < 0:
            return
        reading = read_json(text[start:end].encode("utf-8", "replace"))
        if reading.node is not None and not reading.faults:
            done = end
            yield reading.node.to_python()


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of matching brackets. A string ends at the end of its line, so an unmatched quote in prose does
    little harm."""
    opened: list[tuple[str, int]] = []
    for found in _BRACKETS.finditer(text):
        mark = found[0]
        if mark in "{[":
            opened.append((mark, found.start()))
        elif mark in _CLOSES:
            if opened and opened[-1][0] == _CLOSES[mark]:
                yield opened.pop()[1], found.end()
            else:
                opened.clear()


def first_json(text: str) -> list[object]:
    """Return the JSON objects and arrays at the start of the text. The rest is ignored."""
    return list(_first(text))


def _first(text: str) -> Generator[object, None, int]:
    """Yield the values and return the character position where they end."""
    data = text.encode("utf-8", "replace")
    whole = exact_value(data)
    if isinstance(whole, dict | list):
        yield whole
        return len(text)
    position = 0
    while found := _NEXT_VALUE.match(data, position):
        reading = read_json(data, 0, found.end() - 1)
        if reading.node is None or reading.faults or reading.end <= position:
            break
        yield reading.node.to_python()
        position = reading.end
    return len(data[:position].decode("utf-8", "replace"))


def yaml_values(text: str) -> Iterator[object]:
    """Yield the YAML values in text that may contain declarations: those in fenced blocks or, without such blocks, in
    lines that look like a declaration."""
    blocks = 0
    fenced = False
    for found in _YAML_FENCE.finditer(text):
        blocks += 1
        if blocks > MOST_YAML_BLOCKS:
            return
        fenced = True
        yield from _yaml(found[1])
    position = 0
    while not fenced and blocks < MOST_YAML_BLOCKS and (start := _YAML_START.search(text, position)):
        blocks += 1
        position = _yaml_end(text, start.start())
        yield from _yaml(text[start.start() : position])


def _yaml_end(text: str, position: int) -> int:
    """Return the end of the lines that look like YAML."""
    while position < len(text) and (found := _YAML_LINE.match(text, position)):
        if found.end() == position:
            break
        position = found.end()
    return position


def _yaml(block: str) -> Iterator[object]:
    data = block.encode("utf-8", "replace")
    if len(data) > LARGEST_YAML or not _YAML_START.search(block):
        return
    reading = read_yaml(data, 0)
    if not reading.faults:
        yield reading.value
