"""Gemini Live sessions, chats from the database of Cursor, resolver output of OpenHands, and printed conversations."""

from __future__ import annotations

import json
from typing import Any

from tests.support.reading import Reading, codes, read, read_cut
from viewer.formats import detect
from viewer.model.messages import Message
from viewer.model.visibility import message_kind


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def seen(reading: Reading) -> list[str]:
    return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def kinds(reading: Reading) -> list[str]:
    return [message_kind(message) for message in reading.messages if isinstance(message, Message)]


def server(**members: Any) -> dict[str, Any]:
    return {"serverContent": members}


def test_pieces_of_speech_become_messages_however_they_arrive() -> None:
    data = lines(
        server(inputTranscription={"text": "Is it "}),
        server(inputTranscription={"text": "late?"}),
        server(modelTurn={"parts": [{"text": "SECRET", "thought": True}]}, outputTranscription={"text": "Yes, "}),
        server(outputTranscription={"text": "very."}, turnComplete=True),
    ).encode()
    whole = read(data.decode(), "gemini-live")
    assert seen(whole) == ["Is it late?", "Yes, very."]
    for cut in range(1, len(data), 3):
        assert read_cut(data, "gemini-live", [cut]) == whole, cut


def test_the_end_of_a_turn_ends_the_answer_in_a_live_session() -> None:
    for done in ({"turnComplete": True}, {"turn_complete": True, "interrupted": True}, {"interrupted": True}):
        for first, answer in (
            (speaks("One."), speaks("<think>SECRET</think>Two.")),
            (speaks("One."), speaks("<think>SECRET", "SECRET</think>Two.")),
            (hears("One."), hears("<think>SECRET", "SECRET</think>Two.")),
            (hears("One.", turnComplete=None), speaks("<THINK>SECRET", "SECRET</THINK>Two.")),
        ):
            for wrapper in (None, "message", "event"):
                records = [*first, server(**done), *answer, server(**done), *speaks("Three.", **done), *speaks("Four.")]
                listed = [each if wrapper is None else {wrapper: each} for each in records]
                data = lines(*listed).encode()
                whole = read(data.decode(), "gemini-live")
                assert seen(whole) == ["One.", "Two.", "Three.", "Four."], (done, first, answer, wrapper)
                assert not codes(whole)
                for cut in range(1, len(data), 31):
                    assert read_cut(data, "gemini-live", [cut]) == whole, cut
    unfinished = lines(*speaks("<think>SECRET", turnComplete=False), *speaks("SECRET", "</think>Yes."))
    assert seen(read(unfinished, "gemini-live")) == ["Yes."]


def speaks(*texts: str, **more: Any) -> list[dict[str, Any]]:
    return [server(modelTurn={"parts": [{"text": text}]}, **more) for text in texts]


def hears(*texts: str, **more: Any) -> list[dict[str, Any]]:
    return [server(outputTranscription={"text": text}, **more) for text in texts]


def test_what_a_live_session_does_not_show() -> None:
    for hidden in (
        {"serverContent": {"modelTurn": {"parts": [{"text": "SECRET", "thought": 1}]}}},
        {"serverContent": {"modelTurn": {"parts": [{"text": "SECRET", "functionCall": {"name": "f"}}]}}},
        {"serverContent": {"modelTurn": {"parts": [{"text": "SECRET"}]}, "isThought": True}},
        {"serverContent": {"otherTranscription": {"text": "SECRET"}}},
        {"serverContent": {"inputTranscription": {"words": "SECRET"}}},
        {"clientContent": {"turns": [{"role": "system", "parts": [{"text": "SECRET"}]}]}},
        {"setup": {"system_instruction": {"parts": [{"text": "SECRET"}]}}},
        {"toolResponse": {"functionResponses": [{"id": "1", "name": "f", "response": "SECRET"}]}},
        {"tool_call": {"function_calls": [{"id": "1", "name": "f", "args": "SECRET"}]}},
        {"realtimeInput": {"mediaChunks": [{"data": "SECRET"}]}},
    ):
        reading = read(
            lines({"setupComplete": {}}, hidden, server(outputTranscription={"text": "Yes."})), "gemini-live"
        )
        assert seen(reading) == ["Yes."], hidden


def test_members_of_other_formats_are_no_live_session() -> None:
    for record in ({"setup": "x"}, {"serverContent": 1, "type": "page", "role": "x"}, {"toolCall": "x"}):
        assert detect(lines(record).encode()).format != "gemini-live", record


def bubble(type: Any, text: str, **more: Any) -> dict[str, Any]:
    return {"type": type, "bubbleId": "b", "text": text, **more}


def test_only_what_the_user_and_the_assistant_said_is_shown_in_a_chat_of_cursor() -> None:
    question, answer = bubble(1, "Where?"), bubble(2, "Here.")
    for hidden in (
        bubble(1, "SECRET", isSimulatedMsg=True),
        bubble(1, "SECRET", grouping={"isSimulatedMsg": True}),
        bubble(1, "SECRET", isSimulatedMsg="yes"),
        bubble(2, "SECRET", isThought=True),
        bubble(2, "SECRET", isThought="x"),
        bubble(2, "SECRET", isSummary=True),
        bubble(2, "SECRET", isCapabilityIteration=True),
        bubble(2, "", thinking={"text": "SECRET"}),
        bubble(2, "", toolFormerData={"rawArgs": "SECRET", "result": "SECRET"}),
        bubble(2, "<think>SECRET</think>"),
        bubble(0, "SECRET"),
        bubble("2.0", "SECRET"),
        bubble(None, "SECRET"),
    ):
        listed = [question, hidden, answer]
        rows = [{"key": "bubbleId:c:b", "value": json.dumps(each)} for each in listed]
        for text in (
            lines(*listed),
            json.dumps(listed),
            lines({"composerId": "c", "conversation": listed}),
            lines(*rows),
        ):
            reading = read(text, "cursor-chats")
            assert seen(reading) == ["Where?", "Here."], text


def test_chats_of_other_agents_stay_hidden() -> None:
    listed = [bubble(1, "SECRET"), bubble(2, "SECRET")]
    agents: list[dict[str, Any]] = [{"subagentInfo": {}}, {"isBestOfNSubcomposer": True}, {"isBestOfNSubcomposer": "x"}]
    for agent in agents:
        for name in ("conversation", "bubbles"):
            chat = {"composerId": "c", **agent, name: listed}
            for text in (lines(chat), lines({"key": "composerData:c", "value": json.dumps(chat)})):
                assert seen(read(text, "cursor-chats")) == [], text


def test_a_chat_of_cursor_is_detected_in_every_form() -> None:
    one = bubble(1, "Hi.")
    for record in (
        one,
        [one],
        {"composerId": "c", "conversation": [one]},
        {"allComposers": [{"composerId": "c", "conversation": [one]}]},
        {"key": "bubbleId:c:b", "value": json.dumps(one)},
        {"tabs": [{"tabId": "t", "bubbles": [{"type": "user", "text": "Hi."}]}]},
    ):
        assert detect(lines(record).encode()).format == "cursor-chats", record
        assert seen(read(lines(record), "cursor-chats")) == ["Hi."], record


def test_events_of_openhands_may_come_in_pairs() -> None:
    asked = {"id": 1, "source": "user", "action": "message", "args": {"content": "Fix it."}}
    done = {"id": 2, "source": "agent", "action": "finish", "args": {"final_thought": "Fixed.", "thought": "SECRET"}}
    for history in ([asked, done], [[asked, done]], [[asked], [done]]):
        for name in ("instance_id", "git_patch"):
            text = lines({name: "SECRET", "instruction": "SECRET", "history": history})
            assert detect(text.encode()).format == "openhands"
            assert seen(read(text, "openhands")) == ["Fix it.", "Fixed."]


def test_a_printed_conversation_shows_no_results() -> None:
    for text, shown in (
        ("user: a\nassistant: None\ntool: SECRET\nSECRET\nassistant: b", ["a", "b"]),
        ("user: a\nsystem: SECRET\nassistant: None of it.", ["a", "None of it."]),
        ("system: SECRET\nuser: a\nassistant: b\nThought: SECRET", ["a", "b"]),
        ("SECRET user: a", []),
    ):
        reading = read(lines({"messages_display": text}), "tau2")
        assert seen(reading) == shown
        assert "E-PARSE-HEADER" not in codes(reading)


def test_an_unknown_speaker_of_specstory_is_hidden() -> None:
    head = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n_**User (1)**_\n\nHi.\n\n"
    for line in ("_**Reviewer (2)**_", "---\n\n_**Reviewer**_", "_**Sub agent - sidechain (x (y))**_"):
        text = f"{head}{line}\n\nSECRET\n\n_**Agent (3)**_\n\nYes.\n"
        assert seen(read(text, "specstory")) == ["Hi.", "Yes."], line
    emphasis = f"{head}_**Agent (3)**_\n\nFirst.\n\n_**Note**_\n\nSecond.\n"
    assert seen(read(emphasis, "specstory")) == ["Hi.", "First.\n\n_**Note**_\n\nSecond."]
