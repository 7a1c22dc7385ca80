"""Times in every format: unreadable times, and times earlier than a previous record's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.program import run
from tests.support.samples import samples
from viewer.document.document import open_document

_TIME = re.compile(
    rb'"\d{4}-\d\d-\d\d[T ][^"]{5,30}"|"\d{10}(?:\d{3}|\d{6}|\d{9})?"'
    rb"|(?<=[: ])\d{10}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?=[,}\s])"
)
"""The strings and numbers in a record that may be times."""
MOST_PLACES = 12
TIMED = [
    *("ai-sdk", "atif", "chatgpt", "claude-code", "cline", "codex", "copilot-cli", "events", "gemini-cli", "goose"),
    *("json", "jsonrpc", "kimi", "langfuse", "langsmith", "mlflow", "ollama", "opencode", "openhands", "otel"),
    *("pydantic-ai", "qwen-code", "server-log", "tap", "threads", "openchatml-2.2"),
]
ONE_TIME = ["bedrock", "responses-stream"]
"""Formats with a single time, or only the time of a whole response."""


def is_reported(format: str, time: bytes, code: str, folder: Path) -> bool:
    """True if the code is reported where this time replaces another one in a sample of a format."""
    for sample in sorted(samples(f"valid/{format}"), key=lambda sample: sample.path.stat().st_size):
        data, path = sample.path.read_bytes(), folder / "run"
        for place in [*_TIME.finditer(data)][:MOST_PLACES]:
            path.write_bytes(data[: place.start()] + time + data[place.end() :])
            findings = open_document(str(path), format=sample.asked).findings()
            span = place.start(), place.start() + len(time)
            if any(
                (one.diagnostic.start, one.diagnostic.end, one.diagnostic.code) == (*span, code) for one in findings
            ):
                return True
    return False


@each("format", [*TIMED, *ONE_TIME])
def test_every_format_reports_a_time_that_cannot_be_read(format: str, tmp_path: Path) -> None:
    assert is_reported(format, b'"soon"', "I-TIME-UNREADABLE", tmp_path)


@pytest.mark.slow
@each("format", TIMED)
def test_every_format_reports_a_time_before_an_earlier_one(format: str, tmp_path: Path) -> None:
    assert is_reported(format, b'"2001-01-01T00:00:00Z"', "I-TIME-BACKWARDS", tmp_path)


def found(folder: Path, records: list[dict[str, object]], *options: str) -> list[tuple[object, ...]]:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    lines = map(json.loads, run("show", "--json", *options, path).out.splitlines())
    return [
        (line["code"], line["message"], line["count"], line["span"])
        for line in lines
        if line["kind"] == "diagnostic" and line["code"].startswith("I-TIME")
    ]


def said(second: int, thread: str = "") -> dict[str, object]:
    """Return a record of the shape that the fast path reads. With `thread`, another agent wrote it."""
    time = f"2026-03-01T09:00:{second:02}.000Z"
    more: dict[str, object] = {"isSidechain": True, "agentId": thread} if thread else {}
    return {
        "type": "user",
        "sessionId": "s",
        "uuid": f"u{second}{thread}",
        **more,
        "timestamp": time,
        "message": {"role": "user", "content": f"Text {second}."},
    }


def test_a_run_of_earlier_times_is_one_problem_with_a_count_on_every_path(tmp_path: Path) -> None:
    seconds = [10, 11, 12, 13, 14, 3, 4, 5, 14, 20, 19]
    records = [said(second) for second in seconds]
    text = "".join(json.dumps(record) + "\n" for record in records)
    places = [text.index(f'"2026-03-01T09:00:{second:02}') for second in (3, 5, 19)]
    size = len('"2026-03-01T09:00:03.000Z"')
    wanted = [
        ("I-TIME-BACKWARDS", None, 3, [places[0], places[1] + size]),
        ("I-TIME-BACKWARDS", None, 1, [places[2], places[2] + size]),
    ]
    assert found(tmp_path, records, "-d") == wanted
    assert found(tmp_path, records) == [("I-TIME-BACKWARDS", None, None, None)] * 2
    assert found(tmp_path, records, "--strict-safe") == []


def test_each_agent_has_its_own_order(tmp_path: Path) -> None:
    assert found(tmp_path, [said(9), said(2, "x"), said(12), said(5, "x")], "-d") == []
    assert len(found(tmp_path, [said(9), said(6, "x"), said(12), said(5, "x")], "-d")) == 1


@pytest.mark.parametrize("time", [None, "", 0, 1_772_355_600, "1772355600.5", "2026-03-01 09:00:00"])
def test_readable_and_missing_times_are_not_a_problem(tmp_path: Path, time: object) -> None:
    records: list[dict[str, object]] = [{"role": "user", "content": "Hi.", "time": time}]
    assert found(tmp_path, records) == []
