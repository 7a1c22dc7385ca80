"""Streams of the Messages API: the public `anthropic` library accumulates the same text that this program reads."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.laws.test_openai_library import lines, text_of
from tests.support.reading import read
from tests.support.record_checks import headers, shown_in

STREAMS = 200
Block = tuple[dict[str, Any], list[dict[str, Any]]]


def text_block(chance: random.Random) -> Block:
    start = {"type": "text", "text": chance.choice(["", "", "At once: "]), "citations": None}
    citation = {"type": "char_location", "cited_text": "SECRET_CITED", "document_index": 0, "document_title": None}
    citation |= {"start_char_index": 0, "end_char_index": 1}
    deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": text} for text in text_of(chance)]
    if chance.random() < 0.3:
        deltas.insert(chance.randrange(len(deltas) + 1), {"type": "citations_delta", "citation": citation})
    return start, deltas


def thinking_block(chance: random.Random) -> Block:
    deltas = [{"type": "thinking_delta", "thinking": f"SECRET_{text}"} for text in text_of(chance)]
    return {"type": "thinking", "thinking": "", "signature": ""}, [
        *deltas,
        {"type": "signature_delta", "signature": "SECRET_SIGNATURE"},
    ]


def redacted_block(chance: random.Random) -> Block:
    return {"type": "redacted_thinking", "data": f"SECRET_{chance.random()}"}, []


def call_block(chance: random.Random) -> Block:
    type = chance.choice(["tool_use", "tool_use", "server_tool_use"])
    call = {"type": type, "id": f"toolu_{chance.getrandbits(32)}", "name": "f", "input": {}}
    name = "web_search" if type == "server_tool_use" else "f"
    whole = json.dumps({"q": "SECRET_" + "".join(text_of(chance))})
    cuts = sorted(chance.sample(range(len(whole) + 1), 3))
    parts = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    return call | {"name": name}, [{"type": "input_json_delta", "partial_json": part} for part in parts]


def result_block(chance: random.Random) -> Block:
    found = {"type": "web_search_result", "title": "SECRET_TITLE", "url": "https://example.org", "page_age": None}
    content = [found | {"encrypted_content": "SECRET_PAGE"}]
    return {"type": "web_search_tool_result", "tool_use_id": "toolu_1", "content": content}, []


def stream(chance: random.Random) -> list[dict[str, Any]]:
    """Return the events of one reply."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-opus-4-8"}
    usage = {"input_tokens": 3, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
    ]
    makers = [text_block, text_block, thinking_block, redacted_block, call_block, result_block]
    for index in range(chance.randint(1, 6)):
        start, deltas = chance.choice(makers)(chance)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
        if chance.random() < 0.2:
            events.append({"type": "ping"})
    reason = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


def sent(events: list[dict[str, Any]]) -> bytes:
    """Return the events as a server sends them."""
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


@pytest.mark.lab
def test_a_stream_gives_what_the_library_accumulates() -> None:
    pytest.importorskip("anthropic")
    from anthropic.lib.streaming._messages import accumulate_event  # type: ignore[import-not-found,unused-ignore]

    for seed in range(STREAMS):
        events = stream(random.Random(seed))
        message: Any = None
        buffers: dict[int, bytes] = {}
        for event in events:
            if event["type"] != "ping":
                message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
        said = "".join(block.text for block in message.content if block.type == "text")
        calls = [(block.id, block.input) for block in message.content if block.type in ("tool_use", "server_tool_use")]
        thoughts = [block.thinking for block in message.content if block.type == "thinking"]
        whole = json.dumps(message.to_dict(mode="json"))
        for data, format in (
            (sent(events), "anthropic-stream"),
            (lines(events), "anthropic-stream"),
            (whole, "anthropic"),
        ):
            reading = read(data, format)
            assert _bare(shown_in(reading)) == _bare([said]), (seed, format)
            assert not [text for text in shown_in(reading) if "SECRET" in text], seed
            found = list(zip(headers(reading), reading.texts, strict=True))
            read_calls = [
                (header.call_id, json.loads(text or "{}")) for header, text in found if header.kind.value == "call"
            ]
            assert read_calls == calls, (seed, format)
            read_thoughts = [text for header, text in found if header.kind.value == "thought" and "[" not in text]
            assert _bare(read_thoughts) == _bare(thoughts), (seed, format)


def _bare(texts: list[str]) -> str:
    """Return each text without whitespace, because messages are trimmed."""
    return "".join("".join(texts).split())
