"""Calls as an audience sees them: a few, and thousands at once, with the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import Sample, samples
from tests.support.cases import each
from viewer.document import calls as seen_calls
from viewer.document.call_lists import ShownCalls
from viewer.document.document import open_document
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal

AUDIENCES = {
    "all": EVERYTHING,
    "tools": Audience(frozenset({Reveal.TOOL, Reveal.COMMENTARY})),
    "commentary": Audience(frozenset({Reveal.COMMENTARY})),
    "analysis": Audience(frozenset({Reveal.ANALYSIS})),
}
WITH_CALLS = [sample for sample in samples() if any(line["kind"] == "call" for line in sample.expected)]


def told(calls: ShownCalls, numbers: range) -> tuple[object, ...]:
    ends = [(calls.of(number), calls.row_of(number)) for number in numbers]
    return list(calls), calls[:2], dict(calls.states), calls.open, calls.largest, calls.spans, ends


@pytest.mark.parametrize("audience", AUDIENCES.values(), ids=AUDIENCES)
@each("sample", WITH_CALLS, ids=lambda sample: sample.name, quick=3)
def test_every_way_to_look_gives_the_same(sample: Sample, audience: Audience, monkeypatch: pytest.MonkeyPatch) -> None:
    projection = open_document(str(sample.path), dialect=sample.asked).project(audience)
    numbers = range(projection.message_count + 2)
    few = told(projection.calls(), numbers)
    assert few == told(ShownCalls(list(projection.calls())), numbers)
    monkeypatch.setattr(seen_calls, "MANY", 0)
    assert few == told(projection.calls(), numbers)


def test_calls_of_which_an_end_is_hidden_are_not_told(tmp_path: Path) -> None:
    path = tmp_path / "calls.ocml"
    path.write_text(
        "version: 2.2\n<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|message|>{}<|call|>"
        "<|start|>tool name=functions.f call_id=a<|message|>{}<|end|>"
        "<|start|>assistant to=functions.f call_id=b<|channel|>analysis<|message|>{}<|call|>",
        "utf-8",
    )
    document = open_document(str(path))
    seen = {name: [call.call_id for call in document.project(audience).calls()] for name, audience in AUDIENCES.items()}
    assert seen["all"] == seen["tools"] + seen["analysis"]
    assert (seen["tools"], seen["commentary"]) == (["a"], [])
    assert list(document.project(END_USER).calls()) == []
