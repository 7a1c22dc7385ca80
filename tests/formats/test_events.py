"""Event streams: which messages the deltas make, whatever the layout and however the input is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import assert_growth
from viewer.core.bodies import read_body
from viewer.core.events import Closed, Event, Found, Grew, Opened, Started, Strayed, ToolCancelled
from viewer.core.messages import Coding, Message
from viewer.core.parser import Parser
from viewer.core.record import Record
from viewer.core.visibility import is_user_safe
from viewer.formats.events import EVENTS, LONGEST_LINE, EventLines

Json = dict[str, object]


def read(chunks: list[bytes]) -> list[Event]:
    parser = Parser(EVENTS)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def settled(chunks: list[bytes]) -> list[Event]:
    return [event for event in read(chunks) if not isinstance(event, Grew)]


def told(data: bytes) -> list[str]:
    """What is recorded, one line an item; the same however the input is cut."""
    whole = settled([data])
    for cut in range(len(data) + 1):
        assert settled([data[:cut], data[cut:]]) == whole
    assert settled([data[at : at + 1] for at in range(len(data))]) == whole
    return [line_of(event, data) for event in whole if not isinstance(event, Opened)]


def line_of(event: Event, data: bytes) -> str:
    match event:
        case Closed(message):
            return message_line(message, data)
        case Found():
            return f"{event.code} {event.reason} {event.message} {data[event.start : event.end].decode()}"
        case Strayed(stray):
            return f"stray after {stray.after}: {data[slice(*stray.span)].decode()}"
        case ToolCancelled():
            return f"cancel {event.call_id}"
        case Started(transcript):
            return f"transcript {transcript.number} {transcript.model}"
    raise AssertionError(event)


def message_line(message: Message, data: bytes) -> str:
    header = message.header
    words = [header.role, header.channel_given, header.intent, header.recipient, header.call_id]
    given = " ".join(word for word in words if word)
    cancelled = " cancelled" if message.cancelled else ""
    shown = "shown" if is_user_safe(message) else "hidden"
    return f"{message.number} {given} {message.ending.value}{cancelled} {shown}: {body_of(message, data)!r}"


def body_of(message: Message, data: bytes) -> str:
    return read_body(message.pieces, lambda start, end: data[start:end]).text


def lines(*events: Json) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def delta(text: object, kind: str = "response.delta", **more: object) -> Json:
    return {"type": kind, **more, "delta": text}


def reasoning(text: str, **more: object) -> Json:
    return delta(text, "response.reasoning_text.delta", **more)


def done(kind: str = "response.delta.done", **more: object) -> Json:
    return {"type": kind, **more}


def as_sse(*events: Json) -> bytes:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def as_named_sse(*events: Json) -> bytes:
    named = [(event["type"], {key: value for key, value in event.items() if key != "type"}) for event in events]
    return b"".join(f"event: {name}\r\ndata: {json.dumps(rest)}\r\n\r\n".encode() for name, rest in named)


def as_wrapped(*events: Json) -> bytes:
    return lines(*[{"event": event["type"], "data": event} for event in events])


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("layout", [lines, as_sse, as_named_sse, as_wrapped])
def test_reasoning_and_then_text_are_two_messages(layout: object) -> None:
    assert callable(layout)
    data = layout(reasoning("think "), reasoning("hard"), delta("Hel"), delta("lo"), done())
    assert told(data) == [
        "transcript 1 None",
        "1 assistant analysis end hidden: 'think hard'",
        "2 assistant end shown: 'Hello'",
    ]


CASES: list[tuple[str, bytes, list[str]]] = [
    ("nothing", b"", []),
    (
        "other names for type and delta",
        b'{"event":"response.delta","data":"a"}\n{"event":"response.delta","text":"b"}\n{"type":"response.done"}',
        ["1 assistant end shown: 'ab'"],
    ),
    (
        "a summary is analysis with an intent",
        lines(delta("s", "response.reasoning_summary_text.delta"), done("response.reasoning_summary_text.done")),
        ["1 assistant analysis summary end hidden: 's'"],
    ),
    (
        "no done: the message is open, and flagged after the last delta",
        lines(delta("a"), delta("b")),
        ["E-STREAM-TRUNCATED event-stream 1 ", "1 assistant open shown: 'ab'"],
    ),
    (
        "the last line needs no newline",
        lines(delta("a"), done())[:-1],
        ["1 assistant end shown: 'a'"],
    ),
    (
        "an unfinished last line",
        lines(delta("a"), done()) + b'{"type":"response.delta","del',
        [
            "1 assistant end shown: 'a'",
            'E-PARSE-HEADER not-a-message None {"type":"response.delta","del',
            'stray after 1: {"type":"response.delta","del',
            'W-TEXT-BETWEEN None None {"type":"response.delta","del',
        ],
    ),
    (
        "a flush is an empty line",
        lines(delta("a"), {"type": "response.delta.flush"}, delta("b"), done()),
        ["1 assistant end shown: 'a\\n\\nb'"],
    ),
    (
        "message ids may interleave, and messages stand in the order of their first delta",
        lines(
            delta("a", message_id="m1"),
            delta("x", message_id="m2"),
            delta("b", message_id="m1"),
            delta("y", message_id="m2"),
            done("response.done", message_id="m2"),
            done("response.done", message_id="m1"),
        ),
        ["2 assistant end shown: 'xy'", "1 assistant end shown: 'ab'"],
    ),
    (
        "without ids interleaving is flagged where it goes back",
        lines(reasoning("a"), delta("b"), reasoning("c"), {"type": "response.completed"}),
        [
            "1 assistant analysis end hidden: 'a'",
            "2 assistant end shown: 'b'",
            f"W-STREAM-INTERLEAVED None 3 {json.dumps(reasoning('c'))}",
            "3 assistant analysis end hidden: 'c'",
        ],
    ),
    (
        "after a done it is another message",
        lines(reasoning("a"), done("response.reasoning_text.done"), delta("b"), done(), reasoning("c"), done("done")),
        [
            "1 assistant analysis end hidden: 'a'",
            "2 assistant end shown: 'b'",
            "3 assistant analysis end hidden: 'c'",
        ],
    ),
    (
        "a delta on a hidden channel",
        lines(delta("secret", channel="analysis"), delta("more", channel="analysis"), done()),
        ['E-PERM-VISIBILITY hidden-delta 1 "analysis"', "1 assistant analysis end hidden: 'secretmore'"],
    ),
    (
        "with an id the channel holds for the deltas after it",
        lines(delta("secret", message_id="m", channel="analysis"), delta("more", message_id="m"), done(message_id="m")),
        ['E-PERM-VISIBILITY hidden-delta 1 "analysis"', "1 assistant analysis end hidden: 'secretmore'"],
    ),
    (
        "a channel that is none",
        lines(delta("secret", channel="Final"), done()),
        [
            'E-PERM-VISIBILITY hidden-delta 1 "Final"',
            'E-PARSE-HEADER channel-unknown 1 "Final"',
            "1 assistant Final end hidden: 'secret'",
        ],
    ),
    (
        "a channel that is no string",
        lines(delta("secret", channel=["final"]), done()),
        [
            'E-PERM-VISIBILITY hidden-delta 1 ["final"]',
            'E-PARSE-HEADER channel-unknown 1 ["final"]',
            "1 assistant array end hidden: 'secret'",
        ],
    ),
    (
        "reasoning stays hidden whatever channel it claims",
        lines(reasoning("secret", channel="final"), done("done")),
        ["1 assistant analysis end hidden: 'secret'"],
    ),
    (
        "an intent of preamble has no force",
        lines(delta("p", channel="commentary", intent="preamble"), done()),
        ['E-PERM-VISIBILITY hidden-delta 1 "commentary"', "1 assistant commentary end hidden: 'p'"],
    ),
    (
        "a key that stands twice",
        b'{"type":"response.delta","channel":"analysis","channel":"final","delta":""}\n',
        [
            'E-PARSE-HEADER not-a-message None "channel"',
            'stray after 0: {"type":"response.delta","channel":"analysis","channel":"final","delta":""}',
            'W-TEXT-BETWEEN None None {"type":"response.delta","channel":"analysis","channel":"final","delta":""}',
        ],
    ),
    (
        "types that contradict each other",
        b'event: response.reasoning_text.delta\ndata: {"type":"response.delta","delta":"secret"}\n',
        [
            'E-PARSE-HEADER not-a-message None {"type":"response.delta","delta":"secret"}',
            'stray after 0: {"type":"response.delta","delta":"secret"}',
            'W-TEXT-BETWEEN None None {"type":"response.delta","delta":"secret"}',
        ],
    ),
    (
        "channels that contradict each other",
        b'{"event":"response.delta","channel":"x","data":{"channel":"final","delta":""}}\n',
        [
            'E-PARSE-HEADER not-a-message None "final"',
            'stray after 0: {"event":"response.delta","channel":"x","data":{"channel":"final","delta":""}}',
            'W-TEXT-BETWEEN None None {"event":"response.delta","channel":"x","data":{"channel":"final","delta":""}}',
        ],
    ),
    (
        "a chunk that says its channel twice",
        b'{"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}\n',
        [
            'E-PARSE-HEADER not-a-message None "channel"',
            'stray after 0: {"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}',
            'W-TEXT-BETWEEN None None {"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}',
        ],
    ),
    (
        "a cancelled message takes no more",
        lines(delta("a", message_id="m"), {"type": "response.cancel", "message_id": "m"}, delta("b", message_id="m")),
        [
            "1 assistant end cancelled shown: 'a'",
            'stray after 1: {"type": "response.delta", "message_id": "m", "delta": "b"}',
            'W-TEXT-BETWEEN None None {"type": "response.delta", "message_id": "m", "delta": "b"}',
        ],
    ),
    (
        "without an id nothing is taken until another response begins",
        lines(delta("a"), {"type": "response.cancel"}, delta("b"), {"type": "response.created"}, delta("c"), done()),
        [
            "1 assistant end cancelled shown: 'a'",
            'stray after 1: {"type": "response.delta", "delta": "b"}',
            'W-TEXT-BETWEEN None None {"type": "response.delta", "delta": "b"}',
            "2 assistant end shown: 'c'",
        ],
    ),
    (
        "a cancelled tool",
        lines({"type": "tool.cancel", "call_id": "c1", "reason": "user"}),
        ["cancel c1"],
    ),
    (
        "a delta that is no string",
        lines(delta(5), delta("a"), done()),
        [
            "E-PARSE-HEADER not-a-message None 5",
            'stray after 0: {"type": "response.delta", "delta": 5}',
            'W-TEXT-BETWEEN None None {"type": "response.delta", "delta": 5}',
            "1 assistant end shown: 'a'",
        ],
    ),
    (
        "unknown events of the interface are passed over, others are stray",
        lines({"type": "response.in_progress"}, {"type": "ping"}, {"role": "user"}, delta("a"), done()),
        [
            'stray after 0: {"type": "ping"}\n{"role": "user"}',
            'W-TEXT-BETWEEN None None {"type": "ping"}\n{"role": "user"}',
            "1 assistant end shown: 'a'",
        ],
    ),
    (
        "text is stray, between events too",
        b"hello\nworld \n" + lines(delta("a"), done()) + b"bye\n",
        [
            "stray after 0: hello\nworld",
            "W-TEXT-BETWEEN None None hello\nworld",
            "1 assistant end shown: 'a'",
            "stray after 1: bye",
            "W-TEXT-BETWEEN None None bye",
        ],
    ),
    (
        "[DONE] closes everything",
        b'data: {"type":"response.delta","message_id":"m","delta":"a"}\n\n: note\nid: 3\ndata: [DONE]\n\n',
        ["1 assistant end shown: 'a'"],
    ),
    (
        "server-sent text without an object",
        b'event: response.delta\ndata: "a"\n\nevent: done\ndata: {}\n\n',
        ["1 assistant end shown: 'a'"],
    ),
    (
        "several objects on a line",
        b'{"type":"response.delta","delta":"a"}{"type":"response.delta","delta":"b"} {"type":"response.done"} x\n',
        ["1 assistant end shown: 'ab'", "stray after 1: x", "W-TEXT-BETWEEN None None x"],
    ),
    (
        "a trailing comma",
        b'{"type":"response.delta","delta":"a",}\n{"type":"response.done"}\n',
        ["I-JSON-LENIENT None None ,", "1 assistant end shown: 'a'"],
    ),
    (
        "a whole text without its deltas",
        lines(done("response.output_text.done", item_id="i", text="whole")),
        ["1 assistant end shown: 'whole'"],
    ),
    (
        "a response that failed leaves its message open",
        lines(delta("a"), {"type": "response.failed"}),
        ["E-STREAM-TRUNCATED event-stream 1 ", "1 assistant open shown: 'a'"],
    ),
    (
        "an unknown role",
        lines(delta("a", role="Assistant"), done()),
        ['E-PARSE-HEADER role-unknown 1 "Assistant"', "1 Assistant end hidden: 'a'"],
    ),
]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_an_event_stream_is_read_as(data: bytes, expected: list[str]) -> None:
    assert [line for line in told(data) if not line.startswith("transcript")] == expected


RESPONSE: list[Json] = [
    {"type": "response.created", "response": {"id": "r", "model": "gpt-x", "created_at": 1700000000}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs", "type": "reasoning"}},
    delta("why", "response.reasoning_summary_text.delta", item_id="rs", output_index=0, summary_index=0),
    {"type": "response.reasoning_summary_text.done", "item_id": "rs", "output_index": 0, "text": "why"},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {"id": "rs", "type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}]},
    },
    {
        "type": "response.output_item.added",
        "output_index": 1,
        "item": {"id": "fc", "type": "function_call", "name": "get_weather", "call_id": "c1", "arguments": ""},
    },
    delta('{"city":', "response.function_call_arguments.delta", item_id="fc", output_index=1),
    delta('"Oslo"}', "response.function_call_arguments.delta", item_id="fc", output_index=1),
    {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": '{"city":"Oslo"}'},
    {
        "type": "response.output_item.done",
        "output_index": 1,
        "item": {
            "id": "fc",
            "type": "function_call",
            "name": "get_weather",
            "call_id": "c1",
            "arguments": '{"city":"Oslo"}',
        },
    },
    {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {"id": "m", "type": "message", "role": "assistant"},
    },
    {"type": "response.content_part.added", "item_id": "m", "part": {"type": "output_text", "text": ""}},
    delta("It ", "response.output_text.delta", item_id="m", output_index=2, content_index=0),
    delta("rains", "response.output_text.delta", item_id="m", output_index=2, content_index=0),
    {"type": "response.output_text.done", "item_id": "m", "text": "It rains"},
    {"type": "response.content_part.done", "item_id": "m", "part": {"type": "output_text", "text": "It rains"}},
    {
        "type": "response.output_item.done",
        "output_index": 2,
        "item": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It rains"}],
        },
    },
    {"type": "response.completed", "response": {"id": "r"}},
]
READ_AS = [
    "transcript 1 gpt-x",
    "1 assistant analysis summary end hidden: 'why'",
    '2 assistant commentary functions.get_weather c1 call hidden: \'{"city":"Oslo"}\'',
    "3 assistant end shown: 'It rains'",
]


@pytest.mark.slow
def test_the_usual_events_of_a_response() -> None:
    assert told(lines(*RESPONSE)) == READ_AS


@pytest.mark.slow
def test_the_same_without_deltas() -> None:
    assert told(lines(*[event for event in RESPONSE if not str(event["type"]).endswith(".delta")])) == READ_AS
    assert told(lines(*[event for event in RESPONSE if "item.done" in str(event["type"])]))[1:] == READ_AS[1:]


def chunk(text: Json, finish: str | None = None, identifier: str | None = "c") -> Json:
    start: Json = {"id": identifier} if identifier else {}
    choice = {"index": 0, "delta": text, "finish_reason": finish}
    return {**start, "object": "chat.completion.chunk", "created": 1700000000, "model": "q", "choices": [choice]}


def tool_call(index: int, arguments: str, **more: object) -> Json:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {"tool_calls": [{"index": index, **more, "function": {**name, "arguments": arguments}}]}


@pytest.mark.share(test=2)
@pytest.mark.parametrize("identifier", ["c", None])
def test_chunks_of_a_chat_completion(identifier: str | None) -> None:
    chunks = [
        chunk({"role": "assistant", "content": ""}, None, identifier),
        chunk({"reasoning_content": "hm"}, None, identifier),
        chunk({"content": "Let me "}, None, identifier),
        chunk({"content": "see"}, None, identifier),
        chunk(tool_call(0, "", id="c1", type="function", name="f"), None, identifier),
        chunk(tool_call(0, "{}"), None, identifier),
        chunk(tool_call(1, "", id="c2", type="function", name="python"), None, identifier),
        chunk(tool_call(1, "[]"), None, identifier),
        chunk({}, "tool_calls", identifier),
        {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}},
    ]
    data = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"
    assert told(data) == [
        "transcript 1 q",
        "1 assistant analysis end hidden: 'hm'",
        "2 assistant end shown: 'Let me see'",
        "3 assistant commentary functions.f c1 call hidden: '{}'",
        "4 assistant commentary python c2 call hidden: '[]'",
    ]


def test_a_chat_that_breaks_off_leaves_only_its_last_message_open() -> None:
    data = lines(chunk({"reasoning_content": "hm"}), chunk({"content": "Hel"}))
    assert told(data)[1:] == [
        "1 assistant analysis end hidden: 'hm'",
        "E-STREAM-TRUNCATED event-stream 2 ",
        "2 assistant open shown: 'Hel'",
    ]


def messages(data: bytes) -> list[Message]:
    return [event.message for event in read([data]) if isinstance(event, Closed)]


def test_a_delta_without_escapes_is_plain_bytes_and_one_with_them_a_string() -> None:
    data = b'{"type":"response.delta","delta":"a"}\n{"type":"response.delta","delta":"b\\n"}\n'
    (message,) = messages(data)
    assert [piece.coding for piece in message.pieces] == [Coding.PLAIN, Coding.JSON_STRING]
    assert [data[piece.start : piece.end] for piece in message.pieces] == [b"a", b'"b\\n"']
    assert body_of(message, data) == "ab\n"


def test_a_message_spans_its_events_from_the_first_to_its_done() -> None:
    data = lines(delta("a"), delta("b"), done())
    (message,) = messages(data)
    assert message.span == (0, len(data) - 1)


def test_an_open_message_is_flagged_at_the_end_of_its_last_delta() -> None:
    first = lines(delta("a"))
    (found,) = [event for event in read([first + b"\n  \n"]) if isinstance(event, Found)]
    assert (found.start, found.end) == (len(first) - 1, len(first) - 1)


def test_times_come_from_the_event_that_opens_a_message() -> None:
    data = lines(delta("a", ts=1700000000), done(), delta("b", timestamp="2023-11-14T22:13:21Z"), done())
    assert [message.time_ms for message in messages(data)] == [1700000000000, 1700000001000]
    assert {message.time_ms for message in messages(lines(*RESPONSE))} == {1700000000000}


def test_messages_grow_once_a_feed() -> None:
    parser = Parser(EVENTS)
    first = parser.feed(lines(delta("a"), delta("b"), delta("c")))
    assert [len(event.pieces) for event in first if isinstance(event, Grew)] == [3]
    assert [event for event in parser.feed(b" ") if isinstance(event, Grew)] == []


def test_a_message_is_open_as_soon_as_its_first_delta_is_complete() -> None:
    parser = Parser(EVENTS)
    line = lines(delta("a"))
    assert parser.feed(line[:-1]) == []
    assert any(isinstance(event, Opened) for event in parser.feed(line[-1:]))


def test_a_line_that_is_too_long_is_passed_over() -> None:
    long = b'  {"type":"response.delta","delta":"' + b"a" * LONGEST_LINE + b'"} \r\n'
    data = long + lines(delta("b"), done())
    whole = settled([data])
    assert settled([data[at : at + 1_000_003] for at in range(0, len(data), 1_000_003)]) == whole
    found = [(event.code, event.start, event.end) for event in whole if isinstance(event, Found)]
    assert found == [("E-PARSE-HEADER", 2, len(long) - 3), ("W-TEXT-BETWEEN", 2, len(long) - 3)]
    assert [body_of(event.message, data) for event in whole if isinstance(event, Closed)] == ["b"]


def test_lines_of_a_log_are_taken_only_if_they_are_events() -> None:
    record = Record("openchatml-2.2")
    events = EventLines(record)
    refused = [b"hello", b"{", b'{"role":"user"}', b'{"type":"ping"}', b'{"type":"response.delta"', b'{"type":3}']
    assert not any(events.offer(line, 0) for line in refused)
    assert record.take() == []
    assert events.offer(b'{"type":"response.delta","delta":"a"}\r\n', 100)
    events.close(200)
    closed = [event.message for event in record.take() if isinstance(event, Closed)]
    assert [(message.pieces[0].start, message.ending.value) for message in closed] == [(134, "open")]


KINDS = ["response.delta", "response.reasoning_text.delta", "response.delta.flush", "response.cancel"]
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from([*KINDS, "response.delta.done", "response.done", "response.x.done", "nothing"])},
    optional={
        "message_id": st.sampled_from(["m1", "m2"]),
        "delta": st.sampled_from(["a", "b\n", "", 5]),
        "channel": st.sampled_from(["final", "analysis", "x"]),
        "role": st.sampled_from(["assistant", "user", "odd"]),
    },
)


@given(st.lists(EVENT, max_size=12), st.data())
def test_how_it_is_cut_never_shows_and_hidden_text_stays_hidden(events: list[Json], draw: st.DataObject) -> None:
    for event in events:
        hidden = event["type"] == "response.reasoning_text.delta" or event.get("channel") in ("analysis", "x")
        if hidden and isinstance(event.get("delta"), str):
            event["delta"] = "secret"
    data = lines(*events)
    cut = draw.draw(st.integers(0, len(data)))
    whole = settled([data])
    assert settled([data[:cut], data[cut:]]) == whole
    closed = [event.message for event in whole if isinstance(event, Closed)]
    assert not any("secret" in body_of(message, data) for message in closed if is_user_safe(message))
    numbers = sorted(message.number for message in closed)
    assert numbers == list(range(1, len(numbers) + 1))


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    assert settled([data]) == settled([data[at : at + 1] for at in range(len(data))])


@pytest.mark.share(test=4)
@pytest.mark.parametrize(
    "shape",
    [
        lambda count: [delta("a")] * count,
        lambda count: [delta("a", message_id=str(number)) for number in range(count)],
        lambda count: [delta("a", message_id="m", intent=str(number)) for number in range(count)],
        lambda count: [delta("a", intent=str(number)) for number in range(count)] + [done()] * count,
        lambda count: (
            [delta("a", message_id=str(number // 2)) for number in range(count)]
            + [{"type": "response.delta.flush", "message_id": "1"}] * count
        ),
    ],
)
def test_twice_the_events_take_at_most_little_more_than_twice_the_time(shape: object) -> None:
    assert callable(shape)

    def data(count: int) -> bytes:
        return lines(*shape(count))

    assert_growth(lambda given: read([given]), data(1_500), data(3_000), 3)
