"""Anthropic Messages: each part, record, and pitfall of the format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.record_formats import (
    EXAMPLES,
    SECRET,
    assert_cuts_do_not_matter,
    assert_forced_hides,
    assert_renamed_types_hide,
    assert_truncation_hides,
    hidden,
    lines,
    outcomes,
    problems,
    reading,
    shown,
)
from viewer.formats import detect

Json = dict[str, Any]
FORMAT = "anthropic"
TEXT = {"type": "text", "text": "Hello."}
CALL = {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "SECRET_ARG"}}


def request(*messages: Json, **members: Any) -> Json:
    return {"model": "claude-x", "max_tokens": 10, "messages": list(messages), **members}


def user(*parts: object) -> Json:
    return {"role": "user", "content": list(parts)}


def assistant(*parts: object) -> Json:
    return {"role": "assistant", "content": list(parts)}


def response(*parts: object, **members: Any) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": list(parts),
        "stop_reason": "end_turn",
    } | members


PARTS: list[tuple[Json, str, str]] = [
    ({"type": "thinking", "thinking": "SECRET_1", "signature": "s"}, "unknown", "thought"),
    ({"type": "redacted_thinking", "data": "c2VjcmV0"}, "unknown", "thought"),
    (CALL, "unknown", "call"),
    (CALL | {"type": "server_tool_use"}, "unknown", "call"),
    (CALL | {"type": "mcp_tool_use", "server_name": "s"}, "unknown", "call"),
    ({"type": "tool_result", "tool_use_id": "t1", "content": "SECRET_1"}, "reply", "reply"),
    ({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "SECRET_1"}]}, "reply", "reply"),
    ({"type": "tool_result", "tool_use_id": "t1"}, "reply", "reply"),
    ({"type": "mcp_tool_result", "tool_use_id": "t1", "content": "SECRET_1"}, "reply", "reply"),
    ({"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"url": "SECRET_1"}]}, "reply", "reply"),
    ({"type": "some_new_tool_result", "tool_use_id": "t1", "content": {"a": "SECRET_1"}}, "reply", "reply"),
    (
        {"type": "search_result", "title": "SECRET_1", "content": [{"type": "text", "text": "SECRET_2"}]},
        "injected",
        "injected",
    ),
    ({"type": "container_upload", "file_id": "SECRET_1"}, "injected", "injected"),
    ({"type": "compaction", "content": "SECRET_1"}, "replayed", "replayed"),
    ({"type": "fallback", "from": "SECRET_1"}, "notice", "notice"),
    ({"type": "document", "source": {"type": "text", "data": "SECRET_1"}}, "injected", "unknown"),
    ({"type": "weather", "text": "SECRET_1"}, "unknown", "unknown"),
    ({"toolUse": {"toolUseId": "b1", "name": "f", "input": {"a": "SECRET_1"}}}, "unknown", "call"),
    ({"toolResult": {"toolUseId": "b1", "content": [{"text": "SECRET_1"}]}}, "reply", "reply"),
    ({"reasoningContent": {"reasoningText": {"text": "SECRET_1", "signature": "s"}}}, "unknown", "thought"),
    ({"reasoningContent": {"redactedContent": "c2VjcmV0"}}, "unknown", "thought"),
    ({"guardContent": {"text": {"text": "SECRET_1"}}}, "unknown", "unknown"),
    ({"text": "SECRET_1", "thought": True}, "unknown", "unknown"),
]


@pytest.mark.slow
def test_each_part_has_its_kind_in_each_role() -> None:
    for part, in_user, in_assistant in PARTS:
        for speaker, kind in ((user, in_user), (assistant, in_assistant)):
            data = request(speaker(part, TEXT), system="SECRET_SYS")
            found = hidden(data, FORMAT)
            assert shown(data, FORMAT) == ["Hello."], part
            assert [each for each, _ in found] == ["instruction", kind], (part, speaker)
            secrets = [word for word in ("SECRET_1", "SECRET_2") if word in json.dumps(part)]
            assert all(any(word in text for _, text in found) for word in secrets), part
            assert ("W-PART-UNKNOWN" in problems(data, FORMAT)) is (kind == "unknown"), part


def test_text_and_strings_are_said_in_both_roles() -> None:
    data = request(user(TEXT), {"role": "assistant", "content": "Hi."}, user({"text": "Bedrock."}))
    assert shown(data, FORMAT) == ["Hello.", "Hi.", "Bedrock."]


def test_attachments_are_labels_and_never_data() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "U0VDUkVU" * 9}}
    file: Json = {"type": "document", "title": "SECRET_TITLE", "context": "SECRET_CONTEXT"}
    file["source"] = {"type": "base64", "media_type": "application/pdf", "data": "U0VDUkVU" * 9}
    data = request(user(TEXT, image, file))
    assert shown(data, FORMAT) == ["Hello.\n[image/png, 54 B]\n[application/pdf, 54 B]"]
    assert hidden(data, FORMAT) == [("injected", "SECRET_TITLE"), ("injected", "SECRET_CONTEXT")]
    assert shown(request(user({"image": {"format": "png", "source": {"bytes": "AAAA"}}})), FORMAT) == ["[image, 3 B]"]
    assert shown(request(assistant(file, TEXT)), FORMAT) == ["Hello."]


def test_a_cache_point_and_empty_text_are_not_messages() -> None:
    data = request(user({"cachePoint": {"type": "default"}}, {"type": "text", "text": ""}, TEXT), assistant())
    assert shown(data, FORMAT) == ["Hello."]
    assert hidden(data, FORMAT) == []
    assert problems(data, FORMAT) == []


def test_the_text_of_a_user_follows_the_result_in_the_same_message() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "SECRET_OUT"}
    data = request(assistant(CALL), user(result, TEXT))
    assert [message.header.kind.value for message in reading(data, FORMAT).messages] == ["call", "reply", "said"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        ({"is_error": True, "content": "no"}, "failed"),
        ({"is_error": False, "content": "yes"}, None),
        (
            {"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error", "error_code": "x"}},
            "failed",
        ),
        ({"type": "bash_code_execution_tool_result", "content": {"type": "some_new_error"}}, "failed"),
        ({"type": "web_fetch_tool_result", "content": [{"type": "web_fetch_tool_error"}]}, "failed"),
    ],
)
def test_a_result_states_its_failure(part: Json, outcome: str | None) -> None:
    data = request(user({"type": "tool_result", "tool_use_id": "t1"} | part))
    assert outcomes(data, FORMAT) == [outcome]


def test_bedrock_states_its_failure_too() -> None:
    part = {"toolResult": {"toolUseId": "b1", "status": "error", "content": [{"json": {"a": "SECRET_1"}}]}}
    assert outcomes(request(user(part)), FORMAT) == ["failed"]


def test_system_and_tools_are_instructions_before_everything_else() -> None:
    tools = [{"name": "look", "description": "SECRET_TOOL", "input_schema": {"type": "object", "required": ["q", "z"]}}]
    for system in ("SECRET_SYS", [{"type": "text", "text": "SECRET_SYS"}], [{"text": "SECRET_SYS"}]):
        data = request(user(TEXT), assistant(CALL), system=system, tools=tools)
        kinds = [kind for kind, _ in hidden(data, FORMAT)]
        assert kinds == ["instruction", "instruction", "call"]
        assert "E-CALL-SCHEMA/missing-argument" in problems(data, FORMAT)
        assert shown(data, FORMAT) == ["Hello."]


def test_a_message_of_another_role_or_type_is_hidden() -> None:
    for odd in ({"role": "critic"}, {"role": "user", "type": "x"}, {"role": "user", "channel": "analysis"}, {}):
        data = request(user(TEXT), odd | {"content": "SECRET_1"})
        assert shown(data, FORMAT) == ["Hello."], odd
        assert "W-RECORD-UNKNOWN" in problems(data, FORMAT)
    for role in ("system", "developer", "tool"):
        assert shown(request(user(TEXT), {"role": role, "content": "SECRET_1"}), FORMAT) == ["Hello."]


def test_content_of_a_wrong_type_is_hidden() -> None:
    for content in ({"text": {"a": "SECRET_1"}}, 5, True, [["SECRET_1"]], [{"type": "text", "text": ["SECRET_1"]}]):
        data = request({"role": "user", "content": content})
        assert not any(SECRET in text for text in shown(data, FORMAT)), content
    repeated = b'{"system":"s","messages":[{"role":"system","role":"user","content":"SECRET_1"}]}'
    assert shown(repeated, FORMAT) == []
    assert problems(request({"role": "user", "text": "SECRET_1"}), FORMAT) == ["W-CONTENT-MISSING"]


def test_a_beginning_in_the_request_is_joined_with_the_response() -> None:
    begun = request(user(TEXT), assistant({"type": "text", "text": "The sum is "}), system="SECRET_SYS")
    answer = response({"type": "text", "text": "12."})
    for data in (lines(begun, answer), lines({"request": begun, "response": answer})):
        assert shown(data, FORMAT) == ["Hello.", "The sum is 12."]
    assert shown(lines(begun), FORMAT) == ["Hello.", "The sum is"]
    assert shown(lines(begun, answer, answer), FORMAT) == ["Hello.", "The sum is 12.", "12."]
    thought = {"type": "thinking", "thinking": "SECRET_1"}
    assert shown(lines(begun, response(thought, TEXT)), FORMAT) == ["Hello.", "The sum is", "Hello."]
    several = request(assistant(TEXT), assistant(TEXT))
    assert shown(several, FORMAT) == ["Hello.", "Hello."]


STOPS = {
    "max_tokens": ["W-RUN-INCOMPLETE/max-tokens"],
    "pause_turn": ["W-RUN-INCOMPLETE/pause"],
    "refusal": ["W-RUN-ERROR/refused"],
    "model_context_window_exceeded": ["W-RUN-ERROR/context-length"],
    "end_turn": [],
    "tool_use": [],
    "stop_sequence": [],
}


def test_each_stop_reason_has_its_problem_and_the_text_stays_shown() -> None:
    for reason, expected in STOPS.items():
        data = response(TEXT, stop_reason=reason)
        assert shown(data, FORMAT) == ["Hello."]
        assert problems(data, FORMAT) == expected, reason


ERRORS = {
    "overloaded_error": "api",
    "api_error": "api",
    "rate_limit_error": "rate-limit",
    "authentication_error": "auth",
    "permission_error": "auth",
}


def test_an_error_is_a_notice() -> None:
    for kind, reason in ERRORS.items():
        data = {"type": "error", "error": {"type": kind, "message": "SECRET_1"}}
        assert detect(json.dumps(data).encode()).format == FORMAT
        assert hidden(data, FORMAT) == [("notice", "SECRET_1")]
        assert problems(data, FORMAT) == [f"W-RUN-ERROR/{reason}"]


def test_batches_are_one_transcript_a_request() -> None:
    data = lines(
        {"custom_id": "a", "result": {"type": "succeeded", "message": response(TEXT)}},
        {
            "custom_id": "b",
            "result": {"type": "errored", "error": {"type": "error", "error": {"type": "x", "message": "SECRET_1"}}},
        },
        {"custom_id": "c", "result": {"type": "expired"}},
    )
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Hello."]
    assert problems(data, FORMAT) == ["W-RUN-ERROR/api", "W-RUN-INCOMPLETE/stopped"]
    assert len(reading(data, FORMAT).transcripts) == 3
    asked = lines({"custom_id": "a", "params": request(user(TEXT), system="SECRET_SYS")})
    assert detect(asked).format == FORMAT
    assert shown(asked, FORMAT) == ["Hello."]


def test_a_capture_has_its_request_and_its_response() -> None:
    sent, got = request(user(TEXT), system="SECRET_SYS"), response({"type": "text", "text": "Hi."})
    captures = (
        {"request": sent, "response": got},
        {"request": {"body": sent}, "response": {"body": got}},
        {
            "request": {"body": json.dumps(sent)},
            "response": {"body": json.dumps(got)},
            "headers": {"x-api-key": "SECRET_KEY"},
        },
    )
    for data in captures:
        assert shown(data, FORMAT) == ["Hello.", "Hi."], data
        assert not any("SECRET_KEY" in text for text in shown(data, FORMAT))


def test_bedrock_converse_is_read() -> None:
    data = lines(
        {
            "modelId": "m",
            "system": [{"text": "SECRET_SYS"}],
            "messages": [{"role": "user", "content": [{"text": "Hello."}]}],
        },
        {"output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}}, "stopReason": "max_tokens"},
    )
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Hello.", "Hi."]
    assert problems(data, FORMAT) == ["W-RUN-INCOMPLETE/max-tokens"]


def test_text_completions_are_joined_and_the_prompt_is_hidden() -> None:
    data = lines(
        {"model": "m", "prompt": "\n\nHuman: SECRET_1\n\nAssistant:", "max_tokens_to_sample": 5},
        {"type": "completion", "completion": " Twelve", "stop_reason": None},
        {"type": "completion", "completion": " apples.", "stop_reason": None},
        {"type": "completion", "completion": "", "stop_reason": "stop_sequence"},
    )
    assert shown(data, FORMAT) == ["Twelve apples."]
    assert problems(data, FORMAT) == []
    assert hidden(data, FORMAT)[0][0] == "unknown"
    cut = lines({"type": "completion", "completion": "Twelve", "stop_reason": None})
    assert problems(cut, FORMAT) == ["E-STREAM-TRUNCATED/event-stream"]


def test_thoughts_in_the_text_of_an_answer_are_hidden() -> None:
    data = request({"role": "assistant", "content": "<thinking>SECRET_1</thinking>Hello."}, system="s")
    assert shown(data, FORMAT) == ["Hello."]


DETECTED = [
    request(user(TEXT), system="s"),
    request(user(TEXT), assistant(CALL)),
    request(user(TEXT), assistant({"toolUse": {"toolUseId": "b1", "name": "f", "input": {}}})),
    [user(TEXT), assistant(CALL), user({"type": "tool_result", "tool_use_id": "t1", "content": "x"}), assistant(TEXT)],
    [user(TEXT), assistant(CALL), user(TEXT), assistant(TEXT), user(TEXT)],
    response(TEXT),
    {"type": "completion", "completion": "Hi.", "stop_reason": "stop_sequence"},
]


def test_the_format_is_detected_by_its_parts() -> None:
    for data in DETECTED:
        assert detect(json.dumps(data).encode()).format == FORMAT, data
        assert detect(json.dumps(data, indent=1).encode()).format == FORMAT, data
    long = {
        "model": "m",
        "id": "a",
        "type": "message",
        "role": "assistant",
        "content": [CALL, {**TEXT, "text": "a" * 70_000}],
    }
    assert detect(json.dumps({**long, "stop_reason": "end_turn"}).encode()).format == FORMAT
    assert detect(json.dumps(request(user(TEXT), assistant(TEXT))).encode()).format == "json"
    assert detect(json.dumps([user(TEXT), assistant(TEXT)]).encode()).format == "json"


EVERYTHING = request(
    *(speaker(part, TEXT) for part, *_ in PARTS for speaker in (user, assistant)), system="SECRET_SYS", tools=[CALL]
)
EXAMPLE = (EXAMPLES / "anthropic-request.json").read_bytes()


def test_the_example_has_one_problem() -> None:
    assert problems(EXAMPLE, FORMAT) == ["W-PART-UNKNOWN"]


def test_how_the_input_is_cut_does_not_matter() -> None:
    assert_cuts_do_not_matter(EXAMPLE, FORMAT)
    assert_cuts_do_not_matter(lines(request(user(TEXT)), response(TEXT), EVERYTHING)[:3000], FORMAT)


@pytest.mark.slow
def test_a_cut_document_shows_nothing_hidden() -> None:
    assert_truncation_hides(json.dumps(EVERYTHING).encode(), FORMAT)


@pytest.mark.slow
def test_renaming_any_type_shows_nothing_more() -> None:
    assert_renamed_types_hide(EXAMPLE, FORMAT)
    assert_renamed_types_hide(json.dumps(EVERYTHING).encode(), FORMAT)


def test_other_formats_read_as_this_one_show_nothing_hidden() -> None:
    assert_forced_hides(FORMAT)


def test_a_result_of_amp_is_linked_and_states_its_outcome() -> None:
    codes = {None: [], "failed": ["W-TOOL-FAILED"], "cancelled": ["E-TOOL-CANCELLED/reported"]}
    for status, state in (("done", None), ("error", "failed"), ("cancelled", "cancelled")):
        result = {"type": "tool_result", "toolUseID": "t1", "run": {"status": status, "result": "SECRET_OUT"}}
        data = request(user(TEXT), assistant(CALL), user(result))
        assert outcomes(data, FORMAT)[-1] == state
        assert shown(data, FORMAT) == ["Hello."]
        assert problems(data, FORMAT) == codes[state]
