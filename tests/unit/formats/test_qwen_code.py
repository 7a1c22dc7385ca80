"""Qwen Code session files: prompts and answers are shown; everything else is hidden."""

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

NAME = "qwen-code"


def record(type: str, number: int, *parts: Any, role: str = "", **more: Any) -> dict[str, Any]:
    role = role or ("model" if type == "assistant" else "user")
    frame = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s", "type": type}
    message = {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}
    return {**frame, "timestamp": f"2026-01-02T03:04:{number:02}Z", **({"message": message} if parts else {}), **more}


CALL = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "SECRET_ARG"}}}
REPLY = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "SECRET_OUT"}}}
SESSION = [
    record("user", 0, "Read it.<system-reminder>SECRET_REMINDER</system-reminder>"),
    record("assistant", 1, {"text": "SECRET_TH", "thought": True}, "I look.", CALL),
    record("tool_result", 2, REPLY, "SECRET_TEXT", toolCallResult={"callId": "c1", "status": "success"}),
    record("user", 3, "Also the other one.", subtype="mid_turn_user_message"),
    record("user", 4, "SECRET_HOOK", subtype="hook_context"),
    record("system", 5, subtype="ui_telemetry", systemPayload={"uiEvent": "SECRET_EVENT"}),
    record("system", 6, subtype="chat_compression", systemPayload={"compressedHistory": [{"text": "SECRET_SUMMARY"}]}),
    record("assistant", 7, "Done."),
]


def test_each_record_has_its_kind() -> None:
    assert [kind for kind, _ in kinds(as_lines(*SESSION), NAME)] == [
        *("said", "injected", "thought", "said", "call", "reply", "injected", "said", "injected", "notice"),
        *("replayed", "said"),
    ]
    assert shown(as_lines(*SESSION), NAME) == ["Read it.", "I look.", "Also the other one.", "Done."]
    assert len(calls(as_lines(*SESSION), NAME)) == 1


def test_sessions_are_not_read_as_those_of_claude_code() -> None:
    assert detect(as_lines(*SESSION)).format == NAME
    assert detect(as_lines(*SESSION[5:])).format == NAME


def test_other_agents_and_other_roles_are_hidden() -> None:
    for more in ({"isSidechain": True}, {"agentId": "a"}, {"isSidechain": "no"}):
        for each in (SESSION[0], SESSION[7]):
            assert shown(as_lines({**each, **more}), NAME) == [], more
    assert shown(as_lines(record("assistant", 1, "SECRET_ROLE", role="user")), NAME) == []
    assert shown(as_lines(record("user", 1, "SECRET_ROLE", role="model")), NAME) == []


def test_files_that_a_prompt_mentions_are_injected() -> None:
    parts = ["Look.", "\n--- Content from referenced files ---", "SECRET_FILE", "\n--- End of content ---"]
    assert shown(as_lines(record("user", 1, *parts)), NAME) == ["Look."]


def test_a_failed_call_is_reported() -> None:
    for status, code in (("error", "W-TOOL-FAILED"), ("cancelled", "E-TOOL-CANCELLED/reported")):
        failed = record("tool_result", 2, REPLY, toolCallResult={"callId": "c1", "status": status})
        assert code in found(as_lines(*SESSION[:2], failed), NAME)


def test_an_unknown_type_is_hidden() -> None:
    data = as_lines(record("user", 1, "Hi."), record("memory", 2, "SECRET_MEMORY"))
    assert shown(data, NAME) == ["Hi."]
    assert "W-RECORD-UNKNOWN" in found(data, NAME)


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_lines(*SESSION), NAME)
    assert_drift_is_hidden([each for each in SESSION if "REMINDER" not in str(each)], NAME)
    assert_others_are_hidden(NAME)
