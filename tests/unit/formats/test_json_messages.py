"""JSON messages of all kinds: parsing, problems, and writing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.json_cases import body, messages, problems, read, read_in_every_cutting, rows, strays
from viewer.formats import FORMATS
from viewer.formats.json.writer import write_json
from viewer.model.events import Started
from viewer.model.messages import Channel, Coding, Ending, Usage
from viewer.model.visibility import is_user_safe
from viewer.reading.parser import Parser

JSON = FORMATS["json"]
SPECIFIED_2_2 = """{
  "role": "assistant",
  "channel": "final",
  "content": "Visible reply",
  "tool_call": {
    "id": "abc123",
    "recipient": "functions.lookup_weather",
    "content_type": "json",
    "arguments": "{\\"location\\":\\"SF\\"}"
  },
  "thinking": "Private reasoning (analysis)",
  "intent": "preamble"
}
"""


def test_an_object_of_2_2_gives_thought_text_and_calls() -> None:
    events = read_in_every_cutting(JSON, SPECIFIED_2_2)
    thought, said, called = messages(events)
    assert rows(events, SPECIFIED_2_2) == [
        ("assistant", "analysis", "Private reasoning (analysis)"),
        ("assistant", "final", "Visible reply"),
        ("assistant", "commentary", '{"location":"SF"}'),
    ]
    assert (thought.header.intent, said.header.intent, called.header.intent) == (None, "preamble", None)
    assert (called.header.recipient, called.header.call_id) == ("functions.lookup_weather", "abc123")
    assert (called.header.content_type, called.header.constrained, called.ending) == ("json", True, Ending.CALL)
    assert {message.span for message in messages(events)} == {(0, len(SPECIFIED_2_2) - 1)}
    assert [piece.coding for piece in called.pieces] == [Coding.JSON_STRING]
    start, end = said.body_span or (0, 0)
    assert SPECIFIED_2_2[start:end] == "Visible reply"
    assert problems(events) == []


@pytest.mark.slow
def test_chat_completions_messages_are_read_the_same_way() -> None:
    text = """[{"role":"user","content":"Weather?"},
{"role":"assistant","content":null,"reasoning_content":"hm","reasoning":"hm","refusal":null,
 "tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":{"q": 1}}},
               {"id":"c2","type":"function","function":{"name":"python","arguments":"1+1"}}]},
{"role":"tool","tool_call_id":"c1","content":"{}","created":1767225600},
{"role":"function","name":"python","content":"2"},
{"role":"assistant","content":[{"type":"text","text":"Sun"},{"type":"text","text":"ny"}]}]"""
    events = read_in_every_cutting(JSON, text)
    assert rows(events, text) == [
        ("user", None, "Weather?"),
        ("assistant", "analysis", "hm"),
        ("assistant", "commentary", '{"q": 1}'),
        ("assistant", "commentary", "1+1"),
        ("tool", None, "{}"),
        ("tool", None, "2"),
        ("assistant", None, "Sunny"),
    ]
    read_messages = messages(events)
    assert [message.header.recipient for message in read_messages[2:4]] == ["functions.weather", "python"]
    assert (read_messages[4].header.name, read_messages[4].header.call_id) == ("functions.weather", "c1")
    assert read_messages[4].time_ms == 1_767_225_600_000
    assert len(read_messages[6].pieces) == 2
    assert problems(events) == []


def test_a_wrapper_with_choices_gives_its_messages_and_its_model() -> None:
    text = '{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"}}]}'
    events = read_in_every_cutting(JSON, text)
    assert rows(events, text) == [("assistant", None, "hi")]
    assert [event.transcript.model for event in events if isinstance(event, Started)] == ["m"]


@pytest.mark.slow
def test_conversations_of_the_reference_library_are_read() -> None:
    text = """{"messages":[
{"role":"system","name":null,"content":[{"type":"system_content","reasoning_effort":"low"}]},
{"role":"assistant","channel":"commentary","recipient":"functions.f","content_type":"<|constrain|>json",
 "content":[{"type":"text","text":"{}"}]},
{"role":"tool","name":"functions.f","recipient":"assistant","channel":"commentary","content":"ok"}]}"""
    events = read_in_every_cutting(JSON, text)
    _, call, reply = messages(events)
    assert body(messages(events)[0], text) == '{"type":"system_content","reasoning_effort":"low"}'
    assert (call.header.recipient, call.header.content_type, call.header.constrained) == ("functions.f", "json", True)
    assert (call.ending, call.header.channel) == (Ending.CALL, Channel.COMMENTARY)
    assert (reply.header.name, reply.header.recipient) == ("functions.f", "assistant")
    assert problems(events) == []


@pytest.mark.slow
def test_parts_that_are_thoughts_calls_or_replies_are_never_text_to_show() -> None:
    text = """[{"role":"assistant","content":[{"type":"thinking","thinking":"secret"},{"type":"odd","x":"secret"},
{"type":"text","text":"hi"},{"type":"tool_use","id":"u","name":"f","input":{"a":1}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"result"},{"type":"image","url":"u"}]}]"""
    events = read_in_every_cutting(JSON, text)
    assert rows(events, text) == [
        ("assistant", "analysis", "secret"),
        ("assistant", None, '{"type":"odd","x":"secret"}'),
        ("assistant", None, "hi"),
        ("assistant", "commentary", '{"a":1}'),
        ("tool", None, "result"),
        ("user", None, "[image]"),
    ]
    assert messages(events)[4].header.name == "functions.f"
    assert [is_user_safe(message) for message in messages(events)] == [False, False, True, False, False, True]
    assert problems(events) == ["W-PART-UNKNOWN@2"]


@each(
    "text, expected, found",
    [
        ('{"role":"user","content":"a"}', [("user", None, "a")], []),
        ('{"role":"user","content":"a\\n"}', [("user", None, "a\n")], []),
        ('{"role":"user","content":""}', [("user", None, "")], []),
        ('{"role":"user"}', [("user", None, "")], []),
        ('{"role":"assistant","content":"","thinking":"t"}', [("assistant", "analysis", "t")], []),
        ('{"role":"bot","content":"a"}', [("bot", None, "a")], ["E-PARSE-HEADER/role-unknown@1"]),
        ('{"role":"","content":"a"}', [("", None, "a")], ["E-PARSE-HEADER/role-missing@1"]),
        ('{"content":"a"}', [("", None, "a")], ["E-PARSE-HEADER/role-missing@1"]),
        ('{"role":"functions.f","content":"a"}', [("tool", None, "a")], []),
        ('{"role":"tool","content":"a"}', [("tool", None, "a")], ["W-TOOL-NAME-MISSING@1"]),
        (
            '{"role":"assistant","channel":"Final","content":"a"}',
            [("assistant", "Final", "a")],
            ["E-PARSE-HEADER/channel-unknown@1"],
        ),
        (
            '{"role":"assistant","channel":"","content":"a"}',
            [("assistant", "", "a")],
            ["E-PARSE-HEADER/channel-empty@1"],
        ),
        (
            '{"role":"assistant","channel":"analysis","channel":"final","content":"a"}',
            [("assistant", "final", "a")],
            ["E-PARSE-HEADER/attribute-repeated@1"],
        ),
        (
            '{"role":"assistant","content":"a","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}',
            [("assistant", None, "a"), ("assistant", "commentary", "{}")],
            ["W-CALL-MIXED/content-and-calls@1"],
        ),
        (
            '{"role":"assistant","tool_calls":[{"id":"c"}]}',
            [("assistant", "commentary", "")],
            ["E-PARSE-HEADER/attribute-empty@1"],
        ),
        ('[{"role":"user","content":"a",},]', [("user", None, "a")], ["I-JSON-LENIENT@1", "I-JSON-LENIENT@None"]),
        ('[{"role":"user","content":NaN}]', [("user", None, "")], ["E-PARSE-HEADER/not-a-message@1"]),
        ('[{"role":"user","content":“a”}]', [("user", None, "a")], ["E-PARSE-HEADER/not-a-message@1"] * 2),
    ],
)
def test_one_object_is_one_transcript(text: str, expected: list[tuple[str, str | None, str]], found: list[str]) -> None:
    events = read_in_every_cutting(JSON, text)
    assert rows(events, text) == expected
    assert problems(events) == found
    malformed = {int(problem[-1]) for problem in found if problem.startswith("E-PARSE") and problem[-1].isdigit()}
    assert {message.number for message in messages(events) if message.header.malformed} == malformed


def test_items_that_are_not_messages_are_stray_text() -> None:
    text = '[{"role":"user","content":"a"}, 3, {"foo": 1}, {"role":"user","content":"b"}] tail'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == ["a", "b"]
    assert strays(events, text) == ["3", '{"foo": 1}', "tail"]
    assert problems(events).count("E-PARSE-HEADER/not-a-message@None") == 2


def test_lines_are_one_transcript_and_a_broken_line_affects_no_other() -> None:
    text = '\n{"role":"user","content":"a"}\nnot json\n{"role":"user","cont\r\n  {"role":"user","content":"b"}  \n[1]'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == ["a", "b"]
    assert strays(events, text) == ["not json", '{"role":"user","cont', "[1]"]
    assert sum(isinstance(event, Started) for event in events) == 1


@pytest.mark.parametrize("first", ["not json", '{"role":"user","cont', '{"role":"user",}x'])
def test_a_broken_first_line_is_judged_by_the_second(first: str) -> None:
    text = first + '\n{"role":"user","content":"b"}\n{"role":"user","content":"c"}\n'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == ["b", "c"]
    assert sum(isinstance(event, Started) for event in events) == 1


def test_a_line_is_read_as_soon_as_it_ends() -> None:
    parser = Parser(JSON)
    assert len(messages(parser.feed(b'{"role":"user","content":"a"}\n{"role":"us'))) == 1
    assert len(messages(parser.feed(b'er"}'))) == 0
    assert len(messages(parser.feed(b"\n"))) == 1


def test_each_wrapper_and_each_document_is_a_transcript() -> None:
    one, two = '{"messages":[{"role":"user","content":"a"}]}', '{"messages": [\n{"role":"user","content":"b"}\n]}'
    for text in (
        f"{one}\n{one}",
        f"{one}{one}",
        f"{two}\n{two}",
        f"[{one},{one}]",
        '[{"role":"user"}][{"role":"user"}]',
    ):
        events = read_in_every_cutting(JSON, text)
        assert [message.transcript for message in messages(events)][-1] >= 2, text
        assert len(messages(events)) == 2


def test_a_document_that_ends_early_has_an_open_last_message() -> None:
    text = '[{"role":"user","content":"a"},{"role":"assistant","channel":"final","content":"It \\u00e9 is'
    events = read_in_every_cutting(JSON, text)
    assert rows(events, text)[1] == ("assistant", "final", "It é is")
    assert [message.ending for message in messages(events)] == [Ending.END, Ending.OPEN]
    assert problems(events) == ["E-STREAM-TRUNCATED/body@2"]
    assert is_user_safe(messages(events)[1])


@pytest.mark.parametrize(
    "text", ['[{"role":"assistant","content":"se', '[{"content":"se', '[{"content":"se","role":"assis']
)
def test_text_that_an_unfinished_object_may_still_hide_is_not_shown(text: str) -> None:
    events = read_in_every_cutting(JSON, text)
    assert [is_user_safe(message) for message in messages(events)] == [False]
    assert problems(events)[-1].startswith("E-STREAM-TRUNCATED")


def test_a_broken_document_gives_its_valid_messages_and_stray_text() -> None:
    text = '[{"role":"user","content":"a"},\n{"role":"user","content":"b" oops}, {"role":"user","content":"c"}]'
    events = read_in_every_cutting(JSON, text)
    assert [row[2] for row in rows(events, text)] == ["a"]
    assert strays(events, text) == ['{"role":"user","content":"b" oops}, {"role":"user","content":"c"}]']
    assert problems(events)[0] == "E-PARSE-HEADER/not-a-message@None"


@each("text", ["", " \n ", "hello", "[", "{", '{"ro', "]", "{}", "[]", "12", '"text"', "[[]]", '{"messages":[{}]}'])
def test_tiny_odd_inputs_are_read(text: str) -> None:
    assert messages(read_in_every_cutting(JSON, text)) == []


@pytest.mark.slow
@given(st.text(alphabet='[]{}",:\\\n ”“a1') | st.binary(max_size=60), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_no_input_raises_and_cuts_change_nothing(text: str | bytes, size: int) -> None:
    data = text.encode() if isinstance(text, str) else text
    assert read(JSON, data, [size] * (len(data) // size + 1)) == read(JSON, data)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_broken_transcript_never_raises(data: st.DataObject) -> None:
    text = SPECIFIED_2_2.encode()
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.binary(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    cut = data.draw(st.integers(0, len(broken)))
    assert read(JSON, broken, [cut, len(broken) - cut]) == read(JSON, broken)


@pytest.mark.share(test=4)
@pytest.mark.parametrize(
    "shape", ["[" * 100_000, '{"a":' * 100_000, '{"role":"user","content":"a"}\n' * 5_000, '{"role":"user"}' * 5_000]
)
def test_the_work_is_linear_whole_and_byte_by_byte(shape: str) -> None:
    data = shape.encode()
    began = time.process_time()
    read(JSON, data)
    read(JSON, data, [1] * len(data))
    assert time.process_time() - began < 5


@dataclass(frozen=True)
class Shown:
    """A message as a writer receives it."""

    role: str
    body: str = ""
    transcript: int = 1
    number: int = 1
    name: str | None = None
    recipient: str | None = None
    channel: str | None = "final"
    channel_given: str | None = None
    intent: str | None = None
    call_id: str | None = None
    content_type: str | None = None
    constrained: bool = False
    ending: str = "end"
    extra: Mapping[str, str] = field(default_factory=dict)
    message_kind: str = "said"
    is_value: bool = False
    source_text: str | None = None
    visible: bool = True
    usage: Usage | None = None
    time: str | None = None
    span: tuple[int, int] | None = None
    thread: int = 0


WRITTEN = [
    Shown("system", "Be brief."),
    Shown("user", 'Wetter?\n“ä” "x" <|end|>'),
    Shown("assistant", "hm", channel="analysis", channel_given="analysis"),
    Shown("assistant", "", channel="analysis", channel_given="analysis", intent="debug"),
    Shown("assistant", "I look", channel="commentary", channel_given="commentary", intent="preamble"),
    Shown(
        "assistant", '{"a":1}', 1, 1, None, "functions.w", "commentary", "commentary", None, "c1", "json", True, "call"
    ),
    Shown("assistant", "1", 1, 1, None, "python", "analysis", "analysis", None, None, None, False, "call"),
    Shown("assistant", "1", 1, 1, "n", "f", "commentary", "commentary", "debug", "c", "code", False, "call"),
    Shown("assistant", "1", 1, 1, None, "functions.w", "final", None, None, "c3", "json", True, "end"),
    Shown("tool", "{}", 1, 1, "functions.w", "assistant", "commentary", "commentary", None, "c1", "json", True),
    Shown("assistant", "Sunny", channel_given="final", ending="return", extra={"mood": "fine"}),
    Shown("assistant", "cut", channel_given="final", ending="open"),
    Shown("assistant", "odd", channel=None, channel_given="finale"),
]


@pytest.mark.slow
def test_written_messages_are_read_back_unchanged() -> None:
    text, losses = write_json(WRITTEN)
    assert losses == []
    events = read_in_every_cutting(JSON, text)
    again = [
        Shown(
            message.header.role,
            body(message, text),
            1,
            1,
            message.header.name,
            message.header.recipient,
            message.header.channel.value if message.header.channel else None,
            message.header.channel_given,
            message.header.intent,
            message.header.call_id,
            message.header.content_type,
            message.header.constrained,
            message.ending.value,
            dict(message.header.extra),
        )
        for message in messages(events)
    ]
    assert again == WRITTEN


def test_a_message_is_a_line_of_an_array_and_a_transcript_is_an_array() -> None:
    text, _ = write_json([Shown("user", "ä"), Shown("assistant", "b", channel_given="final"), Shown("user", "c", 2)])
    assert text == (
        '[\n{"role": "user", "content": "ä"},\n{"role": "assistant", "channel": "final", "content": "b"}\n]\n'
        '[\n{"role": "user", "content": "c"}\n]\n'
    )
    assert write_json([]) == ("[]\n", [])
    assert json.loads(write_json(WRITTEN)[0])[2] == {"role": "assistant", "channel": "analysis", "thinking": "hm"}


@dataclass(frozen=True)
class ShownHeader:
    """A transcript as a writer receives it."""

    number: int
    version: str | None = None
    model: str | None = None
    header: dict[str, object] | None = None
    format: str = "json"


@pytest.mark.slow
def test_the_header_of_a_transcript_is_kept_next_to_its_messages() -> None:
    header: dict[str, object] = {"version": "2.10", "model": "m", "profiles": {"a": ["x", {"on": "true"}]}}
    transcripts = [ShownHeader(1, "2.10", "m", header), ShownHeader(2, None, "n")]
    text, losses = write_json([Shown("user", "a"), Shown("user", "b", 2), Shown("user", "c", 3)], transcripts)
    assert losses == []
    events = read_in_every_cutting(JSON, text)
    started = [event.transcript for event in events if isinstance(event, Started)]
    assert [(read.version, read.model, read.header) for read in started] == [
        ("2.10", "m", header),
        (None, "n", {"model": "n"}),
        (None, None, {}),
    ]
    assert [row[2] for row in rows(events, text)] == ["a", "b", "c"]


def test_an_attribute_that_would_change_the_meaning_is_not_written() -> None:
    text, losses = write_json([Shown("assistant", "a", extra={"intent": "preamble", "thinking": "x"})])
    assert json.loads(text) == [{"role": "assistant", "content": "a"}]
    assert len(losses) == 2
