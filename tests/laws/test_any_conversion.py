"""Messages that a format can express are unchanged after writing and reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.converting import (
    TOKENS,
    messages_in,
    project,
)
from viewer.document.values import ShownMessage, ShownTranscript
from viewer.formats import WRITERS

words = st.text(st.sampled_from("abcXYZ019._-/é€\u200b😀=:"), min_size=1, max_size=8)
BODY_PARTS = [
    *(f"<|{name}|>" for name in TOKENS),
    *("<|start_reason|>", "<|end_reason|>", "<", "<<", "|>", "\n", " ", "aé😀", "<think>", "</think>", "{", '"'),
    *("\\", "\0", "\r\n", "x", "<|im_end|>", "version: 2.2\n", "---\n"),
]
bodies = st.lists(st.sampled_from(BODY_PARTS), max_size=8).map("".join)
plain_bodies = st.lists(
    st.sampled_from(["a", "<", "|", "\n", " ", "é", '{"a":1}', "<think>", "</think>", "---\n"])
).map("".join)


def shown(number: int, **fields: object) -> ShownMessage:
    given = {"role": "user", "channel": None, "body": "", "ending": "end", **fields}
    nothing = dict.fromkeys(ShownMessage.__struct_fields__)
    defaults = {**nothing, "transcript": 1, "number": number, "turn": 1, "constrained": False, "visible": False}
    made = ShownMessage(**{**defaults, "cancelled": False, "extra": {}, **given})  # type: ignore[arg-type]
    return replace(made, channel_given=made.channel, channel=made.channel or "final")


def optional(values: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.none() | values


@st.composite
def models(draw: st.DrawFn, target: str) -> list[ShownMessage]:
    """Return messages that the target can express in full."""
    rich = target in ("openchatml-2.2", "json")
    messages = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        role = draw(st.sampled_from(["system", "developer", "user", "assistant", "tool"]))
        channel = draw(st.sampled_from([None, "analysis", "commentary", "final"]))
        recipient = draw(optional(st.sampled_from(["functions.f", "all", "user", "assistant", "browser.x", "t€"])))
        named = rich or (target == "openchatml-2.0" and role != "tool")
        name = draw(optional(words)) if named else None
        if role == "tool":
            name = draw(words) if rich else draw(st.sampled_from(["functions.f", "browser.a", "python"]))
        kind = draw(optional(st.sampled_from(["json", "text", "x/y"]))) if rich else None
        fields: dict[str, object] = {
            "role": role,
            "channel": channel,
            "recipient": recipient,
            "name": name,
            "intent": draw(optional(st.sampled_from(["preamble", "status", "x"]))) if rich else None,
            "call_id": draw(optional(words)) if rich else None,
            "content_type": kind,
            "constrained": kind is not None and draw(st.booleans()),
            "ending": draw(st.sampled_from(["end", "call"] if target == "harmony" else ["end", "call", "return"])),
            "body": draw(bodies if rich else plain_bodies),
        }
        messages.append(shown(number, **fields))
    return messages


def comparable(message: ShownMessage) -> tuple[object, ...]:
    return (
        message.role,
        message.name,
        message.recipient,
        message.channel_given,
        message.intent,
        message.call_id,
        message.content_type,
        message.constrained,
        message.ending,
        message.body,
    )


HEADER = [ShownTranscript(1, "openchatml-2.2", "2.2", None, {"version": "2.2"})]
OLDER = [ShownTranscript(1, "openchatml-2.0", "2.0", None, {"version": "2.0"})]


def assert_held(target: str, messages: list[ShownMessage], transcripts: list[ShownTranscript]) -> None:
    written, losses = WRITERS[target](transcripts, messages)
    if target == "json" and losses:
        assert all("control tokens" in loss for loss in losses)
        return
    assert losses == []
    again = messages_in(project(written, target))
    assert list(map(comparable, again)) == list(map(comparable, messages))
    assert WRITERS[target](transcripts, again) == (written, [])


@pytest.mark.slow
@given(models("openchatml-2.2"))
def test_openchatml_2_2_keeps_any_messages(messages: list[ShownMessage]) -> None:
    assert_held("openchatml-2.2", messages, HEADER)


@pytest.mark.slow
@given(models("openchatml-2.0"))
def test_openchatml_2_0_keeps_messages_without_ids_and_types(messages: list[ShownMessage]) -> None:
    assert_held("openchatml-2.0", messages, OLDER)


@pytest.mark.slow
@given(models("harmony"))
def test_harmony_keeps_messages_without_ids_and_types(messages: list[ShownMessage]) -> None:
    assert_held("harmony", messages, [])


@pytest.mark.slow
@given(models("json"))
def test_json_keeps_any_messages(messages: list[ShownMessage]) -> None:
    assert_held("json", messages, [])


@st.composite
def chats(draw: st.DrawFn) -> list[ShownMessage]:
    roles = st.sampled_from(["user", "assistant", "system", "system:example_user", "assistant:example_assistant"])
    return [shown(number, role=draw(roles), body=draw(bodies)) for number in range(1, draw(st.integers(1, 4)) + 1)]


@pytest.mark.slow
@given(chats())
def test_chatml_json_keeps_messages_without_channels(messages: list[ShownMessage]) -> None:
    written, losses = WRITERS["chatml-json"]([], messages)
    assert losses == []
    assert [(again.role, again.body) for again in messages_in(project(written, "chatml-json"))] == [
        (message.role, message.body) for message in messages
    ]
