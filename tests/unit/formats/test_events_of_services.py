"""The events that services send for a response or a chat, complete or interrupted."""

from __future__ import annotations

import json

import pytest

from tests.support.event_cases import (
    RESPONSE,
    Json,
    lines,
    told,
)

READ_AS = [
    "transcript 1 gpt-x",
    "1 assistant analysis summary end hidden: 'why'",
    '2 assistant commentary functions.get_weather c1 call hidden: \'{"city":"Oslo"}\'',
    "3 assistant end shown: 'It rains'",
]


@pytest.mark.slow
def test_the_usual_events_of_a_response_are_read() -> None:
    assert told(lines(*RESPONSE)) == READ_AS


@pytest.mark.slow
def test_a_response_without_deltas_gives_the_same_messages() -> None:
    assert told(lines(*[event for event in RESPONSE if not str(event["type"]).endswith(".delta")])) == READ_AS
    assert told(lines(*[event for event in RESPONSE if "item.done" in str(event["type"])]))[1:] == READ_AS[1:]


def chunk(text: Json, finish: str | None = None, identifier: str | None = "c") -> Json:
    start: Json = {"id": identifier} if identifier else {}
    choice = {"index": 0, "delta": text, "finish_reason": finish}
    return {**start, "object": "chat.completion.chunk", "created": 1700000000, "model": "q", "choices": [choice]}


def tool_call(index: int, arguments: str, **more: object) -> Json:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {"tool_calls": [{"index": index, **more, "function": {**name, "arguments": arguments}}]}


@pytest.mark.share(test=3)
@pytest.mark.parametrize("identifier", ["c", None])
def test_chunks_of_a_chat_completion_are_read(identifier: str | None) -> None:
    chunks = [
        chunk({"role": "assistant", "content": ""}, None, identifier),
        chunk({"reasoning_content": "hm"}, None, identifier),
        chunk({"content": "Let me "}, None, identifier),
        chunk({"content": "see"}, None, identifier),
        chunk(tool_call(0, "", id="c1", type="function", name="f"), None, identifier),
        chunk(tool_call(0, "{}"), None, identifier),
        chunk(tool_call(1, "", id="c2", type="function", name="python"), None, identifier),
        chunk(tool_call(1, "[]"), None, identifier),
        chunk({}, "tool_calls", identifier),
        {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}},
    ]
    data = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"
    assert told(data) == [
        "transcript 1 q",
        "1 assistant analysis end hidden: 'hm'",
        "2 assistant end shown: 'Let me see'",
        "3 assistant commentary functions.f c1 call hidden: '{}'",
        "4 assistant commentary python c2 call hidden: '[]'",
    ]


def test_a_chat_that_breaks_off_leaves_only_its_last_message_open() -> None:
    data = lines(chunk({"reasoning_content": "hm"}), chunk({"content": "Hel"}))
    assert told(data)[1:] == [
        "1 assistant analysis end hidden: 'hm'",
        "E-STREAM-TRUNCATED event-stream 2 ",
        "2 assistant open shown: 'Hel'",
    ]
