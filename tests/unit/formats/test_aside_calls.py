"""Logged model calls that make no answer for the user are hidden: those of other agents, and titles."""

from __future__ import annotations

import json
from typing import Any

from tests.support.agent_records import as_document, as_lines, kinds, shown
from tests.support.cases import each
from tests.support.reading import read, read_batched, read_cut

Json = dict[str, Any]
TASK = "SECRET find all the beaches"


def chat(system: str, *messages: Json, **more: Any) -> Json:
    return {"model": "g", "messages": [{"role": "system", "content": system}, *messages], **more}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def answer(**message: Any) -> Json:
    return {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant"} | message}],
    }


def events(*records: Json) -> str:
    return "".join(f"data: {json.dumps(record)}\n\n" for record in records)


CALL = {"id": "k1", "type": "function", "function": {"name": "task", "arguments": json.dumps({"prompt": TASK})}}
CALLED, RESULT = {"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "k1"}
FIRST = (chat("a", user("Find a beach.")), answer(content=None, tool_calls=[CALL]))
LAST = (chat("b", user("Find a beach."), CALLED, RESULT | {"content": "SECRET"}), answer(content="Adraga."))
DELEGATED: dict[str, tuple[Json, Json]] = {
    "the task": (chat("c", user(TASK)), answer(content="SECRET answer")),
    "the task in more words": (chat("c", user(f"Current Task: {TASK}\nBegin!")), answer(content="SECRET")),
    "a part": (chat("c", user([{"type": "text", "text": TASK}])), answer(content="SECRET")),
    "the same question": (chat("c", user("Find a beach.")), answer(content="SECRET")),
    "a later call of the same agent": (
        chat("c", user(TASK), {"role": "assistant", "content": "SECRET"}, user("SECRET go on")),
        answer(content="SECRET"),
    ),
}
STREAMED = events(
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "k1", "name": "Task", "input": {}},
    },
    *(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": part}}
        for part in ('{"prompt": "SECRET fi', "nd all the bea", 'ches"}')
    ),
    {"type": "content_block_stop", "index": 0},
    {"type": "message_stop"},
)


def call_log(*calls: tuple[Json, Json | str], **more: Any) -> bytes:
    return as_lines(
        *({"request_id": "r", "response_status": 200, "request_body": a, "response_body": b} | more for a, b in calls)
    )


def har(*calls: tuple[Json, Json | str], **more: Any) -> bytes:
    entries = [
        {
            "startedDateTime": "2026-03-01T10:00:01Z",
            "request": {"method": "POST", "url": "https://x.example", "postData": {"text": json.dumps(asked)}},
            "response": {"status": 200, "content": {"text": said if isinstance(said, str) else json.dumps(said)}},
            **more,
        }
        for asked, said in calls
    ]
    return as_document({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}})


WRITERS = {"call-log": call_log, "har": har}


def test_the_calls_of_another_agent_are_hidden() -> None:
    for format, write in WRITERS.items():
        for name, delegated in DELEGATED.items():
            called = FIRST
            if name == "the same question":
                task = CALL | {"function": {"name": "task", "arguments": '{"q": "Find a beach."}'}}
                called = (FIRST[0], answer(content=None, tool_calls=[task]))
            data = write(called, delegated, delegated, LAST)
            assert [*dict.fromkeys(shown(data, format))] == ["Find a beach.", "Adraga."], (format, name)
            assert kinds(data, format).count(("subagent", "SECRET")) in (0, 2, 4)
            whole = read(data, format)
            assert read_cut(data, format, range(1, len(data), 97)) == whole
            assert read_batched(data, format) == whole


def test_a_streamed_call_delegates_too() -> None:
    asked = {"model": "x", "system": "s", "max_tokens": 9, "messages": [user("Find a beach.")]}
    said = {"id": "n", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "SECRET answer"}]}
    data = har((asked, STREAMED), (asked | {"system": "t", "messages": [user(TASK)]}, said))
    assert shown(data, "har") == ["Find a beach."]


def test_names_of_calls_hide_them() -> None:
    side = (chat("c", user("Find a beach.")), answer(content="SECRET title"))
    for more in ({"name": "generate_title"}, {"metadata": {"task": "title"}}, {"properties": {"Purpose": "judge"}}):
        for format, write in WRITERS.items():
            assert "SECRET" not in str(shown(write(side, **more), format)), (format, more)
    named = (side[0] | {"metadata": {"purpose": "title"}}, side[1])
    for format, write in WRITERS.items():
        assert shown(write(named), format) == []


def test_conversations_with_the_user_stay() -> None:
    again = (chat("d", user("Where is it, exactly?")), answer(content="West."))
    search = CALL | {"function": {"name": "search", "arguments": '{"q": "Where is it, exactly?", "path": "a.md"}'}}
    first = (again[0], answer(content=None, tool_calls=[search]))
    went_on = (
        chat("e", user("Where is it, exactly?"), CALLED | {"tool_calls": [search]}, RESULT | {"content": "x"}),
        answer(content="West."),
    )
    for format, write in WRITERS.items():
        data = write(first, went_on, again, (chat("d", user("Read a.md")), answer(content="Done.")))
        assert [*dict.fromkeys(shown(data, format))] == ["Where is it, exactly?", "West.", "Read a.md", "Done."], format


@each("format", WRITERS, quick=4)
def test_after_many_calls_the_next_ones_are_still_hidden(format: str) -> None:
    plain = (chat("a", user("Hello there.")), answer(content="Hi."))
    data = WRITERS[format](*[plain] * 240, FIRST, *[DELEGATED["the task"]] * 20, LAST)
    assert len(data) > 65_536
    assert "SECRET" not in str(shown(data, format))
