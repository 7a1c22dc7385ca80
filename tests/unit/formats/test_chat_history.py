"""Chat histories: which names are IDs, and how the terms of chatbots are read."""

from __future__ import annotations

import json

from tests.support.record_checks import check_forced, kinds, shown
from viewer.formats.detect import detect
from viewer.formats.engine.paths import path
from viewer.syntax.json_text import read_json

_CHAT = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def test_members_are_divided_by_their_names() -> None:
    node = read_json(b'{"chat_1": 1, "default": 2, "rejected": 3, "7": null}').node
    assert node is not None
    assert [value.text for value in path("*#").all(node)] == ["1", "2"]
    assert [value.text for value in path("*!").all(node)] == ["3"]
    assert path("*#.x").all(node) == []


def test_only_members_named_by_an_id_are_chats() -> None:
    for names, texts in (("1 x2", "abab"), ("rejected", ""), ("default draft", "ab"), ("a-1 secret", "ab")):
        text = json.dumps(dict.fromkeys(names.split(), _CHAT))
        assert "".join(shown(text, "chat-history")) == texts, names
        assert (detect(text.encode()).format == "chat-history") is bool(texts), names


def test_a_member_without_an_id_is_hidden_and_not_lost() -> None:
    found = kinds(json.dumps({"c1": _CHAT, "notes": [{"role": "assistant", "content": "SECRET"}]}), "chat-history")
    assert [kind for kind, body in found if "SECRET" in body] == ["unknown"]


def test_a_speaker_is_user_or_assistant_by_a_list_of_words() -> None:
    for word, role in (("human", "user"), ("You", "user"), ("Bot", "assistant"), ("model", "assistant")):
        assert shown(json.dumps({"sender": word, "message": "a"}), "chat-history") == ["a"], (word, role)
    for word in ("BOT ", "operator", "tool", "bot2", "", "assistant_thought"):
        assert shown(json.dumps({"sender": word, "message": "a"}), "chat-history") == [], word
    said = [{"role": "Prompt", "say": "a"}, {"role": "Response", "say": "b"}, {"role": "Tool", "say": "SECRET_A"}]
    exported = {"metadata": {"powered_by": "ChatGPT Exporter"}, "messages": said, "title": "SECRET_B"}
    assert shown(json.dumps(exported), "chat-history") == ["a", "b"]
    rows = [{"role": "prompter", "text": "a", "message_tree_id": "x"}, {"role": "assistant", "text": "b"}]
    assert detect(json.dumps(rows).encode()).format == "chat-history"
    assert shown(json.dumps(rows), "chat-history") == ["a", "b"]


def test_the_first_member_that_names_the_speaker_decides() -> None:
    assert shown('{"role": "system", "sender": "bot", "message": "a"}', "chat-history") == []
    assert shown('{"role": "bot", "sender": "Ann", "message": "a"}', "chat-history") == ["a"]
    assert shown('{"role": "bot", "sender": "system", "message": "a"}', "chat-history") == [], "a flag"


def test_a_message_for_somebody_else_is_hidden() -> None:
    for name in ("recipient", "to", "channel", "intent", "thought", "tool_call_id"):
        assert shown(json.dumps({"sender": "bot", "message": "a", name: "x"}), "chat-history") == [], name


def test_pairs_need_two_strings() -> None:
    assert shown('{"user": "a", "bot": "b"}', "chat-history") == ["a", "b"]
    for record in ('{"user": "a", "bot": 1}', '{"user": {"id": 1}, "bot": "b"}', '{"user": "a"}'):
        assert shown(record, "chat-history") == [], record


def test_every_prompt_of_a_stored_langchain_chat_is_shown() -> None:
    turns = [{"type": kind, "data": {"content": kind + str(turn)}} for turn in (1, 2) for kind in ("human", "ai")]
    assert detect(json.dumps(turns).encode()).format == "chat-history"
    assert shown(json.dumps(turns), "chat-history") == ["human1", "ai1", "human2", "ai2"]


def test_no_example_of_another_format_shows_hidden_text() -> None:
    check_forced("chat-history")
