"""Token usage in record formats: each reply counts once, and only an audience that sees everything sees the usage."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.printing import SURFACES
from tests.support.program import run
from tests.support.reading import examine
from viewer.model.messages import Usage


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def usages(text: bytes, format: str, size: int = 0) -> dict[int, Usage]:
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    return examine(pieces, text, format).index.usages.by_message


def claude(text: str, id: str, output: int, **more: int) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": output, **more}
    message = {"id": id, "role": "assistant", "content": [{"type": "text", "text": text}], "usage": usage}
    return {"type": "assistant", "uuid": f"{id}{text}", "sessionId": "s", "message": message}


def codex(type: str, /, **payload: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": type, **payload}}


def counter(input: int, output: int) -> dict[str, Any]:
    total = {"input_tokens": input, "cached_input_tokens": 1, "output_tokens": output, "total_tokens": input + output}
    return codex("token_count", info={"total_token_usage": total})


def test_lines_of_one_reply_count_once() -> None:
    text = lines(claude("One.", "m1", 4), claude("Two.", "m1", 9), claude("Three.", "m2", 1, cache_read_input_tokens=5))
    assert usages(text, "claude-code") == {1: Usage(3, 9), 3: Usage(8, 1, 5)}


def test_the_changes_of_a_counter_count() -> None:
    said = [codex("agent_message", message=f"Text {number}.") for number in range(3)]
    text = lines(
        counter(1, 1), said[0], counter(10, 5), counter(10, 5), said[1], counter(14, 9), said[2], counter(2, 2)
    )
    assert usages(text, "codex") == {
        1: Usage(10, 5, 1, None, 15),
        2: Usage(4, 4, 0, None, 8),
        3: Usage(2, 2, 1, None, 4),
    }


def test_a_stream_counts_what_its_last_record_states() -> None:
    text = lines(
        {
            "type": "message_start",
            "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 21, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi!"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 12}},
        {"type": "message_stop"},
    )
    assert usages(text, "anthropic-stream") == {1: Usage(21, 12)}
    assert usages(text[: text.index(b'{"type": "message_delta"')], "anthropic-stream") == {1: Usage(21, 1)}


def test_every_format_states_usage_in_its_own_way() -> None:
    chat = {"role": "user", "content": "Hi"}
    gemini = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}], "responseId": "r"}
    numbers = {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 14}
    steps = [{"step_id": 1, "source": "user", "message": "Hi"}, {"step_id": 2, "source": "agent", "message": "Yes"}]
    responses = {"id": "r", "object": "response", "output": [{"type": "message", "role": "assistant", "content": "Hi"}]}
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2}}
    cases: list[tuple[str, list[dict[str, Any]], Usage]] = [
        (
            "anthropic",
            [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": "Hi",
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 9, "cache_creation_input_tokens": 1, "output_tokens": 3},
                }
            ],
            Usage(10, 3),
        ),
        (
            "responses",
            [{**responses, "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12, **details}}],
            Usage(9, 3, 4, 2, 12),
        ),
        (
            "gemini",
            [{**gemini, "usageMetadata": {"promptTokenCount": 9}}, {**gemini, "usageMetadata": numbers}],
            Usage(9, 5, None, 2, 14),
        ),
        (
            "ollama",
            [
                {
                    "model": "m",
                    "message": {"role": "assistant", "content": "Hi"},
                    "done": True,
                    "prompt_eval_count": 9,
                    "eval_count": 3,
                }
            ],
            Usage(9, 3),
        ),
        (
            "atif",
            [
                {
                    "schema_version": "ATIF-v1.7",
                    "steps": [
                        steps[0],
                        {**steps[1], "metrics": {"prompt_tokens": 9, "completion_tokens": 3, "cached_tokens": 4}},
                    ],
                }
            ],
            Usage(9, 3, 4),
        ),
        (
            "inspect",
            [
                {
                    "eval": {"model": "m"},
                    "status": "success",
                    "samples": [
                        {
                            "id": 1,
                            "epoch": 1,
                            "input": "Hi",
                            "messages": [chat],
                            "model_usage": {"m": {"input_tokens": 9, "output_tokens": 3, "input_tokens_cache_read": 4}},
                        }
                    ],
                }
            ],
            Usage(13, 3, 4),
        ),
        (
            "codex-exec",
            [
                {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Hi"}},
                {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 3}},
            ],
            Usage(9, 3),
        ),
    ]
    for format, records, expected in cases:
        found = usages(lines(*records), format)
        assert list(found.values()) == [expected], format
        assert usages(lines(*records), format, 7) == found, format


def test_a_stream_of_events_states_usage_once() -> None:
    def chunk(delta: dict[str, str], used: dict[str, int] | None) -> dict[str, Any]:
        return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}], "usage": used}

    numbers = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    texts = [chunk({"role": "assistant", "content": "H"}, {"prompt_tokens": 9}), chunk({"content": "i"}, numbers)]
    last = {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": numbers}
    assert usages(lines(*texts, last), "events") == {1: Usage(9, 3, None, None, 12)}
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": {"id": "r", "usage": {"input_tokens": 9, "output_tokens": 3}}},
    ]
    assert usages(lines(*events), "responses-stream") == {1: Usage(9, 3)}


def test_a_span_of_a_trace_states_usage() -> None:
    def attribute(key: str, value: dict[str, str]) -> dict[str, object]:
        return {"key": key, "value": value}

    messages = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}])
    span = {
        "traceId": "1",
        "spanId": "2",
        "name": "chat",
        "attributes": [
            attribute("gen_ai.operation.name", {"stringValue": "chat"}),
            attribute("gen_ai.output.messages", {"stringValue": messages}),
            attribute("gen_ai.usage.input_tokens", {"intValue": "9"}),
            attribute("gen_ai.usage.output_tokens", {"intValue": "3"}),
        ],
    }
    text = lines({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert usages(text, "otel") == {1: Usage(9, 3)}


def test_a_value_that_is_not_a_count_is_not_usage() -> None:
    for value in (-1, 1.5, "a", None, True, [3], 10**16, {"a": 1}):
        text = lines({"type": "message", "role": "assistant", "content": "Hi", "usage": {"input_tokens": value}})
        assert usages(text, "anthropic") == {}, value


@pytest.mark.slow
def test_only_an_audience_that_sees_everything_sees_usage(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(claude("Hi!", "m1", 98765), claude("Yes.", "m2", 1)))
    for options in ([], ["--strict-safe"], ["--reveal", "tool"]):
        assert "98,7" not in run("stats", *options, str(path)).out
        assert json.loads(run("stats", "--json", *options, str(path)).out)["usage"] is None
    for command, *options in SURFACES:
        printed = run(command, str(path), *options)
        assert not re.search(r"98[,.]?76", printed.out + printed.err), (command, *options)
    assert "98,766" in run("stats", "-d", str(path)).out
    found = json.loads(run("stats", "--json", "-d", str(path)).out)["usage"]
    assert found == {"input": 6, "output": 98766, "cached": None, "reasoning": None, "total": None}
    steps = json.loads(run("convert", "--to", "atif", "-d", str(path)).out)["steps"]
    assert [step["metrics"]["completion_tokens"] for step in steps] == [98765, 1]
    assert "metrics" not in run("convert", "--to", "atif", str(path)).out


def test_a_stated_total_counts_instead_of_the_replies(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    step = {"step_id": 1, "source": "agent", "message": "Yes", "metrics": {"prompt_tokens": 9}}
    path.write_bytes(
        lines({"schema_version": "ATIF-v1.7", "steps": [step], "final_metrics": {"total_prompt_tokens": 11}})
    )
    assert json.loads(run("stats", "--json", "-d", str(path)).out)["usage"]["input"] == 11


def test_the_head_of_a_session_of_goose_states_a_total(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    head = {"working_dir": "/a", "accumulated_input_tokens": 5, "accumulated_output_tokens": 6, "input_tokens": 1}
    path.write_bytes(lines(head, {"role": "user", "created": 1, "content": [{"type": "text", "text": "Go."}]}))
    found = json.loads(run("stats", "--json", "-d", str(path)).out)["usage"]
    assert (found["input"], found["output"]) == (5, 6)


def test_a_repeated_member_is_neither_usage_nor_a_fault() -> None:
    text = lines(claude("Hi!", "m1", 4)).replace(
        b'{"type": "assistant"', b'{"type": "assistant", "type": "assistant"', 1
    )
    assert usages(text, "claude-code") == {}


def completion(text: str, prompt: int, output: int) -> dict[str, Any]:
    details = {"cached_tokens": 1}
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": details}
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}


def test_chat_completions_state_their_tokens() -> None:
    one, two = completion("a", 3, 4), completion("b", 5, 6)
    expected = {1: Usage(3, 4, 1), 2: Usage(5, 6, 1)}
    assert usages(lines(one, two), "json") == expected
    assert usages(json.dumps([one, two]).encode(), "json") == expected
    assert usages(json.dumps([one, two], indent=1).encode(), "json", 7) == expected
    asked = {"messages": [{"role": "user", "content": "q"}]}
    for text in (
        lines({"request": asked, "response": one}),
        lines({"kwargs": asked, "response_obj": one}),
        lines({"custom_id": "x", "request": asked, "response": {"body": one}}),
        json.dumps({**asked, "response": one}, indent=1).encode(),
    ):
        assert usages(text, "json") == {2: Usage(3, 4, 1)}, text
    assert usages(lines({**one, "usage": {"prompt_tokens": "x"}}, {**one, "usage": 7}), "json") == {}


@pytest.mark.parametrize(
    ("format", "records", "expected"),
    [
        (
            "cline",
            [
                {"ts": 1, "type": "say", "say": "task", "text": "Go."},
                {
                    "ts": 2,
                    "type": "say",
                    "say": "api_req_started",
                    "text": '{"tokensIn":2,"tokensOut":3,"cacheReads":4}',
                },
            ],
            {1: Usage(6, 3, 4)},
        ),
        (
            "openhands",
            [
                {"id": 1, "source": "user", "action": "message", "args": {"content": "Go."}},
                *(
                    {
                        "id": count,
                        "source": "agent",
                        "action": "message",
                        "args": {"content": f"Yes {count}."},
                        "llm_metrics": {"accumulated_token_usage": {"prompt_tokens": count, "completion_tokens": 1}},
                    }
                    for count in (2, 5)
                ),
            ],
            {2: Usage(2, 1), 3: Usage(3, 0)},
        ),
        (
            "mlflow",
            [
                {
                    "info": {"trace_id": "t"},
                    "data": {
                        "spans": [
                            {
                                "context": {"trace_id": "1", "span_id": "2"},
                                "attributes": {
                                    "mlflow.spanType": '"LLM"',
                                    "mlflow.spanInputs": '"Go."',
                                    "mlflow.spanOutputs": '"Yes."',
                                    "mlflow.chat.tokenUsage": '{"input_tokens":3,"output_tokens":4,"total_tokens":7}',
                                },
                            }
                        ]
                    },
                }
            ],
            {2: Usage(3, 4, None, None, 7)},
        ),
        (
            "langsmith",
            [
                {
                    "id": "r",
                    "trace_id": "r",
                    "run_type": "llm",
                    "inputs": {"messages": [{"role": "user", "content": "Go."}]},
                    "outputs": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
                    "prompt_tokens": 3,
                    "completion_tokens": 4,
                    "total_tokens": 7,
                }
            ],
            {2: Usage(3, 4, None, None, 7)},
        ),
    ],
)
def test_sessions_and_traces_state_their_tokens(
    format: str, records: list[dict[str, Any]], expected: dict[int, Usage]
) -> None:
    assert usages(lines(*records), format) == expected
