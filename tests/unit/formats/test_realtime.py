"""Events of the Realtime API: typed and spoken user input is shown once, and every other item is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent_records import as_lines, assert_drift_is_hidden, assert_hidden, found, kinds, shown
from viewer.formats import detect

NAMES = ("events", "responses-stream")


def item(name: str, id: str, role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"id": id, "type": "message", "role": role, "content": [*content], **more}
    return {"type": f"conversation.item.{name}", "item": given}


def typed(text: Any) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def said(id: str, text: Any) -> dict[str, Any]:
    kind = "conversation.item.input_audio_transcription.completed"
    return {"type": kind, "item_id": id, "content_index": 0, "transcript": text}


SPOKEN = {"type": "input_audio", "transcript": None}


def test_each_item_is_shown_once() -> None:
    events = [item(name, "i1", "user", typed("a")) for name in ("created", "added", "done", "retrieved")]
    events += [
        item("added", "i2", "user", SPOKEN),
        said("i2", "b"),
        item("done", "i2", "user", {**SPOKEN, "transcript": "b"}),
    ]
    data = as_lines(*events)
    assert detect(data).format == "events"
    for name in NAMES:
        assert shown(data, name) == ["a", "b"]
        assert found(data, name) == []
    assert_hidden(data, "events")


def test_instructions_and_results_are_hidden() -> None:
    session = {"type": "session.created", "session": {"instructions": "SECRET_I", "model": "m"}}
    output = {"id": "i1", "type": "function_call_output", "call_id": "c", "output": "SECRET_O"}
    data = as_lines(
        session,
        {**session, "type": "session.updated"},
        item("added", "i0", "system", typed("SECRET_S")),
        {"type": "conversation.item.added", "item": output},
    )
    for name in NAMES:
        assert kinds(data, name) == [("instruction", "SECRET_I"), ("instruction", "SECRET_S"), ("reply", "SECRET_O")]


def test_what_a_client_sends_is_shown_once() -> None:
    """The server repeats a client's item under another id, or under the client's id."""
    without_id = item("create", "", "user", typed("a"), typed("b"))
    del without_id["item"]["id"]
    echo = item("added", "i1", "user", typed("a"), typed("b"))
    events = [without_id, echo, echo, without_id, item("create", "i2", "user", typed("c"))]
    events += [item("added", "i3", "user", typed("a"), typed("b")), item("added", "i2", "user", typed("c"))]
    events += [item("added", "i4", "user", typed("a"))]
    for name in NAMES:
        assert shown(as_lines(*events), name) == ["a", "b", "a", "b", "c", "a"]
        assert found(as_lines(*events), name) == []


def test_what_a_client_asks_of_the_model_is_hidden() -> None:
    message = {"type": "message", "role": "user", "content": [typed("SECRET_M")]}
    output = {"type": "function_call_output", "call_id": "c", "output": "SECRET_O"}
    events = [
        {"type": "session.update", "session": {"instructions": "SECRET_I", "tools": [{"name": "SECRET_T"}]}},
        {"type": "session.updated", "session": {"instructions": "SECRET_I"}},
        {"type": "conversation.item.create", "item": output},
        {"type": "conversation.item.added", "item": {"id": "i1", **output}},
        {"type": "response.create"},
        {"type": "response.create", "response": {"instructions": "SECRET_R", "input": [message]}},
        *({"type": f"conversation.item.{name}", "item_id": "i1"} for name in ("retrieve", "truncate", "delete")),
        *({"type": f"input_audio_buffer.{name}", "audio": "SECRET_A"} for name in ("append", "commit", "clear")),
    ]
    data = as_lines(*events)
    for name in NAMES:
        assert [kind for kind, _ in kinds(data, name)] == ["instruction", "reply", "instruction", "injected"]
        assert (shown(data, name), found(data, name)) == ([], ["W-CALL-ID-UNKNOWN"])


@pytest.mark.parametrize("name", NAMES)
def test_any_other_item_is_hidden_and_reported(name: str) -> None:
    for odd in (
        item("added", "i1", "assistant", typed("SECRET_")),
        item("added", "i1", "narrator", typed("SECRET_")),
        item("added", "i1", "user", {"type": "x", "text": "SECRET_"}),
        item("added", "i1", "user", typed(["SECRET_"])),
        item("added", "i1", "user", {**typed("SECRET_"), "hidden": True}),
        item("added", "i1", "user", typed("SECRET_"), isMeta=True),
        item("added", "i1", "user", typed("SECRET_"), channel="analysis"),
        item("added", "i1", "user", typed("SECRET_"), type="x"),
        said("i1", {"x": "SECRET_"}),
        {**said("i1", "SECRET_"), "hidden": True},
    ):
        data = as_lines(item("added", "i0", "user", typed("a")), odd)
        assert shown(data, name) == ["a"], odd
        assert {"W-RECORD-UNKNOWN", "W-PART-UNKNOWN"} & set(found(data, name)), odd


def test_an_item_of_a_response_is_shown_by_the_events_of_the_response() -> None:
    answer = {"id": "i1", "type": "message", "role": "assistant", "content": []}
    data = as_lines(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": answer},
        item("added", "i1", "assistant"),
        {"type": "response.output_audio_transcript.delta", "item_id": "i1", "delta": "a"},
        item("done", "i1", "assistant", {"type": "output_audio", "transcript": "a"}),
        {
            "type": "response.done",
            "response": {"id": "r", "output": [{**answer, "content": [{"type": "output_audio", "transcript": "a"}]}]},
        },
    )
    for name in NAMES:
        assert shown(data, name) == ["a"], name


def test_drift_stays_hidden() -> None:
    secret = item("added", "i1", "assistant", typed("SECRET_"))
    assert_drift_is_hidden([item("added", "i0", "user", typed("a")), secret, said("i2", "b")], "events")
