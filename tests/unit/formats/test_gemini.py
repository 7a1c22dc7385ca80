"""Gemini API requests, responses, and streams: text is shown; everything else is hidden."""

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

NAME = "gemini"
CALL = {"functionCall": {"id": "c1", "name": "weather", "args": {"city": "SECRET_ARG"}}}
REPLY = {"functionResponse": {"id": "c1", "name": "weather", "response": {"output": "SECRET_OUT"}}}
HIDDEN = [
    {"text": "SECRET_TH", "thought": True},
    {"text": "SECRET_ODD", "thought": "true"},
    CALL,
    REPLY,
    {"executableCode": {"language": "PYTHON", "code": "SECRET_CODE"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "SECRET_RESULT"}},
    {"text": "SECRET_BOTH", "functionCall": {"name": "f"}},
    {"hologram": "SECRET_NEW"},
    {"thoughtSignature": "U0VDUkVUX1NJRw=="},
]


def content(role: str | None, *parts: Any) -> dict[str, Any]:
    return {
        **({"role": role} if role else {}),
        "parts": [{"text": part} if isinstance(part, str) else part for part in parts],
    }


def chunk(*parts: Any, finish: str | None = None, index: int | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": content("model", *parts)}
    candidate |= {"finishReason": finish} if finish else {}
    candidate |= {"index": index} if index is not None else {}
    return {"candidates": [candidate], **more}


REQUEST = {
    "systemInstruction": content(None, "SECRET_SYS"),
    "tools": [{"functionDeclarations": [{"name": "weather", "description": "SECRET_TOOL"}]}],
    "contents": [content("user", "What is the weather?"), content("model", *HIDDEN, "It rains.")],
}


def test_each_part_has_its_kind() -> None:
    assert [kind for kind, _ in kinds(as_document(REQUEST), NAME)] == [
        *("instruction", "instruction", "said", "thought", "thought", "call", "reply", "call", "reply"),
        *("unknown", "unknown", "thought", "said"),
    ]
    assert shown(as_document(REQUEST), NAME) == ["What is the weather?", "It rains."]
    assert {"W-PART-UNKNOWN", "W-TOOL-FAILED"} <= set(found(as_document(REQUEST), NAME))


def test_hidden_parts_are_hidden_in_every_role() -> None:
    for role in ("user", "model", "function", None):
        data = as_document({"contents": [content(role, *HIDDEN, "Seen.")]})
        assert shown(data, NAME) == (["Seen."] if role != "function" else []), role
    data = as_document({"contents": [content("system", "SECRET_ROLE"), content("Model", "SECRET_CASE")]})
    assert [kind for kind, _ in kinds(data, NAME)] == ["unknown", "unknown"]


def test_instructions_are_hidden_in_every_shape() -> None:
    for name in ("systemInstruction", "system_instruction"):
        for value in ("SECRET_SYS", {"parts": [{"text": "SECRET_SYS"}]}, {"parts": {"text": "SECRET_SYS"}}):
            for request in ({name: value}, {"config": {name: value}}):
                data = as_document({**request, "contents": "Hello?"})
                assert kinds(data, NAME) == [("instruction", "SECRET_SYS"), ("said", "Hello?")]


def test_attachments_are_labels() -> None:
    data = as_document(
        {"contents": [content("user", "Look.", {"inlineData": {"mimeType": "image/png", "data": "U0VDUg=="}})]}
    )
    assert shown(data, NAME) == ["Look.\n[image/png, 4 B]"]


def test_calls_without_ids_pair_by_name_and_order() -> None:
    call, reply = {"functionCall": {"name": "f", "args": {}}}, {"functionResponse": {"name": "f", "response": {}}}
    data = as_document({"contents": [content("model", call, call), content("user", reply, reply)]})
    assert len(calls(data, NAME)) == 2
    assert all("pending" not in each for each in calls(data, NAME))


STREAM = [
    chunk({"text": "SECRET_TH", "thought": True}),
    chunk("It "),
    chunk("rains"),
    chunk(CALL),
    chunk("."),
    chunk({"text": "", "thoughtSignature": "U0VDUg=="}, finish="STOP", usageMetadata={"totalTokenCount": 3}),
]


def test_the_chunks_of_one_response_are_one_text() -> None:
    sse = "".join(f"data: {line}\n\n" for line in as_lines(*STREAM).decode().splitlines()).encode()
    expected = [("thought", "SECRET_TH"), ("said", "It rains"), ("call", '{"city": "SECRET_ARG"}'), ("said", ".")]
    for data in (as_lines(*STREAM), as_document(STREAM), as_document({"response": STREAM}), sse):
        assert kinds(data, NAME) == expected
        assert [each for each in found(data, NAME) if each.startswith("E-")] == []


def test_two_responses_are_two_answers_and_candidates_are_apart() -> None:
    assert shown(as_lines(chunk("One.", finish="STOP"), chunk("Two.", finish="STOP")), NAME) == ["One.", "Two."]
    batch = [{"key": key, "response": chunk(key, finish=None)} for key in ("One.", "Two.")]
    assert shown(as_lines(*batch), NAME) == ["One.", "Two."]
    mixed = [
        chunk("A", index=0),
        chunk("B", index=1),
        chunk("a.", index=0, finish="STOP"),
        chunk("b.", index=1, finish="STOP"),
    ]
    assert shown(as_lines(*mixed), NAME) == ["Aa.", "Bb."]
    both = {"candidates": [chunk("A", index=i)["candidates"][0] for i in range(3)]}
    assert shown(as_lines(both), NAME) == ["A", "A", "A"]


def test_a_stream_without_an_end_is_truncated() -> None:
    assert "E-STREAM-TRUNCATED/event-stream" in found(as_lines(*STREAM[:3]), NAME)


def test_a_request_with_its_response_is_one_transcript() -> None:
    for response in (chunk("It rains.", finish="STOP"), [chunk("It "), chunk("rains.", finish="STOP")]):
        data = as_lines({"request": {"contents": [content("user", "Rain?")]}, "response": response})
        assert shown(data, NAME) == ["Rain?", "It rains."]


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (chunk("Half", finish="MAX_TOKENS"), "W-RUN-INCOMPLETE/max-tokens"),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}, "W-RUN-INCOMPLETE/max-tokens"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "W-RUN-ERROR/content-filter"),
        ({"candidates": [{"finishReason": "RECITATION", "finishMessage": "SECRET_F"}]}, "W-RUN-ERROR/content-filter"),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "W-RUN-ERROR/content-filter"),
        ({"error": {"code": 429, "message": "SECRET_E"}}, "W-RUN-ERROR/rate-limit"),
        ({"error": {"code": 500, "message": "SECRET_E"}}, "W-RUN-ERROR/api"),
        (
            {"candidates": [{"content": {"role": "model", "partz": [{"text": "SECRET_P"}]}, "finishReason": "STOP"}]},
            "W-CONTENT-MISSING",
        ),
    ],
)
def test_a_run_that_failed_says_so(record: Any, code: str) -> None:
    assert [each for each in found(as_lines(record), NAME) if each.startswith("W-")] == [code]
    assert not any("SECRET" in text for text in shown(as_lines(record), NAME))


def test_prompts_of_ai_studio_hide_thoughts() -> None:
    chunks = [
        {"role": "user", "text": "Why?"},
        {"role": "model", "text": "SECRET_TH", "isThought": True},
        {"role": "model", "text": "SECRET_ODD", "isThought": "yes"},
        {"role": "model", "text": "Because."},
    ]
    assert shown(as_document({"chunkedPrompt": {"chunks": chunks}}), NAME) == ["Why?", "Because."]
    for context in ("<session_context>\nSECRET", "This is the Gemini CLI. We are setting up the context for SECRET"):
        texts = (
            ("user", context),
            ("model", "Got it. Thanks for the context!"),
            ("user", "Why?"),
            ("model", "Because."),
        )
        history: list[dict[str, Any]] = [{"role": role, "parts": [{"text": text}]} for role, text in texts]
        history[-1]["parts"].insert(0, {"text": "SECRET", "thought": True})
        for checkpoint in (history, {"history": history, "authType": "oauth-personal"}):
            assert detect(as_document(checkpoint)).format == NAME
            assert shown(as_document(checkpoint), NAME)[-2:] == ["Why?", "Because."], checkpoint
            assert "SECRET" not in "".join(shown(as_document(checkpoint), NAME))


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_document(REQUEST), NAME)
    assert_hidden(as_lines(REQUEST, *STREAM), NAME)
    assert_drift_is_hidden([REQUEST], NAME, lines=False)
    assert_drift_is_hidden([*STREAM], NAME)
    assert_others_are_hidden(NAME)
