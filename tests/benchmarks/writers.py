"""Writers of the formats to measure, and the transcript with 200 declared tools."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from tests.benchmarks.conversations import Said
from tests.benchmarks.real_text import texts
from tests.benchmarks.words import SEED

Turns = Iterable[list[Said]]
Json = dict[str, object]
DELTA = re.compile(r"\s*\S{1,5}|\s+")
LONGEST_STREAMED = 3000


def openchatml(said: Said) -> str:
    """Return the conversation as OpenChatML 2.2."""
    if said.is_call:
        words = f"assistant to=functions.{said.tool} call_id={said.call_id}<|channel|>commentary<|constrain|>json"
        return f"<|start|>{words}<|message|>{said.body}<|call|>\n"
    words = said.role
    if said.tool:
        words = f"tool name=functions.{said.tool} call_id={said.call_id} to=assistant"
    channel = f"<|channel|>{said.channel}" if said.channel else ""
    return f"<|start|>{words}{channel}<|message|>{said.body}<|{'return' if said.ends_turn else 'end'}|>\n"


def harmony(said: Said) -> str:
    """Return the conversation as Harmony, as the models write it: no line feeds between messages, no call IDs."""
    if said.is_call:
        words = f"assistant<|channel|>commentary to=functions.{said.tool} <|constrain|>json"
        return f"<|start|>{words}<|message|>{said.body}<|call|>"
    words = f"functions.{said.tool} to=assistant" if said.tool else said.role
    channel = f"<|channel|>{said.channel}" if said.channel else ""
    return f"<|start|>{words}{channel}<|message|>{said.body}<|end|>"


def openchatml_0_1(said: Said) -> str:
    """Return the conversation as OpenChatML 0.1, without tools."""
    return "" if said.tool else f"<|im_start|>{said.role}\n{said.body}<|im_end|>\n"


def each(write: Callable[[Said], str]) -> Callable[[Turns], Iterator[str]]:
    """Return a writer that goes turn by turn, message by message."""
    return lambda turns: ("".join(map(write, turn)) for turn in turns)


def chat_message(said: Said) -> Json:
    """Return the message object of a chat API."""
    if said.is_call:
        function = {"name": said.tool, "arguments": said.body}
        calls = [{"id": said.call_id, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call_id, "content": said.body}
    if said.channel == "analysis":
        return {"role": "assistant", "reasoning_content": said.body, "content": ""}
    return {"role": said.role, "content": said.body}


def json_array(turns: Turns) -> Iterator[str]:
    """Yield message objects between brackets, one per line."""
    return _items(_dumped(chat_message(said)) for turn in turns for said in turn)


def json_lines(turns: Turns) -> Iterator[str]:
    """Yield a conversation of two turns per line."""
    rest = iter(turns)
    for turn in rest:
        yield _dumped({"messages": [chat_message(said) for said in (*turn, *next(rest, []))]}) + "\n"


def chatml_json(turns: Turns) -> Iterator[str]:
    """Yield ChatML JSON: tokens as objects, text as strings."""
    start, message, end = (_dumped({"token": f"<|{name}|>"}) for name in ("start", "message", "end_message"))
    return _items(
        f"{start}, {_dumped(said.role)}, {message}, {_dumped(said.body)}, {end}"
        for turn in turns
        for said in turn
        if not said.tool
    )


def _items(texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f",\n{text}" if number else text


def events(turns: Turns) -> Iterator[str]:
    """Yield a stream of events with deltas of about five characters, one event per line."""
    numbers = count(1)
    for turn in turns:
        for said in turn:
            if said.role == "assistant":
                yield from _streamed(said, f"f{next(numbers)}")
        yield '{"type":"response.completed"}\n'


def _streamed(said: Said, lane: str) -> Iterator[str]:
    kind = "reasoning_text" if said.channel == "analysis" else "output_text"
    if said.is_call:
        kind = "function_call_arguments"
        item = {"id": lane, "type": "function_call", "name": said.tool, "call_id": said.call_id}
        yield _packed({"type": "response.output_item.added", "output_index": 0, "item": item})
    place: Json = {"item_id": lane, "output_index": 0}
    for delta in DELTA.findall(said.body[:LONGEST_STREAMED]):
        yield _packed({"type": f"response.{kind}.delta", **place, "delta": delta})
    yield _packed({"type": f"response.{kind}.done", **place})


def declared_tools() -> Iterator[str]:
    """Yield a transcript with 200 declared tools and short calls, one in twenty of which has wrong arguments."""
    chance, numbers = random.Random(SEED), count(1)
    names = [f"tool_{number}" for number in range(200)]
    fields = (
        '// What to look for.\nquery: string,\nlimit?: number,\nkind?: "a" | "b" | "c",\ntags?: string[],\n'
        "options?: { deep?: boolean, depth?: number, },\n"
    )
    types = "\n".join(f"// Tool {name}.\ntype {name} = (_: {{\n{fields}}}) => any;\n" for name in names)
    yield (
        "<|start|>developer<|channel|>final<|message|># Tools\n\n## functions\n\nnamespace functions {\n\n"
        f"{types}\n}} // namespace functions<|end|>\n"
    )
    while True:
        yield openchatml(Said("user", "Go on.")) + openchatml(Said("assistant", "Tools will help.", "analysis"))
        for _ in range(chance.randint(1, 6)):
            tool, call_id = chance.choice(names), f"c{next(numbers)}"
            arguments = _dumped(_arguments(chance))
            reply = _dumped({"ok": True, "content": _cut(chance, "output", 300)})
            yield openchatml(Said("assistant", arguments, "commentary", tool, call_id))
            yield openchatml(Said("tool", reply, "commentary", tool, call_id))
        yield openchatml(Said("assistant", "Done.", "final", ends_turn=True))


def _arguments(chance: random.Random) -> Json:
    arguments: Json = {
        "query": _cut(chance, "prose", 160),
        "limit": chance.randrange(100),
        "kind": chance.choice("abc"),
        "tags": ["x", "y"],
        "options": {"deep": True, "depth": 3},
    }
    match int(chance.random() * 100):
        case 0 | 1:
            del arguments["query"]
        case 2 | 3:
            arguments["limit"] = "many"
        case 4:
            arguments["other"] = 1
    return arguments


def _cut(chance: random.Random, kind: str, most: int) -> str:
    return chance.choice(texts()[kind])[: chance.randint(10, most)]


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _packed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
