"""Streams of the Responses API: the public `openai` library accumulates the same text that this program reads."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.support.record_checks import kinds, shown

CONVERSATIONS = 200
WORDS = (
    "It ",
    "is ",
    "a ",
    "rainy ",
    "day",
    ".\n",
    "21 °C",
    "\U0001f600 ",
    "`code`",
    "na\u00efve ",
    '"quoted" ',
    "\\ ",
)


def text_of(chance: random.Random) -> list[str]:
    return ["".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(chance.randint(1, 6))]


def part_events(place: dict[str, Any], type: str, deltas: list[str]) -> list[dict[str, Any]]:
    """Return the events of one content part."""
    key = "refusal" if type == "refusal" else "text"
    extra: dict[str, Any] = {"annotations": []} if type == "output_text" else {}
    whole = {"type": type, key: "".join(deltas), **extra}
    logprobs: dict[str, Any] = {"logprobs": []} if type == "output_text" else {}
    return [
        {"type": "response.content_part.added", **place, "part": {"type": type, key: "", **extra}},
        *({"type": f"response.{type}.delta", **place, "delta": delta, **logprobs} for delta in deltas),
        {"type": f"response.{type}.done", **place, key: "".join(deltas), **logprobs},
        {"type": "response.content_part.done", **place, "part": whole},
    ]


def message_events(chance: random.Random, index: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    item: dict[str, Any] = {"id": f"msg_{index}", "type": "message", "role": "assistant", "status": "in_progress"}
    phase = chance.choice([None, None, "final_answer", "commentary"])
    item |= {"phase": phase} if phase else {}
    events: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for content_index in range(chance.randint(1, 3)):
        type = chance.choice(["output_text", "output_text", "refusal"])
        place = {"item_id": item["id"], "output_index": index, "content_index": content_index}
        events += part_events(place, type, text_of(chance))
        parts.append(events[-1]["part"])
    return events, item | {"content": parts}


def call_events(chance: random.Random, index: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    item = {"id": f"fc_{index}", "type": "function_call", "call_id": f"call_{index}", "name": "f", "arguments": ""}
    arguments = json.dumps({"q": "SECRET_" + "".join(text_of(chance))})
    cut = chance.randint(1, len(arguments) - 1)
    place = {"item_id": item["id"], "output_index": index}
    type = "response.function_call_arguments"
    events: list[dict[str, Any]] = [
        *({"type": f"{type}.delta", **place, "delta": delta} for delta in (arguments[:cut], arguments[cut:])),
        {"type": f"{type}.done", **place, "name": "f", "arguments": arguments},
    ]
    return events, item | {"arguments": arguments}


def thought_events(chance: random.Random, index: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    item: dict[str, Any] = {"id": f"rs_{index}", "type": "reasoning", "summary": []}
    text = "SECRET_" + "".join(text_of(chance))
    place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": text}
    events = [
        {"type": "response.reasoning_summary_part.added", **place, "part": part | {"text": ""}},
        {"type": "response.reasoning_summary_text.delta", **place, "delta": text},
        {"type": "response.reasoning_summary_text.done", **place, "text": text},
        {"type": "response.reasoning_summary_part.done", **place, "part": part},
    ]
    return events, item | {"summary": [part]}


def conversation(chance: random.Random) -> list[dict[str, Any]]:
    """Return the events of one response."""
    response: dict[str, Any] = {
        **{"id": "resp_1", "object": "response", "created_at": 1772614800, "model": "gpt-5.4", "status": "in_progress"},
        **{"output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
    }
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    output: list[dict[str, Any]] = []
    for index in range(chance.randint(1, 5)):
        made, item = chance.choice([message_events, message_events, call_events, thought_events])(chance, index)
        empty = {
            key: [] if isinstance(item[key], list) else "" for key in ("content", "summary", "arguments") if key in item
        }
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": item | empty},
            *made,
            {"type": "response.output_item.done", "output_index": index, "item": item | {"status": "completed"}},
        ]
        output.append(item | {"status": "completed"})
    events.append({"type": "response.completed", "response": response | {"status": "completed", "output": output}})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def lines(events: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@pytest.mark.lab
def test_a_stream_gives_what_the_library_accumulates() -> None:
    pytest.importorskip("openai")
    from openai import NOT_GIVEN  # type: ignore[import-not-found,unused-ignore]
    from openai._models import construct_type_unchecked  # type: ignore[import-not-found,unused-ignore]
    from openai.lib.streaming.responses._responses import (  # type: ignore[import-not-found,unused-ignore]
        ResponseStreamState,
    )
    from openai.types.responses import ResponseStreamEvent  # type: ignore[import-not-found,unused-ignore]

    for seed in range(CONVERSATIONS):
        events = conversation(random.Random(seed))
        state = ResponseStreamState(input_tools=[], text_format=NOT_GIVEN)
        response: Any = None
        grown: dict[tuple[str, int], str] = {}
        for event in events:
            typed = construct_type_unchecked(type_=ResponseStreamEvent, value=event)
            for made in state.handle_event(typed):
                response = getattr(made, "response", response)
                if made.type == "response.output_text.delta":
                    grown[made.item_id, made.content_index] = made.snapshot
        expected = [
            "".join(getattr(part, "text", None) or part.refusal for part in item.content)
            for item in response.output
            if item.type == "message" and getattr(item, "phase", None) != "commentary"
        ]
        for item in response.output:
            for index, part in enumerate(item.content if item.type == "message" else []):
                assert part.type == "refusal" or grown[item.id, index] == part.text, seed
        deltas = [event for event in events if not event["type"].endswith((".done", ".completed"))]
        assert "".join(_bare(shown(lines(deltas), "responses-stream"))) == "".join(_bare(expected)), seed
        bodies = shown(lines(events), "responses-stream")
        assert "".join(_bare(bodies)) == "".join(_bare(expected)), seed
        hidden = [item for item in response.output if item.type in ("function_call", "reasoning")]
        found = [kind for kind, _ in kinds(lines(events), "responses-stream")]
        assert len(found) - len(bodies) >= len(hidden), seed
        whole = json.dumps(response.to_dict(mode="json"))
        assert _bare(shown(whole, "responses")) == _bare(expected), seed


def _bare(texts: list[str]) -> list[str]:
    """Return each text without whitespace, because parts are separated by line breaks and messages are trimmed."""
    return ["".join(text.split()) for text in texts]
