"""Argument types recognize only text that fits the schema and repeats no key, and most such text once they have
learned it."""

from __future__ import annotations

import json
import random

import pytest

from tests.unit.native.test_objects import SCALARS, bodies_for, cut
from tests.unit.native.test_schemas import KINDS, NAMES, schema
from tests.unit.scan.test_json_members import most_in
from viewer.syntax.json_text import LONGEST_GLANCED, plain_object
from viewer.tools import argument_types
from viewer.tools.argument_types import LEAST_SEEN, MOST_MEMBERS, ArgumentTypes
from viewer.tools.arguments import Schematic
from viewer.tools.validate import Schema


def recognized(types: ArgumentTypes, schematic: Schematic, body: bytes) -> bool:
    """Check the verdict on a body. Return it."""
    members = most_in(body, LONGEST_GLANCED)
    if members < 0 or not types.recognizes(body, members):
        return False
    value = plain_object(body)
    assert value is not None and schematic.accepts(value), body
    return True


def flat_object(chance: random.Random) -> bytes:
    """Return an object with some of the names of `schema`."""
    names = chance.sample(NAMES, chance.randrange(1, 3))
    return ("{" + ", ".join(f'"{name}": {chance.choice(SCALARS)}' for name in names) + "}").encode()


def compare(seeds: range) -> int:
    """Return how many bodies were recognized."""
    count = 0
    for seed in seeds:
        chance = random.Random(seed)
        kinds: Schema = {"properties": {name: {"type": [chance.choice(KINDS)]} for name in NAMES}}
        schematic = Schematic(chance.choice((schema(chance), kinds)))
        types = schematic.types
        if types is None:
            continue
        bodies = [flat_object(chance) for _ in range(200)] + bodies_for(chance, 60)
        for body in filter(None, bodies):
            members, value = most_in(body, LONGEST_GLANCED), plain_object(body)
            if value is not None and members >= 0 and schematic.accepts(dict(value)):
                for _ in range(LEAST_SEEN):
                    types.learn(value, members)
            others = (body, body[:-1] + b"," + body[1:], *(cut(chance, body) for _ in range(4)))
            count += sum(recognized(types, schematic, each) for each in others)
    return count


@pytest.mark.parametrize("count", [8, pytest.param(25, marks=pytest.mark.slow)])
def test_what_is_recognized_fits_the_schema_and_repeats_no_key(count: int) -> None:
    assert compare(range(count)) > 20 * count


def test_types_that_accept_too_much_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, wrong in (("integer", float), ("number", str | float), ("string", str | int), ("null", bool | None)):
        with monkeypatch.context() as patch, pytest.raises(AssertionError):
            patch.setitem(argument_types.SCALARS, kind, wrong)
            compare(range(60))


def test_most_arguments_are_recognized_once_they_are_learned() -> None:
    nested: Schema = {"type": ["object"], "properties": {"x": {"type": ["boolean"]}}, "additionalProperties": False}
    whole: Schema = {
        "type": ["object"],
        "properties": {"n": {"type": ["number"]}, "w": {"enum": ["one", "two"]}, "list": {"items": {}}, "o": nested},
        "required": ["n"],
    }
    types = ArgumentTypes(whole)
    body, again = b'{"n": 1, "w": "one", "o": {"x": true}}', b'{"w":"two","n":-2.5,"o":{"x":false}}'
    assert not types.recognizes(body, 4)
    for _ in range(LEAST_SEEN):
        types.learn({"n": 1, "w": "one", "o": {"x": True}}, 4)
    assert types.recognizes(body, 4) and types.recognizes(again, 4)
    assert not types.recognizes(again, 5) and not types.recognizes(again.replace(b"two", b"six"), 4)
    for count in (MOST_MEMBERS, MOST_MEMBERS + 1):
        value: dict[str, object] = {"n": 1, **{f"m{number}": 1 for number in range(count - 1)}}
        for _ in range(LEAST_SEEN):
            types.learn(value, count)
        assert types.recognizes(json.dumps(value).encode(), count) is (count == MOST_MEMBERS)
    learned: list[dict[str, object]] = [{"n": 1}, {"n": 1, "list": [1, "x"]}, {"n": 1, "other": None}]
    for value in learned:
        for _ in range(LEAST_SEEN):
            types.learn(value, len(value))
    assert types.recognizes(b'{"n":1}', 1) and types.recognizes(b'{"n":1,"list":[null,true]}', 2)
    assert types.recognizes(b'{"n":1,"other":"x"}', 2) and not types.recognizes(b'{"n":1,"other":[]}', 2)
    assert not types.recognizes(b'{"n":1,"list":[{"a":1,"a":1}]}', 2)
