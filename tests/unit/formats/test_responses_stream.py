"""Streams of the OpenAI Responses API: announcements, phases, copies, errors, and endings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import codes, read
from tests.support.record_checks import (
    EXAMPLES,
    check_bytes,
    check_forced,
    check_prefixes,
    check_renamed,
    headers,
    kinds,
    shown,
)
from tests.support.samples import Sample, samples
from viewer.formats import detect
from viewer.model.messages import Channel
from viewer.reading.format import ReadOptions

EXAMPLE = (EXAMPLES / "responses-phase.sse").read_bytes()
NAME = "responses-stream"


def event(type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{type}", **more}


def added(id: str = "m1", **more: Any) -> dict[str, Any]:
    item = {"id": id, "type": "message", "role": "assistant", "content": []} | more
    return event("output_item.added", output_index=int(id[1:]), item=item)


def item_done(text: str, id: str = "m1", **more: Any) -> dict[str, Any]:
    item = {"id": id, "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]} | more
    return event("output_item.done", output_index=int(id[1:]), item=item)


def delta(text: Any, id: str = "m1", type: str = "output_text", **more: Any) -> dict[str, Any]:
    place = {"item_id": id, "output_index": int(id[1:]), "content_index": 0}
    return event(f"{type}.delta", **place | more, delta=text)


def done(text: Any, id: str = "m1", **more: Any) -> dict[str, Any]:
    return event(
        "output_text.done", **{"item_id": id, "output_index": int(id[1:]), "content_index": 0} | more, text=text
    )


def completed(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("completed", response={"id": "r", "output": [each["item"] for each in items], **more})


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


def seen(*events: dict[str, Any]) -> list[str]:
    return shown(lines(*events), NAME)


def codes_of(*events: dict[str, Any]) -> list[str]:
    return codes(read(lines(*events), NAME))


def test_the_example_shows_the_final_text_as_long_as_one_carrier_is_left() -> None:
    assert shown(EXAMPLE, NAME) == ["FINAL_TEXT"]
    events = EXAMPLE.split(b"\n\n")
    for dropped in range(len(events)):
        bodies = shown(b"\n\n".join(events[:dropped] + events[dropped + 1 :]), NAME)
        assert not [body for body in bodies if "SECRET_" in body or "COMMENTARY" in body], dropped
        assert bodies == (
            [] if b"FINAL_TEXT" in events[dropped] or b'"m2","type"' in events[dropped] else ["FINAL_TEXT"]
        )


def test_commentary_is_a_preamble_only_if_the_operator_says_so() -> None:
    reading = read(EXAMPLE, NAME, ReadOptions(harmony_preambles=True))
    assert [body for body, is_shown in zip(reading.texts, reading.visible, strict=True) if is_shown] == [
        "COMMENTARY_TEXT",
        "FINAL_TEXT",
    ]
    early = lines(added("m2"), delta("Late", "m1"), delta("x", "m2"), item_done("Late", "m1", phase="commentary"))
    assert shown(early, NAME) == ["x"]
    reading = read(early, NAME, ReadOptions(harmony_preambles=True))
    assert sorted(body for body, is_shown in zip(reading.texts, reading.visible, strict=True) if is_shown) == [
        "Late",
        "x",
    ]


def test_every_kind_of_delta_has_its_kind() -> None:
    rows = [
        ("said", "output_text"),
        ("said", "refusal"),
        ("said", "output_audio_transcript"),
        ("thought", "reasoning_text"),
        ("thought", "reasoning"),
        ("thought", "reasoning_summary_text"),
        ("call", "function_call_arguments"),
        ("call", "custom_tool_call_input"),
        ("call", "mcp_call_arguments"),
        ("call", "code_interpreter_call_code"),
        ("call", "shell_call_command"),
        ("call", "apply_patch_call_operation_diff"),
        ("unknown", "telepathy"),
        ("unknown", "shell_call_output_content"),
    ]
    for kind, type in rows:
        text = lines(delta("SECRET_", "m1", type), completed())
        found = [header for header, body in zip(headers(read(text, NAME)), read(text, NAME).texts, strict=True) if body]
        assert len(found) == 1, type
        assert bool(shown(text, NAME)) is (kind == "said"), type
        assert (found[0].channel is Channel.ANALYSIS) is (kind == "thought"), type


def test_text_is_said_at_once_only_if_its_item_was_announced_or_none_was() -> None:
    assert seen(delta("Hi")) == ["Hi"]
    created = event("created", response={"id": "r"})
    assert seen(created, delta("Hi"), completed()) == ["Hi"]
    assert seen(created, delta("SECRET_"), item_done("SECRET_", phase="commentary"), completed()) == []
    assert seen(added(), delta("Hi")) == ["Hi"]
    assert seen(added("m2"), delta("SECRET_", "m1")) == []
    assert seen(added("m2", type="hologram"), delta("SECRET_", "m1")) == []
    assert seen(added("m2"), {"type": "response.output_text.delta", "delta": "SECRET_"}) == []
    for hidden in (
        {"type": "hologram"},
        {"role": "tool"},
        {"role": "system"},
        {"type": "reasoning"},
        {"phase": "draft"},
    ):
        assert seen(added(**hidden), delta("SECRET_")) == [], hidden
    for missing in ("role", "type"):
        one = added()
        del one["item"][missing]
        assert seen(one, delta("SECRET_")) == [], missing


def test_text_of_an_item_that_was_not_announced_settles_late() -> None:
    unknown = added("m2"), delta("Late")
    assert seen(*unknown, added()) == ["Late"]
    assert seen(*unknown, item_done("Late")) == ["Late"]
    assert seen(*unknown, completed(item_done("Late"))) == ["Late"]
    assert seen(*unknown, completed()) == []
    for hidden in ({"type": "hologram"}, {"role": "tool"}, {"phase": "commentary"}, {"phase": "draft"}):
        assert seen(*unknown, item_done("SECRET_", **hidden) | {}) == [], hidden


def test_copies_are_not_a_second_message() -> None:
    part = event(
        "content_part.done", item_id="m1", output_index=1, content_index=0, part={"type": "output_text", "text": "ab"}
    )
    events = added(), delta("a"), delta("b"), done("ab"), part, item_done("ab"), completed(item_done("ab"))
    assert kinds(lines(*events), NAME) == [("said", "ab")]
    assert codes_of(*events) == []


def test_a_text_that_differs_from_its_deltas_replaces_them() -> None:
    events = added(), delta("SECRET_"), done("Corrected"), item_done("Corrected"), completed(item_done("Corrected"))
    assert seen(*events) == ["Corrected"]
    assert codes_of(*events) == ["W-COPY-DIFFERS"]
    assert seen(added(), delta("SECRET_"), item_done("Corrected")) == ["Corrected"]
    assert codes_of(added(), delta("a"), done("a"), item_done("b"), completed(item_done("b"))) == ["W-COPY-DIFFERS"]
    assert codes_of(added(), delta("\ud83d"), delta("\ude00"), done("\U0001f600"), completed()) == []


def test_a_text_that_only_the_end_holds_is_shown_with_a_note() -> None:
    assert seen(completed(item_done("Hi!"))) == ["Hi!"]
    assert codes_of(completed(item_done("Hi!"))) == ["I-STREAM-FINAL-ONLY"]


def test_a_stream_without_its_end_is_reported() -> None:
    created = event("created", response={"id": "r", "model": "m"})
    assert codes_of(created, added(), delta("a")) == ["E-STREAM-TRUNCATED/event-stream"]
    assert codes_of(created, added(), delta("a"), item_done("a")) == ["E-STREAM-TRUNCATED/event-stream"]
    for end in (completed(), event("failed", response={}), event("incomplete", response={})):
        assert codes_of(created, added(), delta("a"), item_done("a"), end) == []


def test_errors_are_reported_and_their_texts_are_hidden() -> None:
    rows = [
        (event("failed", response={"error": {"code": "rate_limit_exceeded", "message": "SECRET_"}}), "rate-limit"),
        (event("failed", response={"error": {"code": "server_error", "message": "SECRET_"}}), "api"),
        ({"type": "error", "code": "context_length_exceeded", "message": "SECRET_"}, "context-length"),
        ({"type": "error", "error": {"type": "x", "message": "SECRET_"}}, "unknown"),
        ({"type": "error", "message": {"text": "SECRET_"}}, "unknown"),
    ]
    for one, reason in rows:
        assert codes_of(one) == [f"W-RUN-ERROR/{reason}"], one
        assert [kind for kind, _ in kinds(lines(one), NAME)] == ["notice"]
        assert seen(one) == []
    for why, code in (
        ("max_output_tokens", "W-RUN-INCOMPLETE/max-tokens"),
        ("content_filter", "W-RUN-ERROR/content-filter"),
    ):
        assert codes_of(event("incomplete", response={"incomplete_details": {"reason": why}})) == [code]


def test_instructions_of_a_response_are_one_hidden_message() -> None:
    events = event("created", response={"instructions": "SECRET_"}), completed(instructions="SECRET_")
    assert kinds(lines(*events), NAME) == [("instruction", "SECRET_")]


def test_streams_are_distinguished_from_generic_events() -> None:
    rows = [
        (NAME, [event("created", response={"id": "r"})]),
        (NAME, [delta("a")]),
        (NAME, [added(), delta("a")]),
        ("events", [{"type": "response.delta", "delta": "a"}]),
        ("events", [{"type": "response.reasoning_text.delta", "delta": "a"}, {"type": "response.delta", "delta": "a"}]),
    ]
    for format, events in rows:
        assert detect(lines(*events)).format == format, events
    assert detect(EXAMPLE).format == NAME
    named = b"".join(
        b"event: " + each["type"].encode() + b"\ndata: " + json.dumps(each).encode() + b"\n\n" for each in [delta("a")]
    )
    assert detect(named).format == NAME
    assert shown(EXAMPLE, "events") == ["FINAL_TEXT"]


def test_the_format_of_generic_events_reads_a_numbered_stream_as_strictly() -> None:
    events = added("m2", type="hologram", sequence_number=0), delta("SECRET_") | {"sequence_number": 1}
    events[0]["sequence_number"] = 0
    assert shown(lines(*events), "events") == []
    for sample in samples(f"valid/{NAME}"):
        if b"sequence_number" in sample.text:
            assert shown(sample.text, "events") == shown(sample.text, NAME), sample.name


@pytest.mark.slow
def test_no_example_of_another_format_shows_hidden_text() -> None:
    check_forced(NAME)


@each("sample", samples(f"valid/{NAME}"), ids=lambda sample: sample.name, quick=0, test=3)
def test_other_readings_of_the_same_bytes_agree_and_hide_the_same(sample: Sample) -> None:
    assert detect(sample.text).format == NAME, sample.name
    check_bytes(sample.text, NAME)
    if sample.base != "corrected-text":  # its first text was on the screen
        check_prefixes(sample.text, NAME)
        check_renamed(sample.text, NAME)


def _rotating(*events: dict[str, object]) -> str:
    return "".join(f"data: {json.dumps({'sequence_number': at, **each})}\n\n" for at, each in enumerate(events))


def test_an_id_that_changes_belongs_to_the_item_at_its_index_only() -> None:
    item: dict[str, object] = {"id": "a", "type": "message", "role": "assistant", "content": []}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    delta: dict[str, object] = {"type": "response.output_text.delta", "content_index": 0, "delta": "x"}
    for place, texts in ((0, ["x"]), (1, [])):
        text = _rotating(added, {**delta, "item_id": "b", "output_index": place})
        assert shown(text, "responses-stream") == texts, place
    hidden = {**added, "item": {**item, "type": "reasoning"}}
    assert shown(_rotating(hidden, {**delta, "item_id": "b", "output_index": 0}), "responses-stream") == []
