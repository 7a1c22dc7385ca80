"""AG-UI: messages and calls that arrive in events or in chunks, and what a user interface does not show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    calls,
    found,
    kinds,
    shown,
)
from viewer.formats import detect

NAME = "ag-ui"
STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def text(step: str, id: str | None = None, delta: str | None = None, **more: Any) -> dict[str, Any]:
    given = {"messageId": id, "delta": delta}
    return {
        "type": f"TEXT_MESSAGE_{step}",
        **{name: value for name, value in given.items() if value is not None},
        **more,
    }


def call(step: str, id: str | None = None, delta: str | None = None, **more: Any) -> dict[str, Any]:
    given = {"toolCallId": id, "delta": delta}
    return {"type": f"TOOL_CALL_{step}", **{name: value for name, value in given.items() if value is not None}, **more}


def result(id: str, content: str) -> dict[str, Any]:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"of {id}", "toolCallId": id, "content": content}


def message(id: str, delta: str, **more: Any) -> list[dict[str, Any]]:
    return [text("START", id, **more), text("CONTENT", id, delta), text("CONTENT", id, "."), text("END", id)]


RUN = [
    STARTED,
    *message("m0", "SECRET_D", role="developer"),
    *message("m1", "Seen 1", role="user"),
    {"type": "THINKING_START", "title": "SECRET_T"},
    {"type": "THINKING_TEXT_MESSAGE_START"},
    {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "SECRET_T"},
    {"type": "THINKING_TEXT_MESSAGE_END"},
    {"type": "THINKING_END"},
    {"type": "REASONING_START", "messageId": "h"},
    {"type": "REASONING_MESSAGE_START", "messageId": "h", "role": "reasoning"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "h", "delta": "SECRET_"},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "h", "delta": "R"},
    {"type": "REASONING_MESSAGE_END", "messageId": "h"},
    {"type": "REASONING_END", "messageId": "h"},
    call("START", "c1", toolCallName="map"),
    call("START", "c2", toolCallName="map"),
    call("ARGS", "c1", '{"of":'),
    call("ARGS", "c2", '{"of":"SECRET_2"}'),
    call("ARGS", "c1", '"SECRET_1"}'),
    call("END", "c1"),
    call("END", "c2"),
    result("c2", "SECRET_B"),
    result("c1", "SECRET_A"),
    *message("m2", "Seen 2"),
    FINISHED,
]
MESSAGES = [
    *(("instruction", "SECRET_D."), ("said", "Seen 1."), ("thought", "SECRET_T"), ("thought", "SECRET_R")),
    *(("call", '{"of":"SECRET_1"}'), ("call", '{"of":"SECRET_2"}'), ("reply", "SECRET_B"), ("reply", "SECRET_A")),
    ("said", "Seen 2."),
]


@pytest.mark.slow
def test_each_event_has_its_kind() -> None:
    stream = b"".join(b"data: " + as_lines(event) + b"\n" for event in RUN)
    for data in (as_lines(*RUN), as_document(RUN), stream):
        assert detect(data).format == NAME
        assert kinds(data, NAME) == MESSAGES
        assert found(data, NAME) == []
        assert len(calls(data, NAME)) == 2
    assert_hidden(as_lines(*RUN), NAME)
    assert_drift_is_hidden(RUN, NAME)


def test_a_chunk_without_an_id_continues_the_one_before() -> None:
    chunks = [
        STARTED,
        text("CHUNK", "m1", role="user"),
        text("CHUNK", delta="Seen "),
        text("CHUNK", delta="1."),
        call("CHUNK", "c", toolCallName="map"),
        call("CHUNK", delta='{"of":'),
        call("CHUNK", delta='"SECRET_1"}'),
        result("c", "SECRET_A"),
        text("CHUNK", "m2", "SECRET_", role="developer"),
        text("CHUNK", delta="D"),
        text("CHUNK", "m3", "Seen 2", role="assistant"),
        text("CHUNK", "m3", ""),
        text("CHUNK", delta="."),
        FINISHED,
    ]
    data = as_lines(*chunks)
    assert kinds(data, NAME) == [
        *(("said", "Seen 1."), ("call", '{"of":"SECRET_1"}'), ("reply", "SECRET_A"), ("instruction", "SECRET_D")),
        ("said", "Seen 2."),
    ]
    assert found(data, NAME) == []
    assert_hidden(data, NAME)


@pytest.mark.slow
def test_text_of_an_unknown_speaker_is_hidden() -> None:
    said, lost = text("CHUNK", "m", "Seen."), text("CHUNK", delta="SECRET_")
    robot = text("CHUNK", "x", role="robot")
    for events in (
        [lost],
        [said, {"type": "STATE_DELTA", "delta": []}, lost],
        [said, {"type": "STEP_STARTED", "stepName": "s"}, lost],
        [said, *message("n", "Seen"), lost],
        [said, call("CHUNK", "c", toolCallName="map"), lost],
        [said, robot, lost],
        [said, robot, text("CHUNK", "x", "SECRET_")],
        [said, {**robot, "delta": "SECRET_"}, text("CHUNK", "x", "SECRET_")],
        [said, text("START", "x", role="robot"), text("CHUNK", "x", "SECRET_"), text("CONTENT", "x", "SECRET_")],
        [said, text("CHUNK", "x", "", role="developer"), text("CHUNK", "x", "SECRET_")],
        [said, {**text("CHUNK", delta="SECRET_"), "messageId": 7}, lost],
        [text("CONTENT", "x", "SECRET_")],
    ):
        data = as_lines(STARTED, *events, FINISHED)
        assert {each.rstrip(".") for each in shown(data, NAME)} <= {"Seen"}, events
        assert "SECRET_" in "".join(body for _, body in kinds(data, NAME)), events
        assert_hidden(data, NAME)


def test_a_run_that_fails_or_breaks_off_is_reported() -> None:
    whole = message("m", "Seen")
    failed = as_lines(STARTED, *whole, {"type": "RUN_ERROR", "message": "SECRET_E", "code": "busy"})
    assert kinds(failed, NAME) == [("said", "Seen."), ("notice", "SECRET_E")]
    assert found(failed, NAME) == ["W-RUN-ERROR/unknown"]
    assert found(as_lines(STARTED, *whole[:-1]), NAME) == ["E-STREAM-TRUNCATED/event-stream"]
    paused = {**FINISHED, "outcome": {"type": "interrupt", "interrupts": [{"reason": "SECRET_I"}]}}
    assert found(as_lines(STARTED, *whole, paused), NAME) == ["W-RUN-INCOMPLETE/pause"]
    assert shown(as_lines(STARTED, *whole, paused), NAME) == ["Seen."]


def test_an_id_that_is_used_again_shows_nothing_of_another_speaker() -> None:
    data = as_lines(
        STARTED,
        *message("m1", "Seen 1"),
        *message("m1", "SECRET_D", role="developer"),
        text("CONTENT", "m1", "SECRET_LATE"),
        FINISHED,
    )
    assert shown(data, NAME) == ["Seen 1."]
    assert_hidden(data, NAME)
