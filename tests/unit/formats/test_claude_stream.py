"""The output of Claude Code: records, stream events in them, copies, errors, and other agents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.record_formats import (
    EXAMPLES,
    assert_cuts_do_not_matter,
    assert_forced_hides,
    assert_renamed_types_hide,
    assert_truncation_hides,
    hidden,
    lines,
    problems,
    reading,
    shown,
)
from viewer.formats import detect

Json = dict[str, Any]
FORMAT = "claude-stream"
INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": ["Bash"], "cwd": "/SECRET_CWD"}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def assistant(*parts: Json, id: str | None = "m1", **members: Any) -> Json:
    message: Json = {"type": "message", "role": "assistant", "content": list(parts)} | ({"id": id} if id else {})
    return {"type": "assistant", "message": message, "session_id": "s", "parent_tool_use_id": None} | members


def user(content: object, **members: Any) -> Json:
    return {"type": "user", "message": {"role": "user", "content": content}, "session_id": "s"} | members


def event(of: Json, parent: object = None) -> Json:
    return {"type": "stream_event", "event": of, "session_id": "s", "parent_tool_use_id": parent}


def streamed(words: str, id: str | None = "m1", parent: object = None, kind: str = "text") -> list[Json]:
    """Return the events of a reply with one block."""
    message: Json = {"role": "assistant", "content": []} | ({"id": id} if id else {})
    half = len(words) // 2
    delta = "text" if kind == "text" else "thinking"
    found: list[Json] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, delta: ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": f"{delta}_delta", delta: piece}}
            for piece in (words[:half], words[half:])
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    return [event(each, parent) for each in found]


def result(words: str | None, **members: Any) -> Json:
    record = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "total_cost_usd": 0.1}
    return record | ({} if words is None else {"result": words}) | members


def test_records_of_the_main_agent_are_read_as_in_a_session_file() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "SECRET_CMD"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "SECRET_OUT", "is_error": True}
    data = lines(
        INIT,
        user("Go.<system-reminder>SECRET_REMINDER</system-reminder>"),
        assistant({"type": "thinking", "thinking": "SECRET_TH"}, text("I look."), call),
        user([back], tool_use_result={"stdout": "SECRET_OUT"}),
        assistant(text("Done."), id="m2"),
        result("Done."),
    )
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Go.", "I look.", "Done."]
    assert [kind for kind, _ in hidden(data, FORMAT)] == ["injected", "thought", "call", "reply"]
    assert problems(data, FORMAT) == ["W-TOOL-FAILED"]


def test_the_records_that_follow_a_stream_are_its_copies() -> None:
    for id in ("m1", None):
        events, whole = streamed("Hello there.", id), assistant(text("Hello there."), id=id)
        for data in (lines(INIT, *events, whole), lines(INIT, *events[:4], whole, *events[4:])):
            assert shown(data, FORMAT) == ["Hello there."], id
            assert problems(data, FORMAT) == []
            assert shown(data + lines(result("Hello there.")), FORMAT) == ["Hello there."]
    thought = lines(*streamed("SECRET_TH", kind="thinking"), assistant({"type": "thinking", "thinking": "SECRET_TH"}))
    assert hidden(thought, FORMAT) == [("thought", "SECRET_TH")]
    other = lines(*streamed("Hello."), assistant(text("Good day."), id="m2"))
    assert shown(other, FORMAT) == ["Hello.", "Good day."]


def test_a_call_that_was_streamed_is_one_call() -> None:
    start, _, _, _, *rest = streamed("")
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    argument = {"type": "input_json_delta", "partial_json": '{"command":"SECRET_CMD"}'}
    block = [
        event({"type": "content_block_start", "index": 0, "content_block": call}),
        event({"type": "content_block_delta", "index": 0, "delta": argument}),
    ]
    whole = assistant(call | {"input": {"command": "SECRET_CMD"}})
    assert hidden(lines(start, *block, whole, *rest), FORMAT) == [("call", '{"command":"SECRET_CMD"}')]


def test_everything_of_another_agent_is_hidden() -> None:
    data = lines(
        INIT,
        *streamed("SECRET_STREAM", parent="t9"),
        assistant(text("SECRET_ANSWER"), id="m9", parent_tool_use_id="t9"),
        user("SECRET_PROMPT", parent_tool_use_id="t9"),
        user("SECRET_ODD", parent_tool_use_id=""),
        assistant(text("SECRET_ODD"), id="m8", parent_tool_use_id=False),
        assistant(text("Done."), id="m2"),
    )
    assert shown(data, FORMAT) == ["Done."]
    assert {kind for kind, _ in hidden(data, FORMAT)} == {"subagent"}
    assert len([each for _, each in hidden(data, FORMAT) if each == "SECRET_STREAM"]) == 1


def test_the_streams_of_two_agents_do_not_mix() -> None:
    pairs = zip(streamed("Hello."), streamed("SECRET_1", "m9", "t9"), strict=True)
    data = lines(INIT, *(each for pair in pairs for each in pair))
    assert shown(data, FORMAT) == ["Hello."]
    assert hidden(data, FORMAT) == [("subagent", "SECRET_1")]
    assert problems(data, FORMAT) == []


def test_synthetic_and_flagged_prompts_are_hidden() -> None:
    for member in ("isSynthetic", "isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly"):
        for value in (True, "true", 1):
            data = lines(INIT, user("SECRET_1", **{member: value}))
            assert shown(data, FORMAT) == [], (member, value)
            replayed = lines(INIT, user("SECRET_1", isReplay=True, **{member: value}))
            assert shown(replayed, FORMAT) == [], (member, value)


def test_a_replayed_prompt_is_a_copy_or_the_prompt_itself() -> None:
    prompt, replay = user("Hello.", uuid="u1"), user("Hello.", uuid="u1", isReplay=True)
    assert shown(lines(INIT, prompt, replay), FORMAT) == ["Hello."]
    assert shown(lines(INIT, replay, assistant(text("Hi."))), FORMAT) == ["Hello.", "Hi."]
    assert shown(lines(INIT, replay, replay), FORMAT) == ["Hello.", "Hello."]
    tagged = user("Hi.<system-reminder>SECRET_1</system-reminder>", isReplay=True)
    assert shown(lines(INIT, tagged), FORMAT) == ["Hi."]


def test_a_result_that_nothing_said_before_is_said() -> None:
    data = lines(result("The answer is 4."))
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["The answer is 4."]
    assert problems(data, FORMAT) == ["I-STREAM-FINAL-ONLY"]
    assert shown(lines(INIT, user("4"), result("4")), FORMAT) == ["4", "4"]


def test_errors_are_notices() -> None:
    cases: list[tuple[Json, list[str]]] = [
        (result("SECRET_1", is_error=True), ["W-RUN-ERROR/api"]),
        (result(None, subtype="error_max_turns", errors=["SECRET_1"]), ["W-RUN-ERROR/unknown"]),
        (result("SECRET_1", subtype="error_during_execution"), ["W-RUN-ERROR/unknown"]),
        (assistant(text("SECRET_1"), error="rate_limit"), ["W-RUN-ERROR/rate-limit"]),
        (assistant(text("SECRET_1"), error="authentication_failed"), ["W-RUN-ERROR/auth"]),
        (assistant(text("SECRET_1"), error="server_error"), ["W-RUN-ERROR/api"]),
        (assistant(text("SECRET_1"), isApiErrorMessage=True), ["W-RUN-ERROR/api"]),
    ]
    for record, expected in cases:
        data = lines(INIT, record)
        assert shown(data, FORMAT) == [], record
        assert [kind for kind, _ in hidden(data, FORMAT)] == ["notice"], record
        assert problems(data, FORMAT) == expected, record
    for odd in ({"subtype": "new"}, {"is_error": "false"}, {"subtype": None}):
        assert shown(lines(INIT, result("SECRET_1", **odd)), FORMAT) == [], odd


def test_other_records_are_hidden_or_metadata() -> None:
    others: list[Json] = [
        {"type": "system", "subtype": "hook_response", "stdout": "SECRET_1"},
        {"type": "system", "subtype": "compact_boundary", "content": "SECRET_1"},
        {"type": "tool_use_summary", "summary": "SECRET_1"},
        {"type": "control_request", "request": {"input": "SECRET_1"}},
        {"type": "brand_new", "content": "SECRET_1"},
    ]
    for record in others:
        data = lines(INIT, record | {"session_id": "s"}, assistant(text("Hi.")))
        assert shown(data, FORMAT) == ["Hi."]
        assert any("SECRET_1" in words for _, words in hidden(data, FORMAT)), record
    quiet = lines(INIT, {"type": "keep_alive"}, {"type": "tool_progress", "session_id": "s"}, assistant(text("Hi.")))
    assert (hidden(quiet, FORMAT), problems(quiet, FORMAT)) == ([], [])


def test_another_session_starts_another_transcript() -> None:
    again = json.loads(json.dumps([INIT, assistant(text("Hi."))]).replace('"s"', '"s2"'))
    assert (
        len(
            reading(
                lines(INIT, assistant(text("Hi.")), INIT, assistant(text("Hi."), id="m2"), *again), FORMAT
            ).transcripts
        )
        == 2
    )


EXAMPLE = (EXAMPLES / "claude-stream.jsonl").read_bytes()
MANY = lines(
    INIT,
    *streamed("SECRET_TH", kind="thinking"),
    *streamed("Hello.", "m2"),
    assistant(text("Hello."), id="m2"),
    *streamed("SECRET_SUB", "m9", "t9"),
    user([{"type": "tool_result", "tool_use_id": "t1", "content": "SECRET_OUT"}]),
    result("Hello."),
)


def test_the_example_has_no_problem() -> None:
    assert problems(EXAMPLE, FORMAT) == []


def test_how_the_input_is_cut_does_not_matter() -> None:
    for data in (EXAMPLE, MANY):
        assert_cuts_do_not_matter(data, FORMAT)


@pytest.mark.slow
def test_a_stream_that_is_cut_shows_nothing_hidden() -> None:
    for data in (EXAMPLE, MANY):
        assert_truncation_hides(data, FORMAT)


@pytest.mark.slow
def test_renaming_any_type_shows_nothing_more() -> None:
    for data in (EXAMPLE, MANY):
        assert_renamed_types_hide(data, FORMAT)


def test_other_formats_read_as_this_one_show_nothing_hidden() -> None:
    assert_forced_hides(FORMAT)
