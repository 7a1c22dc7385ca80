"""Gemini CLI session files: everything that the user saw is shown, and everything else is hidden."""

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

NAME = "gemini-cli"
HEAD = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-02T03:04:05Z"}
USER = {"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": "Read it."}
OUTPUT = [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "SECRET_OUT"}}}]
CALL = {"id": "c1", "name": "read_file", "args": {"path": "SECRET_ARG"}, "status": "success", "result": OUTPUT}
ANSWER = {
    "id": "2",
    "type": "gemini",
    "content": "Done.",
    "thoughts": [{"subject": "SECRET_SUBJECT", "description": "SECRET_TH"}],
    "toolCalls": [CALL],
}
NOTES = [
    {"id": "3", "type": "info", "content": "SECRET_INFO"},
    {"id": "4", "type": "warning", "content": "SECRET_WARNING"},
    {"id": "5", "type": "error", "content": "SECRET_ERROR"},
    {"id": "6", "type": "later", "content": "SECRET_LATER"},
]


def session(*messages: Any, **more: Any) -> bytes:
    return as_document({**HEAD, **more, "messages": list(messages)})


def test_each_record_has_its_kind() -> None:
    expected = [
        ("said", "Read it."),
        ("thought", "SECRET_SUBJECT\nSECRET_TH"),
        ("said", "Done."),
        ("call", '{"path": "SECRET_ARG"}'),
        ("reply", "SECRET_OUT"),
        ("notice", "SECRET_INFO"),
        ("notice", "SECRET_WARNING"),
        ("notice", "SECRET_ERROR"),
        ("unknown", '{"id": "6", "type": "later", "content": "SECRET_LATER"}'),
    ]
    for data in (session(USER, ANSWER, *NOTES), as_lines(HEAD, USER, ANSWER, *NOTES)):
        assert kinds(data, NAME) == expected
        assert {"W-RUN-ERROR/unknown", "W-RECORD-UNKNOWN"} <= set(found(data, NAME))
        assert len(calls(data, NAME)) == 1


def test_display_content_replaces_the_content_that_the_model_got() -> None:
    user = {**USER, "displayContent": "Explain.", "content": [{"text": "Explain. SECRET_EXPANDED"}]}
    assert kinds(session(user), NAME) == [("said", "Explain."), ("injected", "Explain. SECRET_EXPANDED")]


def test_files_that_a_prompt_mentions_are_injected() -> None:
    parts = [
        {"text": "Explain @a.txt please."},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a.txt:\nSECRET_FILE --- End of content --- SECRET_MORE"},
        {"text": "\n--- End of content ---"},
    ]
    assert shown(session({**USER, "content": parts}), NAME) == ["Explain @a.txt please."]
    assert shown(session({**USER, "content": parts[:3]}), NAME) == ["Explain @a.txt please."]
    assert shown(session({**USER, "content": [parts[0], *parts[2:]]}), NAME) == ["Explain @a.txt please."]
    assert shown(session({**USER, "content": [{"text": "SECRET_FILE"}, parts[3], {"text": "\nGo."}]}), NAME) == ["Go."]
    reminder = "Go on.<system-reminder>SECRET_REMINDER</system-reminder>"
    assert shown(session({**USER, "content": reminder}), NAME) == ["Go on."]


def test_parts_that_are_not_plain_text_are_hidden_in_both_roles() -> None:
    parts = [
        {"text": "SECRET_THOUGHT", "thought": True},
        {"text": "SECRET_ODD", "thought": "no"},
        *OUTPUT,
        {"functionCall": {"name": "f", "args": {"a": "SECRET_CALL"}}},
        {"hologram": {"text": "SECRET_PART"}},
    ]
    for message in (USER, ANSWER):
        data = session({**message, "content": [{"text": "Seen."}, *parts]})
        assert shown(data, NAME) == ["Seen."]
        assert "W-PART-UNKNOWN" in found(data, NAME)


def test_a_record_with_a_known_id_repeats_the_message() -> None:
    begun = {**ANSWER, "content": "Do", "toolCalls": [{**CALL, "status": "executing", "result": None}]}
    data = as_lines(
        HEAD, USER, begun, ANSWER, {"$set": {"messages": [USER, ANSWER]}}, {"$set": {"summary": "SECRET_S"}}
    )
    assert shown(data, NAME) == ["Read it.", "Done."]
    assert [kind for kind, _ in kinds(data, NAME)].count("reply") == 1
    assert "ok" in calls(data, NAME)[0].lower()


def test_rewound_messages_stay_shown_because_the_user_saw_them() -> None:
    data = as_lines(HEAD, USER, ANSWER, {"$rewindTo": "1"}, {**USER, "id": "7", "content": "Write it."})
    assert shown(data, NAME) == ["Read it.", "Done.", "Write it."]


def test_a_session_of_another_agent_is_hidden() -> None:
    for kind in ("subagent", "robot", 7, ["main"]):
        for data in (session(USER, ANSWER, kind=kind), as_lines({**HEAD, "kind": kind}, USER, ANSWER)):
            assert shown(data, NAME) == [], kind
            assert ("subagent", "Done.") in kinds(data, NAME)
    assert shown(session(USER, kind="main"), NAME) == ["Read it."]


def test_a_call_states_how_it_ended() -> None:
    for status, word in (("error", "failed"), ("cancelled", "cancelled"), ("success", "ok")):
        for result in (None, OUTPUT, [*OUTPUT, {"text": "SECRET_MORE"}], "SECRET_TEXT"):
            data = session(USER, {**ANSWER, "toolCalls": [{**CALL, "status": status, "result": result}]})
            if result is not None or status != "success":
                assert word in calls(data, NAME)[0].lower(), (status, result)
            assert shown(data, NAME) == ["Read it.", "Done."]
    shown_result = {**CALL, "result": None, "resultDisplay": "SECRET_DISPLAY", "agentId": "a"}
    assert ("reply", "SECRET_DISPLAY") in kinds(session({**ANSWER, "toolCalls": [shown_result]}), NAME)


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    records = [HEAD, {**USER, "content": [{"text": "Seen."}, {"text": "SECRET_T", "thought": True}]}, ANSWER, *NOTES]
    assert_hidden(as_lines(*records), NAME)
    assert_hidden(session(*records[1:]), NAME)
    assert_drift_is_hidden(records, NAME)
    assert_drift_is_hidden([{**HEAD, "messages": records[1:]}], NAME, lines=False)
    assert_others_are_hidden(NAME)


def test_a_log_of_prompts_shows_each_prompt() -> None:
    entry = {"sessionId": "s", "messageId": 0, "type": "user", "message": "a", "timestamp": "2026-03-04T09:10:00.000Z"}
    others: list[dict[str, Any]] = [
        {**entry, "messageId": 1, "type": "gemini", "message": "SECRET_1"},
        {**entry, "messageId": 2, "message": {"x": "SECRET_2"}},
        {**entry, "messageId": 3, "message": "SECRET_3", "isHidden": True},
    ]
    data = as_document([entry, *others, {**entry, "sessionId": "t", "message": "b"}])
    assert detect(data).format == NAME
    assert shown(data, NAME) == ["a", "b"]


def test_an_answer_of_an_early_version_has_the_type_model() -> None:
    answer = {"type": "model", "content": "Hello.", "thoughts": [{"subject": "SECRET_1", "description": "SECRET_2"}]}
    assert shown(session(USER, answer, {"type": "models", "content": "SECRET_3"}), NAME) == ["Read it.", "Hello."]
