"""Messages that are prefiltered together have the diagnostics of messages that are checked one by one."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.reading import read
from viewer.checks import CHECKS, queue
from viewer.checks.prefilter import PlainPrefilter, predicates_of
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import read_body, string_data, string_read

BODIES = (
    *("", " ", "plain text", "a\0b", "a\u200bb", "a\x07b", "a\rb", "a\r\nb", "a\r", "\nb", "Café 対話 🙂", "x\ufe0f"),
    *(
        "<think>a</think>b",
        "a</think>b",
        "[THINK]a",
        "x < y[0]",
        "analysis It rains",
        "a analysis",
        "<|constrain|>json",
    ),
    *('{"a":1,"a":2}', '{"a":', '{"tool_calls":[{"id":"x"}]}', "]~b] x", "```json", "<|end|>", "\u2028", "a\\b"),
)


def test_the_masks_of_several_bodies_are_those_of_each() -> None:
    prefilter = PlainPrefilter(CHECKS)
    chance = random.Random(1)
    most = 1 << len(predicates_of(CHECKS))
    bodies = [*(body.encode() for body in BODIES), b"a\xffb", b"\xe2\x82", b"\xac x"]
    for _ in range(60):
        rows = chance.choices(bodies, k=chance.randint(1, 6))
        answers = [chance.choice([0, 1, chance.randrange(most)]) for _ in rows]
        one_by_one = [prefilter.mask(answer, row, 0, len(row)) for answer, row in zip(answers, rows, strict=True)]
        assert prefilter.masks(answers, rows) == one_by_one


def test_the_diagnostics_of_several_messages_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(2)
    for is_ascii in (True, False):
        lines = b""
        for number in range(120):
            role = chance.choice(["user", "assistant", "assistant", "tool", "system"])
            message = {"role": role, "content": chance.choice(BODIES), "tool_call_id": f"c{number}"}
            lines += json.dumps(message, ensure_ascii=is_ascii).encode() + b"\n"
        lines = lines.replace(b"plain text", chance.choice([b"plain text", b"plain\xfftext"]))
        together = read(lines, "json")
        monkeypatch.setattr(queue, "MOST_TOGETHER", 1)
        assert read(lines, "json") == together
        monkeypatch.undo()


def test_a_string_is_decoded_at_once_as_with_care() -> None:
    strings = [
        b'""',
        b'"a"',
        b'"\\n\\t\\"\\\\\\/\\b\\f\\r"',
        b'"a\nb"',
        b'"a',
        b'"a\\',
        b'"\\x"',
        b'"\xff"',
        b"a",
        b'"a"b',
    ]
    strings += [b'"\\u00e9"', b'"\\ud83d"', "“a”".encode(), '"é"'.encode(), b'"a\\"', b'"\x00"']
    decided = 0
    for raw in strings:
        data = string_data(raw)
        careful = read_body((Piece(7, 7 + len(raw), Coding.JSON_STRING),), lambda start, end, raw=raw: raw)  # type: ignore[misc]
        if data is not None:
            decided += 1
            assert data == careful.data
            assert string_read(data, raw, 7) == careful
    assert decided >= 5
