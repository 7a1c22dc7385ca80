"""The record engine: conditions, and replies that arrive in blocks, with a table made for these tests."""

from __future__ import annotations

import json

import pytest

from tests.support.reading import Reading, codes, describe, examine
from viewer.formats import record_formats
from viewer.formats.engine.conditions import Unreadable, all_hold, holding, holds
from viewer.formats.opening import traits
from viewer.formats.tables.model import (
    Container,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Step,
    Stream,
    When,
    ends,
    is_,
    only,
)
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonNode, read_json


def node(value: object) -> JsonNode:
    found = read_json(json.dumps(value).encode()).node
    assert found is not None
    return found


def test_an_ending_fits_strings_only() -> None:
    condition = ends("type", "_result", "_output")
    assert [
        holds(condition, node({"type": word})) for word in ("a_result", "a_output", "result_a", 5, ["_result"], None)
    ] == [*(True, True, False, False, False, False)]


def test_only_these_members_may_be_there_once() -> None:
    condition = only("text", "id")
    assert holds(condition, node({"text": "a"})) and holds(condition, node({}))
    assert not holds(condition, node({"text": "a", "thought": True}))
    repeated = read_json(b'{"text":"a","text":"b"}').node
    assert repeated is not None and not holds(condition, repeated)


def test_a_repeated_member_that_decides_cannot_be_read() -> None:
    repeated = read_json(b'{"type":"a_result","type":"b"}').node
    assert repeated is not None
    with pytest.raises(Unreadable):
        holds(ends("type", "_result"), repeated)


PARTS = (PartRule((is_("type", "text"),), Kind.SAID, "text"), PartRule((is_("type", "plan"),), Kind.THOUGHT, "text"))
RESULT = PartRule((is_("type", "result"),), Kind.REPLY, "text", outcome=Outcomes(failed=("state=*_error",)))
LETTERS = RecordFormat(
    name="events",  # checks look up the name
    title="Letters",
    container=Container.LINES,
    signatures=(),
    records=tuple(
        RecordRule(
            (When("do", equals=frozenset({step.value})),),
            Kind.SAID,
            "assistant",
            "part",
            (*PARTS, RESULT),
            stream=Stream(step, "at", "who", "id"),
        )
        for step in Step
    ),
)


def read(*records: dict[str, object]) -> Reading:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    return describe(examine([data], data, traits(LETTERS)), data)


def part(do: str, at: int, text: str, type: str = "text", who: str | None = None) -> dict[str, object]:
    return {"do": do, "at": at, "who": who, "part": {"type": type, "text": text}}


def test_replies_of_two_speakers_do_not_mix() -> None:
    found = read(
        {"do": "reply"},
        {"do": "reply", "who": "b"},
        part("open", 0, "A1 "),
        part("open", 0, "B1 ", who="b"),
        part("grow", 0, "A2"),
        part("grow", 0, "B2", who="b"),
        {"do": "end"},
        {"do": "end", "who": "b"},
    )
    assert found.texts == ("A1 A2", "B1 B2")
    assert codes(found) == []


def test_a_reply_that_was_never_announced_is_read_from_its_first_block() -> None:
    found = read(part("open", 0, "A1"), {"do": "close", "at": 0}, {"do": "end"})
    assert (found.texts, codes(found)) == (("A1",), [])
    assert read({"do": "close", "at": 0}, {"do": "end"}).texts == ()


def test_all_text_for_a_missing_block_is_one_hidden_message() -> None:
    found = read({"do": "reply"}, part("grow", 3, "a"), part("grow", 3, "b"), part("grow", 4, "c"), {"do": "end"})
    assert (found.texts, found.visible) == (("ab", "c"), (False, False))
    assert codes(found) == ["W-RECORD-UNKNOWN"] * 2
    assert codes(read(part("grow", 3, "a"))) == ["W-RECORD-UNKNOWN"]


def test_a_block_that_opens_again_closes_the_one_before() -> None:
    found = read(
        {"do": "reply"}, part("open", 0, "a"), part("open", 0, "b", "plan"), part("grow", 0, "c", "plan"), {"do": "end"}
    )
    assert (found.texts, found.visible) == (("a", "bc"), (True, False))


def test_a_state_that_ends_with_a_word_is_an_outcome() -> None:
    reply: dict[str, object] = {"do": "reply", "part": [{"type": "result", "text": "x", "state": "some_error"}]}
    (message,) = read(reply, {"do": "end"}).messages
    assert message.header.outcome.value == "failed"  # type: ignore[attr-defined]


def test_the_last_open_block_of_a_reply_that_breaks_off_is_incomplete() -> None:
    found = read({"do": "reply"}, part("open", 0, "a"), part("open", 1, "b"))
    assert [message.ending.value for message in found.messages] == ["end", "open"]  # type: ignore[attr-defined]
    assert codes(found) == ["E-STREAM-TRUNCATED/event-stream"]


def test_an_empty_object_takes_the_rules_that_hold_for_it() -> None:
    node = read_json(b"{}").node
    assert node is not None
    assert node.is_empty
    count = 0
    for format in record_formats():
        expected = [rule for rule in format.records if all_hold(rule.when, node)]
        assert [*holding(format.records, node)] == expected, format.name
        count += len(expected)
    assert count
