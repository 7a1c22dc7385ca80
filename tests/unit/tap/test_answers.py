"""Logged requests and answers: the members that the log keeps, and its safe view."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from tests.support.logged import JSON, LINES, SSE, Logged, chunk, ndjson, sse
from viewer.tap.apis import api_of

USER = {"role": "user", "content": "Question"}
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "system", "content": "SECRET"}, USER]}

CHAT = sse(
    chunk(role="assistant", content=""),
    chunk(reasoning_content="SECRET"),
    chunk(content="An "),
    chunk(content="answer"),
    chunk(tool_calls=[{"index": 0, "id": "SECRET", "function": {"name": "SECRET", "arguments": "SECRET"}}]),
    chunk(finish="stop"),
)
CHAT += b"data: [DONE]\n\n"


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a block of a message."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


MESSAGES = sse(
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}},
    *block(0, {"type": "thinking", "thinking": "SECRET"}, {"type": "thinking_delta", "thinking": "SECRET"}),
    *block(1, {"type": "redacted_thinking", "data": "SECRET"}),
    *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "An answer"}),
    *block(3, {"type": "text", "text": ""}, {"type": "thinking_delta", "thinking": "SECRET"}),
    *block(
        4, {"type": "tool_use", "id": "t", "name": "SECRET"}, {"type": "input_json_delta", "partial_json": "SECRET"}
    ),
    *block(5, {"type": "future", "text": "SECRET"}, {"type": "text_delta", "text": "SECRET"}),
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
)


def item(index: int, item: dict[str, Any], *events: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of an item of a response."""
    return [
        {"type": "response.output_item.added", "output_index": index, "item": item},
        *({"output_index": index} | event for event in events),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def delta(kind: str, text: str) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "content_index": 0, "delta": text}


def text_delta(text: str) -> dict[str, Any]:
    return delta("output_text", text)


def message(**more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [], **more}


RESPONSES = sse(
    {"type": "response.created", "response": {"id": "r1"}},
    *item(0, {"type": "reasoning", "encrypted_content": "SECRET"}, delta("reasoning_text", "SECRET")),
    *item(1, message(), text_delta("An "), text_delta("answer")),
    *item(2, message(phase="commentary"), text_delta("SECRET")),
    *item(3, message(role="tool"), text_delta("SECRET")),
    *item(4, message(recipient="SECRET"), text_delta("SECRET")),
    *item(5, {"type": "function_call", "call_id": "c", "name": "SECRET"}, delta("function_call_arguments", "SECRET")),
    *item(6, {"type": "future", "text": "SECRET"}),
    {"type": "response.future.delta", "delta": "SECRET"},
    text_delta("SECRET") | {"output_index": 9},
    {"type": "response.completed", "response": {"usage": {"output_tokens": 1}}},
)
OLLAMA = ndjson(
    {"message": {"role": "assistant", "content": "", "thinking": "SECRET"}, "done": False},
    {"message": {"role": "assistant", "content": "An "}, "done": False},
    {"message": {"role": "assistant", "content": "answer"}, "done": False},
    {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "SECRET"}}]}, "done": True},
)
STREAMS = (
    ("chat", ASKED, CHAT, SSE),
    ("messages", ASKED | {"system": "SECRET"}, MESSAGES, SSE),
    ("responses", {"instructions": "SECRET", "input": [USER]}, RESPONSES, SSE),
    ("ollama-chat", ASKED, OLLAMA, LINES),
)
WHOLE = (
    ("chat", ASKED, {"choices": [{"message": {"role": "assistant", "content": "An answer", "reasoning": "SECRET"}}]}),
    (
        "messages",
        ASKED,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "SECRET"}, {"type": "text", "text": "An answer"}],
        },
    ),
    (
        "responses",
        {"input": "Question", "tools": [{"name": "SECRET"}]},
        {
            "id": "r",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "SECRET"}]},
                message(content=[{"type": "output_text", "text": "An answer"}]),
            ],
        },
    ),
    (
        "ollama-chat",
        ASKED,
        {"message": {"role": "assistant", "content": "An answer", "thinking": "SECRET"}, "done": True},
    ),
)


@pytest.mark.share(quick=2)
@pytest.mark.parametrize(("api", "request_", "answer", "kind"), STREAMS, ids=[row[0] for row in STREAMS])
def test_a_stream_is_logged_in_the_same_way_however_it_arrives(
    api: str, request_: object, answer: bytes, kind: str
) -> None:
    logs = []
    for pieces in ([answer], [answer[at : at + 1] for at in range(len(answer))], [answer[:70], answer[70:]]):
        logged = Logged()
        logged.add(api, request_, pieces, kind)
        assert logged.shown == ["Question", "An answer"]
        assert "SECRET" in logged.text
        logs.append((logged.reading.texts, logged.reading.visible))
    assert logs[0] == logs[1] == logs[2]
    deflated = zlib.compressobj(wbits=-15)
    raw = deflated.compress(answer) + deflated.flush()
    for codings, coded in (("gzip", gzip.compress(answer)), ("deflate", zlib.compress(answer)), ("Deflate", raw)):
        logged = Logged()
        logged.add(api, request_, [coded[:9], coded[9:]], kind, codings=codings)
        assert logged.shown == ["Question", "An answer"], codings


@pytest.mark.share(quick=2)
@pytest.mark.parametrize(("api", "request_", "answer", "kind"), STREAMS, ids=[row[0] for row in STREAMS])
def test_no_cut_of_a_stream_shows_hidden_text(api: str, request_: object, answer: bytes, kind: str) -> None:
    for end in range(0, len(answer), 61):
        logged = Logged()
        logged.add(api, request_, answer[:end], kind, outcome="server")
        assert "SECRET" not in "".join(logged.shown), end


def test_whole_answers_are_read_by_the_rules_of_their_api() -> None:
    for api, request, answer in WHOLE:
        logged = Logged()
        logged.add(api, request, json.dumps(answer).encode(), JSON)
        assert logged.shown == ["Question", "An answer"], api


def test_an_unknown_member_of_a_piece_hides_the_text_after_it() -> None:
    for odd in ({"channel": "analysis"}, {"recipient": "x"}, {"role": "tool"}, {"future": 1}, {"thought": True}):
        logged = Logged()
        logged.add("chat", ASKED, sse(chunk(content="Shown"), chunk(**odd), chunk(content="SECRET")))
        assert logged.shown == ["Question", "Shown"], odd
        logged.add("ollama-chat", ASKED, ndjson({"message": {"role": "assistant", "content": "SECRET"} | odd}), LINES)
        assert "SECRET" not in "".join(logged.shown), odd
    logged = Logged()
    logged.add("chat", ASKED, sse(chunk(content="Shown"), chunk(index=1, content="SECRET")))
    assert logged.shown == ["Question", "Shown"]


def test_the_text_of_a_completion_is_shown_unless_it_begins_inside_a_thought() -> None:
    whole = {"choices": [{"text": "SECRET", "index": 0}]}
    for request in ({"prompt": "Q <think>"}, {"prompt": "Q", "echo": True}, {"prompt": "Q", "raw": True}):
        logged = Logged()
        logged.add("completions", request, json.dumps(whole).encode(), JSON)
        assert logged.shown == []
    logged = Logged()
    logged.add("completions", {"prompt": "SECRET"}, sse({"choices": [{"text": "Sh"}]}, {"choices": [{"text": "own"}]}))
    logged.add("ollama-generate", {"prompt": "SECRET"}, ndjson({"response": "Too", "thinking": "SECRET"}), LINES)
    assert logged.shown == ["Shown", "Too"]


def test_a_conversation_is_logged_once() -> None:
    logged = Logged()
    cached = {"type": "text", "text": "Question", "cache_control": {"type": "ephemeral"}}
    history: list[dict[str, Any]] = [{"role": "user", "content": [cached]}]
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "An answer"}]}
    logged.add("messages", {"system": "S", "messages": history}, json.dumps(answer).encode(), JSON)
    history = [USER, {"role": "assistant", "content": "An answer"}, {"role": "user", "content": "More?"}]
    logged.add("messages", {"system": "S", "messages": history}, json.dumps(answer).encode(), JSON)
    assert logged.shown == ["Question", "An answer", "More?", "An answer"]
    assert len(logged.reading.transcripts) == 1
    assert [record.get("known") for record in logged.records if record["tap"] == "request"] == [None, 1]
    assert logged.text.count('"system":"S"') == 1
    logged.add("messages", {"messages": [{"role": "user", "content": "Other"}]}, json.dumps(answer).encode(), JSON)
    assert len(logged.reading.transcripts) == 2
    logged.add("responses", {"input": [USER]}, RESPONSES)
    logged.add("responses", {"input": "And now?", "previous_response_id": "r1"}, b"{}", JSON)
    assert logged.records[-1]["session"] == logged.records[-4]["session"]


def test_keys_are_not_logged() -> None:
    logged = Logged()
    tool = {"type": "mcp", "server_label": "s", "server_url": "KEY", "headers": {"a": "KEY"}, "authorization": "KEY"}
    request = ASKED | {
        "api_key": "KEY",
        "mcp_servers": [{"authorization_token": "KEY"}],
        "tools": [tool],
        "user": "KEY",
    }
    error = json.dumps({"error": {"message": "Wrong key: KEY", "headers": "KEY"}}).encode()
    for status in (401, 403):
        logged.add("chat", request, error, JSON, status=status)
    logged.add(
        "messages", request, json.dumps({"error": {"message": "Slow", "request": "KEY"}}).encode(), JSON, status=429
    )
    logged.add("responses", {"input": [USER]}, json.dumps({"output": [], "tools": [tool]}).encode(), JSON)
    assert "KEY" not in logged.text
    assert '"message":"Slow"' in logged.text


@pytest.mark.slow
def test_what_cannot_be_read_is_noted() -> None:
    for answer, kind, codings in (
        (b"\xff\xfe", JSON, ""),
        (b"data: {broken\n\n", SSE, ""),
        (b"no gzip", SSE, "gzip"),
        (b"abc", SSE, "br"),
        (b"[" * 100_000, JSON, ""),
    ):
        logged = Logged()
        logged.add("chat", b"not json", answer, kind, codings=codings)
        assert [record["tap"] for record in logged.records] == ["request", "end"]
        assert logged.records[-1]["missing"] in ("body", "coding")
    bomb = Logged()
    bomb.add("chat", ASKED, gzip.compress(b" " * 40_000_000), SSE, codings="gzip")
    assert bomb.records[-1]["missing"] == "body"


def test_half_of_a_character_is_logged() -> None:
    logged = Logged()
    logged.add("chat", ASKED, b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n')
    assert '"text":"\\ud83d"' in logged.text


def test_only_requests_to_a_model_are_logged() -> None:
    paths = {
        "/v1/chat/completions?key=x": "chat",
        "/openai/deployments/m/chat/completions": "chat",
        "/v1/messages": "messages",
        "/v1/responses": "responses",
        "/api/chat": "ollama-chat",
        "/api/generate": "ollama-generate",
        "/v1/completions/": "completions",
        "/completion": "completions",
    }
    assert {path: api.name for path in paths if (api := api_of("POST", path))} == paths
    others = ("/v1/messages/count_tokens", "/v1/models", "/v1/embeddings", "/api/chats", "/login")
    assert [path for path in others if api_of("POST", path)] == []
    assert api_of("GET", "/v1/responses") is None
