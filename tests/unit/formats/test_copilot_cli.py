"""Copilot CLI sessions and VS Code chats: prompts and answers are shown; everything else is hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    calls,
    found,
    kinds,
    shown,
)

NAME = "copilot-cli"


def event(type: str, number: int = 1, **data: Any) -> dict[str, Any]:
    return {"type": type, "data": data, "id": f"e{number}", "parentId": None, "timestamp": "2026-01-02T03:04:05Z"}


REQUEST = {"toolCallId": "c1", "name": "bash", "arguments": {"command": "SECRET_ARG"}}
EVENTS = [
    event("session.start", 0, sessionId="s", copilotVersion="0.0.400"),
    event("system.message", 1, content="SECRET_SYS"),
    event("session.info", 1, message="SECRET_INFO"),
    event(
        "user.message",
        2,
        content="List the files.",
        transformedContent="SECRET_TRANSFORMED",
        attachments=[{"path": "SECRET_A"}],
    ),
    event("assistant.turn_start", 3, turnId="0"),
    event("assistant.reasoning", 3, content="SECRET_TH"),
    event("assistant.message", 4, content="I look.", reasoningText="SECRET_TH", toolRequests=[REQUEST]),
    event("tool.execution_start", 5, toolCallId="c1", toolName="bash", arguments=REQUEST["arguments"]),
    event("tool.execution_complete", 6, toolCallId="c1", success=True, result={"content": "SECRET_OUT"}),
    event("hook.start", 6, input={"a": "SECRET_HOOK"}),
    event("skill.invoked", 6, content="SECRET_SKILL"),
    event("subagent.started", 6, agentName="a", prompt="SECRET_PROMPT"),
    event("assistant.message", 7, content="SECRET_SUB", parentToolCallId="c1", reasoningText="SECRET_TH2"),
    event("user.message", 8, content="SECRET_SOURCE", source="autopilot"),
    event("assistant.message", 9, content="Two files.", toolRequests=[]),
    event("session.later", 10, note="metadata"),
    event("robot.message", 11, content="SECRET_ROBOT"),
]
SEEN = ["List the files.", "I look.", "Two files."]


def test_each_event_has_its_kind() -> None:
    data = as_lines(*EVENTS)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("instruction", "injected", "said", "injected", "injected", "thought", "said", "call", "reply", "injected"),
        *("injected", "injected", "subagent", "thought", "injected", "said", "unknown"),
    ]
    assert shown(data, NAME) == SEEN
    assert len(calls(data, NAME)) == 1
    assert "W-RECORD-UNKNOWN" in found(data, NAME)


def test_only_what_the_user_typed_is_shown() -> None:
    for source, seen in ((None, ["Hi."]), ("", ["Hi."]), ("user", ["Hi."]), ("skill-x", []), (7, []), ({}, [])):
        assert shown(as_lines(event("user.message", content="Hi.", source=source)), NAME) == seen, source
    assert shown(as_lines(event("user.message", content="Hi.", parentToolCallId="c1")), NAME) == []


def test_replies_and_errors_state_what_happened() -> None:
    call = event("assistant.message", content="", toolRequests=[REQUEST])
    for code in ("failure", "denied", "rejected"):
        error = {"message": "SECRET_E", "code": code}
        data = as_lines(call, event("tool.execution_complete", toolCallId="c1", success=False, error=error))
        assert "W-TOOL-FAILED" in found(data, NAME)
        assert ("reply", "SECRET_E") in kinds(data, NAME)
    problems: list[tuple[str, Any, str]] = [
        ("session.error", {"errorType": "rate_limit", "message": "SECRET_E"}, "W-RUN-ERROR/rate-limit"),
        ("session.error", {"errorType": "authentication", "message": "SECRET_E"}, "W-RUN-ERROR/auth"),
        ("session.error", {"message": "SECRET_E"}, "W-RUN-ERROR/unknown"),
        ("abort", {"reason": "user initiated"}, "W-RUN-ERROR/aborted"),
    ]
    for type, data_of, code in problems:
        assert code in found(as_lines(event(type, **data_of)), NAME)


def test_a_rewind_marks_what_it_supersedes() -> None:
    data = as_lines(*EVENTS, event("session.snapshot_rewind", 20, upToEventId="e3"))
    assert shown(data, NAME) == SEEN


CHAT = {
    "responderUsername": "GitHub Copilot",
    "requests": [
        {
            "requestId": "r1",
            "message": {"text": "What is this?", "parts": [{"text": "SECRET_PART"}]},
            "variableData": {"variables": [{"value": "SECRET_FILE"}]},
            "response": [
                {"kind": "thinking", "value": "SECRET_TH"},
                {"kind": "progressTaskSerialized", "content": {"value": "SECRET_PROGRESS"}},
                {"value": "It is "},
                {"value": "a cart."},
                {
                    "kind": "toolInvocationSerialized",
                    "toolCallId": "c1",
                    "toolId": "read",
                    "invocationMessage": {"value": "SECRET_ARG"},
                    "isComplete": True,
                    "resultDetails": ["SECRET_OUT"],
                },
                {"kind": "undoStop", "id": "u"},
                {"kind": "textEditGroup", "edits": ["SECRET_EDIT"]},
                {"kind": "markdownContent", "content": {"value": "Done."}},
            ],
            "result": {"errorDetails": {"message": "SECRET_ERROR", "responseIsFiltered": True}},
            "followups": ["SECRET_FOLLOWUP"],
            "isCanceled": True,
        },
        {"message": {"text": "SECRET_AUTO"}, "isSystemInitiated": True, "response": []},
    ],
}


def test_chats_of_vs_code_show_markdown_only() -> None:
    data = as_document(CHAT)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("said", "thought", "notice", "said", "call", "reply", "notice", "said", "notice", "injected"),
    ]
    assert shown(data, NAME) == ["What is this?", "It is a cart.", "Done."]
    assert {"W-RUN-ERROR/content-filter", "W-RUN-ERROR/aborted"} <= set(found(data, NAME))
    assert "W-PART-UNKNOWN" not in found(data, NAME)
    for part, texts in (
        ({"value": "SECRET", "subAgentInvocationId": "x"}, []),
        ({"kind": "codeblockUri", "uri": {}}, []),
        ({"value": "b", "subAgentInvocationId": None}, ["b"]),
    ):
        chat = {**CHAT, "requests": [{"message": {"text": "a"}, "response": [part]}]}
        assert shown(as_document(chat), NAME) == ["a", *texts], part
    odd = {**CHAT, "requests": [{"message": {"text": "a"}, "response": [{"kind": "hologram", "value": "SECRET"}]}]}
    assert found(as_document(odd), NAME) == ["W-PART-UNKNOWN"]


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_lines(*EVENTS), NAME)
    assert_hidden(as_document(CHAT), NAME)
    assert_drift_is_hidden(EVENTS[:9], NAME)
    assert_drift_is_hidden(EVENTS[9:], NAME)
    assert_drift_is_hidden([CHAT], NAME, lines=False)
    assert_others_are_hidden(NAME)


def test_a_reference_in_an_answer_of_vs_code_is_part_of_its_text() -> None:
    name = {"kind": "inlineReference", "inlineReference": {"name": "two", "location": {"uri": "SECRET_1"}}}
    response = [{"value": "It adds "}, name, {"value": " numbers."}, {"kind": "inlineReference", "inlineReference": {}}]
    chat = {"requests": [{"message": {"text": "What?"}, "response": response}]}
    assert shown(json.dumps(chat).encode(), NAME) == ["What?", "It adds two numbers."]
