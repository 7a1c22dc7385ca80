"""OpenChatML 0.1: the messages of each input shape, for every cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from tests.support.cases import each
from tests.support.growth import assert_growth
from tests.support.openchatml_0_1_reading import (
    FRAGMENTS,
    body_of,
    check_growth,
    messages_of,
    read,
    read_every_way,
    settled,
)
from tests.support.reading import examine
from viewer.formats.openchatml_0_1.reader import OPENCHATML_0_1
from viewer.model.events import Closed, DeclaredTools, Event, Found, Grew, Opened, Started, Strayed
from viewer.model.messages import Message
from viewer.model.visibility import is_user_safe
from viewer.reading.parser import Parser

CASES_FILE = Path(__file__).parents[2] / "data" / "openchatml_0_1_cases.txt"
EXAMPLES_FILE = Path(__file__).parents[2] / "data" / "openchatml_0_1_examples.txt"


def lines(source: str | bytes) -> list[str]:
    """Return a line for each event."""
    data = source.encode() if isinstance(source, str) else source
    return [line_of(event, data) for event in read_every_way(data)]


def line_of(event: Event, data: bytes) -> str:
    if isinstance(event, Closed):
        return message_line(event.message, data)
    if isinstance(event, Strayed):
        return f"stray {data[slice(*event.stray.span)].decode()!r}"
    if isinstance(event, DeclaredTools):
        return f"tools {event.message} {data[event.start : event.end].decode()!r}"
    if isinstance(event, Found):
        reason = f"/{event.reason}" if event.reason else ""
        number = "" if event.message is None else f" {event.message}"
        return f"{event.code}{reason}{number} {event.start}-{event.end}"
    assert isinstance(event, Started)
    return f"transcript {event.transcript.start}"


def message_line(message: Message, data: bytes) -> str:
    header = message.header
    channel = header.channel_given or "-"
    words = [str(message.number), header.role, channel, message.ending.value]
    words += [f"name={header.name}"] if header.name else []
    words += [f"to={header.recipient}"] if header.recipient else []
    words += [f"intent={header.intent}"] if header.intent else []
    words += [f"{key}:{value}" for key, value in header.extra]
    words += ["hidden"] if not is_user_safe(message) and channel == "-" else []
    return " ".join(words) + f" {body_of(message, data)!r}"


def cases() -> dict[str, tuple[str, list[str]]]:
    """Return the cases of a file: by title, the input and the expected messages."""
    found: dict[str, tuple[str, list[str]]] = {}
    for block in CASES_FILE.read_text().split("\n=== ")[1:]:
        title, _, rest = block.partition("\n")
        source, _, expected = rest.partition("---\n")
        source = source.replace("\n", "")
        for escape, character in (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t")):
            source = source.replace(escape, character)
        found[title] = source, expected.splitlines()
    return found


CASES = cases()


@pytest.mark.slow
@pytest.mark.share(quick=3)
@each("case", CASES)
def test_each_case_reads_the_same_for_any_cut(case: str) -> None:
    source, expected = CASES[case]
    assert lines(source) == expected


def test_messages_of_one_frame_share_its_span_and_its_stop() -> None:
    data = b"[BOS]<|im_start|>assistant\n<|start_reason|>a<|end_reason|>\nb<|im_end|>\n"
    messages = messages_of(read(data))
    assert [message.span for message in messages] == [(5, 70), (5, 70)]
    assert [message.stop for message in messages] == [(60, 70), (60, 70)]
    assert [message.body_span for message in messages] == [(43, 44), (59, 60)]


def test_calls_are_constrained_and_outputs_are_not() -> None:
    data = b"<|im_start|>assistant\n<|function_call|>{}<|im_end|><|im_start|>tool\n<|function_output|>{}<|im_end|>"
    headers = [message.header for message in messages_of(read(data))]
    assert [(header.content_type, header.constrained) for header in headers] == [("json", True), ("json", False)]


def test_an_answer_is_shown_while_it_is_written() -> None:
    parser = Parser(OPENCHATML_0_1)
    assert not [event for event in parser.feed(b"<|im_start|>assistant\n ") if isinstance(event, Opened)]
    (opened,) = [event for event in parser.feed(b"Hi <|im_") if isinstance(event, Opened)]
    assert astuple(opened.message.pieces[0])[:2] == (22, 25)
    (grew,) = parser.feed(b"x")
    assert isinstance(grew, Grew)
    assert astuple(grew.pieces[0])[:2] == (22, 32)


def test_an_oversized_header_ends_at_the_cap() -> None:
    data = b"<|im_start|>user " + b"x" * 70_000 + b"\nb<|im_end|>"
    found = [event for event in read(data) if isinstance(event, Found)]
    assert [(event.code, event.reason, event.start) for event in found] == [("E-PARSE-HEADER", "message-missing", 17)]
    (message,) = messages_of(read(data))
    assert message.body_span == (17, len(data) - len(b"<|im_end|>"))
    assert settled(read(data)) == settled(read(data, range(1, len(data), 997)))


def test_an_oversized_call_has_no_name() -> None:
    short = b'<|im_start|>assistant\n<|function_call|>{"arguments": "%s", "name": "f"}<|im_end|>'
    for size, recipient in ((1000, "functions.f"), (2**20, None)):
        (message,) = messages_of(read(short.replace(b"%s", b"x" * size)))
        assert message.header.recipient == recipient


def test_hostile_json_is_unreadable_and_nothing_worse() -> None:
    for arguments in (b"[" * 100_000, b"9" * 10_000 + b"}", b'{"name": "\\ud800"}', b"\xff", b'{"name": 1}', b"NaN"):
        data = b"<|im_start|>assistant\n<|function_call|>" + arguments + b"<|im_end|>"
        (message,) = messages_of(read(data))
        assert message.header.recipient is None


# The worked examples.


EXAMPLES = EXAMPLES_FILE.read_text().split("====\n")


def test_the_worked_examples_read_without_a_finding() -> None:
    assert len(EXAMPLES) == 11
    for block in EXAMPLES:
        events = settled(read(block.encode()))
        assert not [event for event in events if isinstance(event, Found)], block
        strays = [event.stray.span for event in events if isinstance(event, Strayed)]
        assert all(block.encode()[start:end].startswith(b"<|fim_") for start, end in strays), block
        assert settled(read(block.encode(), range(1, len(block.encode())))) == events


def test_the_worked_function_call_is_linked_by_its_names() -> None:
    (block,) = [block for block in EXAMPLES if "You are a function calling" in block]
    messages = messages_of(read(block.encode()))
    assert [message.header.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2].header.recipient == messages[3].header.name == "functions.get_stock_fundamentals"
    assert body_of(messages[0], block.encode()).endswith('<|function_call|>\n{"arguments": , "name": }')
    assert [is_user_safe(message) for message in messages] == [False, True, False, False, True]


# Arbitrary input.


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join), st.data())
def test_no_input_raises_and_cuts_change_nothing(text: str, data: st.DataObject) -> None:
    source = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=4)))
    whole = read(source)
    by_byte = read(source, range(1, len(source)))
    assert settled(read(source, cuts)) == settled(whole) == settled(by_byte)
    check_growth(by_byte)
    numbers = [message.number for message in messages_of(whole)]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_exactly_the_messages_with_a_header_error_are_malformed(text: str) -> None:
    events = read(text.encode())
    named = {event.message for event in events if isinstance(event, Found) and event.code == "E-PARSE-HEADER"}
    assert named == {message.number for message in messages_of(events) if message.header.malformed}


@pytest.mark.share(test=40)
@pytest.mark.parametrize(
    "unit",
    [
        b"<|im_start|>",
        b"<|im_start|>user",
        b"<|im_start|>user\n",
        b"<|start_reason|>",
        b"<|end_reason|>",
        b" ",
        b"<|im_",
        b"x",
        b"<|file_separator|>",
        b"<|fim_middle|>x",
        b"<|function_call|>{",
    ],
)
@pytest.mark.parametrize("step", [1, 1 << 30])
def test_the_work_is_linear(unit: bytes, step: int) -> None:
    def pieces(count: int) -> tuple[bytes, range]:
        data = b"<|im_start|>assistant\n" + unit * (count // len(unit))
        return data, range(step, len(data), step)

    assert_growth(lambda given: read(*given), pieces(40_000), pieces(160_000), 10, nothing=0.05)


def test_an_output_in_a_user_frame_is_a_reply() -> None:
    text = (
        "<|im_start|>user\nHello<|im_end|>\n"
        '<|im_start|>assistant\n<|function_call|>{"name": "f", "arguments": {}}<|im_end|>\n'
        '<|im_start|>user name=Ann\nAs asked: <|function_output|>{"name": "f", "content": "SECRET_"}<|im_end|>\n'
        "<|im_start|>assistant\nOk<|im_end|>\n"
    )
    for cut in range(1, len(text), 7):
        analysis = examine([text[:cut].encode(), text[cut:].encode()], text.encode(), "openchatml-0.1")
        messages = [*analysis.index]
        assert [message.header.role for message in messages] == ["user", "assistant", "user", "tool", "assistant"]
        assert [is_user_safe(message) for message in messages] == [True, False, True, False, True]
