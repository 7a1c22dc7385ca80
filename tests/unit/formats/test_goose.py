"""Goose sessions: typed and answered text is shown; everything else is hidden."""

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
from viewer.formats import detect

NAME = "goose"
HEAD = {"working_dir": "/shop", "description": "SECRET_TITLE", "message_count": 2}


def message(role: str, *parts: Any, **metadata: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "created": 1772615400, "content": content, **({"metadata": metadata} if metadata else {})}


def request(id: str, type: str = "toolRequest") -> dict[str, Any]:
    return {
        "type": type,
        "id": id,
        "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {"a": "SECRET_ARG"}}},
    }


def response(id: str, status: str, **more: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": id, "toolResult": {"status": status, **more}}


PARTS = [
    {"type": "thinking", "thinking": "SECRET_TH", "signature": "s"},
    {"type": "redactedThinking", "data": "U0VDUkVU"},
    request("c1"),
    request("c2", "frontendToolRequest"),
    response("c1", "success", value=[{"type": "text", "text": "SECRET_OUT"}]),
    response("c2", "error", error="SECRET_ERR"),
    {"type": "summarizationRequested", "msg": "SECRET_SUM"},
    {"type": "contextLengthExceeded", "msg": "SECRET_LENGTH"},
    {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "SECRET_NOTE"},
    {"type": "toolConfirmationRequest", "id": "c1", "toolName": "shell", "arguments": {"a": "SECRET_CONFIRM"}},
    {"type": "text", "text": "SECRET_AUDIENCE", "annotations": {"audience": ["assistant"]}},
    {"type": "hologram", "text": "SECRET_HOLO"},
]


def test_each_part_has_its_kind_in_both_roles() -> None:
    for role in ("user", "assistant"):
        data = as_lines(HEAD, message(role, *PARTS, "Seen."))
        assert [kind for kind, _ in kinds(data, NAME)] == [
            *("thought", "thought", "call", "call", "reply", "reply", "notice", "notice", "notice", "notice"),
            *("injected", "unknown", "said"),
        ]
        assert shown(data, NAME) == ["Seen."]
        assert {"W-PART-UNKNOWN", "W-TOOL-FAILED"} <= set(found(data, NAME))
        assert len(calls(data, NAME)) == 2


def test_images_are_labels() -> None:
    image = {"type": "image", "data": "U0VDUg==", "mimeType": "image/png"}
    assert shown(as_lines(HEAD, message("user", "Look.", image)), NAME) == ["Look.\n[image/png, 4 B]"]


def test_messages_that_are_not_visible_are_injected() -> None:
    for visible, seen in ((True, ["Hi."]), (False, []), ("no", []), (0, [])):
        assert shown(as_lines(HEAD, message("user", "Hi.", userVisible=visible)), NAME) == seen, visible
        assert shown(as_lines(HEAD, message("assistant", "Hi.", userVisible=visible)), NAME) == seen, visible


def test_a_session_with_a_parent_belongs_to_another_agent() -> None:
    data = as_lines({**HEAD, "parent_session_id": "1"}, message("user", "SECRET_TASK"))
    assert kinds(data, NAME) == [("subagent", "SECRET_TASK")]
    whole = {**HEAD, "parent_session_id": "1", "conversation": [message("user", "SECRET_TASK")]}
    assert kinds(as_document(whole), NAME) == [("subagent", "SECRET_TASK")]
    for session_type, is_shown in (("user", True), ("scheduled", True), ("sub_agent", False), ("hidden", False)):
        whole = {**HEAD, "session_type": session_type, "conversation": [message("user", "SECRET_TASK")]}
        assert bool(shown(as_document(whole), NAME)) is is_shown, session_type
    whole = {**HEAD, "parent_session_id": "1", "conversation": [message("user", "SECRET_TASK")]}
    damaged = as_document({**whole, "working_dir": None})
    assert shown(damaged, NAME) == []
    assert detect(damaged).format == NAME


def test_exported_sessions_are_read() -> None:
    for key in ("conversation", "messages"):
        data = as_document(
            {**HEAD, key: [message("user", "Hi."), message("assistant", "Hello."), message("tool", "SECRET_X")]}
        )
        assert detect(data).format == NAME
        assert shown(data, NAME) == ["Hi.", "Hello."]


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    parts = [part for part in PARTS if "AUDIENCE" not in str(part)]
    records = [
        HEAD,
        message("user", "Seen.", userVisible=True),
        message("assistant", *parts, "Seen."),
        message("user", "SECRET_V", userVisible=False),
    ]
    assert_hidden(as_lines(*records), NAME)
    assert_drift_is_hidden(records[:3], NAME)
    assert_others_are_hidden(NAME)


def test_a_message_of_an_unknown_role_is_reported() -> None:
    data = as_lines(HEAD, message("user", "Hi."), message("patron", "SECRET"), message("assistant", "Yes."))
    assert shown(data, NAME) == ["Hi.", "Yes."]
    assert "W-RECORD-UNKNOWN" in found(data, NAME)
