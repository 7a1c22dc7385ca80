"""JSON-RPC logs of three protocols: prompts and answers are shown; everything else is hidden."""

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

NAME = "jsonrpc"


def rpc(method: str | None = None, params: Any = None, *, id: Any = None, **more: Any) -> dict[str, Any]:
    given = {"id": id, "method": method, "params": params}
    return {"jsonrpc": "2.0", **{key: value for key, value in given.items() if value is not None}, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def prompt(*blocks: Any, id: Any = 2) -> dict[str, Any]:
    return rpc("session/prompt", {"sessionId": "s", "prompt": list(blocks)}, id=id)


def update(kind: str, /, **more: Any) -> dict[str, Any]:
    return rpc("session/update", {"sessionId": "s", "update": {"sessionUpdate": kind, **more}})


def chunk(words: str, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    return update(kind, content=text(words), **more)


ACP = [
    rpc("initialize", {"clientInfo": {"name": "SECRET_CLIENT"}}, id=0),
    rpc(id=0, result={"protocolVersion": 1, "agentInfo": {"name": "SECRET_AGENT"}}),
    prompt(
        text("Fix it."),
        {"type": "resource", "resource": {"uri": "file:///a", "text": "SECRET_FILE"}},
    ),
    chunk("Fix it.", "user_message_chunk"),
    chunk("SECRET_T", "agent_thought_chunk"),
    chunk("H2", "agent_thought_chunk"),
    update("plan", entries=[{"content": "SECRET_PLAN", "status": "pending"}]),
    chunk("I "),
    chunk("look."),
    update("tool_call", toolCallId="t1", title="SECRET_TITLE", kind="read", status="pending"),
    update("tool_call_update", toolCallId="t1", status="in_progress", rawInput={"path": "SECRET_ARG"}),
    rpc("session/request_permission", {"sessionId": "s", "toolCall": {"title": "SECRET_ASK"}}, id=5),
    rpc(id=5, result={"outcome": {"outcome": "selected", "optionId": "SECRET_OPTION"}}),
    rpc("fs/read_text_file", {"sessionId": "s", "path": "SECRET_PATH"}, id="6"),
    rpc(id="6", result={"content": "SECRET_CONTENT"}),
    rpc("terminal/create", {"sessionId": "s", "command": "SECRET_CMD"}, id=7),
    rpc(id=7, error={"code": -32000, "message": "SECRET_DENIED"}),
    update(
        "tool_call_update",
        toolCallId="t1",
        status="failed",
        content=[{"type": "content", "content": text("SECRET_OUT")}],
    ),
    update("available_commands_update", availableCommands=[{"name": "SECRET_COMMAND"}]),
    update("hologram", content=text("SECRET_HOLO")),
    chunk("Done."),
    rpc(id=2, result={"stopReason": "end_turn"}),
]


def test_each_message_of_a_client_and_an_agent_has_its_kind() -> None:
    data = as_lines(*ACP)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("said", "injected", "thought", "thought", "said", "call", "call", "reply", "call", "reply", "call", "reply"),
        *("reply", "unknown", "said"),
    ]
    assert shown(data, NAME) == ["Fix it.", "I look.", "Done."]
    assert len(calls(data, NAME)) == 4
    assert ("call", '{"path": "SECRET_ARG"}') in kinds(data, NAME)
    assert {"W-RECORD-UNKNOWN", "W-TOOL-FAILED", "W-RUN-ERROR/unknown"} <= set(found(data, NAME))


def test_an_echo_of_the_prompt_is_a_copy_and_any_other_was_typed() -> None:
    echo = chunk("Hi.", "user_message_chunk")
    assert shown(as_lines(prompt(text("Hi.")), echo, chunk("Yes.")), NAME) == ["Hi.", "Yes."]
    assert shown(as_lines(chunk("Old.", "user_message_chunk"), chunk("Yes."), prompt(text("Hi."))), NAME) == [
        *("Old.", "Yes.", "Hi."),
    ]


def test_a_text_for_other_readers_is_hidden() -> None:
    for marks, is_shown in (
        ({}, True),
        ({"priority": 1}, True),
        ({"audience": ["user"]}, True),
        ({"audience": ["assistant", "user"]}, True),
        ({"audience": ["assistant"]}, False),
        ({"audience": []}, False),
        ({"audience": "user"}, False),
        (7, False),
    ):
        seen = ["Hi."] if is_shown else []
        assert shown(as_lines(prompt(text("Hi.", annotations=marks))), NAME) == seen, marks


def test_chunks_with_ids_are_apart() -> None:
    data = as_lines(chunk("A", messageId="1"), chunk("B", messageId="2"), chunk("a", messageId="1"))
    assert shown(data, NAME) == ["Aa", "B"]


def test_wrapped_records_are_read() -> None:
    for key in ("message", "msg", "payload", "data"):
        assert shown(as_lines(*({"direction": "out", key: each} for each in ACP)), NAME) == [
            "Fix it.",
            "I look.",
            "Done.",
        ]


def test_stop_reasons_are_reported() -> None:
    for reason, code in (
        ("refusal", "W-RUN-ERROR/refused"),
        ("cancelled", "W-RUN-ERROR/aborted"),
        ("max_tokens", "W-RUN-INCOMPLETE/max-tokens"),
        ("max_turn_requests", "W-RUN-INCOMPLETE/stopped"),
    ):
        assert found(as_lines(prompt(text("Hi.")), rpc(id=2, result={"stopReason": reason})), NAME) == [code]


MCP = [
    rpc("tools/list", {}, id=1),
    rpc(id=1, result={"tools": [{"name": "SECRET_TOOL"}]}),
    rpc("tools/call", {"name": "search", "arguments": {"q": "SECRET_Q"}}, id=2),
    rpc(id=2, result={"content": [text("SECRET_FOUND")], "isError": True}),
    rpc("sampling/createMessage", {"messages": [{"role": "user", "content": text("SECRET_SAMPLE")}]}, id=2),
    rpc(id=2, result={"role": "assistant", "content": text("SECRET_SAMPLED"), "model": "m"}),
    rpc("prompts/get", {"name": "p"}, id=3),
    rpc(id=3, result={"messages": [{"role": "user", "content": text("SECRET_PROMPT")}]}),
    rpc(id=4, result={"contents": [{"text": "SECRET_RESOURCE"}]}),
    rpc("notifications/message", {"data": {"text": "SECRET_LOG"}}),
    rpc(id=9, error={"code": 1, "message": "SECRET_ERROR"}),
    rpc(id=10, result={}),
]


def test_nothing_of_a_tool_server_is_shown() -> None:
    data = as_lines(*MCP)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("instruction", "call", "reply", "unknown", "unknown", "unknown", "unknown", "unknown", "notice"),
    ]
    assert len(calls(data, NAME)) == 1
    assert {"W-TOOL-FAILED", "W-RUN-ERROR/unknown", "W-RECORD-UNKNOWN"} <= set(found(data, NAME))


def part(words: str) -> dict[str, str]:
    return {"kind": "text", "text": words}


DATA = {"kind": "data", "data": {"a": "SECRET_DATA"}}
A2A = [
    rpc("message/stream", {"message": {"role": "user", "parts": [part("Book it."), DATA]}}, id=1),
    rpc(
        id=1,
        result={
            "kind": "status-update",
            "status": {"state": "working", "message": {"role": "agent", "parts": [part("SECRET_WORKING")]}},
        },
    ),
    rpc(id=1, result={"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": [part("Boo")]}}),
    rpc(id=1, result={"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": [part("ked.")]}}),
    rpc(id=1, result={"kind": "message", "role": "agent", "parts": [part("Bye."), DATA]}),
    rpc(id=1, result={"kind": "message", "role": "user", "parts": [part("SECRET_ROLE")]}),
    rpc("message/send", {"message": {"role": "agent", "parts": [part("SECRET_AGENT")]}}, id=2),
]
TASK = rpc(
    id=3,
    result={
        "kind": "task",
        "status": {"state": "failed", "message": {"role": "agent", "parts": [part("SECRET_STATUS")]}},
        "artifacts": [{"artifactId": "b", "parts": [part("Two.")]}],
        "history": [
            {"role": "user", "parts": [part("Book it.")]},
            {"role": "agent", "parts": [part("SECRET_HISTORY")]},
            {"role": "user", "parts": [part("For two."), DATA]},
        ],
    },
)


def test_messages_and_artifacts_of_an_agent_are_shown() -> None:
    assert shown(as_lines(*A2A), NAME) == ["Book it.", "Booked.", "Bye."]
    assert shown(as_lines(TASK), NAME) == ["Book it.", "For two.", "Two."]
    assert shown(as_lines(*A2A, TASK), NAME) == ["Book it.", "Booked.", "Bye.", "For two.", "Two."]
    assert "W-RUN-ERROR/unknown" in found(as_lines(TASK), NAME)


def test_an_agent_addresses_the_user_when_it_ends_or_asks() -> None:
    for state, texts in (("completed", ["a"]), ("input-required", ["a"]), ("submitted", []), ("other", []), (7, [])):
        for role, seen in (("agent", texts), ("user", []), (None, [])):
            status = {"state": state, "message": {"role": role, "parts": [part("a")]}}
            assert shown(as_lines(rpc(id=1, result={"kind": "task", "status": status})), NAME) == seen, (state, role)


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    for records in (ACP, MCP, [*A2A, TASK]):
        assert_hidden(as_lines(*records), NAME)
        assert_drift_is_hidden(records, NAME)
    assert_others_are_hidden(NAME)


def test_ids_of_two_types_are_two_ids() -> None:
    call = rpc("tools/call", {"name": "read", "arguments": {}}, id="1")
    answer = {"content": [{"type": "text", "text": "SECRET_"}]}
    assert [kind for kind, _ in kinds(as_lines(call, rpc(id="1", result=answer)), NAME)] == ["call", "reply"]
    assert [kind for kind, _ in kinds(as_lines(call, rpc(id=1, result=answer)), NAME)] == ["call", "unknown"]
    assert [kind for kind, _ in kinds(as_lines(call, rpc(id='"1"', result=answer)), NAME)] == ["call", "unknown"]


def test_updates_without_an_envelope_are_read() -> None:
    bare = [
        {"timestamp": 1772355604, "method": each["method"], "params": each["params"]}
        for each in ACP
        if each.get("method") == "session/update"
    ]
    assert detect(as_lines(*bare)).format == NAME
    assert shown(as_lines(*bare), NAME) == ["Fix it.", "I look.", "Done."]
    assert_hidden(as_lines(*bare), NAME)
