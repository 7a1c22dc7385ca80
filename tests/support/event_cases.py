"""Read event streams that are cut in every way, and expect the same messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from zlib import crc32

from viewer.formats import FORMATS
from viewer.model.events import Closed, Event, Found, Grew, Opened, Started, Strayed, ToolCancelled, Used
from viewer.model.messages import Message
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import read_body
from viewer.reading.parser import Parser

Json = dict[str, object]
EVENTS = FORMATS["events"]


def read(chunks: list[bytes]) -> list[Event]:
    parser = Parser(EVENTS)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def settled(chunks: list[bytes]) -> list[Event]:
    return [event for event in read(chunks) if not isinstance(event, Grew)]


MOST_CUTS = 64
"""How many cut positions to try per stream. `make lab` tries every byte."""


def told(data: bytes) -> list[str]:
    """Return the events, one line each. They must not change if the input is cut at some offsets, or after every
    byte."""
    whole = settled([data])
    assert_same_in_two(data, sorted(range(len(data) + 1), key=lambda cut: crc32(b"%d" % cut))[:MOST_CUTS])
    assert settled([data[at : at + 1] for at in range(len(data))]) == whole
    return [line_of(event, data) for event in whole if not isinstance(event, Opened | Used)]


def assert_same_in_two(data: bytes, cuts: Iterable[int]) -> None:
    """Check that two pieces, cut at each of these offsets, read the same as the whole."""
    whole = settled([data])
    for cut in cuts:
        assert settled([data[:cut], data[cut:]]) == whole, cut


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
        "message ids may interleave, and messages are in the order of their first deltas",
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
        "without ids, interleaving is flagged where an earlier message continues",
        lines(reasoning("a"), delta("b"), reasoning("c"), {"type": "response.completed"}),
        [
            "1 assistant analysis end hidden: 'a'",
            "2 assistant end shown: 'b'",
            f"W-STREAM-INTERLEAVED None 3 {json.dumps(reasoning('c'))}",
            "3 assistant analysis end hidden: 'c'",
        ],
    ),
    (
        "a delta after a done event begins another message",
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
        "with an id, the channel applies to later deltas",
        lines(delta("secret", message_id="m", channel="analysis"), delta("more", message_id="m"), done(message_id="m")),
        ['E-PERM-VISIBILITY hidden-delta 1 "analysis"', "1 assistant analysis end hidden: 'secretmore'"],
    ),
    (
        "a channel that does not exist",
        lines(delta("secret", channel="Final"), done()),
        [
            'E-PERM-VISIBILITY hidden-delta 1 "Final"',
            'E-PARSE-HEADER channel-unknown 1 "Final"',
            "1 assistant Final end hidden: 'secret'",
        ],
    ),
    (
        "a channel that is not a string",
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
        "an intent of preamble has no effect",
        lines(delta("p", channel="commentary", intent="preamble"), done()),
        ['E-PERM-VISIBILITY hidden-delta 1 "commentary"', "1 assistant commentary end hidden: 'p'"],
    ),
    (
        "a repeated key",
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
        "a chunk that names its channel twice",
        b'{"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}\n',
        [
            'E-PARSE-HEADER not-a-message None "channel"',
            'stray after 0: {"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}',
            'W-TEXT-BETWEEN None None {"choices":[{"delta":{"channel":"analysis","channel":"final","content":"x"}}]}',
        ],
    ),
    (
        "a cancelled message gets no more text",
        lines(delta("a", message_id="m"), {"type": "response.cancel", "message_id": "m"}, delta("b", message_id="m")),
        [
            "1 assistant end cancelled shown: 'a'",
            'W-STREAM-LATE None 2 {"type": "response.delta", "message_id": "m", "delta": "b"}',
            "2 assistant end hidden: 'b'",
        ],
    ),
    (
        "after a cancel without an id, text is late until another response begins",
        lines(delta("a"), {"type": "response.cancel"}, delta("b"), {"type": "response.created"}, delta("c"), done()),
        [
            "1 assistant end cancelled shown: 'a'",
            'W-STREAM-LATE None 2 {"type": "response.delta", "delta": "b"}',
            "3 assistant end shown: 'c'",
            "2 assistant end hidden: 'b'",
        ],
    ),
    (
        "a cancelled tool",
        lines({"type": "tool.cancel", "call_id": "c1", "reason": "user"}),
        ["cancel c1"],
    ),
    (
        "a delta that is not a string",
        lines(delta(5), delta("a"), done()),
        [
            "E-PARSE-HEADER not-a-message None 5",
            'stray after 0: {"type": "response.delta", "delta": 5}',
            'W-TEXT-BETWEEN None None {"type": "response.delta", "delta": 5}',
            "1 assistant end shown: 'a'",
        ],
    ),
    (
        "unknown events of the API are skipped, others are stray",
        lines({"type": "response.in_progress"}, {"type": "ping"}, {"role": "user"}, delta("a"), done()),
        [
            'stray after 0: {"type": "ping"}\n{"role": "user"}',
            'W-TEXT-BETWEEN None None {"type": "ping"}\n{"role": "user"}',
            "1 assistant end shown: 'a'",
        ],
    ),
    (
        "text is stray, even between events",
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
