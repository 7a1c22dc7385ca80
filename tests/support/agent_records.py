"""Helpers for agent formats: what a file shows, and what stays hidden however the file is damaged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from tests.support.reading import codes, read, read_cut, visible_texts
from viewer.formats import FORMATS
from viewer.model.events import Superseded
from viewer.reading.parser import Parser

EXAMPLES = Path(__file__).parents[1] / "data" / "formats"
WRONG: tuple[Any, ...] = (7, True, "x", [], {"x": "SECRET_X"}, [{"x": "SECRET_X"}], [["SECRET_X"]])
"""Values of every JSON type, as replacements."""
MOST_CHANGES = int(os.environ.get("OCML_CHANGES", "100"))
"""The number of values that are changed in a group of records, spread over the whole group."""


class _Header(Protocol):
    kind: Any


class _Message(Protocol):
    header: _Header


def as_lines(*records: Any) -> bytes:
    """Return one record per line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def as_document(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def shown(data: bytes, format: str) -> list[str]:
    """Return the text of each message that the end user sees."""
    return [text.strip() for text in visible_texts(data, format)]


def kinds(data: bytes, format: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each message."""
    reading = read(data, format)
    messages: list[Any] = list(reading.messages)
    return [(each.header.kind.value, text.strip()) for each, text in zip(messages, reading.texts, strict=True)]


def found(data: bytes, format: str) -> list[str]:
    """Return the codes of the diagnostics, except those of checks that only examine shown text."""
    return codes(read(data, format))


def calls(data: bytes, format: str) -> tuple[str, ...]:
    return read(data, format).calls


def left_behind(data: bytes, format: str) -> set[int]:
    """Return the numbers of superseded messages."""
    parser = Parser(FORMATS[format])
    events = [*parser.feed(data), *parser.close()]
    runs = [(event.first, event.last) for event in events if isinstance(event, Superseded)]
    return {number for first, last in runs for number in range(first, last + 1)}


def assert_hidden(data: bytes, format: str) -> None:
    """Check that no text of this input, intact or damaged, shows a secret, and that reading byte by byte changes
    nothing."""
    whole = read(data, format)
    _assert_no_secret(data, format, "whole")
    assert read_cut(data, format, range(1, len(data))) == whole
    for end in range(1, len(data), 1 + len(data) // 60):
        _assert_no_secret(data[:end], format, f"cut at {end}")


def assert_drift_is_hidden(records: list[Any], format: str, *, lines: bool = True) -> None:
    """Check that no secret is shown when values of any JSON type are put in many places, even in place of a `type`."""
    changed = list(product(_places(records), WRONG))
    step = 1 + len(changed) // MOST_CHANGES
    for (place, value), wrong in changed[:: step if step % len(WRONG) else step + 1]:
        data = as_lines(*value(wrong)) if lines else as_document(value(wrong)[0])
        _assert_no_secret(data, format, f"{wrong!r} at {place}")


def assert_others_are_hidden(format: str) -> None:
    """Check that no secret is shown when this format is forced on the examples of all other formats."""
    for path in sorted(EXAMPLES.iterdir()):
        if not path.name.endswith(".seen.json"):
            _assert_no_secret(path.read_bytes(), format, path.name)


def _assert_no_secret(data: bytes, format: str, what: str) -> None:
    leaked = [text for text in visible_texts(data, format) if "SECRET_" in text]
    assert not leaked, (what, leaked, data.decode("utf-8", "replace")[:2000])


def _places(records: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each place in the records, and a function that returns the records with another value there."""
    for steps in _steps(records):

        def changed(wrong: Any, steps: tuple[Any, ...] = steps) -> list[Any]:
            copy: list[Any] = json.loads(json.dumps(records))
            holder: Any = copy
            for step in steps[:-1]:
                holder = holder[step]
            holder[steps[-1]] = wrong
            return copy

        yield ".".join(map(str, steps)), changed


def _steps(value: Any) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield (key,)
        for rest in _steps(inner):
            yield (key, *rest)
