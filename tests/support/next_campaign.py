"""Generated conversations for the next prompt, and a second implementation of the policies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from random import Random
from typing import Any

Message = dict[str, Any]
"""A message as values: role, name, channel, to, type, text. A missing key means that the header does not name it."""
Chat = list[dict[str, Any]]

_TEXTS = (
    *("sun", 'a "quote"', "back\\slash", "naïve", "cafe\u0301", "雨が降る", "你好,世界", "안녕하세요", "مرحبا", "สวัสดี"),
    *(
        "🙂",
        "👍🏽👩\u200d👩\u200d👧",
        "<b>&amp;</b>",
        "two\nlines.",
        "tabs\there",
        "line\u2028separator",
        "'s",
        "it's I'LL",
    ),
    *("1234567890", "3.14e-7", "...\n", "  spaces  ", "{{ jinja }}", "{% raw %}", "%s $x", "<|", "|>", "<|endoftext"),
)
_TOKENS = ("<|endoftext|>", "<|startoftext|>", "<|reserved_200000|>", "<|reserved_201087|>")
"""Control tokens that mean nothing in a transcript."""
_ARGUMENTS = (
    *(
        '{"q": "%s", "n": 1}',
        '{"q":"%s","f":1.50,"big":12345678901234567890,"e":1e5}',
        '{"a": {"b": ["%s", null, true]}}',
    ),
    *('{"u": "\\u96e8 %s"}', "{}", '["%s"]', "%s", '{"cut": "%s', '"%s"', "12"),
)
_TOOLS = ("functions.lookup", "functions.sky_2", "browser.search", "python")


def conversation(chance: Random) -> list[Message]:
    """Return a conversation in which all bodies are different."""
    messages: list[Message] = []
    if chance.random() < 0.4:
        messages.append({"role": "system", "text": "You are a model.\n\nReasoning: low"})
    if chance.random() < 0.4:
        messages.append({"role": "developer", "text": f"# Instructions\n\n{_words(chance)}"})
    has_tokens = chance.random() < 0.1
    for turn in range(chance.randint(1, 5)):
        messages.append({"role": "user", "text": _words(chance)})
        if not turn and chance.random() < 0.15:
            messages[-1]["name"] = "alice"
        if chance.random() < 0.04:
            messages[-1]["channel"] = "final"
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            messages += _step(chance)
        if chance.random() < 0.75:
            messages += [{"role": "assistant", "channel": "final"} for _ in range(chance.choice((1, 1, 1, 1, 2)))]
        if chance.random() < 0.05:
            messages.append({"role": "assistant"})
    for number, message in enumerate(messages, 1):
        text = message.get("text", _words(chance))
        if has_tokens and chance.random() < 0.4:
            text += f" {chance.choice(_TOKENS)} "
        if message["role"] in ("user", "assistant") and "to" not in message:
            text = "" if chance.random() < 0.03 else f"mk{number} {text}"
        message["text"] = text
    return messages


def _step(chance: Random) -> list[Message]:
    thought = {"role": "assistant", "channel": "analysis"}
    preamble = {"role": "assistant", "channel": "commentary"}
    before = chance.choice(([], [], [thought], [thought], [preamble], [thought, preamble], [preamble, thought]))
    calls = [_call(chance) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    replies = [_reply(call) for call in calls if chance.random() < 0.9]
    if chance.random() < 0.3:
        chance.shuffle(replies)
    if chance.random() < 0.02:
        replies.append(_reply(_call(chance)))
    return [dict(each) for each in (*before, *calls, *replies)]


def _call(chance: Random) -> Message:
    tool = chance.choice(_TOOLS)
    body = chance.choice(_ARGUMENTS)
    text = body % json.dumps(_words(chance), ensure_ascii=False)[1:-1] if "%s" in body else body
    if tool.startswith("functions."):
        kind = chance.choice(("<|constrain|>json", "<|constrain|>json", "json"))
        channel = "analysis" if chance.random() < 0.1 else "commentary"
        return {"role": "assistant", "channel": channel, "to": tool, "type": kind, "text": text}
    return {"role": "assistant", "channel": "analysis", "to": tool, "type": "code", "text": text}


def _reply(call: Message) -> Message:
    channel = "analysis" if call["type"] == "code" else "commentary"
    return {"role": "tool", "name": call["to"], "channel": channel, "to": "assistant"}


def _words(chance: Random) -> str:
    return " ".join(chance.choice(_TEXTS) for _ in range(chance.randint(1, 5)))


def has_tokens(messages: list[Message]) -> bool:
    """True if a body contains control tokens as text."""
    return any(token in each["text"] for each in messages for token in _TOKENS)


# Spellings of a transcript.


def as_harmony(messages: list[Message], *, is_sampled: bool = False) -> str:
    """Return Harmony text: as a program stores it, or as the model generates it."""
    run_ends = {place for place, each in enumerate(messages) if _is_final(each) and _ends_run(messages, place)}
    return "".join(
        _framed(each, is_sampled=is_sampled, is_last=is_sampled and place in run_ends)
        for place, each in enumerate(messages)
    )


def _is_final(message: Message) -> bool:
    return message["role"] == "assistant" and message.get("channel") == "final"


def _ends_run(messages: list[Message], place: int) -> bool:
    rest = messages[place + 1 :]
    run = rest[: next((at for at, each in enumerate(rest) if each["role"] != "assistant"), len(rest))]
    return not any(map(_is_final, run))


def _framed(message: Message, *, is_sampled: bool, is_last: bool = False) -> str:
    is_model = message["role"] == "assistant"
    role = message["name"] if message["role"] == "tool" else message["role"]
    role += f":{message['name']}" if message["role"] == "user" and "name" in message else ""
    to = f" to={message['to']}" if "to" in message else ""
    channel = f"<|channel|>{message['channel']}" if "channel" in message else ""
    places = f"{channel}{to}" if is_sampled and is_model else f"{to}{channel}"
    kind = f" {message['type']}" if "type" in message else ""
    stop = "<|call|>" if to and is_model else "<|return|>" if is_last else "<|end|>"
    return f"<|start|>{role}{places}{kind}<|message|>{message['text']}{stop}"


def as_openchatml(messages: list[Message]) -> str:
    """Return the conversation as OpenChatML 2.2."""
    ids: dict[str, list[str]] = {}
    lines = ["version: 2.2\nmodel: m\n\n"]
    for number, each in enumerate(messages):
        channel = f"<|channel|>{each['channel']}" if "channel" in each else ""
        stop = "<|end|>"
        if each["role"] == "tool":
            waiting = ids.get(each["name"])
            id = f" call_id={waiting.pop(0)}" if waiting else ""
            head = f"tool name={each['name']}{id} to=assistant{channel}"
        elif "to" in each:
            ids.setdefault(each["to"], []).append(f"c{number}")
            kind = each["type"] if each["type"].startswith("<|") else f" content_type={each['type']}"
            head, stop = f"assistant to={each['to']} call_id=c{number}{channel}{kind}", "<|call|>"
        elif each["role"] == "assistant" and each.get("channel") == "commentary":
            head = f"assistant intent=preamble{channel}"
        else:
            name = f" name={each['name']}" if "name" in each else ""
            head = f"{each['role']}{name}{channel}"
        lines.append(f"<|start|>{head}<|message|>{each['text']}{stop}\n")
    return "".join(lines)


# The policies.


def kept(messages: list[Message], policy: str) -> list[int]:
    """Return the numbers of the messages that a policy keeps."""
    cut = _CUTS[policy](messages)
    spared = _spared(messages, cut) if policy == "openchatml-2.2" else set[int]()
    return [
        number
        for number, each in enumerate(messages, 1)
        if each.get("channel") != "analysis" or number >= cut or number in spared
    ]


def _last(messages: list[Message], test: Callable[[Message], bool]) -> int:
    return max((number for number, each in enumerate(messages, 1) if test(each)), default=0)


def _is_turn_over(messages: list[Message]) -> bool:
    said = [each for each in messages if each["role"] == "assistant"]
    return bool(said) and _is_final(said[-1])


def _first_final(messages: list[Message]) -> int:
    finals = (number for number, each in enumerate(messages, 1) if each.get("channel") == "final")
    return next(finals, 0) if _is_turn_over(messages) else 0


def _is_answer(message: Message) -> bool:
    return message["role"] == "assistant" and "to" not in message and message.get("channel") in (None, "final")


_CUTS: dict[str, Callable[[list[Message]], int]] = {
    "keep": lambda messages: 0,
    "drop-all": lambda messages: len(messages) + 1,
    "harmony-0.0.8": _first_final,
    "harmony-pr96": lambda messages: _last(messages, _is_final) if _is_turn_over(messages) else 0,
    "last-final": lambda messages: _last(messages, _is_final),
    "last-user": lambda messages: _last(messages, lambda each: each["role"] == "user"),
    "openchatml-2.2": lambda messages: _last(messages, _is_answer),
    "openchatml-2.0": lambda messages: 0,
    "vllm-responses": _first_final,
}
PLAIN = tuple(_CUTS)
"""The policies that start from Harmony messages."""


def _spared(messages: list[Message], cut: int) -> set[int]:
    """Return calls without a reply, with the assistant's analysis and calls directly before each of them."""
    waiting: dict[str, list[int]] = {}
    for number, each in enumerate(messages, 1):
        if each["role"] == "assistant" and "to" in each:
            waiting.setdefault(each["to"], []).append(number)
        elif each["role"] == "tool" and waiting.get(each["name"]):
            waiting[each["name"]].pop(0)
    spared = set[int]()
    for number in (number for numbers in waiting.values() for number in numbers if number < cut):
        while number and messages[number - 1]["role"] == "assistant":
            each = messages[number - 1]
            if "to" not in each and each.get("channel") != "analysis":
                break
            spared.add(number)
            number -= 1
    return spared


# Chat messages.


def as_chat(messages: list[Message], *, drops_content: bool = False) -> Chat:
    """Return the conversation as a chat client stores it. With `drops_content`, as llama.cpp prepares it."""
    chat: Chat = []
    spoken = [each for each in messages if each["role"] != "system"]
    for is_assistant, group in groupby(spoken, lambda each: each["role"] == "assistant"):
        if is_assistant:
            chat.append(_answer([*group]))
            if drops_content and "tool_calls" in chat[-1] and "thinking" in chat[-1]:
                chat[-1].pop("content", None)
        else:
            chat += [_said(each) for each in group]
    return chat


def _said(message: Message) -> dict[str, Any]:
    name = {"name": message["name"].removeprefix("functions.")} if message["role"] == "tool" else {}
    return {"role": message["role"], "content": message["text"].removeprefix("# Instructions\n\n"), **name}


def _answer(run: list[Message]) -> dict[str, Any]:
    calls = [_chat_call(each) for each in run if "to" in each]
    thinking = [each["text"] for each in run if each.get("channel") == "analysis" and "to" not in each]
    content = [each["text"] for each in run if each.get("channel") != "analysis" and "to" not in each]
    found: dict[str, Any] = {"role": "assistant"}
    found |= {"thinking": "\n".join(thinking)} if thinking else {}
    found |= {"content": "\n".join(content)} if content or not calls else {}
    return found | ({"tool_calls": calls} if calls else {})


def _chat_call(message: Message) -> dict[str, Any]:
    try:
        value = json.loads(message["text"])
    except ValueError:
        value = None
    arguments = value if isinstance(value, dict) else message["text"]
    return {"function": {"name": message["to"].removeprefix("functions."), "arguments": arguments}}


def as_vllm_messages(chat: Chat) -> list[Message]:
    """Return the Harmony messages that vLLM's chat server makes from chat messages, without instructions and stale
    analysis."""
    messages = [made for each in chat if each["role"] != "developer" for made in _vllm_messages(each)]
    return [messages[number - 1] for number in kept(messages, "last-final")]


def _vllm_messages(said: dict[str, Any]) -> Iterator[Message]:
    if said["role"] == "user":
        yield {"role": "user", "text": said["content"]}
        return
    if said["role"] == "tool":
        name = f"functions.{said['name']}"
        yield {"role": "tool", "name": name, "channel": "commentary", "to": "assistant", "text": said["content"]}
        return
    calls, content = said.get("tool_calls", []), said.get("content")
    if calls and content:
        yield {"role": "assistant", "channel": "commentary", "text": content}
    if said.get("thinking"):
        yield {"role": "assistant", "channel": "analysis", "text": said["thinking"]}
    if not calls and content:
        yield {"role": "assistant", "channel": "final", "text": content}
    for call in (each["function"] for each in calls):
        arguments = call["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        tool = f"functions.{call['name']}"
        yield {"role": "assistant", "channel": "commentary", "to": tool, "type": "json", "text": text}
