"""The output of `codex exec --json`: only the messages of the agent are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import codes, examine, read
from tests.support.record_checks import (
    EXAMPLES,
    check_bytes,
    check_forced,
    check_prefixes,
    check_renamed,
    check_values,
    headers,
    kinds,
    shown,
)
from tests.support.samples import Sample, samples
from viewer.formats import detect
from viewer.index.calls import CallState

START = {"type": "thread.started", "thread_id": "t"}


def item(stage: str, type: str, id: str = "item_0", **more: Any) -> dict[str, Any]:
    return {"type": f"item.{stage}", "item": {"id": id, "type": type, **more}}


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in (START, *records))


def states(*records: dict[str, Any]) -> list[CallState]:
    text = lines(*records)
    return [link.state for link in examine([text], text, "codex-exec").calls.links]


def test_every_kind_of_item_has_its_kind() -> None:
    rows: list[tuple[list[str], dict[str, Any]]] = [
        (["said"], item("completed", "agent_message", text="SECRET_")),
        (["thought"], item("completed", "reasoning", text="SECRET_")),
        (["thought"], item("completed", "plan", text="SECRET_")),
        (["call", "reply"], item("completed", "command_execution", command="SECRET_", aggregated_output="SECRET_")),
        (["call", "reply"], item("completed", "mcp_tool_call", arguments={"a": "SECRET_"}, result={"b": "SECRET_"})),
        (["call", "reply"], item("completed", "mcp_tool_call", arguments="SECRET_", error={"message": "SECRET_"})),
        (["call"], item("completed", "file_change", changes=[{"path": "SECRET_"}])),
        (["call"], item("completed", "web_search", query="SECRET_")),
        (["call"], item("completed", "todo_list", items=[{"text": "SECRET_"}])),
        (["subagent"], item("completed", "collab_tool_call", prompt="SECRET_")),
        (["notice"], item("completed", "error", message="SECRET_")),
        (["notice"], {"type": "error", "message": "SECRET_"}),
        (["notice"], {"type": "turn.failed", "error": {"message": "SECRET_"}}),
        (["call"], {"type": "request_user_input", "call_id": "c", "questions": ["SECRET_"]}),
        (["thought"], {"type": "item.plan.delta", "item_id": "p", "delta": "SECRET_"}),
        (["unknown"], item("completed", "hologram", text="SECRET_")),
        (["unknown"], {"type": "weather", "message": "SECRET_"}),
        (["unknown"], item("completed", "agent_message", text=["SECRET_"])),
        (["unknown"], item("vanished", "agent_message", text="SECRET_")),
    ]
    for expected, one in rows:
        assert [kind for kind, body in kinds(lines(one), "codex-exec") if "SECRET_" in body] == expected, one
        assert bool(shown(lines(one), "codex-exec")) is (expected == ["said"])


def test_the_example_shows_the_answer_only() -> None:
    assert shown((EXAMPLES / "codex-exec.jsonl").read_bytes(), "codex-exec") == ["4"]


def test_an_item_that_is_written_again_is_one_message() -> None:
    records = [item(stage, "agent_message", text=text) for stage, text in (("started", "a"), ("updated", "ab"))]
    assert shown(lines(*records, item("completed", "agent_message", text="abc")), "codex-exec") == ["abc"]
    assert shown(lines(*records), "codex-exec") == ["ab"]
    assert codes(read(lines(*records), "codex-exec")) == ["E-STREAM-TRUNCATED/event-stream"]


def test_a_started_call_is_pending_until_it_is_completed() -> None:
    started = item("started", "command_execution", command="make", aggregated_output="", status="in_progress")
    done = item("completed", "command_execution", command="make", aggregated_output="x", exit_code=0)
    failed = item("completed", "command_execution", command="make", aggregated_output="x", exit_code=2)
    assert states(started, done) == [CallState.OK]
    assert states(started, failed) == [CallState.FAILED]
    assert states(done) == [CallState.OK]
    assert [kind for kind, _ in kinds(lines(started, done), "codex-exec")] == ["call", "reply"]
    declined = item("completed", "command_execution", command="make", aggregated_output="x", status="declined")
    assert states(started, declined) == [CallState.CANCELLED]


def test_a_call_is_named_by_its_tool_or_by_its_kind() -> None:
    records = (
        item("completed", "mcp_tool_call", tool="search", arguments={}),
        item("completed", "file_change", "item_1"),
    )
    assert [header.recipient for header in headers(read(lines(*records), "codex-exec")) if header.recipient] == [
        "functions.search",
        "functions.file_change",
    ]


def test_errors_are_reported() -> None:
    for one in ({"type": "turn.failed", "error": {"message": "x"}}, {"type": "error", "message": "x"}):
        assert codes(read(lines(one), "codex-exec")) == ["W-RUN-ERROR/unknown"]


@pytest.mark.slow
def test_marks_of_a_template_stay_hidden_while_a_message_grows() -> None:
    texts = "Yes.<tool_call>SECRET_", "Yes.<tool_call>SECRET_</tool_call>"
    for last in ("updated", "completed"):
        records = item("started", "agent_message", text=texts[0]), item(last, "agent_message", text=texts[1])
        text = lines(*records)
        for end in range(len(text) + 1):
            assert "SECRET_" not in "".join(shown(text[:end], "codex-exec"))
        assert shown(text, "codex-exec") == ["Yes."]


def test_two_runs_are_two_transcripts() -> None:
    sample = next(each for each in samples("valid/codex-exec") if each.base == "two-runs")
    assert len(read(sample.text, "codex-exec").transcripts) == 2


@pytest.mark.slow
def test_no_example_of_another_format_shows_hidden_text() -> None:
    check_forced("codex-exec")


@each("sample", samples("valid/codex-exec"), ids=lambda sample: sample.name, quick=0, test=3)
def test_other_readings_of_the_same_bytes_agree_and_hide_the_same(sample: Sample) -> None:
    assert detect(sample.text).format == "codex-exec", sample.name
    check_bytes(sample.text, "codex-exec")
    check_prefixes(sample.text, "codex-exec")
    if sample.base != "streamed":  # a renamed last record leaves an earlier text
        check_renamed(sample.text, "codex-exec")
        check_values(sample.text, "codex-exec")
