"""Simulate the next prompt for text, and load the cases from the Harmony reference library and chat templates."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viewer.document.document import Document
from viewer.formats.tokens.vocabulary import Encoder
from viewer.insight.history import History
from viewer.insight.next_prompt import POLICIES
from viewer.insight.simulator import Outcome, Simulator
from viewer.model.visibility import EVERYTHING
from viewer.sources.files import SpooledSource

CASES = Path(__file__).parent.parent / "data" / "next_prompts.jsonl"
ORACLE = "OCML_NEXT_ORACLE"
"""The variable that names the file with all cases."""


def cases(path: Path = CASES) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def all_cases() -> list[dict[str, Any]]:
    """Return every case, if the variable names the file with them."""
    return cases(Path(os.environ[ORACLE])) if ORACLE in os.environ else []


def history(text: str | bytes, format: str | None = None) -> History:
    data = text.encode() if isinstance(text, str) else text
    document = Document(SpooledSource("chat", iter([data]), False), format).load()
    return History(document.project(EVERYTHING), 1)


def simulator(text: str | bytes, encoder: Encoder | None = None, format: str | None = None) -> Simulator:
    return Simulator(history(text, format), encoder=encoder)


def outcomes(text: str | bytes, names: Sequence[str] = tuple(POLICIES)) -> dict[str, Outcome]:
    found = simulator(text).outcomes(POLICIES[name] for name in names)
    return {outcome.policy.name: outcome for outcome in found}


def prompt(text: str | bytes, policy: str) -> str:
    return "".join(part.text for part in simulator(text).parts(POLICIES[policy]))


def from_letters(pattern: str) -> str:
    """Return Harmony text: U user, A analysis, F final, P preamble, C call, T reply, X final by a user."""
    heads = {
        "U": "user",
        "A": "assistant<|channel|>analysis",
        "F": "assistant<|channel|>final",
        "P": "assistant<|channel|>commentary",
        "C": "assistant to=functions.f<|channel|>commentary <|constrain|>json",
        "B": "assistant to=browser.search<|channel|>analysis code",
        "T": "functions.f to=assistant<|channel|>commentary",
        "X": "user<|channel|>final",
    }
    bodies = {"C": '{"a":1}'}
    return "".join(
        f"<|start|>{heads[letter]}<|message|>{bodies.get(letter, f'{letter}{place}')}"
        f"{'<|call|>' if letter in 'CB' else '<|end|>'}"
        for place, letter in enumerate(pattern, 1)
    )
