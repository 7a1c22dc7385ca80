"""Alignment of two runs: true pairs are found at every edit rate, and moved replies follow their calls."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.edited_runs import FORMATS, precision_and_recall
from viewer.document.document import Document
from viewer.insight.align import LEAST_SIMILAR
from viewer.insight.compared import Spelling
from viewer.insight.comparison import Comparison, RowKind
from viewer.model.visibility import EVERYTHING, Audience
from viewer.sources.files import SpooledSource

HARMONY = "<|start|>user<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"


def document(text: str, format: str | None = None) -> Document:
    return Document(SpooledSource("run", iter([text.encode()]), False), format).load()


def compared(a: str, b: str, audience: Audience = EVERYTHING, spelling: Spelling | None = None) -> Comparison:
    first, second = (document(text).project(audience) for text in (a, b))
    return Comparison(first, second, spelling or Spelling())


def shown(comparison: Comparison) -> list[tuple[int | None, int | None, str]]:
    return [(*comparison.numbers(row), comparison.kind(row).value) for row in comparison.rows]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_true_pairs_are_found_at_every_rate_of_edits(rate: float) -> None:
    found = [precision_and_recall(rate, seed, turns=30) for seed in (11, 12)]
    assert min(precision for precision, _ in found) >= 0.98, found
    assert min(recall for _, recall in found) >= 0.95, found


@pytest.mark.lab
@pytest.mark.parametrize("formats", [*product(FORMATS, FORMATS)], ids="-".join)
def test_the_true_pairs_are_found_in_all_formats(formats: tuple[str, str]) -> None:
    for rate in (0.1, 0.2, 0.4, 0.6):
        found = [precision_and_recall(rate, seed, 40, formats) for seed in range(200, 206)]
        assert sum(precision for precision, _ in found) / len(found) >= 0.98, (rate, found)
        assert sum(recall for _, recall in found) / len(found) >= 0.95, (rate, found)


@pytest.mark.lab
def test_the_true_pairs_are_found_in_many_runs() -> None:
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        found = [precision_and_recall(rate, seed) for seed in range(100, 120)]
        assert sum(precision for precision, _ in found) / len(found) >= 0.98, rate
        assert sum(recall for _, recall in found) / len(found) >= 0.95, rate


def test_an_inserted_message_does_not_shift_the_others() -> None:
    a = HARMONY.format("Is it warm?", "Yes.") + HARMONY.format("And wet?", "No.")
    b = (
        HARMONY.format("Is it warm?", "Yes.")
        + HARMONY.format("Who asks?", "A tailor.")
        + HARMONY.format("And wet?", "No.")
    )
    assert shown(compared(a, b)) == [
        *((1, 1, "same"), (2, 2, "same"), (None, 3, "only_b"), (None, 4, "only_b"), (3, 5, "same"), (4, 6, "same")),
    ]


def call(id: str, tool: str, body: str) -> str:
    header = f"assistant to=functions.{tool} call_id={id}<|channel|>commentary<|constrain|>json"
    return f"<|start|>{header}<|message|>{body}<|call|>"


def reply(id: str, tool: str, body: str) -> str:
    return f"<|start|>tool name=functions.{tool} call_id={id} to=assistant<|channel|>commentary<|message|>{body}<|end|>"


CALLS = call("c1", "f", '{"a":1}') + call("c2", "g", '{"a":2}')


def test_replies_in_another_order_pair_through_their_calls() -> None:
    head = "version: 2.2\n<|start|>user<|message|>Go<|end|>"
    a = head + CALLS + reply("c1", "f", "one thing") + reply("c2", "g", "another")
    b = head + CALLS + reply("c2", "g", "another") + reply("c1", "f", "some other word")
    comparison = compared(a, b)
    pairs = {comparison.numbers(row) for row in comparison.rows}
    assert pairs == {(1, 1), (2, 2), (3, 3), (4, 5), (5, 4)}
    assert sum(row.moved for row in comparison.rows) == 1


def test_replies_without_ids_pair_by_content_if_their_order_differs() -> None:
    head = "<|start|>user<|message|>Go<|end|>"
    calls = "".join(
        f'<|start|>assistant to=functions.f<|channel|>commentary<|constrain|>json<|message|>{{"a":{each}}}<|call|>'
        for each in (1, 2)
    )
    replies = [
        f"<|start|>functions.f to=assistant<|channel|>commentary<|message|>{each}<|end|>" for each in ("one", "other")
    ]
    comparison = compared(head + calls + "".join(replies), head + calls + "".join(reversed(replies)))
    assert {comparison.numbers(row) for row in comparison.rows} == {(1, 1), (2, 2), (3, 3), (4, 5), (5, 4)}


def test_call_ids_may_have_other_names_but_only_one_each() -> None:
    head = "version: 2.2\n<|start|>user<|message|>Go<|end|>"
    a = head + CALLS + reply("c1", "f", "one") + reply("c2", "g", "two")
    b = a.replace("c1", "x9").replace("c2", "x8")
    assert compared(a, b).renamed_ids == {"c1": "x9", "c2": "x8"}
    assert not compared(a, b).totals().differ
    assert compared(a, b, spelling=Spelling(strict=True)).totals().changed == 4
    mixed = a.replace("g call_id=c2 to=", "g call_id=c7 to=")
    assert compared(a, mixed).totals().differ


ASKED = "<|start|>user<|message|>Hi<|end|><|start|>assistant"
TO = " to=functions.f"
EQUIVALENT = {
    "an ending": (HARMONY.format("Hi", "Ho"), HARMONY.format("Hi", "Ho").replace("<|return|>", "<|end|>")),
    "the place of the recipient": (
        f"{ASKED}{TO}<|channel|>commentary<|message|>{{}}<|call|>",
        f"{ASKED}<|channel|>commentary{TO}<|message|>{{}}<|call|>",
    ),
    "the type": (
        f"{ASKED}<|channel|>commentary{TO} <|constrain|>json<|message|>{{}}<|call|>",
        f"{ASKED}<|channel|>commentary{TO} json<|message|>{{}}<|call|>",
    ),
    "a YAML header": (
        "version: 2.2\nmodel: m\n" + HARMONY.format("Hi", "Ho"),
        "version: 2.2\n" + HARMONY.format("Hi", "Ho"),
    ),
}


@pytest.mark.parametrize("case", EQUIVALENT)
def test_another_spelling_is_equal_unless_spelling_counts(case: str) -> None:
    a, b = EQUIVALENT[case]
    assert not compared(a, b).totals().differ
    assert compared(a, b, spelling=Spelling(strict=True)).totals().differ


def test_the_alignment_sees_only_what_the_audience_sees() -> None:
    secret = "<|start|>assistant<|channel|>analysis<|message|>{}<|end|>"
    a = HARMONY.format("Is it warm?", "Yes.")
    with_thought = a.replace("<|start|>assistant", secret.format("Hmm") + "<|start|>assistant")
    safe = Audience(strict=True)
    assert shown(compared(a, with_thought, safe)) == [(1, 1, "same"), (2, 2, "same")]
    assert compared(a, with_thought).totals().only_b == 1


def test_a_call_whose_arguments_were_encoded_twice_has_another_type() -> None:
    head = "version: 2.2\n<|start|>user<|message|>Go<|end|>"
    comparison = compared(head + call("c", "f", '{"a":1}'), head + call("c", "f", '"{\\"a\\":1}"'))
    row = next(row for row in comparison.rows if comparison.kind(row) is RowKind.CHANGED)
    assert [(each.path, each.change) for each in comparison.change(row).paths] == [("", "type")]


def test_messages_with_nothing_in_common_are_not_paired() -> None:
    assert LEAST_SIMILAR > 0.35, "the same recipient is not enough"
    a, b = HARMONY.format("Is it warm?", "Yes."), HARMONY.format("Who are you", "Maria")
    assert compared(a, b).totals().only_a == 2
