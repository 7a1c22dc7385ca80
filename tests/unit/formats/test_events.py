"""Event streams: the messages built from deltas, for every layout and every cut of the input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.event_cases import (
    CASES,
    EVENTS,
    RESPONSE,
    Json,
    as_named_sse,
    as_sse,
    as_wrapped,
    body_of,
    delta,
    done,
    lines,
    read,
    reasoning,
    settled,
    told,
)
from tests.support.growth import assert_growth
from viewer.formats.containers.lines import LONGEST_LINE
from viewer.formats.events.values import EventLines
from viewer.model.events import Closed, Found, Grew, Opened
from viewer.model.messages import Coding, Message
from viewer.model.visibility import is_user_safe
from viewer.reading.parser import Parser
from viewer.reading.recorder import Recorder


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


@pytest.mark.share(quick=9)
@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_event_becomes_its_message(data: bytes, expected: list[str]) -> None:
    assert [line for line in told(data) if not line.startswith("transcript")] == expected


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


def test_messages_grow_once_per_feed() -> None:
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
    record = Recorder("openchatml-2.2")
    events = EventLines(record)
    refused = [b"hello", b"{", b'{"role":"user"}', b'{"type":"ping"}', b'{"type":"response.delta"', b'{"type":3}']
    assert not any(events.try_line(line, 0) for line in refused)
    assert record.drain() == []
    assert events.try_line(b'{"type":"response.delta","delta":"a"}\r\n', 100)
    events.close(200)
    closed = [event.message for event in record.drain() if isinstance(event, Closed)]
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


@pytest.mark.slow
@given(st.lists(EVENT, max_size=12), st.data())
def test_cuts_change_nothing_and_hidden_text_stays_hidden(events: list[Json], draw: st.DataObject) -> None:
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


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
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
def test_twice_the_events_take_about_twice_the_time(shape: object) -> None:
    assert callable(shape)

    def data(count: int) -> bytes:
        return lines(*shape(count))

    assert_growth(lambda given: read([given]), data(1_500), data(3_000), 3)
