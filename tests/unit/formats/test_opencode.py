"""OpenCode sessions: typed and answered text is shown; everything else is hidden."""

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

NAME = "opencode"
INFO = {"id": "ses_1", "directory": "/shop", "title": "SECRET_TITLE", "version": "1.0.0"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"id": "prt", "type": "text", "text": words, **more}


def tool(status: str, call_id: str = "c1", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"command": "SECRET_ARG"}, **state}
    return {"type": "tool", "callID": call_id, "tool": "bash", "state": state}


def message(role: str, *parts: Any, **info: Any) -> dict[str, Any]:
    info = {"id": "msg", "role": role, "sessionID": "ses_1", "time": {"created": 1767323045000}, **info}
    return {"info": info, "parts": [text(part) if isinstance(part, str) else part for part in parts]}


def session(*messages: Any, **info: Any) -> bytes:
    return as_document({"info": {**INFO, **info}, "messages": list(messages)})


PARTS = [
    text("SECRET_SYNTHETIC", synthetic=True),
    text("SECRET_IGNORED", ignored=True),
    {"type": "reasoning", "text": "SECRET_TH"},
    tool("completed", output="SECRET_OUT"),
    tool("error", "c2", error="SECRET_ERR"),
    {"type": "subtask", "prompt": "SECRET_TASK", "description": "d", "agent": "explore"},
    {"type": "agent", "name": "explore", "source": {"value": "SECRET_AGENT"}},
    {"type": "retry", "error": {"name": "APIError", "data": {"message": "SECRET_RETRY"}}},
    {"type": "compaction", "auto": True},
    {"type": "snapshot", "snapshot": "SECRET_SNAPSHOT"},
    {"type": "patch", "hash": "SECRET_PATCH"},
    {"type": "step-start"},
    {"type": "step-finish", "tokens": {"input": 1}},
    {"type": "hologram", "text": "SECRET_NEW"},
]


def test_each_part_has_its_kind_in_both_roles() -> None:
    for role in ("user", "assistant"):
        data = session(message(role, *PARTS, "Seen."))
        assert [kind for kind, _ in kinds(data, NAME)] == [
            *("injected", "injected", "thought", "call", "reply", "call", "reply", "call", "call", "notice"),
            *("unknown", "said"),
        ]
        assert shown(data, NAME) == ["Seen."]
    assert "W-TOOL-FAILED" in found(data, NAME)
    assert "W-PART-UNKNOWN" in found(data, NAME)
    assert "ok" in calls(data, NAME)[0].lower()


def test_a_running_tool_has_no_reply() -> None:
    for status in ("pending", "running"):
        assert [kind for kind, _ in kinds(session(message("assistant", tool(status))), NAME)] == ["call"]
    assert [kind for kind, _ in kinds(session(message("assistant", tool("error"))), NAME)] == ["call", "reply"]


def test_a_file_is_a_label_and_its_text_is_injected() -> None:
    file = {
        "type": "file",
        "mime": "text/plain",
        "filename": "a.txt",
        "url": "file:///a",
        "source": {"text": {"value": "SECRET_F"}},
    }
    assert kinds(session(message("user", "Look.", file)), NAME) == [
        ("said", "Look.\n[file a.txt]"),
        ("injected", "SECRET_F"),
    ]


def test_summaries_are_replayed_but_a_summary_of_the_changes_is_metadata() -> None:
    assert kinds(session(message("assistant", "SECRET_S", summary=True)), NAME) == [("replayed", "SECRET_S")]
    assert kinds(session(message("user", "SECRET_S", summary=True)), NAME) == [("replayed", "SECRET_S")]
    assert shown(session(message("assistant", "SECRET_S", summary="yes")), NAME) == []
    assert shown(session(message("user", "Go.", summary={"title": "SECRET_T", "diffs": []})), NAME) == ["Go."]


def test_a_session_with_a_parent_belongs_to_another_agent() -> None:
    data = session(message("user", "SECRET_TASK"), message("assistant", "SECRET_ANSWER"), parentID="ses_0")
    assert [kind for kind, _ in kinds(data, NAME)] == ["subagent", "subagent"]


def test_errors_are_reported() -> None:
    for name, code in (
        ("MessageAbortedError", "W-RUN-ERROR/aborted"),
        ("ProviderAuthError", "W-RUN-ERROR/auth"),
        ("APIError", "W-RUN-ERROR/api"),
        ("ContextOverflowError", "W-RUN-ERROR/context-length"),
        ("MessageOutputLengthError", "W-RUN-INCOMPLETE/max-tokens"),
        ("OtherError", "W-RUN-ERROR/unknown"),
    ):
        data = session(message("assistant", "Half.", error={"name": name, "data": {"message": "SECRET_E"}}))
        assert kinds(data, NAME) == [("said", "Half."), ("notice", "SECRET_E")]
        assert code in found(data, NAME)
    assert "W-RUN-INCOMPLETE/max-tokens" in found(session(message("assistant", "Half.", finish="length")), NAME)


def test_lists_of_messages_and_events_of_a_run_are_read() -> None:
    messages = [message("user", "Hi."), message("assistant", *PARTS, "Hello.")]
    for data in (as_document(messages), as_lines(*messages)):
        assert shown(data, NAME) == ["Hi.", "Hello."]
        assert len({str(each) for each in found(data, NAME)}) > 0
    kind = {"text": "text", "tool": "tool_use", "reasoning": "reasoning"}
    events = [
        {"type": kind.get(part["type"], "step_start"), "sessionID": "s", "part": part}
        for part in [*PARTS, text("Seen.")]
    ]
    data = as_lines(
        *events, {"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": {"message": "SECRET_E"}}}
    )
    assert shown(data, NAME) == ["Seen."]
    assert "W-RUN-ERROR/api" in found(data, NAME)


def test_other_roles_are_hidden() -> None:
    data = session(message("system", "SECRET_SYS"), message("User", "SECRET_CASE"))
    assert [kind for kind, _ in kinds(data, NAME)] == ["unknown", "unknown"]


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    messages = [message("user", *PARTS, "Seen."), message("assistant", *PARTS[:5], "Seen.")]
    assert_hidden(session(*messages), NAME)
    assert_drift_is_hidden([{"info": INFO, "messages": messages[:1]}], NAME, lines=False)
    assert_drift_is_hidden(messages[1:], NAME)
    assert_others_are_hidden(NAME)
