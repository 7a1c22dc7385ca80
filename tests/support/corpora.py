"""Folders of small transcripts for scans, generated from a seed: agents with calls, replies, thoughts, and a few
problems."""

from __future__ import annotations

import json
import random
from pathlib import Path

TOOLS = ("get_weather", "search", "read_file", "run_tests")
WORDS = [
    "the",
    "report",
    "says",
    "that",
    "rain",
    "moves",
    "east",
    "while",
    "prices",
    "of",
    "wheat",
    "and",
    "barley",
    "fall",
    "after",
    "a",
    "dry",
    "spring",
    "in",
    "most",
    "of",
    "the",
    "northern",
    "provinces",
    "and",
    "nobody",
    "expects",
    "an",
    "early",
    "frost",
    "before",
    "the",
    "harvest",
    "is",
    "brought",
    "in",
    "by",
    "the",
    "end",
    "of",
    "the",
    "month",
]
DECLARED = """version: 2.2
model: {model}
tools:
  functions:
    get_weather:
      description: Get the weather of a city.
      parameters:
        type: object
        properties:
          city: {{type: string, description: The city.}}
          days: {{type: integer, minimum: 1, maximum: 14}}
        required: [city]
    search:
      description: Search the web.
      parameters:
        type: object
        properties:
          query: {{type: string}}
          limit: {{type: integer}}
        required: [query]
    read_file:
      description: Read a file.
      parameters:
        type: object
        properties:
          path: {{type: string}}
    run_tests:
      description: Run the tests.
      parameters:
        type: object
        properties:
          filter: {{type: string}}
"""


def words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count)).capitalize() + "."


def small_transcript(seed: int, turns: int = 14) -> str:
    """Return an agent transcript. With 14 turns, it has 86 messages and about 23 KB."""
    chance = random.Random(seed)
    parts = [DECLARED.format(model=chance.choice(("model-a", "model-b", "vendor/model-c:1"))) + "\n"]
    parts.append(f"<|start|>system<|message|>{words(chance, 60)}<|end|>\n")
    parts.append(f"<|start|>developer<|message|>{words(chance, 40)}<|end|>\n")
    for turn in range(turns):
        parts.append(f"<|start|>user<|message|>{words(chance, chance.randint(15, 40))}<|end|>\n")
        parts.append(
            f"<|start|>assistant<|channel|>analysis<|message|>{words(chance, chance.randint(40, 90))}<|end|>\n"
        )
        tool = chance.choice(TOOLS)
        arguments = {"get_weather": {"city": "Paris", "days": 3}, "search": {"query": words(chance, 4), "limit": 5}}
        text = json.dumps(arguments.get(tool, {"path" if tool == "read_file" else "filter": words(chance, 3)}))
        if chance.random() < 0.02:
            text = text[:-1]
        call = f'call_id="call_{turn}"'
        parts.append(
            f"<|start|>assistant<|channel|>commentary {call} to=functions.{tool} <|constrain|>json<|message|>{text}"
            "<|call|>\n"
        )
        if chance.random() > 0.02:
            answer = json.dumps({"result": words(chance, chance.randint(20, 120)), "ok": True})
            head = f"<|start|>tool name=functions.{tool} {call} to=assistant<|channel|>commentary"
            parts.append(f"{head}<|message|>{answer}<|end|>\n")
        parts.append(f"<|start|>assistant<|channel|>analysis<|message|>{words(chance, 15)}<|end|>\n")
        parts.append(
            f"<|start|>assistant<|channel|>final<|message|>{words(chance, chance.randint(30, 90))}<|return|>\n"
        )
    return "".join(parts)


def write_corpus(folder: Path, count: int, seed: int = 0, turns: int = 14) -> list[Path]:
    """Write this many small transcripts, 100 per folder."""
    paths = []
    for number in range(count):
        path = folder / f"{number // 100:03}" / f"run-{number:05}.ocml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(small_transcript(seed * 1_000_003 + number, turns))
        paths.append(path)
    return paths
