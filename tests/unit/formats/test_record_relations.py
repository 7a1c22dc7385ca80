"""Relations between records: narrowing, repeated text, ended calls, and rewound turns."""

from __future__ import annotations

import json
from typing import Any

from tests.support.reading import codes, describe, examine
from tests.support.record_checks import headers
from viewer.formats.opening import traits
from viewer.formats.tables.model import (
    Alone,
    Container,
    Copies,
    Narrowing,
    RecordFormat,
    RecordRule,
    has,
    is_,
)
from viewer.index.calls import CallState
from viewer.model.messages import Kind
from viewer.rules.structure import W_THREAD_BROKEN

REPLAY = Narrowing(Kind.REPLAYED, (is_("type", "go"),), "time", 1000, (W_THREAD_BROKEN, "parent-missing"))
FORMAT = RecordFormat(
    name="codex",
    title="A table of its own under a known name",
    container=Container.LINES,
    signatures=(),
    records=(
        RecordRule((is_("type", "start"), has("agent")), None, narrows=Narrowing(Kind.SUBAGENT), goes_on=True),
        RecordRule((is_("type", "start"),), None, starts=True, session="id"),
        RecordRule((is_("type", "say"),), Kind.SAID, "user", "text"),
        RecordRule((is_("type", "rule"),), Kind.INSTRUCTION, "system", "text", once=True),
        RecordRule((is_("type", "call"),), Kind.CALL, "assistant", "text", call_id="id", name="id"),
        RecordRule((is_("type", "reply"),), Kind.REPLY, "tool", "text", call_id="id", copy=Copies("r", primary=True)),
        RecordRule((is_("type", "stop"),), None, cancels=True),
        RecordRule((is_("type", "back"),), None, rewind_turns="turns"),
        RecordRule((is_("type", "item"),), Kind.SAID, "user", "text", copy=Copies("u", primary=True)),
        RecordRule((is_("type", "event"),), Kind.SAID, "user", "text", copy=Copies("u")),
        RecordRule((is_("type", "go"),), None),
    ),
    alone={"u": Alone.SAID_BEFORE_COPIES},
    replays=REPLAY,
)
TOY = traits(FORMAT)


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def rows(*records: dict[str, Any]) -> list[tuple[str, str]]:
    text = lines(*records)
    analysis = examine([text], text, TOY)
    return [
        (message.header.kind.value, text[message.pieces[0].start : message.pieces[0].end].decode())
        for message in analysis.index
    ]


def say(text: Any, type: str = "say", **more: Any) -> dict[str, Any]:
    return {"type": type, "text": text, **more}


def test_the_history_of_another_session_right_after_the_first_one_is_replayed_until_it_ends() -> None:
    first, second = ({"type": "start", "id": name, "time": f"2026-03-04T09:00:0{name}Z"} for name in "12")
    for end in ({"type": "go"}, say("late", time="2026-03-04T09:00:09Z")):
        found = rows(first, second, say("old"), end, say("new"))
        assert ("replayed", "old") in found
        assert ("said", "new") in found
    later = second | {"time": "2026-03-04T09:30:00Z"}
    assert rows(first, say("old"), later, say("new")) == [("said", "old"), ("said", "new")]


def test_a_session_of_another_agent_says_nothing_until_the_next_session() -> None:
    start = {"type": "start", "id": "1", "agent": True, "time": "2026-03-04T09:00:00Z"}
    other = {"type": "start", "id": "2", "time": "2026-03-04T10:00:00Z"}
    assert rows(start, say("a"), other, say("b")) == [("subagent", "a"), ("said", "b")]


def test_an_instruction_that_is_repeated_is_one_message() -> None:
    assert rows(say("a", "rule"), say("b", "rule"), say("a", "rule")) == [("instruction", "a"), ("instruction", "b")]


def test_a_record_that_ends_the_run_cancels_the_calls_without_a_reply() -> None:
    calls = [say("x", "call", id=name) for name in "ab"]
    text = lines(*calls, say("y", "reply", id="a"), {"type": "stop"})
    assert [link.state for link in examine([text], text, TOY).calls.links] == [CallState.OK, CallState.CANCELLED]


def test_rewound_turns_are_the_last_prompts_with_all_that_follows() -> None:
    text = lines(say("1"), say("2"), say("3", "rule"), {"type": "back", "turns": 1}, say("4"))
    index = examine([text], text, TOY).index
    assert [index.is_superseded(number) for number in range(1, 5)] == [False, True, True, False]


def test_a_said_text_that_is_not_a_string_is_unknown() -> None:
    for value in (7, ["SECRET_"], {"text": "SECRET_"}, True):
        reading = read_toy(say(value))
        assert [header.kind for header in headers(reading)] == [Kind.UNKNOWN]
        assert codes(reading) == ["W-RECORD-UNKNOWN"]


def read_toy(*records: dict[str, Any]) -> Any:
    text = lines(*records)
    return describe(examine([text], text, TOY), text)


def test_an_occurrence_that_no_copy_confirms_is_injected_once_there_are_copies() -> None:
    assert rows(say("a", "item"), say("a", "event"), say("b", "item")) == [("said", "a"), ("injected", "b")]
