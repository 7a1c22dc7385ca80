"""Checks of a format plug-in, run by `ocmlview formats --verify NAME` and by the tests of a plug-in.

from viewer.plugins.testing import verify

def test_the_format() -> None:
    verify("acme")
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.errors import ViewerError
from viewer.formats import FORMATS, WRITERS
from viewer.model.events import Closed
from viewer.model.messages import Message
from viewer.model.visibility import END_USER
from viewer.plugged import PLUGGED
from viewer.plugins.loading import PLUGINS, Plugin, Sample
from viewer.reading.parser import Parser
from viewer.render.conversation import conversation_lines
from viewer.render.exports import EXPORTERS
from viewer.render.json_lines import projection_lines
from viewer.render.style import Style
from viewer.sources.files import SpooledSource

CUTS = 64
MOST_MARKED = 200
LENGTH = 50_000
ATTEMPTS = 3
MOST_RATIO = 3.0
WIDTH = 80


class FormatFaultError(AssertionError):
    """A format failed a check. The message describes the failure and its location."""


def verify(name: str) -> list[str]:
    """Check a format plug-in and return the names of the checks. Raise FormatFaultError at the first failure."""
    PLUGGED.connect(PLUGINS.table, PLUGINS.tables)
    plugin = PLUGINS.get(name)
    if plugin is None:
        raise ViewerError(f"no format plug-in {name} can be loaded. {' '.join(PLUGINS.failures)}".strip())
    return verify_plugin(plugin)


def verify_plugin(plugin: Plugin) -> list[str]:
    """Check a loaded plug-in and return the names of the checks."""
    checks = (_check_expected, _check_splits, _check_leaks, _check_markers, _check_speed)
    for sample in plugin.format.samples:
        for check in checks:
            check(plugin.name, sample)
    return [check.__name__.removeprefix("_check_") for check in checks]


def _data(sample: Sample) -> bytes:
    return Path(sample.path).read_bytes()


def _expected(sample: Sample) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Path(sample.expected).read_text("utf-8"))
    return value


def _document(name: str, data: bytes) -> Document:
    return Document(SpooledSource("sample", iter([data]), False), name).load()


def _projection(name: str, data: bytes) -> Projection:
    return _document(name, data).project(END_USER)


def _bodies(name: str, data: bytes) -> list[str]:
    return [message.body.strip() for message in _projection(name, data).writable()]


def _check_expected(name: str, sample: Sample) -> None:
    """Check that the safe view shows exactly what the user saw."""
    shown, seen = _bodies(name, _data(sample)), _expected(sample).get("seen", [])
    if shown != seen:
        raise FormatFaultError(
            f"{sample.path}: the {len(shown)} messages shown are not the {len(seen)} that the user saw."
        )


def _check_splits(name: str, sample: Sample) -> None:
    """Check that a file that arrives in two parts yields the same result as the whole file."""
    data = _data(sample)
    whole = _messages(name, [data])
    chance = random.Random(0)
    for cut in sorted(chance.randrange(len(data) + 1) for _ in range(CUTS)):
        if _messages(name, [data[:cut], data[cut:]]) != whole:
            raise FormatFaultError(f"{sample.path}: it is read differently if it is split at byte {cut}.")


def _messages(name: str, parts: list[bytes]) -> list[Message]:
    parser = Parser(FORMATS[name])
    events = [event for part in parts for event in parser.feed(part)]
    events += parser.close()
    return [event.message for event in events if isinstance(event, Closed)]


def _surfaces(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield each output that an end user can get, after the name of the command that writes it."""
    projection = _projection(name, data)
    yield "show", "\n".join(conversation_lines(projection, WIDTH, Style()))
    yield "show --json", "\n".join(projection_lines(projection))
    for exporter in EXPORTERS.values():
        yield f"export --to {exporter.name}", "".join(exporter.pieces(projection, "sample"))
    for target in WRITERS:
        text, losses = WRITERS[target](projection.transcripts(), list(projection.writable()))
        yield f"convert --to {target}", text + "\n".join(losses)


def _check_leaks(name: str, sample: Sample) -> None:
    """Check that no output for the end user shows hidden text."""
    for surface, text in _surfaces(name, _data(sample)):
        for index, hidden in enumerate(_expected(sample).get("hidden", [])):
            if hidden in text:
                raise FormatFaultError(f"{sample.path}: {surface} shows hidden text number {index + 1}.")


def _check_markers(name: str, sample: Sample) -> None:
    """Check that text that was not seen stays hidden, whatever its content."""
    lines = _data(sample).decode("utf-8", "replace").splitlines()
    seen = _expected(sample).get("seen", [])
    count = 0
    for row, line in enumerate(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        for number, changed in enumerate(_marked(record, seen)):
            count += 1
            if count > MOST_MARKED:
                return
            data = "\n".join([*lines[:row], json.dumps(changed), *lines[row + 1 :]]).encode()
            if any(_MARKER in body for body in _bodies(name, data)):
                raise FormatFaultError(
                    f"{sample.path}:{row + 1}: text number {number + 1} would be shown if it differed."
                )


_MARKER = "a marker that no sample has"


def _marked(value: Any, seen: list[str]) -> Iterator[Any]:
    """Yield, for each string that was not seen, a copy of the value with a marker in place of the string."""
    if isinstance(value, str) and not any(value.strip() in text or text in value for text in seen):
        yield _MARKER
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from ([*value[:index], changed, *value[index + 1 :]] for changed in _marked(item, seen))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: changed} for changed in _marked(item, seen))


def _check_speed(name: str, sample: Sample) -> None:
    """Check that twice the input takes at most about twice the time."""
    data = _data(sample).rstrip(b"\n") + b"\n"
    times = max(2, min(LENGTH // len(data), 200))
    ratio = min(_seconds(name, data * 2 * times) / _seconds(name, data * times) for _ in range(ATTEMPTS))
    if ratio > MOST_RATIO:
        raise FormatFaultError(f"{sample.path}: twice as many copies take {ratio:.1f} times as long to read.")


def _seconds(name: str, data: bytes) -> float:
    started = time.process_time()
    _messages(name, [data])
    return max(time.process_time() - started, 1e-3)
