"""Zed, Crush, tau2-bench, lm-evaluation-harness, and Grok: samples, cuts, other values, drift."""

from __future__ import annotations

import json

import pytest

from tests.support.agent_records import as_document, assert_drift_is_hidden, assert_others_are_hidden, found, shown
from tests.support.cases import each
from tests.support.record_samples import assert_cuts_show_nothing_hidden, assert_read_as_expected, samples_of
from tests.support.samples import Sample

NAMES = ("zed", "crush", "tau2", "lm-eval", "grok")
SAMPLES = [sample for name in NAMES for sample in samples_of(name)]


@pytest.mark.surfaces
@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=45, test=8)
def test_a_sample_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)


@pytest.mark.slow
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden() -> None:
    for sample in SAMPLES:
        assert_cuts_show_nothing_hidden(sample)


RICH = {"zed": "version-0.2", "crush": "stored", "lm-eval": "ratings"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_other_values_and_other_formats_show_nothing_hidden(name: str) -> None:
    assert_others_are_hidden(name)
    chosen = RICH.get(name, "parallel-calls")
    text = next(sample.text for sample in samples_of(name) if sample.base == chosen)
    is_lines = name == "lm-eval"
    records = [json.loads(line) for line in text.splitlines()] if is_lines else [json.loads(text)]
    assert_drift_is_hidden(records, name, lines=is_lines)


def conversation(*responses: dict[str, str]) -> bytes:
    return as_document({"conversation": {"id": "c"}, "responses": [{"response": each} for each in responses]})


def test_only_the_first_response_of_grok_may_have_an_unknown_parent() -> None:
    first = {"_id": "1", "sender": "human", "message": "a", "parent_response_id": "top"}
    for parent, codes in (("1", []), ("top", []), ("other", ["W-THREAD-BROKEN/parent-missing"])):
        second = {"_id": "2", "sender": "assistant", "message": "b", "parent_response_id": parent}
        assert found(conversation(first, second), "grok") == codes, parent


def test_a_number_of_a_rating_is_not_an_answer() -> None:
    for options, texts in (({}, ["a"]), ("b", []), (None, []), (7, []), ([], [])):
        sample = {"doc_id": 0, "arguments": {"gen_args_0": {"arg_0": "x", "arg_1": options}}, "resps": [["a"]]}
        assert shown(as_document(sample), "lm-eval") == texts, options
