"""Benchmark record formats: megabytes per second of `check`, including its start, on realistic sessions and streams."""

from __future__ import annotations

import os
import random
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from json import dumps
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.figures import Bound, Figure, Row, Unit
from tests.benchmarks.inputs import EDITION, MEGABYTE, SEED, folder
from tests.benchmarks.scale import Report, Scale, megabytes
from tests.benchmarks.timing import OURS, used

Json = dict[str, Any]
LEAST, LEAST_OF_DELTAS = 40, 10
"""In megabytes per second."""
MOST_MEMORY = 2
_SOURCES = (
    "argparse.py",
    "ast.py",
    "calendar.py",
    "datetime.py",
    "difflib.py",
    "doctest.py",
    "tarfile.py",
    "typing.py",
)


def measure(scale: Scale, report: Report) -> None:
    """Report the rows of this group."""
    for kind in KINDS:
        file = generated(kind, scale.medium)
        size = file.stat().st_size
        runs = [used([*OURS, "check", str(file)]) for _ in range(scale.rounds)]
        small = generated(kind, MEGABYTE // 10)
        start, started = used([*OURS, "check", str(small)])
        size -= small.stat().st_size
        rate = Figure(size / MEGABYTE / (median(seconds for seconds, _ in runs) - start), Unit.RATE)
        name = f"check, {kind} {megabytes(scale.medium)}"
        least = LEAST_OF_DELTAS if kind.endswith(".sse") else LEAST
        report(Row(f"{name}, CPU without startup", rate, (), (Bound(least, at_least=True),)))
        held = Figure((median(held for _, held in runs) - started) / size, Unit.TIMES_THE_FILE)
        report(Row(f"{name}: peak memory", held, (), (Bound(MOST_MEMORY),) if kind.endswith("array.json") else ()))


def generated(kind: str, size: int) -> Path:
    """Return a file of at least `size` bytes, from the folder or generated."""
    path = folder() / f"{EDITION}-{size}-{kind}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts(KINDS[kind](random.Random(SEED)), kind.endswith("array.json"), size))
        unfinished.rename(path)
    return path


def parts(rows: Iterator[str], is_array: bool, size: int) -> Iterator[str]:
    """Yield rows of at least `size` bytes."""
    length, between = 0, "[" if is_array else ""
    while length < size:
        row = between + (next(rows).strip() if is_array else next(rows))
        length += len(row.encode())
        yield row
        between = ", " if is_array else ""
    if is_array:
        yield "]\n"


@cache
def _text() -> str:
    folder = Path(sysconfig.get_path("stdlib"))
    return "".join((folder / name).read_text("utf-8") for name in _SOURCES)


def _some(chance: random.Random, least: int, most: int) -> str:
    """Return a piece of real text."""
    length = chance.randint(least, most)
    at = chance.randrange(len(_text()) - length)
    return _text()[at : at + length]


def _time(number: int) -> str:
    minutes, seconds = divmod(number, 60)
    return f"2026-01-{2 + minutes // 1440:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:{seconds:02}.000Z"


def _claude_code(chance: random.Random) -> Iterator[str]:
    """Yield a session: thought, answer, call, and result, one part per line."""
    parent: str | None = None
    for number in count(1):
        asked = [{"role": "user", "content": _some(chance, 40, 200)}] if number % 10 == 1 else []
        answer: Json = {"id": f"msg_{number}", "role": "assistant", "model": "m-1", "type": "message"}
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file_path": f"/a/b{number}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": _some(chance, 200, 900)}
        parts: list[Json] = [
            {"type": "thinking", "thinking": _some(chance, 100, 700), "signature": "x" * 100},
            {"type": "text", "text": _some(chance, 50, 500)},
            call,
        ]
        usage = {"input_tokens": 1, "output_tokens": 200, "cache_read_input_tokens": 1000}
        said = [answer | {"content": [part], "usage": usage} for part in parts]
        for message in [*asked, *said, {"role": "user", "content": [result]}]:
            own = f"{number:08x}-{chance.getrandbits(64):016x}"
            head: Json = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/proj/me/project"}
            head |= {"sessionId": "5e1f", "version": "2.0.1", "gitBranch": "main", "type": message["role"]}
            tail = {"uuid": own, "timestamp": _time(number)}
            yield dumps(head | {"message": message} | tail, ensure_ascii=False) + "\n"
            parent = own


def _codex(chance: random.Random) -> Iterator[str]:
    """Yield a session. Prompts and answers occur twice, as in the program's own files."""

    def line(number: int, kind: str, payload: Json) -> str:
        return dumps({"timestamp": _time(number), "type": kind, "payload": payload}, ensure_ascii=False) + "\n"

    yield line(0, "session_meta", {"id": "s1", "timestamp": _time(0), "cwd": "/a", "cli_version": "0.98.0"})
    for number in count(1):
        if number % 8 == 1:
            asked = _some(chance, 40, 300)
            content: Any = [{"type": "input_text", "text": asked}]
            yield line(number, "response_item", {"type": "message", "role": "user", "content": content})
            yield line(number, "event_msg", {"type": "user_message", "message": asked, "images": []})
        thought = _some(chance, 50, 300)
        yield line(number, "event_msg", {"type": "agent_reasoning", "text": thought})
        summary = [{"type": "summary_text", "text": thought}]
        yield line(number, "response_item", {"type": "reasoning", "summary": summary, "encrypted_content": "g" * 300})
        arguments = dumps({"command": ["bash", "-lc", _some(chance, 30, 200)]})
        call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": f"call_{number}"}
        yield line(number, "response_item", call)
        output = {"type": "function_call_output", "call_id": f"call_{number}", "output": _some(chance, 200, 2000)}
        yield line(number, "response_item", output)
        tokens = {"total_token_usage": {"input_tokens": number, "output_tokens": number}}
        yield line(number, "event_msg", {"type": "token_count", "info": tokens})
        if number % 8 == 0:
            said = _some(chance, 100, 900)
            yield line(number, "event_msg", {"type": "agent_message", "message": said})
            content = [{"type": "output_text", "text": said}]
            yield line(number, "response_item", {"type": "message", "role": "assistant", "content": content})


def _chats(chance: random.Random) -> Iterator[str]:
    """Yield one conversation per line."""
    for number in count(1):
        messages: list[Json] = [{"role": "system", "content": "You help."}]
        for turn in range(chance.randint(1, 4)):
            call = {"id": f"c{number}-{turn}", "type": "function"}
            function = {"name": "find", "arguments": dumps({"text": _some(chance, 10, 60)})}
            messages += [
                {"role": "user", "content": _some(chance, 40, 400)},
                {"role": "assistant", "content": None, "tool_calls": [call | {"function": function}]},
                {"role": "tool", "tool_call_id": call["id"], "content": _some(chance, 100, 800)},
                {"role": "assistant", "content": _some(chance, 100, 900)},
            ]
        yield dumps({"messages": messages}, ensure_ascii=False) + "\n"


def _messages(chance: random.Random) -> Iterator[str]:
    """Yield one message after another."""
    while True:
        yield dumps({"role": "user", "content": _some(chance, 40, 400)}, ensure_ascii=False)
        yield dumps({"role": "assistant", "content": _some(chance, 100, 1500)}, ensure_ascii=False)


def _stream(chance: random.Random) -> Iterator[str]:
    """Yield answers in deltas of a few bytes."""

    def event(value: Json) -> str:
        return f"event: {value['type']}\ndata: {dumps(value, separators=(',', ':'))}\n\n"

    for number in count(1):
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
        yield event({"type": "message_start", "message": message})
        yield event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        text = _some(chance, 2000, 6000)
        at = 0
        while at < len(text):
            piece = text[at : at + chance.randint(2, 8)]
            at += len(piece)
            yield event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
        yield event({"type": "content_block_stop", "index": 0})
        yield event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}})
        yield event({"type": "message_stop"})


def _responses(chance: random.Random) -> Iterator[str]:
    """Yield one response per line."""
    for number in count(1):
        said = {"type": "output_text", "text": _some(chance, 100, 900), "annotations": []}
        call = {"type": "function_call", "call_id": f"call_{number}", "name": "find", "arguments": '{"text":"x"}'}
        output: list[Json] = [
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [{"type": "summary_text", "text": _some(chance, 50, 300)}],
            },
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [said]},
            call | {"id": f"fc_{number}", "status": "completed"},
        ]
        head = {"id": f"resp_{number}", "object": "response", "created_at": 1767323045, "model": "m"}
        yield dumps(head | {"status": "completed", "output": output, "usage": {"input_tokens": 1}}) + "\n"


def _spans(chance: random.Random) -> Iterator[str]:
    """Yield one trace per line."""
    for number in count(1):
        asked = [{"role": "user", "parts": [{"type": "text", "content": _some(chance, 40, 300)}]}]
        said = [{"role": "assistant", "parts": [{"type": "text", "content": _some(chance, 100, 900)}]}]
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        attributes |= {"gen_ai.input.messages": dumps(asked), "gen_ai.output.messages": dumps(said)}
        listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        span = {"traceId": f"t{number}", "spanId": f"s{number}", "parentSpanId": "", "name": "chat m", "kind": 3}
        times = {
            "startTimeUnixNano": f"{1767323045 + number}000000000",
            "endTimeUnixNano": f"{1767323046 + number}000000000",
        }
        spans = [{"scope": {"name": "demo"}, "spans": [span | times | {"attributes": listed}]}]
        yield dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": spans}]}) + "\n"


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "anthropic-stream.sse": _stream,
    "claude-code.jsonl": _claude_code,
    "codex.jsonl": _codex,
    "responses.jsonl": _responses,
    "chats.jsonl": _chats,
    "array.json": _messages,
    "responses-array.json": _responses,
    "otel.jsonl": _spans,
}
