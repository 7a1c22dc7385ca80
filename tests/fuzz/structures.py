"""Structural mutations of JSON: members and items are moved, changed in kind, repeated, or removed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Any

Place = tuple[Any, Any]
"""A list or a dictionary, and an index or a key."""
DEEP = 120
ODD: list[Any] = [None, True, False, 0, -1, 1e300, "", " ", "SECRET", [], {}, [[]], [None], {"": ""}, "\ud800", "\x00"]
LONGEST_REPEATED = 2000
MOST_PLACES, MOST_BYTES = 20_000, 256 * 1024
NAMES = (
    "type",
    "role",
    "content",
    "text",
    "parts",
    "message",
    "messages",
    "id",
    "thought",
    "isMeta",
    "delta",
    "",
    "a.b",
)


def values_of(data: bytes) -> tuple[list[Any], str] | None:
    """Return the values of a document or of its lines, and their separator, or None if it is not JSON."""
    try:
        return [json.loads(data)], ""
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()], "\n"
    except ValueError:
        return None


def restructured(data: bytes, others: list[bytes], chance: random.Random) -> bytes | None:
    """Apply a few mutations. Return None if the input is not JSON or if the result is too large for the time limits."""
    found = values_of(data)
    if found is None:
        return None
    values, joiner = found
    holder: list[Any] = values
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        places = list(islice(_places(holder), MOST_PLACES))
        if not places:
            break
        chance.choice(_WAYS)(*chance.choice(places), others, chance)
    data = joiner.join(map(json.dumps, values)).encode("utf-8", "replace")
    return data if len(data) <= MOST_BYTES else None


def _places(value: Any, left: int = DEEP) -> Iterator[Place]:
    keys: Any = range(len(value)) if isinstance(value, list) else list(value)
    for key in keys:
        yield value, key
        if left and isinstance(value[key], list | dict):
            yield from _places(value[key], left - 1)


def _drop(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    del holder[key]


def _odd(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    holder[key] = deepcopy(chance.choice(ODD))


def _wrap(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    value = holder[key]
    holder[key] = chance.choice([[value], {"text": value}, {"content": [value]}, json.dumps(value), [value, value]])


def _unwrap(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    value = holder[key]
    if isinstance(value, list | dict) and value:
        holder[key] = next(iter(value.values())) if isinstance(value, dict) else value[0]
    elif isinstance(value, str):
        holder[key] = value[: chance.randrange(len(value) + 1)]


def _rename(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    if isinstance(holder, dict):
        holder[chance.choice((*NAMES, str(key).upper(), f"{key} "))] = holder.pop(key)


def _repeat(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    if isinstance(holder, list) and len(json.dumps(holder[key])) < LONGEST_REPEATED:
        holder[key:key] = [holder[key]] * chance.choice((1, 2, 40))


def _move(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    if isinstance(holder, list):
        chance.shuffle(holder)
    else:
        holder[key] = holder.pop(key)


def _deepen(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    for _ in range(chance.choice((5, DEEP))):
        holder[key] = [holder[key]] if chance.random() < 0.5 else {"content": holder[key]}


def _borrow(holder: Any, key: Any, others: list[bytes], chance: random.Random) -> None:
    """Insert a value from another format."""
    found = values_of(chance.choice(others))
    places = (
        [place for value in found[0] if isinstance(value, list | dict) for place in _places(value)] if found else []
    )
    if places:
        other, name = chance.choice(places)
        holder[key] = json.loads(json.dumps(other[name]))


_WAYS: list[Callable[[Any, Any, list[bytes], random.Random], None]] = [
    *(_drop, _odd, _odd, _wrap, _unwrap, _rename, _repeat, _move, _deepen, _borrow, _borrow),
]
