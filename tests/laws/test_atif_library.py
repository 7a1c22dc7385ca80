"""Trajectories that the public `atif` library writes are read with the same text, calls, and replies.

The library needs a newer Python than this program: `OCML_ATIF_PYTHON` names one that has it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.laws.test_inspect_library import words
from tests.support.program import run

CONVERSATIONS = 200
LIBRARY = r"""
import json, sys
from atif import Trajectory

def joined(said):
    turns = []
    for role, text in said:
        if turns and turns[-1][0] == role:
            turns[-1][1] += text
        elif text:
            turns.append([role, text])
    return turns

def text_of(content):
    parts = [content] if isinstance(content, str) else [part.text or "" for part in content]
    lines = [line for part in parts for line in part.splitlines() if not line.startswith(("[image", "[audio"))]
    return "".join("".join(lines).split())

def facts_of(trajectory):
    others = trajectory.subagent_trajectories or []
    own = [step for step in trajectory.steps if step.source != "system" and not step.is_copied_context]
    said = [["assistant" if step.source == "agent" else "user", text_of(step.message)] for step in own]
    links = [
        [call.tool_call_id, any(result.source_call_id == call.tool_call_id for result in step.observation.results)]
        for each in [trajectory, *others] for step in each.steps for call in step.tool_calls or []
    ]
    return {"said": joined(said), "links": sorted(links)}

for line in sys.stdin:
    trajectory = Trajectory.model_validate_json(line)
    print(json.dumps({"document": trajectory.to_json_dict(), **facts_of(trajectory)}))
"""


def library(*documents: object) -> list[dict[str, Any]]:
    """Return the library's result for some documents. It rejects invalid ones."""
    python = os.environ.get("OCML_ATIF_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import atif"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("no Python with the atif library: see OCML_ATIF_PYTHON")
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    done = subprocess.run([python, "-c", LIBRARY], input=lines, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def content_of(chance: random.Random, secret: str = "") -> Any:
    """Return a string, or parts with media between them."""
    if chance.random() < 0.6:
        return words(chance, secret)
    parts: list[Any] = [{"type": "text", "text": words(chance, secret)} for _ in range(chance.randint(1, 3))]
    for kind, media in (("image", "image/png"), ("audio", "audio/x-wav")):
        if chance.random() < 0.3:
            source = {"media_type": media, "path": f"media/{kind}"}
            parts.insert(chance.randint(0, len(parts)), {"type": kind, "source": source})
    return parts


def agent_step(chance: random.Random, name: str, secret: str) -> dict[str, Any]:
    calls = [f"{name}-{number}" for number in range(chance.choice([0, 0, 1, 2, 3]))]
    step: dict[str, Any] = {"source": "agent", "message": chance.choice(["", content_of(chance, secret)])}
    if chance.random() < 0.5:
        step |= {
            "reasoning_content": words(chance, "SECRET_"),
            "metrics": {"prompt_tokens": 3},
            "reasoning_effort": 0.5,
        }
    if calls:
        step["tool_calls"] = [
            {"tool_call_id": call, "function_name": "look_up", "arguments": {"q": words(chance, "SECRET_")}}
            for call in calls
        ]
        results: list[Any] = [
            {"source_call_id": call, "content": content_of(chance, "SECRET_")}
            for call in chance.sample(calls, len(calls))
        ]
        step["observation"] = {"results": results}
    return step


def trajectory_of(chance: random.Random, name: str, secret: str = "") -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    if chance.random() < 0.5:
        steps.append({"source": "system", "message": words(chance, "SECRET_")})
    if chance.random() < 0.3:
        copied = {"source": "user", "message": words(chance, "SECRET_"), "is_copied_context": True}
        steps += [copied, {**agent_step(chance, f"{name}-copied", "SECRET_"), "is_copied_context": True}]
    for turn in range(chance.randint(1, 3)):
        steps.append({"source": "user", "message": content_of(chance, secret)})
        steps += [agent_step(chance, f"{name}-{turn}-{each}", secret) for each in range(chance.randint(1, 3))]
    for number, step in enumerate(steps, 1):
        step |= {"step_id": number, "timestamp": f"2026-03-04T10:00:{number:02}Z", "extra": {"note": "SECRET_EXTRA"}}
    agent = {"name": "a", "version": "1", "model_name": "m", "extra": {"note": "SECRET_AGENT"}}
    version = chance.choice(["ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"])
    return {"schema_version": version, "session_id": name, "agent": agent, "notes": "SECRET_NOTES", "steps": steps}


def conversation(chance: random.Random) -> dict[str, Any]:
    document = trajectory_of(chance, "main")
    if chance.random() < 0.3:
        document["subagent_trajectories"] = [
            {**trajectory_of(chance, f"sub{number}", "SECRET_"), "trajectory_id": f"t{number}"}
            for number in range(chance.randint(1, 2))
        ]
    return document


def what_is_read(path: Path) -> dict[str, Any]:
    said: list[list[str]] = []
    for line in run("show", "--json", path).out.splitlines():
        record = json.loads(line)
        if record["kind"] == "message":
            kept = [part for part in record["body"].splitlines() if not part.startswith(("[image", "[audio"))]
            text = "".join("".join(kept).split())
            if said and said[-1][0] == record["role"]:
                text = said.pop()[1] + text
            said.append([record["role"], text])
    records = [
        json.loads(line) for line in run("show", "--json", "--reveal", "all", "--threads", "all", path).out.splitlines()
    ]
    links = [[each["call_id"], each["reply"] is not None] for each in records if each["kind"] == "call"]
    return {"said": [each for each in said if each[1]], "links": sorted(links)}


def read_again(path: Path) -> list[tuple[Any, ...]]:
    """Return the parts of every message that a conversion must keep. Parts of the text are joined."""
    records = [
        json.loads(line) for line in run("show", "--json", "--reveal", "all", "--threads", "all", path).out.splitlines()
    ]
    names = ("span", "thread", "message_kind", "role", "call_id", "time")
    messages = [each for each in records if each["kind"] == "message"]
    return [
        (*key[1:], "".join("".join(each["body"] for each in group).split()))
        for key, group in groupby(messages, lambda each: tuple(map(str, map(each.get, names))))
    ]


@pytest.mark.lab
def test_a_trajectory_shows_what_the_library_wrote(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for given in library(*(conversation(random.Random(seed)) for seed in range(CONVERSATIONS))):
        path.write_text(json.dumps(given["document"], ensure_ascii=False))
        assert what_is_read(path) == {"said": given["said"], "links": given["links"]}
        assert "SECRET" not in run("show", path).out + run("show", "--json", path).out


@pytest.mark.lab
def test_the_library_reads_what_is_written(tmp_path: Path) -> None:
    path, out = tmp_path / "t.json", tmp_path / "out.json"
    given, written = [], []
    for seed in range(CONVERSATIONS):
        path.write_text(json.dumps(conversation(random.Random(seed)), ensure_ascii=False))
        assert (
            run("convert", "--to", "atif", "--reveal", "all", "--threads", "all", "--force", "-o", out, path).code == 0
        )
        written.append(json.loads(out.read_text()))
        given.append(what_is_read(path))
        assert read_again(out) == read_again(path), seed
    for facts, made in zip(given, library(*written), strict=True):
        assert {"said": made["said"], "links": made["links"]} == facts
