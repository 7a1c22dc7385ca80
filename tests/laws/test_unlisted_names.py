"""Unlisted fields, parts, and attributes show nothing on any safe surface, and unknown parts are reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.printing import SURFACES, some
from tests.support.program import run
from tests.support.unlisted_names import NAMES

CANARY = re.compile("quagga", re.IGNORECASE)
ASKED, ANSWERED = "Where is the ferry?", "At pier 7."
ATTRIBUTES = [re.sub(r"[^A-Za-z0-9_.-]", "_", name) for name in NAMES if name not in ("tool_calls", "tool_call")]


def canary(number: int) -> str:
    return f"quagga{number}z"


def shapes(number: int) -> list[object]:
    """Return the canary as a string, in an object, in a list of parts, and deeply nested."""
    word = canary(number)
    return [word, {"text": word, "type": "text"}, [{"type": "text", "text": word}], {"a": {"b": [1, {word: word}]}}]


def json_fields() -> str:
    """Return, for each name, a shown user message and a shown assistant message with a field of that name."""
    messages: list[dict[str, object]] = []
    for number, name in enumerate(NAMES):
        value = shapes(number)[number % 4]
        messages.append({"role": "user", "content": ASKED, name: value})
        messages.append({name: value, "role": "assistant", "content": ANSWERED})
    return json.dumps(messages)


def part(name: str, number: int) -> dict[str, object]:
    word = canary(number)
    values: dict[str, object] = {
        "text": word,
        "content": shapes(number)[number % 4],
        "data": word,
        "input": {"q": word},
        name: word,
    }
    return {"type": name, "id": word, "name": word, **values}


def json_parts() -> str:
    """Return the same messages with parts of that type, and with parts without a type, in addition to the text."""
    messages: list[object] = []
    for number, name in enumerate(NAMES):
        odd = part(name, number)
        bare = {name: {"data": canary(number), "text": canary(number)}}
        thought = {"type": "text", "thought": True, "text": canary(number)}
        for role, text in (("user", ASKED), ("assistant", ANSWERED)):
            messages.append({"role": role, "content": [odd, {"type": "text", "text": text}, bare, thought]})
            messages.append({"role": role, "content": {name: canary(number)}})
    return json.dumps(messages)


def json_lines() -> str:
    return "\n".join(json.dumps(message) for message in json.loads(json_fields())) + "\n"


def json_wrappers() -> str:
    """Return the names next to the message list, next to a choice, and next to a wrapped message."""
    extras = {name: canary(number) for number, name in enumerate(NAMES)}
    messages = [{"role": "user", "message": {"content": ASKED, **extras}, **extras}]
    choices = [{"message": {"role": "assistant", "content": ANSWERED}, **extras}]
    return json.dumps({**extras, "messages": messages, "response": {"choices": choices, **extras}})


def attributes(name: str) -> str:
    number = ATTRIBUTES.index(name)
    return f"{name}={canary(number)}"


def openchatml(version: str) -> str:
    head = f"version: {version}\n" + "".join(f"{name}: {canary(1)}\n" for name in ATTRIBUTES if name.isalpha())
    channel = "" if version.startswith("1.") else "<|channel|>final"
    return head + "".join(
        f"<|start|>user {attributes(name)}<|message|>{ASKED}<|end|>\n"
        f"<|start|>assistant {attributes(name)}{channel}<|message|>{ANSWERED}<|end|>\n"
        for name in ATTRIBUTES
    )


def harmony() -> str:
    return openchatml("2.2").partition("<|start|>")[1] + openchatml("2.2").partition("<|start|>")[2]


def openchatml_0_1() -> str:
    return "[BOS]" + "\n".join(
        f"<|im_start|>user {attributes(name)}\n{ASKED}<|im_end|>\n"
        f"<|im_start|>assistant {attributes(name)}\n{ANSWERED}<|im_end|>"
        for name in ATTRIBUTES
    )


def events() -> str:
    """Return deltas with a member of each name next to the text, and `done` events with the same member."""
    lines: list[object] = []
    for number, name in enumerate(NAMES):
        value = shapes(number)[number % 4]
        delta = {"type": "response.delta", "message_id": f"m{number}", "delta": ANSWERED}
        lines += [
            {**delta, name: value} if name not in delta else delta,
            {"type": "response.done", "message_id": f"m{number}", name: value},
        ]
    return "\n".join(map(json.dumps, lines)) + "\n"


def chunks() -> str:
    """Return chunks of a chat completion with fields of these names in the delta, the choice and the chunk."""
    lines = []
    for number, name in enumerate(NAMES):
        word = {name: canary(number)}
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": ANSWERED, **word},
            "finish_reason": "stop",
            **word,
        }
        lines.append(json.dumps({"id": f"c{number}", "choices": [choice], **word}))
    return "\n".join(lines) + "\n"


def chatml_json() -> str:
    items: list[object] = []
    for number, name in enumerate(NAMES):
        for role, text in (("user", ASKED), ("assistant", ANSWERED)):
            extra = {name: canary(number)}
            items += [{"token": "<|start|>", **extra}, role, {"token": "<|message|>", **extra}]
            items += [text, extra, {"token": "<|end_message|>", **extra}]
    return json.dumps(items)


FORMATS: dict[str, tuple[str, Callable[[], str]]] = {
    "json, fields": ("json", json_fields),
    "json, lines": ("json", json_lines),
    "json, parts": ("json", json_parts),
    "json, wrappers": ("json", json_wrappers),
    "openchatml-2.2": ("openchatml-2.2", lambda: openchatml("2.2")),
    "openchatml-2.0": ("openchatml-2.0", lambda: openchatml("2.0")),
    "openchatml-1.x": ("openchatml-1.x", lambda: openchatml("1.2")),
    "openchatml-0.1": ("openchatml-0.1", openchatml_0_1),
    "harmony": ("harmony", harmony),
    "events, deltas": ("events", events),
    "events, chunks": ("events", chunks),
    "chatml-json": ("chatml-json", chatml_json),
}


FLAGGED = {"events, deltas": 1, "events, chunks": 1}
"""How many pieces of shown text a field named `thought` hides, because it flags the text next to it."""


def test_the_table_is_long_enough() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert len(NAMES) >= 120


ALIKE = {"json, lines": "json, fields", "openchatml-2.0": "openchatml-2.2", "openchatml-1.x": "openchatml-2.2"}
"""Formats that share the code of another are tested on a few surfaces."""


WHOLE = ("json, fields", "openchatml-2.2", "events, deltas")
"""One for each kind of reader, tested on twice as many surfaces as the others."""


@pytest.mark.surfaces
@pytest.mark.share(test=6)
@pytest.mark.parametrize("case", FORMATS)
def test_no_output_has_more_than_what_the_user_saw(case: str, tmp_path: Path) -> None:
    format, make = FORMATS[case]
    file = tmp_path / "chat"
    file.write_text(make(), encoding="utf-8")
    for surface in some(SURFACES, case, 12 if case in ALIKE else 3 if case in WHOLE else 6):
        result = run(*surface, "--format", format, file)
        assert not CANARY.search(result.out), (surface, CANARY.search(result.out))
        assert not CANARY.search(result.err), surface
    lines = [json.loads(line) for line in run("show", "--json", "--format", format, file).out.splitlines()]
    bodies = {line["body"] for line in lines if line["kind"] == "message"}
    assert bodies == {text for text in (ASKED, ANSWERED) if text in make()}
    shown = sum(line.get("body") == ANSWERED for line in lines)
    assert shown == make().count(ANSWERED) - FLAGGED.get(case, 0)


def test_a_field_thought_flags_the_text_of_its_delta(tmp_path: Path) -> None:
    file = tmp_path / "chat"
    for value, count in (("quagga", 0), ({"text": "quagga"}, 0), (True, 0), (False, 1), (None, 1)):
        delta = {"type": "response.delta", "message_id": "m", "delta": ANSWERED, "thought": value}
        choice = {"index": 0, "delta": {"role": "assistant", "content": ANSWERED, "thought": value}}
        for event in (delta, {"id": "c", "choices": [choice]}):
            file.write_text(json.dumps(event) + "\n", encoding="utf-8")
            assert run("show", "--json", "--format", "events", file).out.count(ANSWERED) == count


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("case", [case for case in FORMATS if not case.startswith("events")])
def test_revealing_everything_brings_all_of_it_back(case: str, tmp_path: Path) -> None:
    format, make = FORMATS[case]
    file = tmp_path / "chat"
    file.write_text(make(), encoding="utf-8")
    whole = run("show", "--json", "--reveal", "all", "--format", format, file).out
    words = re.compile("quagga[0-9]+z")
    assert set(words.findall(make())) <= set(words.findall(whole))


UNKNOWN = [
    *("search_result", "container_upload", "guardContent", "cachePoint", "mcp_approval_request", "item_reference"),
    *("tool-approval-request", "data-status", "step-start", "compaction", "groundingMetadata", "logprobs", "metadata"),
]


@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
def test_check_reports_every_unknown_part_at_its_place(role: str, tmp_path: Path) -> None:
    contents = [[part(name, number)] for number, name in enumerate(UNKNOWN)]
    text = json.dumps([{"role": role, "content": content} for content in contents])
    file = tmp_path / "chat.json"
    file.write_text(text, encoding="utf-8")
    lines = [json.loads(line) for line in run("check", "--json", file).out.splitlines()]
    spans = [line["span"] for line in lines if line.get("code") == "W-PART-UNKNOWN"]
    assert [text[start:end] for start, end in spans] == [json.dumps(content[0]) for content in contents]


def test_conversions_list_what_they_drop(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    extras = {"chain_of_thought": "quagga", "encrypted_content": "x", "metadata": {"t": "quagga"}}
    file.write_text(json.dumps([{"role": "assistant", "content": "seen", **extras}]), encoding="utf-8")
    sentence = "dropped 3 unlisted fields; add --reveal all to keep them\n"
    for surface in SURFACES:
        if surface[0] in ("convert", "export"):
            assert sentence in run(*surface, file).err, surface
    revealed = run("convert", "--to", "json", "--reveal", "all", file)
    assert json.loads(revealed.out) == [{"role": "assistant", "content": "seen", **extras}]
    assert "dropped" not in revealed.err
