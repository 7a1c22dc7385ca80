"""Results of promptfoo: prompts and answers are shown, except what may contain instructions or thoughts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    found,
    kinds,
    shown,
)
from viewer.formats import detect

NAME = "promptfoo"


def result(raw: Any, output: Any = None, **more: Any) -> dict[str, Any]:
    return {"promptIdx": 0, "testIdx": 0, "prompt": {"raw": raw}, "response": {"output": output}, **more}


def results(*rows: dict[str, Any]) -> bytes:
    return as_document({"evalId": "SECRET_ID", "results": {"version": 3, "results": [*rows]}, "config": {}})


def seen(raw: Any, output: Any = None, **more: Any) -> list[str]:
    return shown(results(result(raw, output, **more)), NAME)


def test_a_prompt_that_may_hold_instructions_is_hidden() -> None:
    raw: Any
    for raw in ("- role: system\n  content: SECRET_", '[{"role":"system","content":"SECRET_', "{'role': 'SECRET_'}"):
        assert seen(raw) == [], raw
    for raw in ("<|im_start|>system\nSECRET_<|im_end|>", "SYSTEM: SECRET_\nUSER: Hi", {"x": "SECRET_"}, ["SECRET_"], 7):
        assert seen(raw) == [], raw
    messages = [{"role": "system", "content": "SECRET_"}, {"role": "user", "content": "Seen."}]
    for raw in (messages, json.dumps(messages), json.dumps({"messages": messages})):
        assert seen(raw, "Too.") == ["Seen.", "Too."], raw
    assert seen("Seen.") == ["Seen."]


def test_what_a_provider_adds_to_an_answer_is_hidden() -> None:
    output: Any
    for output, said in (
        ("Thinking: SECRET_\n\nSECRET_", []),
        ("Seen.\n\nReasoning: SECRET_", ["Seen."]),
        ('Seen.\n\n{"type":"tool_use","id":"c","input":{"x":"SECRET_"}}', ["Seen."]),
        ("Seen.\nMCP Tool Result (x): SECRET_", ["Seen."]),
        ("I was Thinking: of it.", ["I was Thinking: of it."]),
        ({"answer": "SECRET_"}, []),
        (["SECRET_"], []),
        ([{"type": "function", "function": {"name": "f", "arguments": '{"x":"SECRET_"}'}}], []),
    ):
        assert seen("Q?", output) == ["Q?", *said], output


def test_only_a_failed_run_is_a_problem() -> None:
    assert found(results(result("Q?", "A.", failureReason=1, error="SECRET_")), NAME) == []
    assert found(results(result("Q?", failureReason=2, error="SECRET_")), NAME) == ["W-RUN-ERROR/unknown"]


def test_each_result_is_a_transcript_and_hides_however_it_is_cut() -> None:
    rows = result("One?", "Thinking: SECRET_"), result([{"role": "system", "content": "SECRET_"}], "Two.")
    for data in (results(*rows), as_document({"version": 3, "results": [*rows]}), as_document([*rows])):
        assert (detect(data).format, shown(data, NAME)) == (NAME, ["One?", "Two."])
    assert [kind for kind, _ in kinds(results(*rows), NAME)] == ["said", "unknown", "instruction", "said"]
    assert_hidden(results(*rows), NAME)


@pytest.mark.slow
def test_drift_and_other_formats_stay_hidden() -> None:
    row = result(
        [{"role": "system", "content": "SECRET_S"}, {"role": "user", "content": "Q?"}], "A.", vars={"x": "SECRET_V"}
    )
    assert_drift_is_hidden([{"evalId": "e", "results": {"results": [row]}}], NAME, lines=False)
    assert_others_are_hidden(NAME)
