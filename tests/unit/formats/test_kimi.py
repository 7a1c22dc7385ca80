"""Kimi wire files of both versions: prompts and answers are shown; everything else is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent_records import (
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    calls,
    found,
    kinds,
    shown,
)
from viewer.formats import detect

NAME = "kimi"


def wire(type: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1767323045.5, "message": {"type": type, "payload": payload}}


def sub(type: str, /, **payload: Any) -> dict[str, Any]:
    return wire("SubagentEvent", task_tool_call_id="c1", event={"type": type, "payload": payload})


OLD = [
    {"type": "metadata", "protocol_version": "1.2"},
    wire("TurnBegin", user_input=[{"type": "text", "text": "Read it."}, {"type": "think", "think": "SECRET_T"}]),
    wire("StepBegin", n=1),
    wire("ContentPart", type="think", think="SECRET_TH", encrypted=None),
    wire("ContentPart", type="text", text="I "),
    wire("ContentPart", type="text", text="look."),
    wire("ToolCall", type="function", id="c1", function={"name": "ReadFile", "arguments": '{"path": '}),
    wire("ToolCallPart", arguments_part='"SECRET_ARG"}'),
    wire("ToolCall", type="function", id="c2", function={"name": "Task", "arguments": "{}"}),
    sub("TurnBegin", user_input="SECRET_TASK"),
    sub("ContentPart", type="text", text="SECRET_SUB"),
    sub("ContentPart", type="think", think="SECRET_SUBTH"),
    wire("ToolResult", tool_call_id="c1", return_value={"is_error": False, "output": "SECRET_OUT", "message": "m"}),
    wire("ToolResult", tool_call_id="c2", return_value={"is_error": True, "output": "", "message": "SECRET_ERR"}),
    wire("ApprovalRequest", description="SECRET_APPROVAL"),
    wire("StatusUpdate", context_usage=0.1),
    wire("ContentPart", type="hologram", text="SECRET_HOLO"),
    wire("Whisper", text="SECRET_WHISPER"),
    wire("ContentPart", type="text", text="Done."),
    wire("CompactionBegin"),
]


def test_each_message_of_the_old_version_has_its_kind() -> None:
    data = as_lines(*OLD)
    assert kinds(data, NAME)[:6] == [
        ("said", "Read it."),
        ("thought", "SECRET_T"),
        ("thought", "SECRET_TH"),
        ("said", "I look."),
        ("call", '{"path": "SECRET_ARG"}'),
        ("call", "{}"),
    ]
    assert [kind for kind, _ in kinds(data, NAME)][6:] == [
        *("subagent", "subagent", "thought", "reply", "reply", "notice", "unknown", "unknown", "said"),
    ]
    assert shown(data, NAME) == ["Read it.", "I look.", "Done."]
    assert len(calls(data, NAME)) == 2
    assert {"W-TOOL-FAILED", "W-RECORD-UNKNOWN"} <= set(found(data, NAME))


def test_an_interrupted_step_is_reported() -> None:
    assert "W-RUN-ERROR/aborted" in found(as_lines(*OLD[:6], wire("StepInterrupted")), NAME)


def new(type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": type, "time": 1784196000100, **more}


def loop(type: str, /, **more: Any) -> dict[str, Any]:
    return new("context.append_loop_event", event={"type": type, **more})


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


NEW = [
    new("metadata", protocol_version="1.5"),
    new("config.update", systemPrompt="SECRET_SYS"),
    new("llm.tools_snapshot", tools=[{"name": "SECRET_TOOL"}]),
    new("turn.prompt", input=text("Read it."), origin={"kind": "user"}),
    new("context.append_message", message={"role": "user", "content": text("Read it.")}),
    new("context.append_message", message={"role": "user", "content": text("SECRET_REMINDER")}),
    loop("step.begin", step=1),
    loop("content.part", part={"type": "think", "think": "SECRET_TH"}),
    loop("content.part", part={"type": "text", "text": "I look."}),
    loop("tool.call", toolCallId="c1", name="Read", args={"path": "SECRET_ARG"}),
    loop("tool.result", toolCallId="c1", result={"output": "SECRET_OUT", "isError": True}),
    new("turn.steer", input=text("Faster."), origin={"kind": "user"}),
    new("turn.steer", input=text("SECRET_TASK"), origin={"kind": "background_task"}),
    new("turn.prompt", input=text("SECRET_SKILL"), origin={"kind": "skill_activation"}),
    new("turn.prompt", input=text("SECRET_OTHER"), agentId="helper"),
    loop("content.part", part={"type": "text", "text": "Done."}),
    {**loop("content.part", part={"type": "text", "text": "SECRET_AGENT"}), "agentId": "helper"},
    new("full_compaction.complete", summary="SECRET_SUMMARY"),
    new("usage.record", usage={"output": 1}),
    loop("whisper", text="SECRET_WHISPER"),
    new("robot.says", text="SECRET_ROBOT"),
    new("turn.ended", reason="cancelled"),
]


def test_each_record_of_the_new_version_has_its_kind() -> None:
    data = as_lines(*NEW)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("instruction", "instruction", "said", "injected", "thought", "said", "call", "reply", "said", "injected"),
        *("injected", "subagent", "said", "subagent", "replayed", "unknown", "unknown"),
    ]
    assert shown(data, NAME) == ["Read it.", "I look.", "Faster.", "Done."]
    assert {"W-TOOL-FAILED", "W-RUN-ERROR/aborted", "W-RECORD-UNKNOWN"} <= set(found(data, NAME))


def test_a_prompt_has_an_origin_or_none() -> None:
    for origin, seen in ((None, ["Hi."]), ("user", ["Hi."]), ({"kind": "user"}, ["Hi."]), ({}, []), (7, []), ("x", [])):
        assert shown(as_lines(new("turn.prompt", input=text("Hi."), origin=origin)), NAME) == seen, origin


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_lines(*OLD), NAME)
    assert_hidden(as_lines(*NEW), NAME)
    assert_drift_is_hidden(OLD, NAME)
    assert_drift_is_hidden(NEW, NAME)
    assert_others_are_hidden(NAME)


def test_a_context_file_holds_messages_and_metadata() -> None:
    data = as_lines(
        {"role": "_system_prompt", "content": "SECRET_S"},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "Seen 1."},
        {"role": "_usage", "token_count": 12},
        {"role": "assistant", "content": [{"type": "think", "think": "SECRET_T"}, {"type": "text", "text": "Seen 2."}]},
        {"role": "user", "content": [{"type": "text", "text": "<system>SECRET_I</system>"}]},
    )
    assert detect(data).format == "kimi"
    assert shown(data, "kimi") == ["Seen 1.", "Seen 2."]
    assert found(data, "kimi") == []
    assert_hidden(data, "kimi")


def test_a_session_that_has_just_begun_is_recognized() -> None:
    lines = (
        b'{"type":"metadata","protocol_version":"1.5"}',
        b'{"type":"turn.prompt","time":1,"input":[{"type":"text","text":"Hi."}],"origin":{"kind":"user"}}',
        b'{"type":"turn.steer","time":2,"input":[{"type":"text","text":"Ho."}],"origin":{"kind":"user"}}',
        b'{"type":"turn.ended","time":3}',
    )
    assert {detect(b"\n".join(lines[:count]) + b"\n").format for count in range(1, 5)} == {"kimi"}
