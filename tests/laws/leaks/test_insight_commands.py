"""Without --reveal, next, lens, diff, and leaks print the same bytes whatever the hidden text in a conversation is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest

from tests.support.next_campaign import Message, as_harmony, as_openchatml, conversation, has_tokens
from tests.support.program import Result, run

SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
COMMANDS = (
    *(["lens"], ["lens", "--json", "--exit-code"], ["next"], ["next", "--json"], ["leaks", "--json"]),
    *(["leaks", "--exit-code"], ["check", "--leaks"], ["check", "--lens", "--strict-safe"]),
)
DIFFS: tuple[list[str], ...] = (
    [],
    ["--json"],
    ["--stat"],
    ["--side"],
    ["--strict", "--strict-json", "--json"],
    ["--only", "calls"],
)
WORDS = ("alpha", "beta", "gamma", "雨が降る", "🙂", "مرحبا", "two\n\nlines")


def is_hidden(message: Message) -> bool:
    return message["role"] != "user" and ("to" in message or message.get("channel", "final") != "final")


def with_other_words(messages: list[Message], chance: Random) -> list[Message]:
    """Return the conversation with different hidden text of different lengths. Some of it also occurs in shown
    messages."""
    shown = [each["text"] for each in messages if not is_hidden(each)]
    return [each | {"text": other_text(each, shown, chance)} if is_hidden(each) else each for each in messages]


def other_text(message: Message, shown: list[str], chance: Random) -> str:
    text = " ".join(chance.choices(WORDS, k=chance.randint(1, 60)))
    if message["role"] != "assistant" or "to" not in message:
        return text if chance.random() < 0.7 else chance.choice(shown)
    try:
        is_object = isinstance(json.loads(message["text"]), dict)
    except ValueError:
        is_object = False
    return json.dumps({"q": text}) if is_object else message["text"]


def results(text: str, other: Path) -> list[Result]:
    path = other.parent / "a.ocml"
    path.write_text(text, "utf-8")
    return [
        *(run(*command, path) for command in COMMANDS),
        *(run("diff", *command, *pair) for command in DIFFS for pair in ((path, other), (other, path))),
    ]


@pytest.mark.lab
def test_generated_conversations_with_other_hidden_words_print_the_same_bytes(tmp_path: Path) -> None:
    chance, other, compared = Random(SEED), tmp_path / "b.ocml", 0
    while compared < 10:
        messages = [each for each in conversation(chance) if each.get("channel") != "commentary" or "to" in each]
        if has_tokens(messages):
            continue
        compared += 1
        for written in (as_harmony, as_openchatml):
            other.write_text(written(messages[: len(messages) // 2 + 1]), "utf-8")
            wanted = results(written(messages), other)
            for _ in range(2):
                assert results(written(with_other_words(messages, chance)), other) == wanted, written(messages)
