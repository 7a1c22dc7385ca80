"""OpenHands events of both versions: messages are shown; everything else is hidden."""

from __future__ import annotations

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

NAME = "openhands"


def texts(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": word} for word in words]


def event(kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"id": "e", "timestamp": "2026-01-02T03:04:05", "source": source, "kind": kind, **more}


def message(source: str, role: str, *words: str, **more: Any) -> dict[str, Any]:
    hidden = {
        "reasoning_content": "SECRET_REASONING",
        "thinking_blocks": [{"type": "thinking", "thinking": "SECRET_BLOCK"}],
    }
    extended = texts("SECRET_EXTENDED")
    llm = {"role": role, "content": texts(*words), **(hidden if role == "assistant" else {})}
    return event("MessageEvent", source, llm_message=llm, extended_content=extended, **more)


def action(call_id: str, tool: str = "terminal", thought: str = "SECRET_TH", **more: Any) -> dict[str, Any]:
    call = {"id": call_id, "name": tool, "arguments": '{"command": "SECRET_ARG"}'}
    ids = {"tool_name": tool, "tool_call_id": call_id, "tool_call": call, "llm_response_id": "r1"}
    return event("ActionEvent", "agent", thought=texts(thought), reasoning_content="SECRET_R", **ids, **more)


def reply(kind: str, call_id: str, **more: Any) -> dict[str, Any]:
    return event(kind, "environment", tool_name="terminal", tool_call_id=call_id, **more)


EVENTS = [
    event(
        "SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "SECRET_SYS"}, tools=[{"a": "SECRET_TOOL"}]
    ),
    message("user", "user", "Why does it fail?"),
    action("c1"),
    action("c2"),
    reply("ObservationEvent", "c1", observation={"content": texts("SECRET_OUT"), "is_error": False}),
    reply("AgentErrorEvent", "c2", error="SECRET_ERR"),
    event("Condensation", "environment", summary="SECRET_SUMMARY"),
    event("CondensationSummaryEvent", "environment", summary="SECRET_SUMMARY"),
    event("CondensationRequest", "environment"),
    event("ConversationStateUpdateEvent", "environment", key="k", value="SECRET_STATE"),
    event("HookExecutionEvent", "environment", stdout="SECRET_HOOK"),
    event("LaterEvent", "agent", message={"text": "SECRET_LATER"}),
    message("agent", "assistant", "The port is taken."),
]
SEEN = ["Why does it fail?", "The port is taken."]


def test_each_event_has_its_kind() -> None:
    for data in (as_lines(*EVENTS), as_document(EVENTS)):
        assert [kind for kind, _ in kinds(data, NAME)] == [
            *("instruction", "instruction", "said", "injected", "thought", "thought", "call", "call", "reply"),
            *("reply", "replayed", "replayed", "injected", "unknown", "said", "thought", "thought", "injected"),
        ]
        assert shown(data, NAME) == SEEN
    assert [each.split(",")[2] for each in calls(as_lines(*EVENTS), NAME)] == [" call_id='c1'", " call_id='c2'"]


def test_replies_state_how_a_call_ended() -> None:
    for answer, code in (
        (reply("AgentErrorEvent", "c1", error="SECRET_E"), "W-TOOL-FAILED"),
        (reply("UserRejectObservation", "c1", rejection_reason="SECRET_E"), "W-TOOL-FAILED"),
        (reply("ObservationEvent", "c1", observation={"content": [], "is_error": True}), "W-TOOL-FAILED"),
        (reply("ObservationEvent", "c1", observation={"content": [], "timeout": True}), "E-TOOL-TIMEOUT/reported"),
    ):
        assert code in found(as_lines(action("c1"), answer), NAME)


def test_the_message_of_finish_is_said() -> None:
    data = as_lines(action("c1", "finish", action={"kind": "FinishAction", "message": "All done."}))
    assert shown(data, NAME) == ["All done."]
    other = as_lines(action("c1", "submit", action={"kind": "FinishAction", "message": "SECRET_OTHER"}))
    assert shown(other, NAME) == []


def test_messages_of_other_agents_and_of_the_program_are_hidden() -> None:
    for each in (
        message("agent", "assistant", "SECRET_A", sender="helper"),
        message("user", "user", "SECRET_A", sender="helper"),
        message("environment", "user", "SECRET_A"),
        message("user", "assistant", "SECRET_A"),
        message("agent", "user", "SECRET_A"),
        message("hook", "user", "SECRET_A"),
    ):
        assert shown(as_lines(each), NAME) == [], each
    assert shown(as_lines(message("agent", "assistant", "Hi.", sender="")), NAME) == ["Hi."]


def test_errors_and_pauses_are_reported() -> None:
    for code, reported in (
        ("LLMRateLimitError", "W-RUN-ERROR/rate-limit"),
        ("LLMAuthenticationError", "W-RUN-ERROR/auth"),
        ("MaxIterationsReached", "W-RUN-INCOMPLETE/stopped"),
        ("Other", "W-RUN-ERROR/unknown"),
    ):
        data = as_lines(event("ConversationErrorEvent", "environment", code=code, detail="SECRET_D"))
        assert (kinds(data, NAME), found(data, NAME)) == ([("notice", "SECRET_D")], [reported])
    assert "W-RUN-INCOMPLETE/pause" in found(as_lines(event("PauseEvent", "user")), NAME)
    assert "W-RUN-ERROR/aborted" in found(as_lines(event("InterruptEvent", "user")), NAME)


def test_calls_of_another_protocol_grow_over_their_events() -> None:
    call = {"tool_call_id": "c1", "tool_kind": "execute", "raw_input": {"a": "SECRET_IN"}}
    done = {**call, "status": "failed", "raw_output": "SECRET_OUT"}
    data = as_lines(event("ACPToolCallEvent", "agent", **call), event("ACPToolCallEvent", "agent", **done))
    assert [kind for kind, _ in kinds(data, NAME)] == ["call", "reply"]
    assert "W-TOOL-FAILED" in found(data, NAME)


def old(number: int, source: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": "2026-01-02T03:04:05", "source": source, "message": "SECRET_LINE", **more}


OLD = [
    old(0, "agent", action="system", args={"content": "SECRET_SYS"}),
    old(1, "user", action="message", args={"content": "Fix it."}),
    old(2, "environment", action="recall", args={"query": "SECRET_QUERY"}),
    old(3, "environment", observation="recall", content="SECRET_RECALL", cause=2, extras={}),
    old(4, "agent", action="run", args={"command": "SECRET_CMD", "thought": "SECRET_TH"}),
    old(5, "agent", observation="run", content="SECRET_OUT", cause=4, extras={"exit_code": 0}, success=False),
    old(6, "environment", action="message", args={"content": "SECRET_ENV"}),
    old(7, "agent", action="message", args={"content": "I fixed it.", "thought": "SECRET_TH2"}),
    old(8, "environment", observation="agent_state_changed", content="", extras={"agent_state": "error"}),
    old(9, "agent", action="finish", args={"final_thought": "It works.", "thought": "SECRET_TH3"}),
]


def test_actions_and_observations_of_version_0_are_read() -> None:
    history = as_document({"instance_id": "i", "instruction": "SECRET_INSTRUCTION", "history": OLD})
    for data in (as_lines(*OLD), as_document(OLD), history):
        assert shown(data, NAME) == ["Fix it.", "I fixed it.", "It works."]
        assert {"W-RUN-ERROR/unknown", "W-TOOL-FAILED"} <= set(found(data, NAME))
        assert len(calls(data, NAME)) == 1


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_lines(*EVENTS), NAME)
    assert_hidden(as_lines(*OLD), NAME)
    assert_drift_is_hidden(EVENTS[:6], NAME)
    assert_drift_is_hidden(EVENTS[6:], NAME)
    assert_drift_is_hidden(OLD, NAME)
    assert_others_are_hidden(NAME)
