"""A text that begins with its only thought is split like any other text with marks."""

from __future__ import annotations

import json
import random

import pytest

from viewer.formats.json import content_parts
from viewer.formats.json.content_parts import split_content
from viewer.model.messages import Coding, Piece

TEXTS = (
    "<think>",
    "</think>",
    "\n",
    " ",
    "plums",
    "<b>",
    "é",
    "思考",
    "`",
    "<|end|>",
    "</thinking>",
    "[{",
    "Action: x\n",
)


@pytest.mark.parametrize("count", [400, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_lone_thought_is_split_like_other_marks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, lone = random.Random(5), 0
    for _ in range(count):
        first, last = (chance.choices(TEXTS, k=chance.randrange(4)) for _ in range(2))
        raw = json.dumps("".join(["<think>", *first, "</think>", *last]), ensure_ascii=chance.random() < 0.5).encode()
        piece = Piece(0, len(raw), Coding.JSON_STRING)
        found = split_content([piece], lambda start, end, raw=raw: raw[start:end], "assistant")  # type: ignore[misc]
        with monkeypatch.context() as patched:
            patched.setattr(content_parts, "_lone_thought", lambda data: None)
            assert found == split_content([piece], lambda start, end, raw=raw: raw[start:end], "assistant"), raw  # type: ignore[misc]
        lone += content_parts._lone_thought(json.loads(raw).encode()) is not None
    assert lone > 0.15 * count
