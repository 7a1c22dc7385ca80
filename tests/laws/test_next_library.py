"""For generated conversations, `next` agrees with openai-harmony and the chat template of gpt-oss on prompts, kept
messages, refusals, and token counts.

`OCML_HARMONY_PYTHON` names a Python with `openai_harmony` and `jinja2`, which finds its vocabulary in
`TIKTOKEN_ENCODINGS_BASE`; `OCML_GPT_OSS_TEMPLATE` is the file of the template. Tokens are counted if `tiktoken` is
installed. `OCML_NEXT_CONVERSATIONS` is the number of conversations, and `OCML_LAB_SEED` their seed.
"""

from __future__ import annotations

import json
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.next_campaign import (
    PLAIN,
    Message,
    as_chat,
    as_harmony,
    as_openchatml,
    as_vllm_messages,
    conversation,
    has_tokens,
    kept,
)
from tests.support.next_prompts import history, prompt, simulator
from viewer.formats.tokens.vocabulary import Encoder, load_encoder
from viewer.insight.chat_view import Refusal
from viewer.insight.next_prompt import POLICIES
from viewer.insight.simulator import Outcome, simulator_before

CONVERSATIONS = int(os.environ.get("OCML_NEXT_CONVERSATIONS", "100"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
PYTHON = os.environ.get("OCML_HARMONY_PYTHON", "")
TEMPLATE = os.environ.get("OCML_GPT_OSS_TEMPLATE", "")
VOCABULARY = Path(os.environ.get("TIKTOKEN_ENCODINGS_BASE", ""), "o200k_base.tiktoken")
START = 200006
"""The token `<|start|>`."""
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

def harmony(messages, drops):
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
    ids = encoding.render_conversation_for_completion(
        Conversation.from_messages(made), Role.ASSISTANT, RenderConversationConfig(auto_drop_analysis=drops)
    )
    return [encoding.decode_utf8(ids), ids]

def templated(chat):
    try:
        text = template.render(messages=chat, add_generation_prompt=True)
    except jinja2.TemplateError:
        return None
    text = text[text.index("<|start|>user"):]
    return [text, encoding.encode(text, allowed_special="all")]

for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps({
        "plain": {name: harmony(each, False) for name, each in case["plain"].items()},
        "dropped": harmony(case["messages"], True),
        "before": harmony(case["before"], True),
        "sampled": encoding.encode(case["sampled"], allowed_special="all"),
        "templates": {name: templated(chat) for name, chat in case["chats"].items()},
    }))
"""
Rendered = tuple[str, list[int]]


def question(messages: list[Message], asked: int) -> str:
    """Return what the library must render for a conversation, and for the prompt that led to the run at `asked`."""
    unnamed = [
        {key: value for key, value in each.items() if key != "name" or each["role"] == "tool"} for each in messages
    ]
    chat = as_chat(unnamed)
    plain = {name: [messages[number - 1] for number in kept(messages, name)] for name in PLAIN}
    return json.dumps(
        {
            "messages": messages,
            "plain": plain | {"vllm-chat": as_vllm_messages(chat)},
            "chats": {"hf-template": chat, "llama.cpp": as_chat(unnamed, drops_content=True)},
            "before": messages[:asked],
            "sampled": as_harmony(run_at(messages, asked), is_sampled=True),
        }
    )


def last_run(messages: list[Message]) -> int:
    """Return where the last run of assistant messages begins."""
    end = max((place for place, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
    while end > 0 and messages[end - 1]["role"] == "assistant":
        end -= 1
    return max(end, 0)


def run_at(messages: list[Message], first: int) -> list[Message]:
    run = messages[first:]
    return run[: next((place for place, each in enumerate(run) if each["role"] != "assistant"), len(run))]


def spellings(messages: list[Message]) -> list[str]:
    texts = [as_harmony(messages), as_harmony(messages, is_sampled=True)]
    return texts if has_tokens(messages) else [*texts, as_openchatml(messages)]


def outcomes(text: str, encoder: Encoder | None) -> dict[str, Outcome]:
    return {each.policy.name: each for each in simulator(text, encoder).outcomes(POLICIES.values())}


def templated(text: str, policy: str) -> str | None:
    try:
        found = prompt(text, policy)
    except Refusal:
        return None
    return found[found.index("<|start|>user") :]


def check(messages: list[Message], asked: int, wanted: dict[str, Any], encoder: Encoder | None) -> int:
    """Compare one conversation. Return the number of prompts that were compared."""
    assert wanted["dropped"] == wanted["plain"]["harmony-0.0.8"]
    if not any("channel" in each for each in messages):
        return 0  # text without any channel is OpenChatML 1.x, whose answers are final
    for text in spellings(messages):
        found = outcomes(text, encoder)
        for policy in PLAIN:
            prompt_text, ids = wanted["plain"][policy]
            numbers = kept(messages, policy)
            assert prompt(text, policy) == prompt_text, (policy, text)
            assert list(found[policy].kept) == numbers, (policy, text)
            assert list(found[policy].dropped) == sorted({*range(1, len(messages) + 1)} - {*numbers}), (policy, text)
            assert found[policy].tokens in (None, len(ids)), (policy, text)
        text = text.replace("<|start|>user:alice", "<|start|>user").replace("<|start|>user name=alice", "<|start|>user")
        found = outcomes(text, encoder)
        for policy, rendered in (wanted["templates"] | {"vllm-chat": wanted["plain"]["vllm-chat"]}).items():
            assert templated(text, policy) == (rendered and rendered[0]), (policy, text)
            assert (found[policy].refused is not None) == (rendered is None), (policy, text)
            if rendered and messages[0]["role"] == "user":
                assert found[policy].tokens in (None, len(rendered[1])), (policy, text)
    if asked < len(messages) and messages[asked]["role"] == "assistant":
        check_run(messages, asked, wanted, encoder)
    return len(spellings(messages)) * len(POLICIES)


def check_run(messages: list[Message], asked: int, wanted: dict[str, Any], encoder: Encoder | None) -> None:
    """Compare the prompt that led to the last run, and what the server can reuse of it."""
    text = as_harmony(messages, is_sampled=True)
    run = run_at(messages, asked)
    before = simulator_before(history(text).projection, asked + len(run), encoder)
    assert before is not None
    sampled = as_harmony(run[:-1], is_sampled=True).replace("<|return|>", "<|end|>")
    led = "".join(part.text for part in before.parts(POLICIES["harmony-0.0.8"]))
    assert led == wanted["before"][0].removesuffix("<|start|>assistant") + sampled + "<|start|>assistant", text
    cache = outcomes(text, encoder)["harmony-0.0.8"].cache
    if encoder is not None and cache is not None and not has_tokens(messages):
        asked_for = wanted["before"][1]
        previous = asked_for[: len(asked_for) - asked_for[::-1].index(START) - 1] + wanted["sampled"]
        following = wanted["plain"]["harmony-0.0.8"][1]
        pairs = enumerate(zip(previous, following, strict=False))
        shared = next((place for place, (one, other) in pairs if one != other), min(len(previous), len(following)))
        assert (cache.previous, cache.shared) == (len(previous), shared), text


@pytest.mark.lab
@pytest.mark.skipif(not PYTHON or not TEMPLATE, reason="OCML_HARMONY_PYTHON or OCML_GPT_OSS_TEMPLATE is not set")
def test_generated_conversations_give_the_prompts_of_the_library_and_the_template() -> None:
    chance = Random(SEED)
    made = [conversation(chance) for _ in range(CONVERSATIONS)]
    lines = "\n".join(question(each, last_run(each)) for each in made)
    result = subprocess.run(
        [PYTHON, "-c", LIBRARY, TEMPLATE], input=lines, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    encoder = load_encoder(str(VOCABULARY)) if find_spec("tiktoken") and VOCABULARY.is_file() else None
    count = 0
    for messages, line in zip(made, result.stdout.splitlines(), strict=True):
        count += check(messages, last_run(messages), json.loads(line), encoder)
    assert count > 20 * CONVERSATIONS
