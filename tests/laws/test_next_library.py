"""For generated conversations, `next` gives the same prompts as openai-harmony and the chat template of gpt-oss.

`OCML_HARMONY_PYTHON` names a Python with `openai_harmony` and `jinja2`, which finds its vocabulary in
`TIKTOKEN_ENCODINGS_BASE`; `OCML_GPT_OSS_TEMPLATE` is the file of the template.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from itertools import groupby
from typing import Any

import pytest

from tests.support.next_prompts import prompt
from viewer.insight.chat_view import Refusal

CONVERSATIONS = 500
PYTHON = os.environ.get("OCML_HARMONY_PYTHON", "")
TEMPLATE = os.environ.get("OCML_GPT_OSS_TEMPLATE", "")
LIBRARY = r"""
import json, sys
import jinja2
from openai_harmony import Author, Conversation, HarmonyEncodingName, Message, RenderConversationConfig, Role
from openai_harmony import load_harmony_encoding

encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)

def refuse(words):
    raise jinja2.TemplateError(words)

environment.globals.update(raise_exception=refuse, strftime_now=lambda form: "2026-01-01")
template = environment.from_string(open(sys.argv[1], encoding="utf-8").read())

def harmony(messages):
    made = []
    for each in messages:
        author = Author.new(Role(each["role"]), each["name"]) if "name" in each else Author(role=Role(each["role"]))
        message = Message.from_author_and_content(author, each["text"])
        for key, change in (("channel", message.with_channel), ("to", message.with_recipient)):
            if key in each:
                change(each[key])
        if "type" in each:
            message.with_content_type(each["type"])
        made.append(message)
    conversation = Conversation.from_messages(made)
    keep = RenderConversationConfig(auto_drop_analysis=False)
    return [
        encoding.decode_utf8(encoding.render_conversation_for_completion(conversation, Role.ASSISTANT, config))
        for config in (keep, RenderConversationConfig(auto_drop_analysis=True))
    ]

def templated(chat):
    try:
        text = template.render(messages=chat, add_generation_prompt=True)
    except jinja2.TemplateError:
        return None
    return text[text.index("<|start|>user"):]

for line in sys.stdin:
    case = json.loads(line)
    kept, dropped = harmony(case["messages"])
    print(json.dumps({"keep": kept, "harmony-0.0.8": dropped, "hf-template": templated(case["chat"])}))
"""

Message = dict[str, Any]


def conversation(chance: random.Random) -> list[Message]:
    """Return turns of a user, each with thoughts, preambles, calls with their replies, and an answer."""
    messages: list[Message] = []
    for turn in range(chance.randint(1, 4)):
        messages.append({"role": "user", "text": words(chance)})
        if not turn and chance.random() < 0.2:
            messages[-1]["name"] = "alice"
        for _ in range(chance.randint(0, 3)):
            messages += step(chance)
        if chance.random() < 0.8:
            messages.append({"role": "assistant", "channel": "final", "text": words(chance)})
    return messages


def step(chance: random.Random) -> list[Message]:
    tool = chance.choice(["functions.lookup", "functions.sky", "browser.search", "python"])
    channel = "commentary" if tool.startswith("functions.") else "analysis"
    arguments = chance.choice([words(chance), json.dumps({"q": words(chance), "n": 1}, ensure_ascii=False), "[1]"])
    types = ["<|constrain|>json", "json"] if channel == "commentary" else ["code"]
    thought = {"role": "assistant", "channel": "analysis", "text": words(chance)}
    preamble = {"role": "assistant", "channel": "commentary", "text": words(chance)}
    call = {"role": "assistant", "channel": channel, "to": tool, "type": chance.choice(types), "text": arguments}
    reply = {"role": "tool", "name": tool, "channel": channel, "to": "assistant", "text": words(chance)}
    return chance.choice(
        [[thought], [preamble], [thought, call, reply], [call, reply], [preamble, call, reply], [call]]
    )


def words(chance: random.Random) -> str:
    known = ["sun", 'a "quote"', "back\\slash", "naïve", "雨", "🙂", "<b>&amp;</b>", "two\nlines", "  spaces ", "'"]
    return " ".join(chance.choice(known) for _ in range(chance.randint(1, 4)))


def text_of(messages: list[Message], chance: random.Random) -> str:
    """Return Harmony text, with the recipient of a call in either place."""
    return "".join(frame(each, is_late=chance.random() < 0.5) for each in messages)


def frame(message: Message, *, is_late: bool) -> str:
    role = message["name"] if message["role"] == "tool" else message["role"]
    role += f":{message['name']}" if message["role"] == "user" and "name" in message else ""
    to = f" to={message['to']}" if "to" in message else ""
    is_late = is_late and message["role"] == "assistant"
    channel = f"<|channel|>{message['channel']}" if "channel" in message else ""
    places = f"{channel}{to}" if is_late else f"{to}{channel}"
    stop = "<|call|>" if to and message["role"] == "assistant" else "<|end|>"
    kind = f" {message['type']}" if "type" in message else ""
    return f"<|start|>{role}{places}{kind}<|message|>{message['text']}{stop}"


def chat_of(messages: list[Message]) -> list[Message]:
    """Return the conversation as a chat client stores it."""
    chat: list[Message] = []
    for is_assistant, group in groupby(messages, lambda each: each["role"] == "assistant"):
        run = [*group]
        chat += [answer(run)] if is_assistant else [{"role": each["role"], "content": each["text"]} for each in run]
    return chat


def answer(run: list[Message]) -> Message:
    calls = [call(each) for each in run if "to" in each]
    thinking = [each["text"] for each in run if each["channel"] == "analysis" and "to" not in each]
    content = [each["text"] for each in run if each["channel"] != "analysis" and "to" not in each]
    found: Message = {"role": "assistant"}
    found |= {"thinking": "\n".join(thinking)} if thinking else {}
    found |= {"content": "\n".join(content)} if content or not calls else {}
    return found | ({"tool_calls": calls} if calls else {})


def call(message: Message) -> Message:
    try:
        value = json.loads(message["text"])
    except ValueError:
        value = None
    arguments = value if isinstance(value, dict) else message["text"]
    return {"function": {"name": message["to"].removeprefix("functions."), "arguments": arguments}}


def templated(text: str) -> str | None:
    try:
        found = prompt(text, "hf-template")
    except Refusal:
        return None
    return found[found.index("<|start|>user") :]


def without_names(text: str) -> str:
    """Return the text without user names, which templates do not support."""
    return text.replace("<|start|>user:alice", "<|start|>user")


@pytest.mark.lab
@pytest.mark.skipif(not PYTHON or not TEMPLATE, reason="OCML_HARMONY_PYTHON or OCML_GPT_OSS_TEMPLATE is not set")
def test_generated_conversations_give_the_prompts_of_the_library_and_the_template() -> None:
    chance = random.Random(int(os.environ.get("OCML_LAB_SEED", "0")))
    found = [conversation(chance) for _ in range(CONVERSATIONS)]
    lines = "\n".join(json.dumps({"messages": each, "chat": chat_of(each)}) for each in found)
    result = subprocess.run(
        [PYTHON, "-c", LIBRARY, TEMPLATE], input=lines, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    for messages, line in zip(found, result.stdout.splitlines(), strict=True):
        text, wanted = text_of(messages, chance), json.loads(line)
        assert prompt(text, "keep") == wanted["keep"]
        assert prompt(text, "harmony-0.0.8") == wanted["harmony-0.0.8"]
        assert templated(without_names(text)) == wanted["hf-template"], text
