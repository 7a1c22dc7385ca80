"""Evaluation logs that the public `inspect_ai` library writes are read with the same text, calls, and replies."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.laws.test_openai_library import text_of
from tests.support.program import run

CONVERSATIONS = 200
LOGS = 10
TAGS = {"user": "user", "assistant": "assistant"}


def words(chance: random.Random, secret: str = "") -> str:
    return secret + "".join(text_of(chance)).strip() + "."


def content_of(model: Any, chance: random.Random, *, answers: bool) -> Any:
    """Return a string, or several parts with thoughts, attachments, and data between them."""
    if chance.random() < 0.4:
        return words(chance)
    parts = [model.ContentText(text=words(chance)) for _ in range(chance.randint(1, 3))]
    others: list[Any] = [model.ContentImage(image="data:image/png;base64,iVBORw0KGgo=")]
    if answers:
        others = [
            model.ContentReasoning(reasoning=words(chance, "SECRET_"), summary="SECRET_SUMMARY"),
            model.ContentReasoning(reasoning="SECRET_REDACTED", redacted=True),
            model.ContentData(data={"note": "SECRET_DATA"}),
            model.ContentToolUse(
                tool_type="web_search", id="s1", name="web_search", arguments='{"q":"SECRET_Q"}', result="SECRET_RESULT"
            ),
        ]
    for other in chance.sample(others, chance.randint(0, len(others))):
        parts.insert(chance.randint(0, len(parts)), other)
    return parts


def messages_of(model: Any, tool: Any, chance: random.Random) -> list[Any]:
    messages: list[Any] = [model.ChatMessageSystem(content=words(chance, "SECRET_"))] if chance.random() < 0.5 else []
    for turn in range(chance.randint(1, 3)):
        messages.append(model.ChatMessageUser(content=content_of(model, chance, answers=False), source="input"))
        calls = [
            tool.ToolCall(id=f"c{turn}-{number}", function="look_up", arguments={"q": words(chance, "SECRET_")})
            for number in range(chance.randint(0, 3))
        ]
        messages.append(
            model.ChatMessageAssistant(content=content_of(model, chance, answers=True), tool_calls=calls or None)
        )
        error = tool.ToolCallError(type="timeout", message="SECRET_LATE") if chance.random() < 0.2 else None
        messages += [
            model.ChatMessageTool(
                content=words(chance, "SECRET_"), tool_call_id=call.id, function="look_up", error=error
            )
            for call in chance.sample(calls, len(calls))
        ]
    return messages


def said_by(messages: list[Any]) -> list[tuple[str, str]]:
    """Return the text of each speaker, without whitespace."""
    said = []
    for message in messages:
        if message.role in TAGS:
            given = message.content
            parts = [given] if isinstance(given, str) else [part.text for part in given if part.type == "text"]
            said.append((message.role, "".join("".join(parts).split())))
    return said


def read_log(path: Path) -> list[tuple[list[tuple[str, str]], list[tuple[str, bool]]]]:
    """Return the text and the links of each transcript."""
    transcripts: dict[int, tuple[list[tuple[str, str]], list[tuple[str, bool]]]] = {}
    for line in run("show", "--json", path).out.splitlines():
        record = json.loads(line)
        if record["kind"] == "transcript":
            transcripts[record["number"]] = ([], [])
        elif record["kind"] == "message":
            said, _ = transcripts[record["transcript"]]
            body = "".join(part for part in record["body"].splitlines() if not part.startswith("[image"))
            if said and said[-1][0] == record["role"]:
                body = said.pop()[1] + body
            said.append((record["role"], "".join(body.split())))
    for line in run("show", "--json", "--reveal", "all", path).out.splitlines():
        record = json.loads(line)
        if record["kind"] == "call" and record["call_id"] != "s1":
            transcripts[record["transcript"]][1].append((record["call_id"], record["reply"] is not None))
    return [transcripts[number] for number in sorted(transcripts)]


@pytest.mark.lab
@pytest.mark.parametrize("ending", ["json", "eval"])
def test_a_log_shows_what_the_library_wrote(ending: str, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log")
    model = pytest.importorskip("inspect_ai.model")
    tool = pytest.importorskip("inspect_ai.tool")
    for number in range(LOGS):
        chance = random.Random(number)
        conversations = [messages_of(model, tool, chance) for _ in range(CONVERSATIONS // LOGS)]
        samples = [
            log.EvalSample(
                id=index + 1, epoch=1, input="SECRET_INPUT", target="SECRET_TARGET", messages=messages, scores={}
            )
            for index, messages in enumerate(conversations)
        ]
        spec = log.EvalSpec(
            created="2026-03-04T10:00:00+00:00", task="t", dataset=log.EvalDataset(), model="m", config=log.EvalConfig()
        )
        path = tmp_path / f"{number}.{ending}"
        log.write_eval_log(log.EvalLog(eval=spec, samples=samples, status="success"), str(path))
        found = read_log(path)
        assert [[each for each in said if each[1]] for said, _ in found] == [said_by(each) for each in conversations]
        asked = [
            sorted(call.id for message in each if message.role == "assistant" for call in message.tool_calls or ())
            for each in conversations
        ]
        assert [sorted(call for call, _ in links) for _, links in found] == asked
        assert all(answered for _, links in found for _, answered in links)
        assert "SECRET" not in run("show", path).out
