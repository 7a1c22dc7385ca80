"""Cline tasks: prompts and answers are shown; everything else is hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    found,
    kinds,
    shown,
)
from tests.support.reading import read
from viewer.formats import detect

NAME = "cline"


def say(word: str, text: Any = None, **more: Any) -> dict[str, Any]:
    text = json.dumps(text) if isinstance(text, dict) else text
    return {"ts": 1772615400000, "type": "say", "say": word, **({"text": text} if text is not None else {}), **more}


def ask(word: str, text: Any = None) -> dict[str, Any]:
    return {**say(word, text), "type": "ask", "ask": word, "say": None}


SHOWN = [
    say("task", "Fix it."),
    say("api_req_started", {"request": "SECRET_REQUEST", "tokensIn": 3}),
    say("reasoning", "SECRET_TH"),
    say("text", "I look."),
    ask("tool", {"tool": "readFile", "content": "SECRET_ARG"}),
    say("command", "SECRET_CMD"),
    say("command_output", "SECRET_OUT"),
    say("use_mcp_server", {"serverName": "SECRET_SERVER"}),
    say("mcp_server_response", "SECRET_MCP"),
    say("browser_action", {"action": "SECRET_ACTION"}),
    say("browser_action_result", {"logs": "SECRET_LOGS"}),
    say("error", "SECRET_ERROR"),
    ask("api_req_failed", "SECRET_FAILED"),
    say("hologram", "SECRET_HOLO"),
    ask("followup", {"question": "Which one?", "options": ["SECRET_OPTION"]}),
    say("user_feedback", "The second."),
    ask("plan_mode_respond", {"response": "A plan."}),
    say("text", "Half", partial=True),
    say("completion_result", "Done.HAS_CHANGES"),
    ask("completion_result", ""),
]
SEEN = ["Fix it.", "I look.", "Which one?", "The second.", "A plan.", "Half", "Done."]


def test_each_record_of_the_screen_has_its_kind() -> None:
    data = as_document(SHOWN)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("said", "injected", "thought", "said", "call", "call", "reply", "call", "reply", "call", "reply", "notice"),
        *("notice", "unknown", "said", "said", "said", "said", "said"),
    ]
    assert shown(data, NAME) == SEEN
    assert {"W-RUN-ERROR/api", "W-RECORD-UNKNOWN"} <= set(found(data, NAME))
    assert detect(data).format == NAME
    for first, roles in ((say("text", "<b>Fix it."), ["user", "assistant"]), (SHOWN[0], ["user", "assistant"])):
        begun = read(as_document([first, say("text", "I look.")]), NAME)
        assert [message.header.role for message in begun.messages] == roles  # type: ignore[attr-defined]
        assert all(begun.visible)


def test_a_request_that_failed_is_reported() -> None:
    for text, code in (
        ({"request": "r", "streamingFailedMessage": "SECRET_F"}, "W-RUN-ERROR/api"),
        ({"request": "r", "cancelReason": "user_cancelled"}, "W-RUN-ERROR/aborted"),
    ):
        assert code in found(as_document([SHOWN[0], say("api_req_started", text)]), NAME)


def test_a_word_counts_for_its_own_type_only() -> None:
    odd = {**say("text", "SECRET_A"), "type": "ask"}, {**ask("followup", "SECRET_B"), "type": "say"}
    assert shown(as_document([*odd]), NAME) == []


def test_the_question_is_also_read_as_plain_text() -> None:
    assert shown(as_document([ask("followup", "Which one?")]), NAME) == ["Which one?"]
    assert shown(as_document([ask("followup", {"options": ["SECRET_O"]})]), NAME) == []


def text(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": word} for word in words]


SENT = [
    {
        "role": "user",
        "content": text(
            "<task>\nFix it.\n</task>\n\n<task_progress>SECRET_P</task_progress>",
            "<environment_details>SECRET_ENV</environment_details>",
        ),
    },
    {
        "role": "assistant",
        "content": text("<thinking>SECRET_TH</thinking>\nI look.\n<read_file><path>SECRET_ARG</path></read_file>"),
    },
    {
        "role": "user",
        "content": text(
            "[read_file for 'a'] Result:", "SECRET_OUT", "<environment_details>SECRET_E</environment_details>"
        ),
    },
    {
        "role": "assistant",
        "content": [*text("Use <b>it</b>."), {"type": "tool_use", "id": "t", "name": "f", "input": {"a": "SECRET_IN"}}],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "SECRET_RESULT"},
            *text(
                "<feedback>Faster.</feedback>", "<environment_details><task>SECRET_QUOTED</task></environment_details>"
            ),
        ],
    },
    {"role": "assistant", "content": text("Ok.<attempt_completion><result>SECRET_UNCLOSED")},
]


def test_the_history_shows_typed_elements_and_plain_answers() -> None:
    data = as_document(SENT)
    assert detect(data).format == NAME
    assert shown(data, NAME) == ["Fix it.", "I look.", "Use <b>it</b>.", "Faster.", "Ok."]
    assert {"thought", "call", "reply", "injected"} <= {kind for kind, _ in kinds(data, NAME)}


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_document(SHOWN), NAME)
    assert_hidden(as_document(SENT), NAME)
    assert_drift_is_hidden([SHOWN], NAME, lines=False)
    assert_drift_is_hidden([SENT], NAME, lines=False)
    assert_others_are_hidden(NAME)


def test_one_message_with_the_environment_decides_the_format() -> None:
    parts = [
        {"type": "text", "text": words}
        for words in ("<task>Go.</task>", "<environment_details>SECRET</environment_details>")
    ]
    turns = [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "[read_file] Result: SECRET"}]
    history = [{"role": "user", "content": parts}, *turns, *turns, *turns]
    assert detect(json.dumps(history).encode()).format == "cline"
    assert detect(json.dumps(turns * 3).encode()).format == "json"
