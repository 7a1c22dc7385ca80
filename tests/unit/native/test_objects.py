"""`objects` recognizes plain JSON objects. The reader in Python accepts the same objects, with the same flags."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from tests.support.cases import each
from tests.support.native import accelerator, needs_native
from tests.support.native_rows import assert_objects, object_flags_of

WORDS = ("ok", "error", "a", "b", "", "okay", "é", "a/b", "ok ", "Error")
SCALARS = (
    *(
        "true",
        "false",
        "null",
        "0",
        "-1",
        "1.5",
        "12345678901234",
        "1e5",
        "01",
        "-",
        "1.",
        ".5",
        "nul",
        "falsey",
        "NaN",
    ),
    *(
        '"x"',
        '""',
        '"a:b"',
        '"\\n"',
        '"\\u0041"',
        '"\\x"',
        '"{"',
        '"é🐙"',
        "1234567890123456789",
        "0.1",
        "-0",
        "+1",
        "--1",
    ),
)
NOISE = b'{}[]",:\\ \t\n\x00\x1f\x7fe1-.tfn'


def value(chance: random.Random, depth: int) -> str:
    """Return JSON, with rare faults."""
    kind = chance.random()
    space = chance.choice(("", "", " ", "\n", "\t "))
    if depth > 3 or kind < 0.5:
        return space + chance.choice(SCALARS[:8] if chance.random() < 0.8 else SCALARS) + space
    if kind < 0.65:
        return space + "[" + ",".join(value(chance, depth + 1) for _ in range(chance.randrange(4))) + space + "]"
    return space + members(chance, depth) + space


def members(chance: random.Random, depth: int) -> str:
    """Return an object, in which a key may repeat."""
    words = chance.sample(WORDS, chance.randrange(5)) if chance.random() < 0.9 else chance.choices(WORDS, k=2)
    keys = [json.dumps(word).replace("/", chance.choice(("/", "\\/"))) for word in words]
    return "{" + ",".join(f"{key}: {value(chance, depth + 1)}" for key in keys) + "}"


def bodies_for(chance: random.Random, count: int) -> list[bytes]:
    """Return objects, whole and damaged."""
    bodies = [members(chance, 0).encode() for _ in range(count)]
    return bodies + [cut(chance, body) for body in bodies]


@pytest.mark.slow
@needs_native
@each("seed", range(400), quick=12, test=12)
def test_what_is_accepted_is_a_plain_object(seed: int) -> None:
    bodies = bodies_for(random.Random(seed), 1200)
    assert assert_objects(bodies) > len(bodies) / 20


def cut(chance: random.Random, body: bytes) -> bytes:
    """Return the body with some bytes removed, replaced, or added."""
    at, end = (
        sorted(chance.choices(range(len(body) + 1), k=2))
        if chance.random() < 0.3
        else (chance.randrange(len(body)),) * 2
    )
    more = bytes(chance.choices(NOISE, k=chance.randrange(3)))
    return body[:at] + more + body[end + chance.randrange(2) :]


@needs_native
def test_the_facts_of_an_object() -> None:
    cases = {
        b"{}": 1,
        b' {"ok": true, "content": "a: \\"b\\""} ': 3,
        b'{"ok": false}': 7,
        b'{"ok":"false"}': 3,
        b'{"error": 1}': 5,
        b'{"a": {"ok": false, "error": 1}}': 1,
        b'{"a": {"b": 1}, "b": [{"a": 1}, {"a": 2}]}': 1,
        b'{"a": 1, "a": 2}': 0,
        b'{"b": {"a": 1, "a": 2}}': 0,
        b"[]": 0,
        b'{"a": 1}x': 0,
        b'{"a": 1,}': 0,
        b'{"a": [1,]}': 0,
        b'{"a" 1}': 0,
        b'{"a": }': 0,
        b'{"\\n": 1}': 0,
        b"{": 0,
        b'{"a': 0,
        b"": 0,
    }
    assert object_flags_of(*cases) == [*cases.values()]


@needs_native
def test_the_bounds_of_an_object() -> None:
    """Depth, keys, digits, and length. A doubtful object is left to the reader in Python."""
    deep = [b'{"a": ' + b"[" * depth + b"]" * depth + b"}" for depth in (31, 32, 33, 201, 5000)]
    assert object_flags_of(*deep) == [1, 0, 0, 0, 0]
    many = [json.dumps(dict.fromkeys(map(str, range(count)), 0)).encode() for count in (64, 65)]
    assert object_flags_of(*many) == [1, 0]
    assert object_flags_of(b'{"a": 123456789012345}', b'{"a": 1234567890123456}', b'{"a": -1.2345678901234}') == [
        1,
        0,
        0,
    ]
    assert object_flags_of(b'{"a": "' + b"x" * 65_500 + b'"}', b'{"a": "' + b"x" * 65_536 + b'"}') == [1, 0]


@needs_native
def test_bounds_outside_the_data_are_refused() -> None:
    bounds = np.array([[0, 2], [-1, 2], [0, 3], [2, 0], [1 << 62, 1 << 62], [-(1 << 63), 2]], np.int64)
    assert [*accelerator().objects(b"{}", bounds.tobytes())[0]] == [1, 0, 0, 0, 0, 0]
    assert accelerator().objects(b"{}", b"1234567") == (b"", b"")
