"""`objects` finds the same faults in the arguments of calls as the walk along a schema, or leaves them to it."""

from __future__ import annotations

import json
import random

from tests.support.cases import each
from tests.support.native import accelerator, needs_native
from tests.support.native_rows import assert_faults
from tests.unit.native.test_objects import bodies_for
from viewer.tools.schema_columns import ANYTHING, MOST_NAMES, UNKNOWN, SchemaColumns
from viewer.tools.validate import Schema

NAMES = ("ok", "a", "b", "c", "")
KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


def schema(chance: random.Random, depth: int = 0) -> Schema:
    """Return a plain schema."""
    written: Schema = {}
    if chance.random() < 0.7 or not depth:
        written["type"] = (
            ["object"] if not depth and chance.random() < 0.9 else chance.sample(KINDS, chance.choice((1, 1, 2)))
        )
    if chance.random() < 0.15 and depth:
        written["enum"] = chance.sample(["x", "", "a:b", "y"], chance.randrange(3))
    if depth < 3:
        if chance.random() < 0.8:
            names = chance.sample(NAMES, chance.randrange(4))
            written["properties"] = {name: schema(chance, depth + 1) for name in names}
        if chance.random() < 0.4:
            written["items"] = schema(chance, depth + 1)
        if chance.random() < 0.4:
            written["additionalProperties"] = chance.choice((False, True, schema(chance, depth + 1)))
    if chance.random() < 0.5:
        written["required"] = chance.sample(NAMES, chance.randrange(3))
    return written


@needs_native
@each("seed", range(400), quick=20, test=10)
def test_the_faults_are_those_of_the_walk(seed: int) -> None:
    chance = random.Random(seed)
    assert sum(assert_faults(bodies_for(chance, 12), schema(chance)) for _ in range(6)) > 9


WHOLE: Schema = {
    "type": ["object"],
    "properties": {
        "n": {"type": ["integer"]},
        "w": {"enum": ["one", "two"]},
        "list": {"items": {"type": ["null"]}},
        "pairs": {"items": {"type": ["object"], "required": ["a", "b"]}},
    },
    "required": ["n", "w", "z"],
    "additionalProperties": False,
}
BODIES = [
    *(b'{"n": 1, "w": "two", "z": 1}', b'{"n": 1.0, "w": "one", "z": 1}', b'{"n": 1.5, "w": "one"}', b"{}"),
    *(b'{"w": "\\n"}', b'{"w": 1}', b'{"w": "on"}', b'{"list": [null, {"a": [1]}, 2, null]}'),
    *(b'{"n": {"a": {"b": 1}}}', b'{"n": 1, "w": "one", "z": 1, "pairs": [{"a": 1}, {"b": 1}]}'),
]


def assert_faults_of_bodies() -> None:
    """Check the numbers, words, and missing members of these bodies. Three bodies are left to the walk."""
    assert assert_faults(BODIES, WHOLE) == len(BODIES) - 3


@needs_native
def test_numbers_words_and_missing_members() -> None:
    assert_faults_of_bodies()
    many = b'{"list": [' + b",".join([b"1"] * 300) + b"]}"
    assert assert_faults([many, BODIES[0]], WHOLE) == 1


@needs_native
def test_columns_that_make_no_sense_leave_every_object_in_doubt() -> None:
    columns = SchemaColumns()
    columns.add("tool", {"properties": {"a": {"type": ["null"]}}, "required": ["a"]})
    parts, names, text = bytes(columns.parts), bytes(columns.names), bytes(columns.text)
    bounds, wanted = (0).to_bytes(8, "little") + (2).to_bytes(8, "little"), bytes(4)
    judge = accelerator().objects
    assert judge(b"{}", bounds, parts, names, text, wanted)[0] == b"\x11"
    large = (1 << 30).to_bytes(4, "little")
    for at in [at for at in range(0, len(parts), 4) if at % 32]:  # any kind is valid
        assert judge(b"{}", bounds, parts[:at] + large + parts[at + 4 :], names, text, wanted)[0] == b"\x01", at
    for at in range(0, len(names), 4):
        assert judge(b"{}", bounds, parts, names[:at] + large + names[at + 4 :], text, wanted)[0] == b"\x01", at
    for part in (-4, 2, 1 << 30):
        assert judge(b"{}", bounds, parts, names, text, part.to_bytes(4, "little", signed=True))[0] == b"\x01"


WHAT_COLUMNS_CAN_HOLD: list[tuple[Schema | bool | None, int]] = [
    (None, UNKNOWN),
    (True, ANYTHING),
    ({}, ANYTHING),
    ({"properties": {"a": False}}, UNKNOWN),
    ({"required": [str(number) for number in range(MOST_NAMES + 1)]}, UNKNOWN),
    ({"required": [str(number) for number in range(MOST_NAMES)]}, 0),
]


def test_what_the_columns_can_hold() -> None:
    for written, part in WHAT_COLUMNS_CAN_HOLD:
        columns = SchemaColumns()
        assert columns.add("tool", written) == part == columns.number("tool")
        columns.forget("tool")
        assert columns.number("tool") is None
        assert json.dumps(written)


def test_tools_with_the_same_schema_share_its_part() -> None:
    columns, shared = SchemaColumns(), {"type": ["object"]}
    parts = [columns.add(name, schema) for name, schema in (("a", shared), ("b", shared), ("c", dict(shared)))]
    assert parts == [0, 0, 1] and columns.number("b") == 0
