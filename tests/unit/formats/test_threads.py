"""Threads of OpenAI Assistants: messages, run steps, and streams."""

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

NAME = "threads"


def message(id: str, role: str, *texts: str, time: int = 0, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": {"value": each, "annotations": []}} for each in texts]
    return {"id": id, "object": "thread.message", "created_at": time, "role": role, "content": content, **more}


def delta(value: Any, index: int = 0) -> dict[str, Any]:
    part = {"index": index, "type": "text", "text": {"value": value}}
    return {"id": "m2", "object": "thread.message.delta", "delta": {"content": [part]}}


FUNCTION = {
    "id": "c",
    "type": "function",
    "function": {"name": "f", "arguments": '{"a":"SECRET_A"}', "output": "SECRET_O"},
}
STEP = {"id": "s", "object": "thread.run.step", "type": "tool_calls", "step_details": {"tool_calls": [FUNCTION]}}
RUN = {"id": "r", "object": "thread.run", "instructions": "SECRET_I"}
CHAT = [message("m1", "user", "a"), RUN, STEP, message("m2", "assistant", "b")]


def listed(*records: dict[str, Any]) -> dict[str, Any]:
    return {"object": "list", "data": [*records], "has_more": False}


def test_messages_and_steps_are_read_together() -> None:
    data = as_lines(*CHAT)
    assert detect(data).format == NAME
    assert kinds(data, NAME) == [
        *(
            ("said", "a"),
            ("instruction", "SECRET_I"),
            ("call", '{"a":"SECRET_A"}'),
            ("reply", "SECRET_O"),
            ("said", "b"),
        )
    ]
    assert len(calls(data, NAME)) == 1
    assert_hidden(data, NAME)


def test_a_list_is_shown_from_the_oldest_message_on() -> None:
    first, second, third = (message(f"m{at}", "user", str(at), time=min(at, 2)) for at in (1, 2, 3))
    for order in ((first, second, third), (third, second, first)):
        data = as_document(listed(*order))
        assert detect(data).format == NAME
        assert shown(data, NAME) == ["1", "2", "3"]
    odd = as_document(listed(third, {**second, "created_at": "soon"}, first))
    assert shown(odd, NAME) == ["3", "2", "1"]


def test_a_stream_grows_one_message() -> None:
    whole = message("m2", "assistant", "bc")
    data = as_lines(delta("b"), delta("c"), whole)
    assert shown(data, NAME) == ["bc"]
    assert found(data, NAME) == []
    assert_hidden(data, NAME)
    assert shown(as_lines(delta(["SECRET_"]), delta({"x": "SECRET_"})), NAME) == []
    assert shown(as_lines(delta("b"), {**delta("SECRET_"), "isHidden": True}), NAME) == ["b"]
    assert shown(as_lines(message("m1", "user", "a"), message("m2", "user", "a")), NAME) == ["a", "a"]


def test_errors_of_a_run_are_problems() -> None:
    failed = {**RUN, "last_error": {"code": "rate_limit_exceeded", "message": "SECRET_L"}}
    assert found(as_lines(failed), NAME) == ["W-RUN-ERROR/rate-limit"]
    cut = message("m2", "assistant", "b", incomplete_details={"reason": "max_tokens"})
    assert found(as_lines(cut), NAME) == ["W-RUN-INCOMPLETE/max-tokens"]


@pytest.mark.slow
def test_drift_and_other_formats_stay_hidden() -> None:
    assert_drift_is_hidden(CHAT, NAME)
    assert_drift_is_hidden([listed(*CHAT)], NAME, lines=False)
    assert_others_are_hidden(NAME)
