"""Server-sent events: line ends, fields, and values that span several `data:` lines."""

from __future__ import annotations

import json

import pytest

from tests.support.event_cases import Json, body_of, delta, done, lines, read, told
from tests.support.growth import assert_growth
from viewer.formats.containers import regular_lines
from viewer.formats.containers.lines import LONGEST_LINE
from viewer.model.events import Closed
from viewer.reading.bodies import read_body

HELLO = ["transcript 1 None", "1 assistant end shown: 'Hello'"]


def event(value: Json, end: str = "\n", space: str = " ") -> str:
    """Return one event with its JSON on several lines."""
    return "".join(f"data:{space}{line}{end}" for line in json.dumps(value, indent=2).split("\n")) + end


def stream(end: str, space: str = " ") -> bytes:
    return "".join(event(each, end, space) for each in (delta("Hel"), delta("lo"), done("response.done"))).encode()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("space", [" ", "", "  "])
def test_data_over_several_lines_is_joined(end: str, space: str) -> None:
    assert told(stream(end, space)) == HELLO


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_ending_ends_a_line(end: str) -> None:
    values = [delta("Hel"), delta("lo"), done("response.done")]
    assert told("".join(f"data: {json.dumps(each)}{end}{end}" for each in values).encode()) == HELLO
    assert told("".join(f"data:{json.dumps(each)}{end}" for each in values).encode()) == HELLO


NAMED = b"""event: response.delta
data: {"delta": "Hel"}

data: {"delta": "stray"}

data: {"other": "too"}

event: response.delta
data: {"delta": "lo", "channel": "zork", "channel": "final"}

event: response.done
data: {"type": "response.done"}

"""


def test_the_name_of_an_event_applies_to_its_data_wherever_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    careful = read([NAMED])
    monkeypatch.setattr(regular_lines, "READ_WITH_CARE", 0)
    assert read([NAMED]) == careful
    assert [body_of(event.message, NAMED) for event in careful if isinstance(event, Closed)] == ["Hel"]


def test_comments_and_other_fields_may_be_between_the_lines() -> None:
    data = b'data: {"type":\n: wait\nid: 4\ndata: "response.delta",\nretry: 9\ndata\ndata: "delta": "Hello"}\n\n'
    assert told(data + b"data: [DONE]\n\n") == HELLO


def test_a_byte_order_mark_is_not_part_of_the_first_field() -> None:
    assert told(b"\xef\xbb\xbf" + stream("\n")) == HELLO


def test_the_pieces_are_the_bytes_of_the_strings() -> None:
    data = event({"type": "response.delta", "message_id": "m", "delta": 'a "b" \U0001f600'}, "\r\n").encode()
    (message,) = [each.message for each in read([data]) if isinstance(each, Closed)]
    (piece,) = message.pieces
    assert data[piece.start : piece.end] == rb'"a \"b\" \ud83d\ude00"'
    assert body_of(message, data) == 'a "b" \U0001f600'


def test_a_string_over_two_lines_holds_a_line_feed() -> None:
    data = b'data: {"type":"response.delta","delta":"one\ndata: two \\"\ndata: three"}\n\n'
    (message,) = [each.message for each in read([data]) if isinstance(each, Closed)]
    body = read_body(message.pieces, lambda start, end: data[start:end])
    assert body.text == 'one\ntwo "\nthree'
    at = body.data.index(b"three")
    assert data[slice(*body.source_span(at, at + 5))] == b"three"
    at = body.data.index(b'"')
    assert data[slice(*body.source_span(at, at + 1))] == b'\\"'


def test_a_name_may_follow_its_data() -> None:
    data = b'data: {"delta":"SECRET"}\nevent: response.reasoning_text.delta\n\n'
    data += b'data: {"delta":"Hi"}\nevent: response.delta\n\n'
    assert told(data)[1:] == [
        "1 assistant analysis end hidden: 'SECRET'",
        "E-STREAM-TRUNCATED event-stream 2 ",
        "2 assistant open shown: 'Hi'",
    ]


def test_a_name_that_follows_its_data_contradicts_its_type() -> None:
    data = b'data: {"type":"response.delta","delta":"SECRET"}\nevent: response.reasoning_text.delta\n\n'
    assert [line.split()[0] for line in told(data)] == ["transcript", "E-PARSE-HEADER", "stray", "W-TEXT-BETWEEN"]


def test_names_without_blank_lines_belong_to_the_data_after_them() -> None:
    data = b'event: response.reasoning_text.delta\ndata: {"delta":"why"}\nevent: response.delta\ndata: {"delta":"Hi"}\n'
    assert told(data)[1:] == [
        "1 assistant analysis end hidden: 'why'",
        "E-STREAM-TRUNCATED event-stream 2 ",
        "2 assistant open shown: 'Hi'",
    ]


def test_an_unterminated_value_does_not_swallow_the_next_event() -> None:
    data = b'data: {"type":"response.delta","del\n\n' + lines(delta("Hello"), done("response.done"))
    assert told(data)[-1] == HELLO[-1]
    sloppy = b'data: {"type":"response.delta","del\ndata: {"type":"response.delta","delta":"Hello"}\ndata: [DONE]\n'
    assert told(sloppy)[-1] == HELLO[-1]


def test_an_event_with_too_much_data_is_skipped() -> None:
    lines_of_it = b'data: {"type":"response.delta",\n' + (b"data: " + b" " * 1000 + b"\n") * (LONGEST_LINE // 1000 + 10)
    assert not [each for each in read([lines_of_it + b'data: "delta":"a"}\n\n']) if isinstance(each, Closed)]


@pytest.mark.share(test=8)
@pytest.mark.parametrize(
    "line", [b"data: {\n", b'data: "a",\n', b"data\n", b" \r", b"data: [\r\n", b"  " * 50 + b"{\r\r"]
)
def test_the_cost_of_many_lines_is_linear(line: bytes) -> None:
    assert_growth(lambda data: read([data]), line * 4_000, line * 8_000, 3)


HI = [delta("Hel"), delta("lo"), done("response.done")]


@pytest.mark.share(quick=6)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_events_may_be_an_array_or_objects_over_several_lines(indent: int | None, end: str) -> None:
    array = json.dumps(HI, indent=indent).replace("\n", end) + end
    objects = "".join(json.dumps(each, indent=indent).replace("\n", end) + end for each in HI)
    assert told(array.encode()) == HELLO
    assert told(objects.encode()) == HELLO


def test_an_object_that_never_ends_hides_nothing_that_follows() -> None:
    data = b'{"type": "response.delta",\nhello\n' + lines(*HI)
    assert told(data)[-1] == HELLO[-1]
    assert "E-PARSE-HEADER" in told(data)[1]


def test_a_string_over_lines_of_an_object_keeps_its_bytes() -> None:
    data = b'{\n"type": "response.delta",\n"delta": "one\ntwo"\n}\n'
    (message,) = [each.message for each in read([data]) if isinstance(each, Closed)]
    assert body_of(message, data) == "one\ntwo"
