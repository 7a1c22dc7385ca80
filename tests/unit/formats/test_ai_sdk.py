"""Messages of the Vercel AI SDK, and the stream of one."""

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

NAME = "ai-sdk"


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {"id": "m", "role": role, "parts": [*parts], **more}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


TOOL = {"type": "tool-tide", "toolCallId": "c", "state": "output-error", "input": {"x": "SECRET_A"}}
CHAT = [
    message("system", text("SECRET_S")),
    message("user", text("Seen 1."), metadata={"x": "SECRET_M"}),
    message("assistant", {"type": "reasoning", "text": "SECRET_R"}, {**TOOL, "errorText": "SECRET_E"}, text("Seen 2.")),
]
STREAM = [
    {"type": "start", "messageId": "m"},
    {"type": "reasoning-delta", "id": "0", "delta": "SECRET_R"},
    {"type": "reasoning-end", "id": "0"},
    {"type": "tool-input-available", "toolCallId": "c", "toolName": "tide", "input": {"x": "SECRET_A"}},
    {"type": "tool-output-available", "toolCallId": "c", "output": "SECRET_O"},
    {"type": "text-start", "id": "0"},
    {"type": "text-delta", "id": "0", "delta": "Seen"},
    {"type": "text-delta", "id": "0", "delta": " 3."},
    {"type": "text-end", "id": "0"},
    {"type": "finish", "finishReason": "length"},
]


def test_each_part_has_its_kind() -> None:
    for data in (as_document(CHAT), as_lines(*CHAT), as_document({"id": "c", "messages": CHAT})):
        assert detect(data).format == NAME
        assert kinds(data, NAME) == [
            *(("instruction", "SECRET_S"), ("said", "Seen 1."), ("thought", "SECRET_R")),
            *(("call", '{"x": "SECRET_A"}'), ("reply", "SECRET_E"), ("said", "Seen 2.")),
        ]
        assert found(data, NAME) == ["W-TOOL-FAILED"]
    assert_hidden(as_document(CHAT), NAME)


def test_the_chunks_of_a_stream_are_messages() -> None:
    data = b"".join(b"data: " + as_lines(chunk) + b"\n" for chunk in STREAM) + b"data: [DONE]\n\n"
    assert detect(data).format == NAME
    assert shown(data, NAME) == ["Seen 3."]
    assert len(calls(data, NAME)) == 1
    assert found(data, NAME) == ["W-RUN-INCOMPLETE/max-tokens"]
    assert_hidden(data, NAME)


def test_what_is_not_for_the_reader_is_hidden() -> None:
    for part in (
        {"type": "data-x", "data": "SECRET_"},
        {"type": "source-url", "url": "SECRET_"},
        text("SECRET_", hidden=True),
    ):
        assert shown(as_lines(message("user", text("a")), message("assistant", part)), NAME) == ["a"], part
    for record in (message("x", text("SECRET_")), {**message("user", text("SECRET_")), "content": "SECRET_"}):
        assert shown(as_lines(message("user", text("a")), record), NAME) == ["a"], record
    assert shown(as_lines(message("user", {"type": "reasoning", "text": "SECRET_"}, TOOL)), NAME) == []


def test_a_text_that_is_not_a_string_is_hidden() -> None:
    for value in (7, ["SECRET_"], {"x": "SECRET_"}):
        assert shown(as_lines(message("user", {"type": "text", "text": value})), NAME) == [], value
        assert shown(as_lines({"type": "text-delta", "id": "0", "delta": value}), NAME) == [], value


@pytest.mark.slow
def test_drift_and_other_formats_stay_hidden() -> None:
    assert_drift_is_hidden([CHAT], NAME, lines=False)
    assert_drift_is_hidden(STREAM, NAME)
    assert_others_are_hidden(NAME)


def test_text_in_the_content_of_a_part_is_read() -> None:
    call = {"type": "tool-call", "id": "c", "name": "map", "arguments": '{"x": "SECRET_A"}', "output": "SECRET_COPY"}
    data = as_document(
        [
            message("user", {"type": "text", "content": "Seen 1."}),
            message(
                "assistant",
                {"type": "thinking", "content": "SECRET_T"},
                call,
                {"type": "tool-result", "toolCallId": "c", "content": "SECRET_R", "state": "error"},
                {"type": "text", "content": "Seen 2."},
            ),
        ]
    )
    assert [kind for kind, _ in kinds(data, NAME)] == ["said", "thought", "call", "reply", "said"]
    assert (shown(data, NAME), found(data, NAME)) == (["Seen 1.", "Seen 2."], ["W-TOOL-FAILED"])
    assert_hidden(data, NAME)
