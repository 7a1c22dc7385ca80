"""Calls as an audience sees them: every backend gives the same answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import astuple

from tests.laws.test_backends_agree import BACKENDS
from tests.support.cases import each
from tests.support.samples import Sample, samples
from viewer.document.calls import CallView
from viewer.document.document import open_document
from viewer.document.values import ShownCall
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal

AUDIENCES = {
    "all": EVERYTHING,
    "tools": Audience(frozenset({Reveal.TOOL, Reveal.COMMENTARY})),
    "commentary": Audience(frozenset({Reveal.COMMENTARY})),
    "analysis": Audience(frozenset({Reveal.ANALYSIS})),
}
WITH_CALLS = [sample for sample in samples() if any(line["kind"] == "call" for line in sample.expected)]


def facts(calls: CallView, numbers: range) -> tuple[object, ...]:
    """Return all data of a view."""
    ends = [(calls.of(number), calls.row_of(number)) for number in numbers]
    spans = [list(column) for column in astuple(calls.spans)]
    return list(calls), calls[:2], dict(calls.states), calls.open, calls.largest, spans, ends


def expected(calls: list[ShownCall], numbers: range) -> tuple[object, ...]:
    """Return the same data, computed call by call."""
    rows = {number: [row for row, one in enumerate(calls) if number in (one.call, one.reply)] for number in numbers}
    ends = [([calls[row] for row in rows[number]], next(iter(rows[number]), -1)) for number in numbers]
    states = Counter(one.state for one in calls)
    largest = max((end for one in calls for end in (one.call, one.reply) if end), default=0)
    linked = [(one.call, one.reply, one.inferred) for one in calls if one.call and one.reply]
    kinds = (linked, [one for one in linked if not one[2]])
    spans = [sorted(pick(call, reply) for call, reply, _ in kind) for kind in kinds for pick in (min, max)]
    return calls, calls[:2], dict(states), states["pending"], largest, spans, ends


@pytest.mark.parametrize("audience", AUDIENCES.values(), ids=AUDIENCES)
@each("sample", WITH_CALLS, ids=lambda sample: sample.name, quick=72, test=9)
def test_every_backend_gives_the_same(sample: Sample, audience: Audience) -> None:
    document = open_document(str(sample.path), format=sample.asked)
    projection = document.project(audience)
    watched = projection.call_watch().all()
    numbers = range(1, projection.message_count + 2)
    for columns in BACKENDS:
        document.index.use_columns(columns)
        assert facts(projection.calls(), numbers) == expected(watched, numbers)


def test_calls_with_a_hidden_end_are_not_shown(tmp_path: Path) -> None:
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
