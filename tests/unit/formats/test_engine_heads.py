"""The record engine: paths that join two strings, heads that set the kind of later records, and replaced records."""

from __future__ import annotations

from typing import Any

from tests.support.agent_records import as_lines
from tests.support.reading import describe, examine
from viewer.formats.opening import traits
from viewer.formats.tables.model import (
    Container,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    RecordFormat,
    RecordRule,
    flag,
    has,
    is_,
)
from viewer.model.messages import Kind

FORMAT = RecordFormat(
    name="claude-code",  # a name that the checks know
    title="Made for this test",
    container=Container.LINES,
    signatures=(),
    records=(
        RecordRule((flag("helper"),), None, starts=True, narrows=Narrowing(Kind.SUBAGENT)),
        RecordRule((has("session"),), None, starts=True),
        RecordRule((is_("type", "said"),), Kind.SAID, "user", "head&texts[].body"),
        RecordRule(
            (is_("type", "result"),),
            Kind.REPLY,
            "tool",
            "text",
            call_id="id",
            merge=Merge(Mode.REPLACE, "id"),
            outcome=Outcomes(failed=("status=failed",)),
        ),
        RecordRule((is_("type", "task"),), Kind.SAID, "user", "text", later=Kind.REPLY),
        RecordRule((is_("type", "call"),), Kind.CALL, "assistant", "text", call_id="id", name="name"),
        RecordRule((is_("type", "answer"),), Kind.REPLY, "tool", "text", call_id="id", orphan=Kind.NOTICE),
        RecordRule((is_("type", "rules"),), Kind.INSTRUCTION, "system", "text"),
        RecordRule(
            (is_("type", "piece", "first", "last"),),
            Kind.SAID,
            "assistant",
            "text",
            merge=Merge(Mode.APPEND, begins=is_("type", "first"), done=is_("type", "last")),
        ),
    ),
    session="session",
)


def kinds(*records: Any) -> list[tuple[str, str]]:
    data = as_lines(*records)
    reading = describe(examine([data], data, traits(FORMAT)), data)
    messages: list[Any] = list(reading.messages)
    return [(each.header.kind.value, text) for each, text in zip(messages, reading.texts, strict=True)]


def test_a_path_may_join_the_values_of_two() -> None:
    record = {"type": "said", "head": "a", "texts": [{"body": "b"}, {"body": None}, {"body": "c"}]}
    assert kinds(record) == [("said", "a\nb\nc")]
    assert kinds({"type": "said", "texts": [{"body": "b"}]}) == [("said", "b")]


def test_a_head_may_state_the_kind_of_the_rest_of_its_transcript() -> None:
    said = {"type": "said", "head": "a"}
    assert kinds({"session": "1", "helper": True}, said) == [("subagent", "a")]
    assert kinds({"session": "1", "helper": True}, said, {"session": "2"}, said) == [("subagent", "a"), ("said", "a")]


def test_a_replaced_record_ends_with_the_outcome_of_the_newest() -> None:
    data = as_lines(*({"type": "result", "id": "1", "text": word, "status": word} for word in ("running", "failed")))
    reading = describe(examine([data], data, traits(FORMAT)), data)
    messages: list[Any] = list(reading.messages)
    assert reading.texts == ("failed",)
    assert messages[0].header.outcome.value == "failed"
    assert any("W-TOOL-FAILED" in repr(each) for each in reading.findings)


def test_only_a_string_is_said() -> None:
    for value in ({"text": "a"}, [{"type": "thinking", "thinking": "a"}], ["a"], 7, True):
        assert [kind for kind, _ in kinds({"type": "said", "head": value})] == ["unknown"], value


def test_a_growing_message_begins_and_ends_where_its_records_say() -> None:
    pieces = [
        {"type": type, "text": text} for type, text in (("first", "a"), ("piece", "b"), ("first", "c"), ("last", ""))
    ]
    assert kinds(*pieces, {"type": "piece", "text": "d"}) == [("said", "ab"), ("said", "c"), ("said", "d")]


def test_a_text_may_be_said_at_the_beginning_only() -> None:
    rules, task, other = {"type": "rules", "text": "r"}, {"type": "task", "text": "t"}, {"type": "?", "text": "x"}
    for records, seen in (
        ([rules, task, task], ["instruction", "said", "reply"]),
        ([rules, other, task], ["instruction", "unknown", "reply"]),
        ([task, {"session": "2"}, task], ["said", "said"]),
    ):
        assert [kind for kind, _ in kinds({"session": "1"}, *records)] == seen


def test_an_answer_is_a_reply_only_to_a_call_that_was_read() -> None:
    call, answer = {"type": "call", "id": "1", "name": "f", "text": "{}"}, {"type": "answer", "id": 1, "text": "a"}
    assert [kind for kind, _ in kinds(call, answer)] == ["call", "reply"]
    assert [kind for kind, _ in kinds(answer, {**answer, "text": ""}, call)] == ["notice", "call"]
