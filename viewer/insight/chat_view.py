"""Chat templates: turn a history into chat messages, and render them as servers do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from viewer.insight.harmony_prompt import Part, prompt_parts
from viewer.insight.history import History, is_analysis, is_assistant, is_instruction, is_reply, is_user
from viewer.model.messages import Header

TOOLS = "functions."
_MARKS = ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>")


class Refusal(Exception):  # noqa: N818
    """Raised if a template refuses a history."""

    def __init__(self, number: int, reason: str) -> None:
        self.number = number
        """The number of the message."""
        self.reason = reason
        super().__init__(reason)


class Change(Struct, frozen=True, gc=False):
    """A change that a renderer makes to a message."""

    number: int
    what: str


class Text(Struct, frozen=True, gc=False):
    """The body of one message, as part of a chat message."""

    number: int
    text: str
    is_final: bool = True
    """True unless this is the content of an assistant message that does not name the final channel."""


class ChatCall(Struct, frozen=True):
    """One tool call of a chat message."""

    number: int
    name: str
    """The name of the tool without `functions.`."""
    tool: str
    """The recipient as written."""
    arguments: object
    """The arguments as a JSON object, or as text if they are not one."""

    @property
    def as_json(self) -> str:
        """The arguments as templates write them. A string is JSON-encoded a second time."""
        return _json(self.arguments)


class ChatMessage(Struct, frozen=True):
    """A chat message as a client stores it. A run of assistant messages becomes a single one."""

    role: str
    number: int
    """The number of the last message that it contains."""
    content: tuple[Text, ...] | None = None
    thinking: tuple[Text, ...] = ()
    calls: tuple[ChatCall, ...] = ()
    tool: str = ""
    """The tool that a reply comes from."""


Yielded = Part | Change
"""The output of a renderer: parts of the prompt, and changes to messages."""
Renderer = Callable[[History], Iterator[Yielded]]


def chat_messages(history: History) -> Iterator[ChatMessage]:
    """Convert a history to chat messages. The instructions at its start are skipped, because renderers keep them as
    written."""
    run: list[int] = []
    tools: list[str] = []
    leading = len(instructions(history))
    for number in history.numbers()[leading:]:
        header = history.header(number)
        if is_assistant(header):
            run.append(number)
            continue
        if run:
            yield _assistant(history, run, tools)
            run = []
        if is_user(header):
            yield ChatMessage("user", number, (Text(number, history.body(number)),))
        elif is_reply(header):
            yield ChatMessage(
                "tool", number, (Text(number, history.body(number)),), tool=_caller(history, number, tools)
            )
        else:
            yield ChatMessage(header.role, number, (Text(number, history.body(number)),))
    if run:
        yield _assistant(history, run, tools)


def instructions(history: History) -> list[int]:
    """Return the system and developer messages at the beginning."""
    numbers = history.numbers()
    found = next(
        (place for place, each in enumerate(numbers) if not is_instruction(history.header(each))), len(numbers)
    )
    return list(numbers[:found])


def _assistant(history: History, run: list[int], tools: list[str]) -> ChatMessage:
    thinking, calls, content = [], [], []
    for number in run:
        header, body = history.header(number), history.body(number)
        if header.recipient is not None:
            tool = history.tool(number)
            calls.append(ChatCall(number, tool.removeprefix(TOOLS), header.recipient, _arguments(body)))
            tools.append(tool)
        elif is_analysis(header):
            thinking.append(Text(number, body))
        else:
            content.append(Text(number, body, _is_last_word(header)))
    return ChatMessage(
        "assistant", run[-1], tuple(content) if content or not calls else None, tuple(thinking), tuple(calls)
    )


def _is_last_word(header: Header) -> bool:
    return header.channel_given == "final"


def _arguments(body: str) -> object:
    """Return the arguments as a JSON object, or as text if they are not an object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, dict) else body


def _caller(history: History, number: int, tools: list[str]) -> str:
    """Return the tool of a reply or, if the reply does not name one, the tool of the oldest open call."""
    tool = history.tool(number)
    if tool in tools:
        tools.remove(tool)
        return tool
    return tool or (tools.pop(0) if tools else "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _joined(texts: tuple[Text, ...]) -> str:
    return "\n".join(text.text for text in texts)


def _parts(texts: tuple[Text, ...], number: int, before: str, after: str) -> Iterator[Part]:
    """Yield these pieces of text with line breaks between them, preceded by `before` and followed by `after`."""
    yield Part(texts[0].number if texts else number, before)
    for place, text in enumerate(texts):
        yield Part(text.number, f"\n{text.text}" if place else text.text, is_body=True)
    yield Part(texts[-1].number if texts else number, after)


def hf_template(history: History) -> Iterator[Yielded]:
    """Render the prompt with the chat template of gpt-oss."""
    yield from _by_template(history, lambda message: message)


def llama_cpp(history: History) -> Iterator[Yielded]:
    """Render the prompt as llama.cpp does: a message with both calls and thinking loses its content first."""
    yield from _by_template(history, lambda each: replace(each, content=None) if each.calls and each.thinking else each)


def _by_template(history: History, prepare: Callable[[ChatMessage], ChatMessage]) -> Iterator[Yielded]:
    """Render the prompt as one string, in which a server cannot distinguish control tokens in a body from real ones."""
    for each in chain(prompt_parts(history, instructions(history)), _templated(history, prepare)):
        yield Part(each.number, each.text) if isinstance(each, Part) else each


def _templated(history: History, prepare: Callable[[ChatMessage], ChatMessage]) -> Iterator[Yielded]:
    answered = _last_answer(history)
    last = ""
    for message in map(prepare, chat_messages(history)):
        if message.role == "user":
            yield from _user(message)
        elif message.role == "tool":
            if not last:
                raise Refusal(message.number, "reply-without-call")
            yield from _reply_to(message, last)
        elif message.role == "assistant":
            _refuse_marks(message)
            if message.calls:
                yield from _calls(message, is_answered=message.number < answered)
                last = message.calls[0].name
            else:
                yield from _answer(message)
                last = ""


def _last_answer(history: History, *, has_text: bool = False) -> int:
    """Return the last message of the last run of assistant messages without a call, or 0. With `has_text`, the run must
    also contain text."""
    runs: list[list[int]] = []
    is_running = False
    for number in history.numbers():
        is_next = is_assistant(history.header(number))
        if is_next and not is_running:
            runs.append([])
        if is_next:
            runs[-1].append(number)
        is_running = is_next
    answers = (run for run in reversed(runs) if all(history.header(each).recipient is None for each in run))
    return next((run[-1] for run in answers if not has_text or _has_text(history, run)), 0)


def _has_text(history: History, run: list[int]) -> bool:
    return any(any(history.blocks(each)) for each in run if not is_analysis(history.header(each)))


def _refuse_marks(message: ChatMessage) -> None:
    for texts in (message.content or (), message.thinking):
        if any(mark in _joined(texts) for mark in _MARKS):
            raise Refusal(texts[0].number, "channel-in-text")


def _user(message: ChatMessage) -> Iterator[Yielded]:
    yield from _parts(message.content or (), message.number, "<|start|>user<|message|>", "<|end|>")


def _reply_to(message: ChatMessage, last: str) -> Iterator[Yielded]:
    body = _json(_joined(message.content or ()))
    head = f"<|start|>{TOOLS}{last} to=assistant<|channel|>commentary<|message|>"
    yield Part(message.number, f"{head}{body}<|end|>")
    yield Change(message.number, "re-encoded")
    if message.tool != TOOLS + last:
        own = message.tool.removeprefix(TOOLS)
        yield Change(message.number, "renamed" if own == last else "reply-renamed")


def _calls(message: ChatMessage, *, is_answered: bool) -> Iterator[Yielded]:
    head = "<|start|>assistant<|channel|>analysis<|message|>"
    content, thinking = message.content or (), message.thinking
    if _joined(content) and _joined(thinking):
        raise Refusal(content[0].number, "content-and-thinking")
    if _joined(content) and not is_answered:
        yield from _parts(content, message.number, head, "<|end|>")
        yield from (Change(text.number, "preamble-to-analysis") for text in content)
    elif _joined(thinking) and not is_answered:
        yield from _parts(thinking, message.number, head, "<|end|>")
    call = message.calls[0]
    yield Part(call.number, f"<|start|>assistant to={TOOLS}{call.name}<|channel|>commentary json<|message|>")
    yield Part(call.number, f"{call.as_json}<|call|>")
    if isinstance(call.arguments, str):
        yield Change(call.number, "re-encoded")
    if call.tool != TOOLS + call.name:
        yield Change(call.number, "renamed")
    yield from (Change(each.number, "second-call-lost") for each in message.calls[1:])


def _answer(message: ChatMessage) -> Iterator[Yielded]:
    content = message.content or ()
    yield from _parts(content, message.number, "<|start|>assistant<|channel|>final<|message|>", "<|end|>")
    if not content:
        yield Change(message.number, "empty-final")
    yield from (Change(text.number, "to-final") for text in content if not text.is_final)


def vllm_chat(history: History) -> Iterator[Yielded]:
    """Render the prompt as vLLM's chat server does: as Harmony messages again, without the analysis before the last
    answer."""
    yield from prompt_parts(history, instructions(history))
    answered = _last_answer(history, has_text=True)
    for message in chat_messages(history):
        if message.role == "user":
            yield from _user(message)
        elif message.role == "tool":
            yield from _vllm_reply(message)
        elif message.role == "assistant":
            yield from _vllm_assistant(message, is_answered=message.number <= answered)
        else:
            yield from prompt_parts(history, [message.number])


def _vllm_reply(message: ChatMessage) -> Iterator[Yielded]:
    name = message.tool.removeprefix(TOOLS)
    head = f"<|start|>{TOOLS}{name} to=assistant<|channel|>commentary<|message|>"
    yield from _parts(message.content or (), message.number, head, "<|end|>")
    if message.tool != TOOLS + name:
        yield Change(message.number, "renamed")


def _vllm_assistant(message: ChatMessage, *, is_answered: bool) -> Iterator[Yielded]:
    content = message.content or ()
    if message.calls and _joined(content):
        yield from _parts(content, message.number, "<|start|>assistant<|channel|>commentary<|message|>", "<|end|>")
    if _joined(message.thinking) and not is_answered:
        yield from _parts(
            message.thinking, message.number, "<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"
        )
    if not message.calls and _joined(content):
        yield from _answer(message)
    for call in message.calls:
        text = call.arguments if isinstance(call.arguments, str) else call.as_json
        head = f"<|start|>assistant to={TOOLS}{call.name}<|channel|>commentary json<|message|>"
        yield Part(call.number, head)
        yield Part(call.number, text, is_body=True)
        yield Part(call.number, "<|call|>")
        if call.tool != TOOLS + call.name:
            yield Change(call.number, "renamed")
