"""Pairs of transcripts: a run based on real text, and the same run with edits whose true pairs are known."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from random import Random

from viewer.document.document import Document
from viewer.insight.align import align
from viewer.insight.compared import Numbers, Side, Spelling
from viewer.model.visibility import EVERYTHING
from viewer.sources.files import SpooledSource

MODULES = (
    *("argparse", "asyncio", "bisect", "calendar", "codecs", "collections", "contextlib", "csv", "datetime", "decimal"),
    *("difflib", "email.message", "enum", "fractions", "functools", "gettext", "heapq", "http.client", "imaplib"),
    *("inspect", "ipaddress", "json", "locale", "logging", "mailbox", "optparse", "os", "pathlib", "pdb", "pickle"),
    *("random", "shutil", "smtplib", "socket", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap"),
    *("threading", "timeit", "unittest.case", "unittest.mock", "urllib.request", "uuid", "zipfile"),
)
TOOLS = ("get_weather", "search", "find_tables", "run")


@cache
def sentences() -> list[str]:
    """Return sentences of the documentation of the standard library."""
    found: dict[str, None] = {}
    for name in MODULES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        texts = [module.__doc__]
        for each in vars(module).values():
            texts.append(getattr(each, "__doc__", None) if callable(each) else None)
            if isinstance(each, type):
                texts += [getattr(inner, "__doc__", None) for inner in vars(each).values()]
        for text in texts:
            for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", text if isinstance(text, str) else ""):
                plain = " ".join(sentence.split())
                if 6 <= len(plain.split()) <= 45 and plain[0].isalpha() and plain.endswith("."):
                    found[plain] = None
    return [*found]


class Piece:
    """A message of a run: its number and its text."""

    def __init__(self, own: int, kind: str, text: str, tool: str = "", call: int = 0) -> None:
        self.own, self.kind, self.text, self.tool, self.call = own, kind, text, tool, call

    def harmony(self, prefix: str) -> str:
        id = f" call_id={prefix}{self.call}"
        head = {
            "user": "user<|message|>",
            "thought": "assistant<|channel|>analysis<|message|>",
            "call": f"assistant to=functions.{self.tool}{id}<|channel|>commentary<|constrain|>json<|message|>",
            "reply": f"tool name=functions.{self.tool}{id} to=assistant<|channel|>commentary<|message|>",
            "final": "assistant<|channel|>final<|message|>",
        }[self.kind]
        return f"<|start|>{head}{self.text}{'<|call|>' if self.kind == 'call' else '<|end|>'}\n"

    def item(self, prefix: str) -> dict[str, object]:
        """Return the message as an item of the Responses API."""
        id = f"{prefix}{self.call}"
        items: dict[str, dict[str, object]] = {
            "user": {"type": "message", "role": "user", "content": self.text},
            "thought": {"type": "reasoning", "content": [{"type": "reasoning_text", "text": self.text}]},
            "call": {"type": "function_call", "call_id": id, "name": self.tool, "arguments": self.text},
            "reply": {"type": "function_call_output", "call_id": id, "output": self.text},
            "final": {"type": "message", "role": "assistant", "content": self.text},
        }
        return items[self.kind]


def a_run(chance: Random, turns: int) -> list[Piece]:
    """Return turns with a question, thoughts, parallel calls, their replies, and an answer."""
    text = sentences()
    run: list[Piece] = []

    def say(kind: str, words: str, tool: str = "", call: int = 0) -> None:
        run.append(Piece(len(run), kind, words, tool, call))

    def some(least: int, most: int) -> str:
        return " ".join(chance.sample(text, chance.randint(least, most)))

    calls = 0
    for _ in range(turns):
        say("user", some(1, 2))
        for _ in range(chance.randint(0, 2)):
            say("thought", some(1, 4))
            begun = []
            for _ in range(chance.randint(0, 3)):
                calls += 1
                begun.append((chance.choice(TOOLS), calls))
                arguments = {"query": " ".join(some(1, 1).split()[:8]), "limit": chance.randint(1, 50)}
                say("call", json.dumps(arguments), *begun[-1])
            for tool, call in begun:
                say("reply", json.dumps({"ok": True, "content": some(1, 3)}), tool, call)
        say("final", some(1, 5))
    return run


def edited(run: list[Piece], rate: float, chance: Random) -> list[Piece]:
    """Return the run with this share of messages edited (reworded, deleted, or preceded by a new one), and with replies
    to parallel calls in another order."""
    text = sentences()
    made: list[Piece] = []
    dropped = set[int]()
    for piece in run:
        if piece.kind == "reply" and piece.call in dropped:
            continue
        if chance.random() >= rate:
            made.append(piece)
            continue
        edit = chance.random()
        if edit < 0.6:
            made.append(Piece(piece.own, piece.kind, reworded(piece.text, chance), piece.tool, piece.call))
        elif edit < 0.8:
            kind = chance.choice(("user", "thought", "thought", "final"))
            made.append(Piece(-1, kind, " ".join(chance.sample(text, 2))))
            made.append(piece)
        elif piece.kind == "call":
            dropped.add(piece.call)
        elif piece.kind == "reply":
            made.append(piece)
    for place in range(len(made) - 1):
        if made[place].kind == made[place + 1].kind == "reply" and chance.random() < rate:
            made[place], made[place + 1] = made[place + 1], made[place]
    return made


def reworded(text: str, chance: Random) -> str:
    """Return the text with a fifth to a half of its words replaced, dropped, or added."""
    share = chance.uniform(0.2, 0.5)
    words = re.split(r"(\w+)", text)
    other = re.findall(r"\w+", " ".join(chance.sample(sentences(), 4)))
    for place in range(1, len(words), 2):
        if chance.random() < share and words[place] not in ("query", "limit", "ok", "content", "true"):
            is_number = words[place].isdigit()
            words[place] = (
                str(chance.randint(1, 50))
                if is_number
                else chance.choice(
                    (
                        chance.choice(other),
                        chance.choice(other),
                        words[place] + " " + chance.choice(other),
                        words[place][:1],
                    )
                )
            )
    return "".join(words)


def side(run: list[Piece], prefix: str, numbers: Numbers, format: str) -> Side:
    """Return one side of a comparison, which shows everything of a run."""
    if format == "responses":
        data = json.dumps({"model": "m", "input": [piece.item(prefix) for piece in run]})
    else:
        data = "version: 2.2\n" * (format != "harmony") + "".join(piece.harmony(prefix) for piece in run)
    if format == "harmony":
        data = re.sub(r" call_id=\w+|tool name=", "", data)
    document = Document(SpooledSource("run", iter([data.encode()]), False), format).load()
    found = Side(document.project(EVERYTHING), numbers, Spelling())
    assert len(found) == len(run), format
    return found


FORMATS = ("openchatml-2.2", "harmony", "responses")
"""The formats in which a run is written."""


def precision_and_recall(
    rate: float, seed: int, turns: int = 60, formats: tuple[str, str] = (FORMATS[0], FORMATS[0])
) -> tuple[float, float]:
    """Return the share of the found pairs that are true, and the share of the true pairs that are found."""
    chance = Random(seed)
    run = a_run(chance, turns)
    other = edited(run, rate, chance)
    numbers = Numbers()
    rows = align(side(run, "a", numbers, formats[0]), side(other, "b", numbers, formats[1]))
    found = {(run[row.a].own, row.b) for row in rows if row.a >= 0 and row.b >= 0}
    true = {(piece.own, place) for place, piece in enumerate(other) if piece.own >= 0}
    return len(found & true) / max(1, len(found)), len(found & true) / max(1, len(true))
