"""Calls and answers as services return them: empty calls, calls that a service answers itself, and Bedrock parts."""

from __future__ import annotations

import json
from typing import Any

from tests.support.cases import each
from tests.support.reading import Reading, codes, read
from viewer.formats import detect
from viewer.model.messages import Message
from viewer.model.visibility import message_kind


def reading(value: object) -> Reading:
    data = json.dumps(value).encode()
    return read(data, detect(data).format)


def kinds(found: Reading) -> list[str]:
    return [message_kind(message) for message in found.messages if isinstance(message, Message)]


def seen(found: Reading) -> list[str]:
    return [text for text, visible in zip(found.texts, found.visible, strict=True) if visible]


def entry(asked: object, answered: object) -> dict[str, Any]:
    one = {
        "request": {"postData": {"text": json.dumps(asked)}},
        "response": {"content": {"text": json.dumps(answered)}},
    }
    return {"log": {"creator": {"name": "x"}, "entries": [one]}}


EMPTY = {"function_call": {"name": "", "arguments": ""}}
CALL = {"name": "f", "arguments": '{"a":"SECRET_ARGUMENT"}'}


@each("shape", ("message", "chunk", "har"))
def test_a_call_whose_members_are_empty_is_no_call(shape: str) -> None:
    more: dict[str, Any]
    for more, is_call in (
        (EMPTY, False),
        ({**EMPTY, "tool_calls": None}, False),
        ({"function_call": CALL}, True),
        ({"function_call": {**CALL, "name": ""}}, True),
    ):
        message = {"role": "assistant", "content": "Hi", **more}
        answer: dict[str, Any] = {"choices": [{"index": 0, "message": message}]}
        if shape == "chunk":
            answer = {"id": "c", "choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
        elif shape == "har":
            answer = entry({"model": "m", "messages": []}, answer)
        found = reading(answer)
        assert seen(found) == ["Hi"], more
        assert (len(kinds(found)) > 1) is is_call, more
        assert is_call or codes(found) == [], more


SERVED: dict[str, dict[str, Any]] = {
    "web_search_call": {"action": {"type": "search", "query": "SECRET_QUERY"}},
    "file_search_call": {"queries": ["SECRET_QUERY"], "results": None},
    "code_interpreter_call": {"code": "SECRET_CODE", "outputs": None, "container_id": "c"},
    "image_generation_call": {"revised_prompt": "SECRET_PROMPT", "result": "aGVsbG8="},
}


@each("kind", tuple(SERVED))
def test_a_call_that_the_service_answers_is_answered_without_its_result(kind: str) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}
    for status, expected in (("completed", []), ("failed", ["W-TOOL-FAILED"]), ("in_progress", ["W-CALL-UNANSWERED"])):
        item = {"type": kind, "id": "x", "status": status, **SERVED[kind]}
        found = reading({"object": "response", "model": "m", "output": [item, message]})
        assert codes(found) == expected, status
        assert seen(found)[-1] == "Done"
        assert "SECRET_" not in "".join(seen(found))


def test_bedrock_messages_in_a_har_file_are_read() -> None:
    asked = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"text": "Hello"}, {"image": {"format": "png", "source": {"bytes": "aGk="}}}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "SECRET_THOUGHT"}}},
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": "SECRET_INPUT"}}},
                ],
            },
            {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "SECRET_RESULT"}]}}]},
        ],
    }
    answer = {"text": "Done."}
    thought = {"reasoningContent": {"redactedContent": "SECRET_REDACTED"}}
    for content in ([answer], [thought, answer], [answer, {"cachePoint": {"type": "default"}}]):
        answered = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}
        found = reading(entry(asked, answered))
        assert seen(found) == ["Hello\n[image, 2 B]", "I look.", "Done."]
        assert "SECRET_" not in "".join(seen(found))
        assert codes(found) == []
    for role in ("user", "system", "critic"):
        answered = {"output": {"message": {"role": role, "content": [{"text": "SECRET_OTHER"}]}}}
        assert "SECRET_OTHER" not in "".join(seen(reading(entry(asked, answered))))
    mixed = {"role": "user", "content": [{"text": "SECRET_MIXED", "toolResult": {"toolUseId": "t", "content": []}}]}
    assert seen(reading(entry({"model": "m", "messages": [mixed]}, {}))) == []


def test_a_stream_of_bedrock_may_consist_of_a_call() -> None:
    start = {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}
    delta = {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"a": 1}'}}}
    text = {"contentBlockIndex": 0, "delta": {"text": "I look."}}
    for opening, shown in (({}, ["I look."]), ({"other": {"text": "SECRET"}}, [])):
        said = [{"contentBlockStart": {"contentBlockIndex": 0, "start": opening}}, {"contentBlockDelta": text}]
        assert seen(read("".join(f"{json.dumps(event)}\n" for event in said), "bedrock")) == shown
    events = [
        {"contentBlockStart": start},
        {"contentBlockDelta": delta},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"metadata": {"usage": {"inputTokens": 1}}},
        {"messageStop": {"stopReason": "tool_use"}},
    ]
    data = "".join(f"{json.dumps(event)}\n" for event in events).encode()
    assert detect(data).format == "bedrock"
    assert kinds(read(data, "bedrock")) == ["call"]
    assert detect(b'{"messageStop": 1, "type": "x"}\n{"type": "y", "contentBlockStart": 2}').format != "bedrock"


def test_calls_of_services_that_need_no_reply_or_declaration_are_not_reported() -> None:
    search = {"type": "web_search_call", "id": "w", "status": "searching", "action": {"type": "search", "query": "x"}}
    said = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    response = {"id": "r", "object": "response", "status": "completed", "output": [search, said]}
    assert codes(read(json.dumps(response), "responses")) == []
    calls = [
        {"type": "server_tool_use", "id": "s", "name": "tool_search_tool_regex", "input": {"query": "w"}},
        {"type": "tool_search_tool_result", "tool_use_id": "s", "content": {"tool_references": []}},
        {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}},
    ]
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    weather = {"name": "get_weather", "defer_loading": True, "input_schema": {"type": "object"}}
    for more in ([], [weather]):
        request = {
            "model": "x",
            "max_tokens": 9,
            "tools": [{"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}, *more],
            "messages": [
                {"role": "user", "content": "Hi."},
                {"role": "assistant", "content": calls},
                {"role": "user", "content": [result]},
            ],
        }
        assert codes(read(json.dumps(request), "anthropic")) == []


def test_events_that_only_keep_a_connection_open_are_not_reported() -> None:
    item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    events = (
        {"type": "response.created", "response": {"id": "r", "output": []}},
        {"type": "ping"},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}},
    )
    data = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
    assert codes(read(data, "responses-stream")) == ["I-STREAM-FINAL-ONLY"]


def test_the_record_of_a_session_of_hermes_is_no_message() -> None:
    records = ({"role": "session_meta", "model": "m", "tools": []}, {"role": "user", "content": "Hi."})
    reading = read("".join(json.dumps(each) + "\n" for each in records), "json")
    assert reading.texts == ("Hi.",) and codes(reading) == []
    hidden = read(json.dumps([{"role": "session_meta", "content": "SECRET"}]), "json")
    assert hidden.visible == (False,)
