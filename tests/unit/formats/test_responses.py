"""OpenAI Responses: items, requests, response objects, and the wrappers around them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import codes, examine, read
from tests.support.record_checks import (
    EXAMPLES,
    check_bytes,
    check_forced,
    check_prefixes,
    check_renamed,
    check_values,
    headers,
    kinds,
    shown,
)
from tests.support.samples import Sample, samples
from viewer.formats import detect
from viewer.index.calls import CallState
from viewer.model.messages import Channel, Outcome
from viewer.reading.format import ReadOptions


def message(role: str, *parts: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(parts), **more}


def text(value: str, type: str = "output_text") -> dict[str, Any]:
    return {"type": type, "text": value}


def response(*output: Any, id: str = "resp_1", **more: Any) -> dict[str, Any]:
    return {"id": id, "object": "response", "model": "gpt-5.4", "output": list(output), **more}


def request(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-5.4", "input": list(items), **more}


def seen(value: Any) -> list[str]:
    return shown(json.dumps(value), "responses")


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.slow
def test_every_type_of_item_has_its_kind() -> None:
    rows: list[tuple[list[str], dict[str, Any]]] = [
        (["said"], message("user", text("SECRET_", "input_text"))),
        (["said"], message("user", text("SECRET_", "output_text"))),
        (["said"], message("assistant", text("SECRET_"))),
        (["said"], {"role": "user", "content": "SECRET_"}),
        (["said"], {"role": "assistant", "content": [text("SECRET_")]}),
        (["said"], message("assistant", {"type": "refusal", "refusal": "SECRET_"})),
        (["said"], message("assistant", {"type": "output_audio", "data": "AAAA", "transcript": "SECRET_"})),
        (["instruction"], message("system", text("SECRET_"))),
        (["instruction"], message("developer", "SECRET_")),
        (["thought"], {"type": "reasoning", "summary": [text("SECRET_", "summary_text")]}),
        (["thought"], {"type": "reasoning", "summary": [], "content": [text("SECRET_", "reasoning_text")]}),
        (["thought"], message("assistant", text("SECRET_", "summary_text"))),
        (["thought"], message("assistant", text("SECRET_", "reasoning_text"))),
        (["thought"], message("assistant", text("SECRET_") | {"thought": True})),
        (["call"], {"type": "function_call", "name": "f", "arguments": '{"a":"SECRET_"}', "call_id": "c"}),
        (["call"], {"type": "custom_tool_call", "name": "f", "input": "SECRET_", "call_id": "c"}),
        (["call"], {"type": "shell_call", "action": {"commands": ["SECRET_"]}, "call_id": "c"}),
        (["call"], {"type": "local_shell_call", "action": {"command": ["SECRET_"]}, "call_id": "c"}),
        (["call"], {"type": "apply_patch_call", "operation": {"diff": "SECRET_"}, "call_id": "c"}),
        (["call"], {"type": "computer_call", "action": {"text": "SECRET_"}, "call_id": "c"}),
        (["call"], {"type": "web_search_call", "action": {"query": "SECRET_"}, "status": "completed"}),
        (["call", "reply"], {"type": "file_search_call", "queries": ["SECRET_"], "results": [{"text": "SECRET_"}]}),
        (["call"], {"type": "tool_search_call", "arguments": {"q": "SECRET_"}, "call_id": "c"}),
        (["call"], {"type": "mcp_approval_request", "arguments": '{"a":"SECRET_"}', "id": "c", "name": "f"}),
        (["call", "reply"], {"type": "mcp_call", "arguments": '{"a":"SECRET_"}', "output": "SECRET_", "id": "c"}),
        (["call", "reply"], {"type": "code_interpreter_call", "code": "SECRET_", "outputs": [{"logs": "SECRET_"}]}),
        (["call"], {"type": "image_generation_call", "revised_prompt": "SECRET_", "result": "iVBORw0KGgo="}),
        (["call"], {"type": "program", "code": "SECRET_", "call_id": "c"}),
        (["reply"], {"type": "program_output", "output": "SECRET_", "call_id": "c"}),
        (["reply"], {"type": "function_call_output", "output": "SECRET_", "call_id": "c"}),
        (["reply"], {"type": "function_call_output", "output": [text("SECRET_", "input_text")], "call_id": "c"}),
        (["reply"], {"type": "function_call_output", "output": {"any": "SECRET_"}, "call_id": "c"}),
        (["reply"], {"type": "custom_tool_call_output", "output": "SECRET_", "call_id": "c"}),
        (["reply"], {"type": "shell_call_output", "output": [{"stdout": "SECRET_"}], "call_id": "c"}),
        (["reply"], {"type": "local_shell_call_output", "output": "SECRET_", "id": "c"}),
        (["reply"], {"type": "apply_patch_call_output", "output": "SECRET_", "call_id": "c"}),
        (["reply"], {"type": "tool_search_output", "tools": ["SECRET_"], "call_id": "c"}),
        (["reply"], {"type": "mcp_approval_response", "reason": "SECRET_", "approval_request_id": "c"}),
        (["instruction"], {"type": "mcp_list_tools", "tools": [{"name": "SECRET_"}]}),
        (["instruction"], {"type": "additional_tools", "tools": [{"name": "SECRET_"}]}),
        ([], {"type": "item_reference", "id": "SECRET_"}),
        (["unknown"], {"type": "teleport_call", "text": "SECRET_"}),
        (["unknown"], message("tool", text("SECRET_"))),
        (["unknown"], message("critic", text("SECRET_"))),
        (["unknown"], message("assistant", text("SECRET_"), channel="analysis")),
        (["unknown"], message("assistant", text("SECRET_"), recipient="functions.f")),
        (["unknown"], message("assistant", {"type": "hunch", "text": "SECRET_"})),
        (["unknown"], message("assistant", {"text": "SECRET_"})),
        (["unknown"], message("assistant", {"type": "output_text", "text": {"a": "SECRET_"}})),
        (["unknown"], message("assistant", text("SECRET_") | {"thought": "no"})),
    ]
    for expected, item in rows:
        for value in ([item], response(item), request(item), {"object": "list", "data": [item]}):
            found = [kind for kind, body in kinds(json.dumps(value), "responses") if "SECRET_" in body]
            assert found == expected, value
            assert bool([body for body in seen(value) if "SECRET_" in body]) is (expected == ["said"]), value


def test_instructions_and_prompts_are_hidden_and_occur_once() -> None:
    first = request(message("user", text("Hi", "input_text")), instructions="SECRET_", prompt={"id": "SECRET_PROMPT"})
    found = kinds(lines(first, response(message("assistant", text("Hello")), instructions="SECRET_")), "responses")
    assert [kind for kind, _ in found] == ["instruction", "instruction", "said", "said"]
    assert shown(lines(first), "responses") == ["Hi"]


def test_the_input_may_be_a_text() -> None:
    assert seen({"model": "m", "input": "Hello"}) == ["Hello"]
    assert seen({"input": "SECRET_"}) == []
    assert seen({"type": "x", "model": "m", "input": "SECRET_"}) == []
    assert seen({"object": "response", "model": "m", "output_text": "Hi!"}) == ["Hi!"]


def test_commentary_is_hidden_unless_the_operator_shows_preambles() -> None:
    data = json.dumps(response(message("assistant", text("First"), phase="commentary"))).encode()
    assert not any(read(data, "responses").visible)
    assert read(data, "responses", ReadOptions(harmony_preambles=True)).visible == (True,)
    phases: tuple[Any, ...] = ("Commentary", "final", "draft", 3, ["final_answer"], {})
    for phase in phases:
        assert seen(response(message("assistant", text("SECRET_"), phase=phase))) == []


def test_a_refusal_is_shown_with_its_outcome() -> None:
    reading = read(json.dumps(response(message("assistant", {"type": "refusal", "refusal": "No."}))), "responses")
    assert reading.texts == ("No.",)
    assert [header.outcome for header in headers(reading)] == [Outcome.REFUSED]


def test_an_item_without_content_is_not_a_message() -> None:
    reading = read(json.dumps(response(message("assistant") | {"content": None, "phase": "commentary"})), "responses")
    assert reading.messages == ()


def test_calls_link_by_call_id() -> None:
    call = {"type": "function_call", "id": "fc_1", "name": "f", "arguments": "{}", "call_id": "call_1"}
    reply = {"type": "function_call_output", "id": "fc_9", "output": "x", "call_id": "call_1"}
    rows = [
        (CallState.OK, [call, reply]),
        (CallState.FAILED, [call, reply | {"status": "failed"}]),
        (CallState.FAILED, [{"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "error": "no"}]),
        (CallState.OK, [{"type": "web_search_call", "id": "w", "action": {}, "status": "completed"}]),
        (CallState.FAILED, [{"type": "web_search_call", "id": "w", "action": {}, "status": "failed"}]),
        (
            CallState.TIMEOUT,
            [
                {"type": "shell_call", "call_id": "s", "action": {}},
                {"type": "shell_call_output", "call_id": "s", "output": [{"outcome": {"type": "timeout"}}]},
            ],
        ),
    ]
    for state, items in rows:
        data = json.dumps(items).encode()
        assert [link.state for link in examine([data], data, "responses").calls.links] == [state], items


def test_thoughts_are_on_the_analysis_channel_and_summaries_say_so() -> None:
    item = {"type": "reasoning", "summary": [text("a", "summary_text")], "content": [text("b", "reasoning_text")]}
    found = headers(read(json.dumps([item]), "responses"))
    assert [(header.channel, header.intent) for header in found] == [
        (Channel.ANALYSIS, "summary"),
        (Channel.ANALYSIS, None),
    ]


def test_errors_are_reported_with_their_reasons() -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "m"}}, "W-RUN-ERROR/rate-limit"),
        ({"status": "failed", "error": {"code": "server_error", "message": "m"}}, "W-RUN-ERROR/api"),
        ({"status": "failed", "error": {"message": "m"}}, "W-RUN-ERROR/unknown"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "W-RUN-INCOMPLETE/max-tokens",
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "W-RUN-ERROR/content-filter"),
        ({"status": "cancelled"}, "W-RUN-ERROR/aborted"),
    ]
    for fields, code in rows:
        assert codes(read(json.dumps(response(**fields)), "responses")) == [code], fields
    assert seen(response(status="failed", error={"code": "x", "message": "SECRET_"})) == []


def test_requests_that_repeat_a_conversation_are_one_transcript() -> None:
    ask, ask_more = ({"role": "user", "content": each} for each in ("One?", "Two?"))
    answer = message("assistant", text("1."))
    reading = read(lines(request(ask), response(answer), request(ask, answer, ask_more)), "responses")
    assert (reading.texts, len(reading.transcripts)) == (("One?", "1.", "Two?"), 1)
    reading = read(lines(request(ask), response(answer), request(ask), response(answer, id="r2")), "responses")
    assert (reading.texts, len(reading.transcripts)) == (("One?", "1.", "One?", "1."), 2)
    follow = request(ask_more, previous_response_id="resp_1")
    reading = read(lines(request(ask), response(answer), follow), "responses")
    assert (reading.texts, len(reading.transcripts)) == (("One?", "1.", "Two?"), 1)
    reading = read(lines(response(status="queued"), response(answer), response(answer)), "responses")
    assert (reading.texts, len(reading.transcripts)) == (("1.",), 1)
    reading = read(lines(request(ask), request(ask, answer, ask_more)), "responses")
    assert (reading.texts, len(reading.transcripts)) == (("One?", "1.", "Two?"), 1)


def test_wrappers_are_unwrapped() -> None:
    ask, answer = request({"role": "user", "content": "Hi"}), response(message("assistant", text("Hello")))
    rows = [
        ({"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": ask}, ["Hi"]),
        ({"custom_id": "a", "response": {"status_code": 200, "body": answer}}, ["Hello"]),
        ({"request": ask, "response": answer}, ["Hi", "Hello"]),
        ({"response": {"body": answer}, "request": {"body": ask}}, ["Hello", "Hi"]),
    ]
    for value, expected in rows:
        assert seen(value) == expected
        assert detect(json.dumps(value).encode()).format in ("responses", "json"), value


def test_a_file_with_an_input_is_not_a_request() -> None:
    for value in ({"input": "x", "output": "y"}, {"input": "x", "model": "m", "messages": []}, {"id": 1, "model": "m"}):
        assert detect(json.dumps(value).encode()).format != "responses"


@each("sample", samples("valid/responses"), ids=lambda sample: sample.name, quick=0, test=3)
def test_other_readings_of_the_same_bytes_agree_and_hide_the_same(sample: Sample) -> None:
    assert detect(sample.text).format == "responses", sample.name
    check_bytes(sample.text, "responses")
    check_prefixes(sample.text, "responses", 173)
    check_renamed(sample.text, "responses")
    if sample.base != "growing-requests":  # text that differs counts as said again
        check_values(sample.text, "responses")


@pytest.mark.slow
def test_no_example_shows_hidden_text_with_other_types() -> None:
    check_forced("responses")
    for name in ("responses-items.json", "responses-object.json"):
        check_renamed((EXAMPLES / name).read_bytes(), "responses")


def test_a_row_of_a_training_environment_is_a_request_with_its_response() -> None:
    asked = [{"role": "system", "content": "SECRET_S"}, {"role": "user", "content": "Seen 1."}]
    row = {
        "responses_create_params": {"input": asked, "tools": [{"type": "function", "name": "SECRET_TOOL"}]},
        "response": response(
            {"type": "reasoning", "summary": [text("SECRET_T", "summary_text")]}, message("assistant", text("Seen 2."))
        ),
        "reward": 1.0,
        "expected_answer": "SECRET_E",
    }
    task = {"responses_create_params": {"input": "Seen 3.", "instructions": "SECRET_I"}}
    data = "".join(json.dumps(each) + "\n" for each in (row, task)).encode()
    assert detect(data).format == "responses"
    reading = read(data, "responses")
    assert [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible] == [
        "Seen 1.",
        "Seen 2.",
        "Seen 3.",
    ]
    assert codes(reading) == []
