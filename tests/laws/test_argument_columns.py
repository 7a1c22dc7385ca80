"""The arguments of calls in a batch have the faults that the checks find one by one."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.laws.test_scan_equals_parse import HEADER, USER
from tests.support.native import BOTH_WAYS, using
from tests.support.reading import read, read_scanned
from tests.unit.native.test_objects import bodies_for
from viewer.checks import batches
from viewer.tools.argument_types import ArgumentTypes

TYPES: dict[str, tuple[object, ...]] = {
    "string": ("", "a: b", "é", 'q": x', 1, None),
    "number": (1, 2.5, -0.0, 1e5, 10**400, True, "x"),
    "integer": (1, 0, 10**20, 3.0, 2.5, "x"),
    '"a" | "b"': ("a", "b", "a", "c", ["a"]),
    "string[]": (["x", "y"], [], ["z"], ["x", 1], "x"),
    "{ x: boolean, y?: string }": ({"x": True}, {"x": False}, {"x": True, "y": ""}, {}, {"x": 1}),
    "string | null": ("x", None, "", 1),
    "any": (1, "x", None, {"a": {"b": 1}}, [{}]),
}
REPLIES = ('{"ok": true, "x": "a\\": b"}', '{"ok": false}', '{"error": 1}', "text", '{"a": 1, "a": 2}', '{"ok" : true}')


def conversation(chance: Random) -> bytes:
    """Return calls of declared tools, most of which repeat the members of an earlier call of the tool."""
    tools = {f"t{number}": [(f"m{place}", chance.choice([*TYPES])) for place in range(4)] for number in range(3)}
    declared = "".join(
        f"type {name} = (_: {{ {', '.join(map(': '.join, of))} }}) => any;" for name, of in tools.items()
    )
    parts = [f"<|start|>developer<|message|>namespace functions {{ {declared} }}<|end|>\n"]
    odd = [body.decode("utf-8", "replace") for body in bodies_for(chance, 3)]
    for number in range(200):
        name = chance.choice([*tools])
        pairs = [
            (key, chance.choice(TYPES[kind][:3] if chance.random() < 0.97 else TYPES[kind]))
            for key, kind in tools[name]
        ]
        if chance.random() < 0.1:
            chance.shuffle(pairs)
        if chance.random() < 0.1:
            pairs.append(chance.choice((*pairs, ("more", 1))))
        space = chance.choice((": ", ":", ": ", ":", " : "))
        text = "{" + ",".join(f'"{key}"{space}{json.dumps(value)}' for key, value in pairs) + "}"
        body, reply = chance.choice(odd) if chance.random() < 0.05 else text, chance.choice(REPLIES)
        parts.append(
            f"<|start|>assistant to=functions.{name} call_id=c{number}<|channel|>commentary<|constrain|>json<|message|>"
            f"{body}<|call|>\n<|start|>tool name=functions.{name} call_id=c{number} to=assistant<|channel|>commentary"
            f"<|message|>{reply}<|end|>\n"
        )
    return HEADER + USER + "".join(parts).encode()


def compare(seeds: range) -> None:
    for seed in seeds:
        text = conversation(Random(f"arguments {seed}"))
        expected = read(text, "openchatml-2.2")
        for way in BOTH_WAYS:
            with using(way):
                assert read_scanned(text, "openchatml-2.2") == expected, (seed, way)


@pytest.mark.slow
def test_arguments_in_a_batch_have_the_same_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "LEAST_TOGETHER", 0)
    monkeypatch.setattr(batches, "MOST_ROWS", 80)  # types are learned from earlier batches
    verdicts: list[bool] = []
    recognizes = ArgumentTypes.recognizes

    def noted(self: ArgumentTypes, data: bytes, members: int) -> bool:
        verdicts.append(recognizes(self, data, members))
        return verdicts[-1]

    monkeypatch.setattr(ArgumentTypes, "recognizes", noted)
    compare(range(12))
    assert sum(verdicts) > 100


@pytest.mark.slow
def test_arguments_that_are_recognized_by_mistake_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "LEAST_TOGETHER", 0)
    monkeypatch.setattr(batches, "MOST_ROWS", 80)  # types are learned from earlier batches
    monkeypatch.setattr(ArgumentTypes, "recognizes", lambda _, data, members: members == 4 and data.isascii())
    with pytest.raises(AssertionError, match="numpy"):
        compare(range(12))
