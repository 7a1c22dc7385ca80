"""The machine-readable output is an interface: its keys and their order are fixed, and no character can control a
terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.shown import call, message, problem, projection
from viewer.document.document import Finding
from viewer.document.values import HiddenRun, ShownStray, ShownTranscript
from viewer.model.diagnostic import Diagnostic
from viewer.model.visibility import EVERYTHING
from viewer.render.json_lines import encode, finding_line, projection_lines, summary_line
from viewer.rules import RULES

KEYS = {
    "transcript": ["kind", "number", "dialect", "version", "model", "header", "audience"],
    "message": [
        "kind", "transcript", "number", "message_kind", "role", "name", "recipient", "channel", "channel_given",
        "intent", "call_id", "content_type", "constrained", "ending", "body", "span", "body_span", "line", "time",
        "visible", "extra",
    ],
    "stray": ["kind", "transcript", "after", "span", "body"],
    "diagnostic": ["kind", "code", "reason", "severity", "message", "span", "line", "column", "count"],
    "call": [
        "kind", "transcript", "call_id", "tool", "call", "reply", "state", "inferred", "latency_ms", "deadline_ms",
    ],
    "summary": ["kind", "errors", "warnings", "messages", "transcripts"],
}  # fmt: skip


def lines(*shown: Any, file: str | None = None, **changes: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in projection_lines(projection(*shown, **changes), file)]


def test_every_line_has_all_its_keys_in_order() -> None:
    found = lines(
        message(1), ShownStray(1, 1, (3, 4), "x"), problems=[problem(1)], links=[call(1, None)], audience=EVERYTHING
    )
    assert [line["kind"] for line in found] == ["transcript", "message", "stray", "diagnostic", "call"]
    for line in found:
        assert list(line) == KEYS[line["kind"]]


def test_the_file_is_named_if_there_are_several() -> None:
    assert all(line["file"] == "a.ocml" for line in lines(message(1), problems=[problem(1)], file="a.ocml"))


def test_lines_have_no_spaces_between_their_parts() -> None:
    assert summary_line(1, 2, 17, 1) == '{"kind":"summary","errors":1,"warnings":2,"messages":17,"transcripts":1}'


def test_hidden_runs_leave_no_line() -> None:
    found = lines(HiddenRun(1, 4), message(5))
    assert [line["kind"] for line in found] == ["transcript", "message"]
    assert found[0]["audience"] == "safe"


def test_each_transcript_precedes_its_messages() -> None:
    heads = [ShownTranscript(number, "harmony", None, None, None) for number in (1, 2, 3)]
    found = lines(message(1), message(2, transcript=2), heads=heads)
    assert [(line["kind"], line["number"]) for line in found] == [
        ("transcript", 1),
        ("message", 1),
        ("transcript", 2),
        ("message", 2),
        ("transcript", 3),
    ]


def test_a_finding_has_its_position() -> None:
    line = json.loads(
        finding_line(Finding(Diagnostic(RULES["W-CALL-UNANSWERED"], None, 5, 700, 702, 2), 22, 9, 22, 11))
    )
    assert list(line) == KEYS["diagnostic"]
    assert (line["span"], line["line"], line["column"], line["count"]) == ([700, 702], 22, 9, 2)


@pytest.mark.parametrize(
    "character", ["\x1b", "\x7f", "\x9b", "\u202e", "\u200b", "\ud800", "\ufffe", "\U000e0041", "\u2028"]
)
def test_unsafe_characters_are_escaped(character: str) -> None:
    line = encode({"body": f"a{character}b é 日"})
    assert character not in line
    assert "é 日" in line
    line.encode("utf-8")
    assert json.loads(line)["body"] == f"a{character}b é 日"


def test_whole_emoji_stay_whole() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert family in encode({"body": family})
