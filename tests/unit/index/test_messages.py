"""The message index: stored values are returned by number, even after changes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from viewer.index.messages import MessageIndex
from viewer.model.messages import Channel, Coding, Ending, Header, Message, Piece

USER = Header("user", channel=Channel.FINAL)
CALL = Header("assistant", None, "functions.f", Channel.COMMENTARY, "commentary", None, "c1", "json", True)
MESSAGES = [
    Message(1, 1, USER, Ending.END, (0, 20), (Piece(10, 15, Coding.PLAIN),), stop=(15, 20)),
    Message(2, 1, USER, Ending.OPEN, (20, 40), (Piece(30, 40, Coding.ESCAPED),)),
    Message(3, 1, CALL, Ending.CALL, (40, 60), (Piece(50, 53, Coding.ESCAPED),), stop=(53, 60)),
    Message(4, 1, replace(CALL, call_id="c2"), Ending.CALL, (60, 80), (Piece(70, 80, Coding.JSON_STRING),)),
    Message(5, 1, CALL, Ending.CALL, (80, 99), (), stop=(90, 99)),
    Message(6, 2, USER, Ending.IMPLIED, (99, 120), (Piece(99, 110, Coding.PLAIN),), broke_out=True, time_ms=7),
    Message(
        7, 2, USER, Ending.END, (120, 150), (Piece(120, 130, Coding.PLAIN), Piece(140, 150, Coding.PLAIN)),
        cancelled=True,
    ),
]  # fmt: skip


def filled() -> MessageIndex:
    index = MessageIndex()
    for message in MESSAGES:
        index.put(message)
    return index


def test_messages_are_returned_as_they_were_put_in() -> None:
    index = filled()
    assert list(index) == MESSAGES
    assert len(index) == len(MESSAGES)
    assert [index.role(number) for number in (1, 3)] == ["user", "assistant"]
    assert [index.transcript(number) for number in (5, 6)] == [1, 2]
    assert [index.turn(number) for number in range(1, 8)] == [1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("number", range(1, 8))
def test_a_changed_message_replaces_the_known_one(number: int) -> None:
    for other in MESSAGES:
        index = filled()
        changed = replace(other, number=number, transcript=MESSAGES[number - 1].transcript)
        index.put(changed)
        expected = changed
        was = MESSAGES[number - 1]
        if changed.time_ms is None:
            expected = replace(expected, time_ms=was.time_ms)
        if changed.header.call_id is None and was.header.call_id is not None:
            expected = replace(expected, header=replace(expected.header, call_id=was.header.call_id))
        assert index[number] == expected


def test_equal_headers_and_endings_have_equal_keys_whatever_their_call_ids() -> None:
    index = filled()
    regular = MessageIndex()
    for number, call_id in enumerate(("c1", "c2", None), 1):
        regular.put(replace(MESSAGES[2], number=number, header=replace(CALL, call_id=call_id)))
    assert len({regular.header_key(number) for number in (1, 2, 3)}) == 1
    assert list(index.kinds[1:]) == [index.header_key(number) for number in range(1, 8)]
    assert index.header_key(1) != index.header_key(2)
    for message in index:
        example = index.example(index.header_key(message.number))
        header = message.header.with_call_id(None)
        facts = (header, message.ending, message.broke_out, message.cancelled)
        assert (example.header, example.ending, example.broke_out, example.cancelled) == facts
