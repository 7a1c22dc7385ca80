"""Write trajectories: the steps of the messages, and the losses."""

from __future__ import annotations

import json
from typing import Any

from tests.support.openchatml_0_1_reading import Text
from tests.unit.formats.test_json_messages import ShownHeader
from viewer.formats.json.atif_writer import write_atif


def written(*messages: Text) -> tuple[dict[str, Any], list[str]]:
    text, losses = write_atif((), messages)
    return json.loads(text), losses


def steps(*messages: Text) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = written(*messages)[0]["steps"]
    return found


ASKED = Text(role="user", body="What time is it?", time="2026-01-02T03:04:05Z")
THOUGHT = Text(channel="analysis", message_kind="thought", body="Look at the clock.")
CALL = Text(recipient="functions.now", call_id="c1", message_kind="call", ending="call", body='{"tz":"UTC"}')
REPLY = Text(role="tool", name="functions.now", call_id="c1", message_kind="reply", body="12:00")
SAID = Text(body="Noon.")


def test_the_messages_between_two_replies_are_one_step() -> None:
    assert steps(ASKED, THOUGHT, Text(body="Let me check."), CALL, REPLY, SAID) == [
        {"step_id": 1, "source": "user", "message": "What time is it?", "timestamp": "2026-01-02T03:04:05Z"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Let me check.",
            "reasoning_content": "Look at the clock.",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "now", "arguments": {"tz": "UTC"}}],
            "observation": {"results": [{"content": "12:00", "source_call_id": "c1"}]},
        },
        {"step_id": 3, "source": "agent", "message": "Noon."},
    ]


def test_system_text_copies_and_injected_text_are_not_steps_of_the_user() -> None:
    found = steps(
        Text(role="developer", message_kind="instruction", body="Be brief."),
        Text(role="user", message_kind="replayed", body="Earlier."),
        Text(role="user", message_kind="injected", body="A reminder."),
    )
    assert [step["source"] for step in found] == ["system", "user", "system"]
    assert found[1]["is_copied_context"] is True


def test_another_agent_is_a_trajectory_of_its_own() -> None:
    document, _ = written(
        ASKED,
        Text(role="user", message_kind="subagent", thread=2, body="Search."),
        Text(message_kind="subagent", thread=2, body="Found."),
    )
    (trajectory,) = document["subagent_trajectories"]
    assert trajectory["trajectory_id"] == "thread-2"
    assert [(step["source"], step["message"]) for step in trajectory["steps"]] == [
        ("user", "Search."),
        ("agent", "Found."),
    ]
    assert len(document["steps"]) == 1


def test_losses_are_counted() -> None:
    _, losses = written(
        Text(recipient="functions.f", message_kind="call", body="not json"),
        Text(message_kind="notice", body="Overloaded"),
        Text(message_kind="unknown", body="{}"),
    )
    assert losses == [
        "ATIF: arguments that are not an object became the argument `input` (1 time).",
        "ATIF: a message of a kind that trajectories lack was omitted (2 times).",
    ]


def test_several_transcripts_are_one_document_per_line() -> None:
    text, _ = write_atif((), [ASKED, Text(transcript=2, role="user", body="And now?")])
    assert [json.loads(line)["session_id"] for line in text.splitlines()] == ["transcript-1", "transcript-2"]


def test_steps_of_a_trajectory_stay_as_they_are() -> None:
    texts = (
        Text(body="Let me check.", span=(10, 20)),
        Text(message_kind="thought", channel="analysis", body="Look.", span=(30, 90)),
        Text(recipient="functions.now", call_id="c1", message_kind="call", body="{}", span=(40, 50)),
        Text(recipient="functions.now", call_id="c2", message_kind="call", body="{}", span=(100, 110)),
        Text(recipient="functions.now", call_id="c3", message_kind="call", body="{}", span=(120, 130)),
    )
    for format, sizes in (("atif", [0, 1, 2]), ("claude-code", [3])):
        (found,) = [json.loads(write_atif((ShownHeader(1, format=format),), texts)[0])["steps"]]
        assert [len(step.get("tool_calls", ())) for step in found] == sizes


def test_earlier_text_of_an_agent_is_its_copied_context() -> None:
    found = steps(Text(message_kind="replayed", body="Earlier."), SAID)
    assert [(step["source"], step["message"], "is_copied_context" in step) for step in found] == [
        ("agent", "Earlier.", True),
        ("agent", "Noon.", False),
    ]


def test_a_reply_names_only_a_call_of_its_step() -> None:
    late = Text(role="tool", name="functions.now", call_id="c9", message_kind="reply", body="1")
    document, losses = written(CALL, ASKED, SAID, REPLY, late)
    call, _, said = document["steps"]
    assert call["observation"]["results"] == [{"content": "12:00", "source_call_id": "c1"}]
    assert said["observation"]["results"] == [{"content": "1"}]
    assert losses == ["ATIF: a reply without its call lost its ID (1 time)."]
