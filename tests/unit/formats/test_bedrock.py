"""Bedrock: logged invocations and Converse streams."""

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

NAME = "bedrock"
INDEX = "contentBlockIndex"


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": [*parts]}


def text(value: str) -> dict[str, Any]:
    return {"text": value}


def invocation(asked: Any, answered: Any = None, **more: Any) -> dict[str, Any]:
    output = {} if answered is None else {"output": {"outputBodyJson": answered}}
    given = {"timestamp": "2026-03-04T09:10:00Z", "modelId": "m", "requestId": str(len(str(asked)))}
    return {**given, "input": {"inputBodyJson": asked}, **output, **more}


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": delta, INDEX: index}}


THOUGHT = {"reasoningContent": {"reasoningText": {"text": "SECRET_T"}}}
ASKED = {"messages": [message("user", text("a"))], "system": [text("SECRET_S")]}
ANSWERED = {"output": {"message": message("assistant", THOUGHT, text("b"))}, "stopReason": "end_turn"}
STREAM = [
    {"messageStart": {"role": "assistant"}},
    delta(0, reasoningContent={"text": "SECRET_T"}),
    {"contentBlockStop": {INDEX: 0}},
    delta(1, text="b"),
    delta(1, text="c"),
    {"contentBlockStop": {INDEX: 1}},
    {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t", "name": "f"}}, INDEX: 2}},
    delta(2, toolUse={"input": '{"x":"SECRET_A"}'}),
    {"contentBlockStop": {INDEX: 2}},
    {"messageStop": {"stopReason": "max_tokens"}},
    {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}}},
]


def test_an_invocation_shows_what_was_asked_and_answered() -> None:
    data = as_lines(invocation(ASKED, ANSWERED))
    assert detect(data).format == NAME
    assert kinds(data, NAME) == [
        ("instruction", "SECRET_S"),
        ("said", "a"),
        ("thought", "SECRET_T"),
        ("said", "b"),
    ]
    assert_hidden(data, NAME)


def test_the_body_may_be_a_stream_of_events() -> None:
    data = as_lines(invocation(ASKED, STREAM))
    assert shown(data, NAME) == ["a", "bc"]
    assert len(calls(data, NAME)) == 1
    assert "W-RUN-INCOMPLETE/max-tokens" in found(data, NAME)
    assert_hidden(data, NAME)


def test_a_converse_stream_is_read_alone() -> None:
    data = as_lines(*STREAM)
    assert detect(data).format == NAME
    assert shown(data, NAME) == ["bc"]
    assert_hidden(data, NAME)
    for odd in (delta(1, text="SECRET_", x=1), delta(1, text=["SECRET_"]), {**delta(1, text="SECRET_"), "x": 1}):
        assert "SECRET_" not in "".join(shown(as_lines(*STREAM[:4], odd, *STREAM[5:]), NAME)), odd
    late = as_lines(*STREAM, delta(1, text="SECRET_"))
    assert shown(late, NAME) == ["bc"] and "W-STREAM-LATE" in found(late, NAME)


def test_an_invocation_that_repeats_the_conversation_continues_it() -> None:
    messages = [message("user", text("a")), message("assistant", text("b")), message("user", text("c"))]
    again = invocation({"messages": messages}, {"output": {"message": message("assistant", text("d"))}})
    assert shown(as_lines(invocation(ASKED, ANSWERED), again), NAME) == ["a", "b", "c", "d"]


def test_bodies_that_are_elsewhere_are_reported() -> None:
    data = as_lines({"modelId": "m", "requestId": "r", "input": {"inputBodyS3Path": "s3://SECRET_"}})
    assert found(data, NAME) == ["W-CONTENT-MISSING"]
    assert shown(data, NAME) == []


def test_errors_and_other_bodies_are_hidden() -> None:
    failed = as_lines(invocation(ASKED, errorCode="ThrottlingException"))
    assert shown(failed, NAME) == ["a"] and found(failed, NAME) == ["W-RUN-ERROR/rate-limit"]
    for asked, answered in (
        ({"prompt": "SECRET_"}, {"generation": "SECRET_"}),
        ("SECRET_", "SECRET_"),
        (7, ["SECRET_"]),
    ):
        assert shown(as_lines(invocation(asked, answered)), NAME) == []


@pytest.mark.slow
def test_drift_and_other_formats_stay_hidden() -> None:
    assert_drift_is_hidden([invocation(ASKED, ANSWERED)], NAME)
    assert_drift_is_hidden([invocation(ASKED, STREAM)], NAME)
    assert_others_are_hidden(NAME)
    assert shown(as_document([invocation(ASKED, ANSWERED)]), NAME) == ["a", "b"]
