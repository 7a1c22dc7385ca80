"""Evaluation logs of Inspect: samples as transcripts, messages and parts, text stored elsewhere, and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.program import run
from tests.support.record_formats import (
    EXAMPLES,
    SECRET,
    assert_cuts_do_not_matter,
    assert_forced_hides,
    assert_renamed_types_hide,
    assert_truncation_hides,
    hidden,
    outcomes,
    problems,
    reading,
    shown,
)
from viewer.formats import detect

Json = dict[str, Any]
FORMAT = "inspect"


def log(*samples: Json, **members: Any) -> Json:
    head: Json = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "created": "SECRET_DATE"}}
    return head | {"samples": list(samples)} | members


def sample(*messages: Json, **members: Any) -> Json:
    head: Json = {"id": 1, "epoch": 1, "input": "SECRET_INPUT", "target": "SECRET_TARGET", "messages": list(messages)}
    return head | {"scores": {"match": {"value": "SECRET_SCORE"}}, "metadata": {"a": "SECRET_METADATA"}} | members


def user(content: object = "Hello.", **members: Any) -> Json:
    return {"role": "user", "content": content} | members


def assistant(content: object = "Hi.", **members: Any) -> Json:
    return {"role": "assistant", "content": content} | members


def tool(content: object = "SECRET_OUT", **members: Any) -> Json:
    return {"role": "tool", "tool_call_id": "c1", "function": "f", "content": content} | members


CALL = {"id": "c1", "function": "f", "arguments": {"q": "SECRET_ARG"}, "type": "function"}


def kinds(data: object) -> list[str]:
    return [message.header.kind.value for message in reading(data, FORMAT).messages]  # type: ignore[attr-defined]


def test_prompts_and_answers_are_said_and_nothing_else() -> None:
    system = {"role": "system", "content": "SECRET_SYS"}
    data = log(sample(system, user(), assistant("Hi.", tool_calls=[CALL]), tool()))
    assert shown(data, FORMAT) == ["Hello.", "Hi."]
    assert kinds(data) == ["instruction", "said", "said", "call", "reply"]
    assert problems(data, FORMAT) == []
    for odd in ({"role": "critic"}, {"role": None}, {"role": "user", "source": "new"}):
        assert shown(log(sample(user(), user("SECRET_1") | odd)), FORMAT) == ["Hello."], odd


def test_the_source_of_a_prompt_decides() -> None:
    for source in (None, "input", "operator"):
        assert shown(log(sample(user(source=source))), FORMAT) == ["Hello."]
    assert hidden(log(sample(user("SECRET_1", source="generate"))), FORMAT) == [("injected", "SECRET_1")]


PARTS: list[tuple[Json, list[str]]] = [
    ({"type": "reasoning", "reasoning": "SECRET_1"}, ["thought"]),
    ({"type": "reasoning", "reasoning": "SECRET_1", "summary": "SECRET_2"}, ["thought", "thought"]),
    ({"type": "reasoning", "reasoning": "c2VjcmV0", "redacted": True}, ["thought"]),
    (
        {"type": "tool_use", "id": "u1", "name": "search", "arguments": '{"q":"SECRET_1"}', "result": "SECRET_2"},
        ["call", "reply"],
    ),
    ({"type": "tool_use", "id": "u1", "name": "search", "arguments": '{"q":"SECRET_1"}'}, ["call"]),
    ({"type": "data", "data": {"a": "SECRET_1"}}, ["unknown"]),
    ({"type": "new", "text": "SECRET_1"}, ["unknown"]),
]


def test_each_part_of_an_answer_has_its_kind() -> None:
    for part, expected in PARTS:
        data = log(sample(assistant([part, {"type": "text", "text": "Hi."}])))
        assert shown(data, FORMAT) == ["Hi."], part
        assert [kind for kind, _ in hidden(data, FORMAT)] == expected, part
        other = log(sample(user([part, {"type": "text", "text": "Hello."}])))
        assert shown(other, FORMAT) == ["Hello."], part
    unreadable = {"type": "reasoning", "reasoning": "SECRET_1", "redacted": "yes"}
    assert shown(log(sample(assistant([unreadable]))), FORMAT) == []


def test_media_are_labels() -> None:
    image = {"type": "image", "image": "data:image/png;base64,U0VDUkVU"}
    document = {"type": "document", "document": "data:application/pdf;base64,U0VDUkVU", "mime_type": "application/pdf"}
    data = log(sample(user([{"type": "text", "text": "Look:"}, image, document])))
    assert shown(data, FORMAT) == ["Look:\n[image/png, 6 B]\n[application/pdf, 6 B]"]


def test_thoughts_between_tags_are_hidden() -> None:
    data = json.dumps(log(sample(user(), assistant("<think>SECRET_1</think>Hi.")))).encode()
    assert shown(data, FORMAT) == ["Hello.", "Hi."]


def test_replies_state_how_the_call_ended() -> None:
    for error, outcome, code in (
        ("timeout", "timeout", "E-TOOL-TIMEOUT/reported"),
        ("cancelled", "cancelled", "E-TOOL-CANCELLED/reported"),
        ("permission", "failed", "W-TOOL-FAILED"),
    ):
        data = log(sample(assistant("Hi.", tool_calls=[CALL]), tool(error={"type": error, "message": "SECRET_1"})))
        assert outcomes(data, FORMAT) == [outcome]
        assert problems(data, FORMAT) == [code]
        assert ("notice", "SECRET_1") in hidden(data, FORMAT)


def test_a_malformed_call_of_the_model_is_a_problem() -> None:
    data = log(sample(assistant("Hi.", tool_calls=[CALL | {"parse_error": "SECRET_1"}]), tool()))
    assert problems(data, FORMAT) == ["E-BODY-CONSTRAINT-VIOLATION/json-malformed"]


def test_each_sample_and_epoch_is_a_transcript() -> None:
    other = sample(user("Again."), assistant("Hi.", tool_calls=[CALL]), tool(), epoch=2, id="a/b")
    data = log(sample(user(), assistant("Hi.", tool_calls=[CALL]), tool()), other)
    found = reading(data, FORMAT)
    assert len(found.transcripts) == 2
    assert [message.transcript for message in found.messages] == [1, 1, 1, 1, 2, 2, 2, 2]  # type: ignore[attr-defined]
    assert shown(data, FORMAT) == ["Hello.", "Hi.", "Again.", "Hi."]
    assert problems(data, FORMAT) == []


def test_the_output_is_a_message_only_if_the_messages_lack_it() -> None:
    def output(message: Json) -> Json:
        return {"output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": "SECRET_COMPLETION"}}

    said = assistant([{"type": "reasoning", "reasoning": "SECRET_1"}, {"type": "text", "text": "Hi."}])
    assert shown(log(sample(user(), said, **output(said))), FORMAT) == ["Hello.", "Hi."]
    assert kinds(log(sample(user(), said, **output(said)))) == ["said", "thought", "said"]
    first = log(output(said) | sample(user(), said))
    assert shown(first, FORMAT) == ["Hello.", "Hi."]
    assert shown(log(sample(user(), **output(said))), FORMAT) == ["Hello.", "Hi."]
    assert kinds(log(sample(**output(said)))) == ["thought", "said"]


def test_a_text_in_the_attachments_is_read_from_there() -> None:
    name, secret = "a" * 32, "b" * 32
    attachments = {"attachments": {name: "A long text.", secret: "SECRET_1", "c" * 32: f"attachment://{secret}"}}
    data = log(sample(user(f"attachment://{name}"), tool(f"attachment://{secret}"), assistant(), **attachments))
    assert shown(data, FORMAT) == ["A long text.", "Hi."]
    assert hidden(data, FORMAT) == [("reply", "SECRET_1")]
    printed = run("show", "--json", "-", stdin=json.dumps(data)).out
    assert "A long text." in printed and SECRET not in printed and "attachment:" not in printed
    parts = [{"type": "text", "text": f"attachment://{name}"}]
    assert shown(log(sample(user(parts), **attachments)), FORMAT) == ["A long text."]
    for missing in ("d" * 32, "c" * 32):
        data = log(sample(user(f"attachment://{missing}"), assistant(), **attachments))
        assert shown(data, FORMAT) == ["Hi."]
        assert "W-CONTENT-MISSING" in problems(data, FORMAT)
    assert shown(log(sample(user(f"attachment://{name}"), assistant())), FORMAT) == ["Hi."]


def test_errors_and_limits_are_problems() -> None:
    error = {"message": "SECRET_1", "traceback": "SECRET_2"}
    assert problems(log(sample(user(), error=error)), FORMAT) == ["W-RUN-ERROR/unknown"]
    assert hidden(log(sample(user(), error=error)), FORMAT) == [("notice", "SECRET_1")]
    assert problems(log(sample(user(), limit={"type": "token", "limit": 5})), FORMAT) == ["W-RUN-INCOMPLETE/stopped"]
    assert problems(log(sample(user()), error=error), FORMAT) == ["W-RUN-ERROR/unknown"]
    for status in ("cancelled", "started"):
        assert problems(log(sample(user()), status=status), FORMAT) == ["W-RUN-INCOMPLETE/stopped"]


def test_a_log_without_samples_is_empty() -> None:
    for data in (log() | {"samples": None}, log()):
        assert detect(json.dumps(data).encode()).format == FORMAT
        assert (kinds(data), problems(data, FORMAT)) == ([], [])
        assert run("show", "-", stdin=json.dumps(data)).code == 0


def test_numbers_that_json_lacks_are_not_a_problem() -> None:
    data = json.dumps(log(sample(user(), scores={"a": {"value": float("nan")}, "b": {"value": float("inf")}}))).encode()
    assert shown(data, FORMAT) == ["Hello."]
    assert problems(data, FORMAT) == []
    assert problems(data.replace(b"NaN", b"light"), FORMAT) == ["E-PARSE-HEADER/not-a-message"]


def test_values_of_wrong_types_are_hidden() -> None:
    for content in (5, {"text": "SECRET_1"}, [["SECRET_1"]], [{"type": "text", "text": {"a": "SECRET_1"}}]):
        assert not any(SECRET in text for text in shown(log(sample(user(content), assistant(content))), FORMAT)), (
            content
        )
    for odd in (["SECRET_1"], "SECRET_1", {"messages": "SECRET_1"}, {"messages": {"a": user("SECRET_1")}}):
        assert shown(log() | {"samples": [odd]}, FORMAT) == [], odd


EXAMPLE = (EXAMPLES / "inspect.json").read_bytes()
MANY = json.dumps(
    log(*(sample(user(), assistant([part, {"type": "text", "text": "Hi."}]), tool()) for part, _ in PARTS))
).encode()


def test_the_example_has_one_problem_and_a_call_that_timed_out() -> None:
    assert problems(EXAMPLE, FORMAT) == ["E-TOOL-TIMEOUT/reported"]
    assert "TIMEOUT" in reading(EXAMPLE, FORMAT).calls[0]


def test_how_the_input_is_cut_does_not_matter() -> None:
    for data in (EXAMPLE, json.dumps(json.loads(EXAMPLE), indent=2).encode()):
        assert_cuts_do_not_matter(data, FORMAT)


@pytest.mark.slow
def test_a_log_that_is_cut_shows_nothing_hidden() -> None:
    for data in (EXAMPLE, MANY):
        assert_truncation_hides(data, FORMAT)


@pytest.mark.slow
def test_renaming_any_type_shows_nothing_more() -> None:
    for data in (EXAMPLE, MANY):
        assert_renamed_types_hide(data, FORMAT)


def test_other_formats_read_as_this_one_show_nothing_hidden() -> None:
    assert_forced_hides(FORMAT)
