"""Dumped histories of Pydantic AI: prompts and answers are shown; all other parts are hidden."""

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

NAME = "pydantic-ai"


def part(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"part_kind": kind, "content": content, **more}


def request(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"parts": [*parts], "kind": "request", **more}


def response(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"parts": [*parts], "kind": "response", "model_name": "m", **more}


CALL = {"part_kind": "tool-call", "tool_name": "tide", "args": '{"a":"SECRET_A"}', "tool_call_id": "c1"}
CHAT = [
    request(part("system-prompt", "SECRET_S"), part("user-prompt", "Seen 1."), instructions="SECRET_I"),
    response(part("thinking", "SECRET_T"), CALL),
    request(part("tool-return", {"x": "SECRET_R"}, tool_name="tide", tool_call_id="c1"), instructions="SECRET_I"),
    response(part("text", "Seen 2.")),
]


def test_each_part_has_its_kind() -> None:
    data = as_document(CHAT)
    assert detect(data).format == NAME
    assert kinds(data, NAME) == [
        *(("instruction", "SECRET_I"), ("instruction", "SECRET_S"), ("said", "Seen 1."), ("thought", "SECRET_T")),
        *(("call", '{"a":"SECRET_A"}'), ("reply", '{"x": "SECRET_R"}'), ("said", "Seen 2.")),
    ]
    assert len(calls(data, NAME)) == 1
    assert_hidden(data, NAME)


def test_a_part_counts_only_in_its_own_kind_of_message() -> None:
    assert shown(as_lines(request(part("text", "SECRET_")), response(part("user-prompt", "SECRET_"))), NAME) == []
    assert shown(as_lines({**CHAT[0], "kind": "aside"}, {**CHAT[3], "kind": 7}), NAME) == []


def test_retries_are_replies_or_injected() -> None:
    data = as_lines(request(part("retry-prompt", "SECRET_1", tool_name="tide", tool_call_id="c1")))
    assert kinds(data, NAME) == [("reply", "SECRET_1")]
    assert "W-TOOL-FAILED" in found(data, NAME)
    assert kinds(as_lines(request(part("retry-prompt", "SECRET_2"))), NAME) == [("injected", "SECRET_2")]


def test_the_contents_of_a_prompt_are_shown_by_kind() -> None:
    items = ["A", {"kind": "text-content", "content": "B"}, {"kind": "structured-content", "content": "SECRET_"}]
    assert shown(as_lines(request(part("user-prompt", items))), NAME) == ["AB"]
    image = {"kind": "binary", "data": "U0VDUg==", "media_type": "image/png"}
    assert shown(as_lines(request(part("user-prompt", [image]))), NAME) == ["[image/png, 4 B]"]


def test_commentary_and_hidden_messages_are_hidden() -> None:
    for phase in ("commentary", "x"):
        assert shown(as_lines(response(part("text", "SECRET_", provider_details={"phase": phase}))), NAME) == [], phase
    assert shown(as_lines(response(part("text", "a", provider_details={"phase": "final_answer"}))), NAME) == ["a"]
    for flags in ({"isHidden": True}, {"userVisible": False}, {"metadata": {"isHidden": True}}):
        assert shown(as_lines(response(part("text", "SECRET_"), **flags)), NAME) == [], flags


@pytest.mark.slow
def test_drift_and_other_formats_stay_hidden() -> None:
    assert_drift_is_hidden([CHAT], NAME, lines=False)
    assert_others_are_hidden(NAME)
