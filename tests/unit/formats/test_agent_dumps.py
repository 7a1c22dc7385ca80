"""Formats of agent libraries and logs of model calls: samples, cuts, other values, drift."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    assert_drift_is_hidden,
    assert_others_are_hidden,
    kinds,
    shown,
)
from tests.support.cases import each
from tests.support.reading import read
from tests.support.record_samples import assert_cuts_show_nothing_hidden, assert_read_as_expected, samples_of
from tests.support.samples import Sample

NAMES = ("smolagents", "letta", "strands", "semantic-kernel", "har", "call-log")
SAMPLES = [sample for name in NAMES for sample in samples_of(name)]


@pytest.mark.surfaces
@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=45, test=8)
def test_a_sample_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=60, test=4)
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden(sample: Sample) -> None:
    assert_cuts_show_nothing_hidden(sample)


RICH = {
    "smolagents": "run-result",
    "letta": "agent-file",
    "strands": "session",
    "semantic-kernel": "history",
    "har": "streamed-messages",
    "call-log": "proxy-streamed",
}


@each("name", NAMES, quick=0)
def test_other_values_and_other_formats_show_nothing_hidden(name: str) -> None:
    assert_others_are_hidden(name)
    sample = next(one for one in samples_of(name) if one.base == RICH[name])
    is_lines = sample.ending == ".jsonl"
    records = [json.loads(line) for line in sample.text.splitlines()] if is_lines else [json.loads(sample.text)]
    assert_drift_is_hidden(records, name, lines=is_lines)


def test_a_task_of_smolagents_ends_where_the_program_added_arguments() -> None:
    for added in ("additional arguments, that you can", "initial arguments:", "additional arguments"):
        step = {"task": f"Sum up.\n\n  You have been provided with these {added} {{}}"}
        assert shown(as_document([step]), "smolagents") == ["Sum up."], added
    quoted = {"task": "Who says 'You have been provided with these additional arguments'?"}
    assert shown(as_document([quoted]), "smolagents") == [quoted["task"]]
    assert shown(as_document([{**quoted, "role": "system"}]), "smolagents") == []


def test_only_a_final_step_of_smolagents_answers() -> None:
    step = {"step_number": 1, "action_output": "x"}
    final = {"tool_calls": [{"id": "c", "function": {"name": "final_answer", "arguments": {}}}]}
    for others, texts in (
        ({}, []),
        ({"is_final_answer": True}, ["x"]),
        ({"is_final_answer": False}, []),
        ({"is_final_answer": False, **final}, []),
        ({"is_final_answer": 1}, []),
        (final, ["x"]),
        ({**final, "error": {"type": "AgentError"}}, []),
        ({"tool_calls": final["tool_calls"] * 2}, []),
        ({"error": {"type": "AgentMaxStepsError"}}, ["x"]),
        ({"is_final_answer": True, "action_output": 7}, ["7"]),
        ({"is_final_answer": True, "action_output": [7]}, []),
    ):
        assert shown(as_document([{**step, **others}]), "smolagents") == texts, others


def test_the_output_of_a_run_of_smolagents_is_shown_once() -> None:
    steps = [{"task": "a"}, {"step_number": 1, "action_output": "b", "is_final_answer": True}]
    for state, output, texts in (
        ("success", "b", ["a", "b"]),
        ("success", "c", ["a", "b", "c"]),
        ("x", "c", ["a", "b"]),
    ):
        run: dict[str, object] = {"output": output, "state": state, "steps": steps}
        assert shown(as_document(run), "smolagents") == texts, (state, output)
    run = {"output": [3], "state": "success", "steps": steps}
    assert ("unknown", "[3]") in kinds(as_document(run), "smolagents")
    final: dict[str, object] = {"step_number": 1, "action_output": 42, "is_final_answer": True}
    run = {"output": 42, "state": "success", "steps": [{"task": "a"}, final]}
    assert shown(as_document(run), "smolagents") == ["a", "42"]


def test_only_a_plain_package_of_letta_holds_what_the_user_typed() -> None:
    for content, texts in (
        ('{"type": "user_message", "message": "a", "time": "t"}', ["a"]),
        ('{\n  "type": "user_message",\n  "message": "a", "name": "n", "location": "l"}', ["a"]),
        ('{"type": "user_message", "message": "a", "note": "b"}', []),
        ('{"type": "user_message", "message": ["a"]}', []),
        ('{"type": "heartbeat", "message": "a"}', []),
        ('{"type": "user_message" "message": "a"}', []),
        ('{"a": "b"}', ['{"a": "b"}']),
    ):
        listed = {"message_type": "user_message", "content": content}
        part = {"message_type": "user_message", "content": [{"type": "text", "text": content}]}
        for message in (listed, part):
            assert shown(as_document([message]), "letta") == texts, message


def test_the_type_of_an_agent_of_letta_decides_where_it_answers() -> None:
    text = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    for kind, sees in (
        ("letta_v1_agent", ["a"]),
        ("memgpt_agent", []),
        ("sleeptime_agent", []),
        ("other", []),
        (7, []),
    ):
        file = {"agents": [{"agent_type": kind, "messages": [text]}]}
        assert shown(as_document(file), "letta") == sees, kind


def test_a_redacted_message_of_strands_replaces_the_original() -> None:
    def stored(**members: object) -> bytes:
        return as_document({"message": {"role": "user", "content": [{"text": "a"}]}, "message_id": 0, **members})

    assert shown(stored(redact_message=None), "strands") == ["a"]
    assert shown(stored(redact_message={"role": "user", "content": [{"text": "b"}]}), "strands") == ["b"]
    others: tuple[object, ...] = ({}, "b", 7, True, [], {"role": "user"})
    for other in others:
        assert shown(stored(redact_message=other), "strands") == [], other


def test_a_message_of_semantic_kernel_needs_a_known_role() -> None:
    def message(role: object) -> bytes:
        return as_document([{"Role": role, "Items": [{"$type": "TextContent", "Text": "a"}]}])

    for role in ({"Label": "user"}, "user"):
        assert shown(message(role), "semantic-kernel") == ["a"], role
    others: tuple[object, ...] = ({"Label": "User"}, {"Name": "user"}, ["user"], None)
    for other in others:
        assert [kind for kind, _ in kinds(message(other), "semantic-kernel")] == ["unknown"], other


def recorded(answer: str, **members: object) -> bytes:
    """Return a HAR file with one call, answered with this text."""
    asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": "a"}]})
    content = {"mimeType": "text/event-stream", "text": answer, **members}
    entry = {"request": {"postData": {"text": asked}}, "response": {"status": 200, "content": content}}
    return as_document({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [entry]}})


def chunk(text: str) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}, ensure_ascii=False)


def test_events_in_a_string_are_read_exactly_or_hidden() -> None:
    first, second = chunk('"ß\n'), chunk("b")
    for answer, texts in (
        (f"data: {first}\n\ndata: {second}\n\ndata: [DONE]\n\n", ['"ß\nb']),
        (f"data:{first}\r\n\r\ndata:{second}\r\n\r\n", ['"ß\nb']),
        (f": note\nid: 1\nevent: x\nretry: 5\ndata: {second}", ["b"]),
        (f"data: {first}\ndata: {second}\n\n", []),
        (f"data: {second}\n\nother: {second}\n\n", []),
        (f"data: {second}\n\nnothing\n\n", []),
        (f"data: {second} {second}\n\n", []),
        (f"data: {second}\n\ndata: {second[:-9]}", []),
        (f"{second}\n\n{second}\r\n", ["bb"]),
        (f"{second}\n{second[:-9]}", []),
        (f"{second}\n7\n", []),
        ("data: 7\n\n", []),
    ):
        assert shown(recorded(answer), "har") == ["a", *texts], answer


def test_a_piece_of_an_event_in_a_string_has_its_place_in_the_file() -> None:
    data = recorded(f"data: {chunk('x' * 9)}\n\ndata: {chunk('y' * 9)}\n\n")
    messages: list[Any] = list(read(data, "har").messages)
    message = next(each for each in messages if each.header.role == "assistant")
    places = [data[piece.start : piece.end] for piece in message.pieces]
    assert places == [b"x" * 9, b"y" * 9]


def test_an_answer_after_an_open_thought_is_hidden() -> None:
    for prompt, texts in (("a", ["b"]), ("a <think>\n", [])):
        sample = {"run_id": "r", "event_id": 0, "sample_id": "s", "type": "sampling"}
        data = {"prompt": prompt, "sampled": ["b"]}
        assert shown(as_document({**sample, "data": data}), "call-log") == texts, prompt


def test_sections_of_an_answer_of_dspy_may_be_thoughts() -> None:
    def call(output: object) -> bytes:
        asked = [{"role": "user", "content": "a"}]
        return as_document({"messages": asked, "outputs": [output], "model": "m", "timestamp": "2026-03-01"})

    for output, texts in (
        ("b", ["b"]),
        ("[[ ## answer ## ]]\nb\n\n[[ ## completed ## ]]\n", ["b"]),
        ("[[ ## next_thought ## ]]\nb\n\n[[ ## Reasoning ## ]]\nc", []),
        ('{"answer": "b"}', ['{"answer": "b"}']),
        ('{"my_reasoning": "b"}', []),
        ({"text": "b"}, ["b"]),
        ({"text": "b", "reasoning_content": "c"}, ["b"]),
        ({"value": "b"}, []),
        (7, []),
        (["b"], []),
    ):
        assert shown(call(output), "call-log") == ["a", *texts], output
