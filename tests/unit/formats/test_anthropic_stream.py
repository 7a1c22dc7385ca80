"""Streams of Anthropic Messages: blocks and their deltas, ends, errors, and text in the wrong place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.growth import assert_growth
from tests.support.program import run
from tests.support.record_formats import (
    EXAMPLES,
    assert_cuts_do_not_matter,
    assert_forced_hides,
    assert_renamed_types_hide,
    assert_truncation_hides,
    events,
    hidden,
    lines,
    problems,
    reading,
    shown,
)
from viewer.formats import FORMATS, detect
from viewer.model.events import Found, Grew, Opened
from viewer.reading.parser import Parser

Json = dict[str, Any]
FORMAT = "anthropic-stream"
STOP = {"type": "message_stop"}


def start(*content: Json, id: str = "msg_1") -> Json:
    return {
        "type": "message_start",
        "message": {"id": id, "type": "message", "role": "assistant", "content": list(content)},
    }


def block(index: int, **part: object) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": part}


def delta(index: int, **part: object) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": part}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def ending(reason: str | None) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}


TEXT = (
    block(0, type="text", text=""),
    delta(0, type="text_delta", text="Hel"),
    delta(0, type="text_delta", text="lo."),
)
WHOLE = (start(), *TEXT, stop(0), ending("end_turn"), STOP)

BLOCKS: list[tuple[Json, list[Json], str, str]] = [
    ({"type": "text", "text": "One"}, [{"type": "text_delta", "text": " two"}], "said", "One two"),
    (
        {"type": "thinking", "thinking": ""},
        [{"type": "thinking_delta", "thinking": "SECRET_1"}, {"type": "signature_delta", "signature": "SECRET_2"}],
        "thought",
        "SECRET_1",
    ),
    ({"type": "redacted_thinking", "data": "c2VjcmV0"}, [], "thought", "[encrypted, 6 B]"),
    (
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
        [{"type": "input_json_delta", "partial_json": text} for text in ("", '{"a": "SEC', 'RET_1"}')],
        "call",
        '{"a": "SECRET_1"}',
    ),
    ({"type": "server_tool_use", "id": "t1", "name": "f", "input": {"a": 1}}, [], "call", '{"a": 1}'),
    (
        {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "SECRET_1"}]},
        [],
        "reply",
        "SECRET_1",
    ),
    ({"type": "compaction"}, [{"type": "compaction_delta", "content": "SECRET_1"}], "replayed", "SECRET_1"),
    ({"type": "text", "text": ""}, [{"type": "citations_delta", "citation": {"cited_text": "SECRET_1"}}], "", ""),
    ({"type": "text", "text": ""}, [], "", ""),
]


def test_each_block_is_one_message_of_its_kind() -> None:
    for part, deltas, kind, text in BLOCKS:
        grown = [delta(0, **each) for each in deltas]
        data = events(start(), block(0, **part), *grown, stop(0), ending("end_turn"), STOP)
        found = reading(data, FORMAT)
        kinds = [message.header.kind.value for message in found.messages]  # type: ignore[attr-defined]
        assert (kinds, list(found.texts)) == ([kind] if kind else [], [text] if kind else []), part
        assert problems(data, FORMAT) == (["W-CALL-ID-UNKNOWN"] if kind == "reply" else []), part


def test_a_call_has_its_id_and_its_tool() -> None:
    (message,) = reading(
        events(start(), block(0, type="tool_use", id="t1", name="f", input={}), stop(0), STOP), FORMAT
    ).messages
    header = message.header  # type: ignore[attr-defined]
    assert (header.call_id, header.recipient, header.content_type) == ("t1", "functions.f", "json")


def test_arguments_that_are_not_json_are_a_problem_after_the_stop() -> None:
    call = block(0, type="tool_use", id="t1", name="f", input={})
    data = events(start(), call, delta(0, type="input_json_delta", partial_json='{"a": '), stop(0), STOP)
    assert problems(data, FORMAT) == ["E-BODY-CONSTRAINT-VIOLATION/json-truncated"]


WRONG = [
    delta(1, type="text_delta", text="SECRET_1"),
    delta(0, type="thinking_delta", thinking="SECRET_1"),
    delta(0, type="input_json_delta", partial_json="SECRET_1"),
    delta(0, type="new_delta", text="SECRET_1"),
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "SECRET_1"}},
    {"type": "content_block_delta", "index": [0], "delta": {"type": "text_delta", "text": "SECRET_1"}},
    {"type": "content_block_delta", "index": 0, "delta": {"text": "SECRET_1"}},
    {"type": "content_block_delta", "index": 0, "delta": "SECRET_1"},
    {"type": "content_block_delta", "index": 0, "delta": ["SECRET_1"]},
]


def test_a_delta_that_fits_no_open_block_is_hidden() -> None:
    for wrong in WRONG:
        data = events(start(), *TEXT, wrong, wrong, stop(0), STOP)
        assert shown(data, FORMAT) == ["Hello."], wrong
        assert [kind for kind, text in hidden(data, FORMAT)] == ["unknown"] * len(hidden(data, FORMAT))
        assert any("SECRET_1" in text for _, text in hidden(data, FORMAT)), wrong
        assert set(problems(data, FORMAT)) & {"W-RECORD-UNKNOWN", "W-PART-UNKNOWN"}, wrong
    for part in ("thinking", "tool_use", "image", "new"):
        data = events(start(), block(0, type=part), delta(0, type="text_delta", text="SECRET_1"), stop(0), STOP)
        assert "SECRET_1" not in "".join(shown(data, FORMAT)), part


def test_a_delta_after_the_stop_is_late() -> None:
    late = delta(0, type="text_delta", text="SECRET_1")
    for data in (events(start(), *TEXT, stop(0), late, late, STOP), events(*WHOLE, late, late)):
        assert shown(data, FORMAT) == ["Hello."]
        assert hidden(data, FORMAT) == [("unknown", "SECRET_1SECRET_1")]
        assert problems(data, FORMAT) == ["W-STREAM-LATE"]


def test_a_block_that_begins_after_the_end_is_late() -> None:
    for text in ("", "SECRET_1"):
        more = (block(1, type="text", text=text), delta(1, type="text_delta", text="SECRET_2"), stop(1))
        data = events(*WHOLE, *more)
        assert shown(data, FORMAT) == ["Hello."]
        assert hidden(data, FORMAT) == [("unknown", f"{text}SECRET_2")]
        assert problems(data, FORMAT) == ["W-STREAM-LATE"]


def test_a_block_that_was_announced_again_is_another_message() -> None:
    again = (block(0, type="thinking", thinking=""), delta(0, type="thinking_delta", thinking="SECRET_1"), stop(0))
    data = events(start(), *TEXT, *again, STOP)
    assert shown(data, FORMAT) == ["Hello."]
    assert hidden(data, FORMAT) == [("thought", "SECRET_1")]


def test_an_announcement_that_cannot_be_read_shows_nothing() -> None:
    for odd in (
        {"content_block": "SECRET_1"},
        {"content_block": None},
        {"block": {"type": "text", "text": "SECRET_1"}},
    ):
        data = events(start(), {"type": "content_block_start", "index": 0} | odd, *TEXT[1:], STOP)
        assert shown(data, FORMAT) == [], odd


def test_a_message_of_another_role_shows_no_content() -> None:
    data = events(
        {"type": "message_start", "message": {"role": "user", "content": [{"type": "text", "text": "SECRET_1"}]}}, STOP
    )
    assert shown(data, FORMAT) == []
    assert problems(data, FORMAT) == ["W-RECORD-UNKNOWN"]


def test_content_of_the_start_counts() -> None:
    data = events(start({"type": "text", "text": "Hi."}, {"type": "thinking", "thinking": "SECRET_1"}), *WHOLE[1:])
    assert shown(data, FORMAT) == ["Hi.", "Hello."]


STOPS = {
    "max_tokens": ["W-RUN-INCOMPLETE/max-tokens"],
    "pause_turn": ["W-RUN-INCOMPLETE/pause"],
    "refusal": ["W-RUN-ERROR/refused"],
    "model_context_window_exceeded": ["W-RUN-ERROR/context-length"],
    "tool_use": [],
    None: [],
}


@pytest.mark.slow
def test_each_stop_reason_has_its_problem_and_the_text_stays_shown() -> None:
    for reason, expected in STOPS.items():
        data = events(start(), *TEXT, stop(0), ending(reason), STOP)
        assert (shown(data, FORMAT), problems(data, FORMAT)) == (["Hello."], expected)


def test_an_error_is_a_notice_and_its_answer_is_truncated() -> None:
    for kind, reason in (
        ("overloaded_error", "api"),
        ("rate_limit_error", "rate-limit"),
        ("authentication_error", "auth"),
    ):
        data = events(start(), *TEXT, {"type": "error", "error": {"type": kind, "message": "SECRET_1"}})
        assert shown(data, FORMAT) == ["Hello."]
        assert hidden(data, FORMAT) == [("notice", "SECRET_1")]
        assert problems(data, FORMAT) == [f"W-RUN-ERROR/{reason}", "E-STREAM-TRUNCATED/event-stream"]


@pytest.mark.parametrize("count", range(1, 6))
def test_a_stream_without_its_end_is_truncated(count: int) -> None:
    data = events(*WHOLE[:count])
    assert problems(data, FORMAT) == ["E-STREAM-TRUNCATED/event-stream"]
    assert shown(data, FORMAT) == (["Hello."] if count > 3 else ["Hel"] if count == 3 else [])


def test_the_next_start_ends_a_reply_that_was_cut_off() -> None:
    data = events(*WHOLE[:4], *WHOLE)
    assert shown(data, FORMAT) == ["Hello.", "Hello."]
    assert problems(data, FORMAT) == ["E-STREAM-TRUNCATED/event-stream"]


def test_several_streams_are_one_transcript_unless_requests_come_between() -> None:
    assert len(reading(events(*WHOLE, *WHOLE), FORMAT).transcripts) == 1
    request = {"model": "m", "system": "SECRET_1", "messages": [{"role": "user", "content": "Hi."}]}
    data = lines(request, *WHOLE, request, *WHOLE)
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Hi.", "Hello.", "Hi.", "Hello."]
    assert len(reading(data, FORMAT).transcripts) == 2


def test_pings_comments_and_blank_events_are_ignored() -> None:
    noise = b': comment\n\nevent: ping\ndata: {"type": "ping"}\n\n\n\ndata:\n\nid: 5\nretry: 10\n\n'
    data = noise.join(events(each) for each in WHOLE)
    assert (shown(data, FORMAT), problems(data, FORMAT)) == (["Hello."], [])


def test_data_over_several_lines_is_one_event() -> None:
    data = "".join("data: " + json.dumps(each, indent=1).replace("\n", "\ndata: ") + "\n\n" for each in WHOLE).encode()
    assert (shown(data, FORMAT), problems(data, FORMAT)) == (["Hello."], [])


def test_lines_and_events_are_read_alike_and_detected() -> None:
    for data in (lines(*WHOLE), events(*WHOLE), json.dumps(list(WHOLE)).encode()):
        assert detect(data).format == FORMAT
        assert shown(data, FORMAT) == ["Hello."]


def test_a_message_opens_at_its_first_delta_and_grows_with_each() -> None:
    parser = Parser(FORMATS[FORMAT])
    taken = [parser.feed(events(each)) for each in WHOLE]
    assert [any(isinstance(event, Opened) for event in found) for found in taken[:4]] == [False, False, True, False]
    assert [sum(isinstance(event, Grew) for event in found) for found in taken[:5]] == [0, 0, 0, 1, 0]
    assert not any(isinstance(event, Found) for event in parser.close())


@pytest.mark.slow
def test_a_long_stream_takes_linear_time() -> None:
    def read_deltas(count: int) -> None:
        reading(events(start(), TEXT[0], *([TEXT[1]] * count), stop(0), STOP), FORMAT)

    assert_growth(read_deltas, 500, 1000, 2.6)


def test_text_with_thoughts_between_tags_shows_only_the_rest() -> None:
    pieces = ["<think", "ing>SECRET", "_1</thin", "king>Hello."]
    data = events(start(), TEXT[0], *(delta(0, type="text_delta", text=each) for each in pieces), stop(0), STOP)
    assert '"body":"Hello."' in run("show", "--json", "-", stdin=data).out


EXAMPLE = (EXAMPLES / "anthropic-stream.sse").read_bytes()
MANY = events(
    start(),
    *(each for part, deltas, *_ in BLOCKS for each in (block(0, **part), *(delta(0, **one) for one in deltas))),
    STOP,
)


def test_the_example_has_no_problem_and_its_call_is_pending() -> None:
    assert problems(EXAMPLE, FORMAT) == []
    assert "pending" in reading(EXAMPLE, FORMAT).calls[0].lower()


def test_how_the_input_is_cut_does_not_matter() -> None:
    for data in (EXAMPLE, events(start(), *TEXT, *WRONG, stop(0), STOP), events(*WHOLE[:3])):
        assert_cuts_do_not_matter(data, FORMAT)


@pytest.mark.slow
def test_a_stream_that_is_cut_shows_nothing_hidden() -> None:
    for data in (EXAMPLE, MANY):
        assert_truncation_hides(data, FORMAT)


@pytest.mark.slow
def test_renaming_any_type_shows_nothing_more() -> None:
    for data in (EXAMPLE, MANY):
        assert_renamed_types_hide(data, FORMAT)


def test_other_formats_read_as_this_one_show_nothing_hidden() -> None:
    assert_forced_hides(FORMAT)
