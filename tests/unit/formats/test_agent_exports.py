"""Droid, Continue, Amazon Q, Antigravity, OpenAI Agents, and Agent Framework: samples, cuts, other values, drift."""

from __future__ import annotations

import json

import pytest

from tests.support.agent_records import assert_drift_is_hidden, assert_others_are_hidden, shown
from tests.support.cases import each
from tests.support.record_samples import (
    SECRET,
    assert_cuts_show_nothing_hidden,
    assert_read_as_expected,
    events_of,
    samples_of,
    seen,
)
from tests.support.samples import Sample

NAMES = ("droid", "continue", "amazon-q", "antigravity", "agents-state", "agent-framework")
SAMPLES = [sample for name in NAMES for sample in samples_of(name)]


@pytest.mark.surfaces
@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=45, test=8)
def test_a_sample_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=4, batch=100)
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden(sample: Sample) -> None:
    assert_cuts_show_nothing_hidden(sample)


def test_a_message_of_droid_for_the_model_only_is_hidden() -> None:
    head = {"type": "session_start", "id": "1", "cwd": "/w"}
    for visibility, texts in (("both", ["a"]), ("user", ["a"]), (None, ["a"]), ("llm_only", []), (7, []), ({}, [])):
        message = {"type": "message", "visibility": visibility, "message": {"role": "user", "content": "a"}}
        assert shown("\n".join(map(json.dumps, (head, message))).encode(), "droid") == texts, visibility


def test_only_a_request_of_the_user_in_antigravity_is_typed() -> None:
    for content, texts in (
        ("<USER_REQUEST>a</USER_REQUEST>SECRET_1", ["a"]),
        ("<MORE><USER_REQUEST>SECRET_1</USER_REQUEST></MORE>", []),
        ("<USER_REQUEST>SECRET_1", []),
        ("a", ["a"]),
    ):
        step = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE", "content": content}
        assert shown(json.dumps(step).encode(), "antigravity") == texts, content


RICH = {"droid": "parallel-calls", "continue": "image-and-context", "amazon-q": "cancelled-call"}


@each("name", NAMES, quick=0, test=2)
def test_other_values_and_other_formats_show_nothing_hidden(name: str) -> None:
    assert_others_are_hidden(name)
    chosen = RICH.get(name, "parallel-calls")
    text = next(sample.text for sample in samples_of(name) if sample.base == chosen)
    is_lines = name in ("droid", "antigravity")
    records = [json.loads(line) for line in text.splitlines()] if is_lines else [json.loads(text)]
    assert_drift_is_hidden(records, name, lines=is_lines)


def test_a_session_of_droid_without_its_beginning_shows_nothing_more() -> None:
    for sample in samples_of("droid"):
        for data in (sample.text, sample.text.partition(b"\n")[2]):
            if b"callingSessionId" in sample.text and data is not sample.text:
                continue
            assert not [text for text in seen(events_of("pi", data), data) if SECRET in text], sample.name


def test_the_input_in_a_trace_is_not_an_interaction() -> None:
    for sample in samples_of("langfuse"):
        assert SECRET not in "".join(seen(events_of("interactions", sample.text), sample.text)), sample.name
