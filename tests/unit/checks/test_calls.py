"""The links from calls to their replies, and the state of each call."""

from __future__ import annotations

import pytest

from tests.support.reading import codes, describe, examine
from viewer.checks.analysis import Analysis

HEAD = "version: 2.2\n"
USER = "<|start|>user<|message|>x<|end|>\n"
FINAL = "<|start|>assistant<|channel|>final<|message|>y<|return|>\n"


def call(tool: str = "f", call_id: str | None = "a", body: str = "{}") -> str:
    words = f"to=functions.{tool}" + (f" call_id={call_id}" if call_id else "")
    return f"<|start|>assistant {words}<|channel|>commentary<|constrain|>json<|message|>{body}<|call|>\n"


def reply(tool: str = "f", call_id: str | None = "a", body: str = '{"ok":true}') -> str:
    words = f"name=functions.{tool}" + (f" call_id={call_id}" if call_id else "") + " to=assistant"
    return f"<|start|>tool {words}<|channel|>commentary<|message|>{body}<|end|>\n"


def read(*parts: str, format: str = "openchatml-2.2") -> tuple[Analysis, list[str]]:
    text = (HEAD + "".join(parts)).encode()
    analysis = examine([text], text, format)
    return analysis, codes(describe(analysis, text))


def links(analysis: Analysis) -> list[tuple[int | None, int | None, str, bool]]:
    return [(link.call, link.reply, link.state.value, link.inferred) for link in analysis.calls.links]


def test_a_reply_is_linked_by_its_id() -> None:
    analysis, found = read(USER, call(), reply(), FINAL)
    assert links(analysis) == [(2, 3, "ok", False)]
    assert found == []


def test_parallel_calls_are_answered_in_any_order() -> None:
    analysis, found = read(USER, call("f", "a"), call("g", "b"), reply("g", "b"), reply("f", "a"), FINAL)
    assert links(analysis) == [(2, 5, "ok", False), (3, 4, "ok", False)]
    assert found == []


def test_without_ids_a_reply_answers_the_first_open_call_to_its_tool() -> None:
    analysis, found = read(USER, call("f", None), call("g", None), reply("g", None), reply("f", None), FINAL)
    assert links(analysis) == [(2, 5, "ok", True), (3, 4, "ok", True)]
    assert found == ["W-CALL-ID-MISSING/call"] * 2 + ["W-CALL-ID-MISSING/reply"] * 2


def test_the_prefix_of_functions_is_ignored() -> None:
    text = (
        "<|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>"
        "<|start|>functions.f to=assistant<|message|>x<|end|>"
    )
    analysis = examine([text.encode()], text.encode(), "harmony")
    assert links(analysis) == [(1, 2, "ok", True)]
    assert analysis.calls.links[0].tool == "functions.f"


def test_harmony_notes_that_it_inferred() -> None:
    text = (
        "<|start|>assistant to=python<|channel|>analysis code<|message|>1<|call|>"
        "<|start|>python to=assistant<|channel|>analysis<|message|>x<|end|>"
    )
    analysis = examine([text.encode()], text.encode(), "harmony")
    assert codes(describe(analysis, text.encode())) == ["I-CALL-INFERRED"]


def test_a_reply_without_a_call_is_an_orphan() -> None:
    analysis, found = read(USER, reply())
    assert links(analysis) == [(None, 2, "orphan", False)]
    assert found == ["W-CALL-ID-UNKNOWN"]


def test_a_second_reply_is_a_duplicate() -> None:
    analysis, found = read(USER, call(), reply(), reply(), FINAL)
    assert links(analysis) == [(2, 3, "ok", False), (2, 4, "duplicate", False)]
    assert found == ["W-CALL-ID-DUPLICATE/reply"]


def test_equal_call_ids_are_answered_in_order() -> None:
    analysis, found = read(USER, call(), call(), reply(), reply(), FINAL)
    assert links(analysis) == [(2, 4, "ok", False), (3, 5, "ok", False)]
    assert found == ["W-CALL-ID-DUPLICATE/call"]


def test_a_call_of_an_earlier_turn_is_unanswered() -> None:
    analysis, found = read(USER, call(), FINAL, USER, FINAL)
    assert links(analysis) == [(2, None, "unanswered", False)]
    assert found == ["W-CALL-UNANSWERED"]


def test_a_call_at_the_end_is_pending() -> None:
    analysis, found = read(USER, call("f", "a"), call("g", "b"), reply("f", "a"))
    assert links(analysis) == [(2, 4, "ok", False), (3, None, "pending", False)]
    assert found == []


def test_a_call_followed_by_another_message_is_unanswered() -> None:
    analysis, found = read(USER, call(), FINAL)
    assert links(analysis) == [(2, None, "unanswered", False)]
    assert found == ["W-CALL-UNANSWERED"]


def test_ids_never_link_across_transcripts() -> None:
    analysis, found = read(USER, call(), "---\nversion: 2.2\n---\n", USER, reply())
    assert links(analysis) == [(2, None, "pending", False), (None, 4, "orphan", False)]
    assert found == ["W-CALL-ID-UNKNOWN"]


@pytest.mark.parametrize(
    ("body", "state", "code"),
    [
        ('{"ok":false,"error":"boom"}', "failed", "W-TOOL-FAILED"),
        ('{"ok":false,"error":":"}', "failed", "W-TOOL-FAILED"),
        ('{"ok":false,"error":" : x"}', "failed", "W-TOOL-FAILED"),
        ('{"ok":false,"error":"E-TOOL-TIMEOUT"}', "timeout", "E-TOOL-TIMEOUT/reported"),
        ('{"ok":false,"error":"E-TOOL-TIMEOUT: 3000 ms"}', "timeout", "E-TOOL-TIMEOUT/reported"),
        ('{"ok":false,"error":{"code":"E-TOOL-CANCELLED"}}', "cancelled", "E-TOOL-CANCELLED/reported"),
        ('{"ok":false,"error":"E-CALL-SCHEMA"}', "failed", "E-CALL-SCHEMA"),
        ('{"ok":true,"error":null}', "ok", None),
        ("sunny", "ok", None),
    ],
)
def test_a_reply_states_the_outcome_of_its_call(body: str, state: str, code: str | None) -> None:
    analysis, found = read(USER, call(), reply(body=body), FINAL)
    assert links(analysis) == [(2, 3, state, False)]
    assert found == ([code] if code else [])


def test_the_position_of_a_failure_is_the_value_that_states_it() -> None:
    text = (HEAD + USER + call() + reply(body='{"ok":false,"error":"boom"}') + FINAL).encode()
    analysis = examine([text], text, "openchatml-2.2")
    (finding,) = analysis.findings
    assert text[finding.start : finding.end] == b"false"


def test_the_deadline_is_read_from_the_call() -> None:
    analysis, _ = read(USER, call(body='{"deadline_ms": 1500}'), reply(), FINAL)
    assert analysis.calls.links[0].deadline_ms == 1500


def test_replies_of_a_turn_are_compared_for_their_envelope() -> None:
    constrained = reply("g", "b", '{"temp":1}').replace("<|message|>", "<|constrain|>json<|message|>")
    _, found = read(USER, call("f", "a"), call("g", "b"), reply("f", "a"), constrained, FINAL)
    assert found == ["W-REPLY-ENVELOPE"]


def test_both_ways_to_call_in_one_turn_are_reported() -> None:
    body = '{"content": null, "tool_calls": [{"id": "b"}]}'
    mixed = f"<|start|>assistant<|channel|>commentary<|message|>{body}<|end|>\n"
    _, found = read(USER, call(), reply(), mixed, FINAL)
    assert found == ["W-CALL-MIXED/turn"]
