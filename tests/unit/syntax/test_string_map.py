"""The map of a string is the same with and without the shortcut for short escapes."""

from __future__ import annotations

import random

import pytest

from viewer.syntax.string_map import StringMap

PARTS = (
    *(b"a", b"bc ", b"\\n", b'\\"', b"\\\\", b"\\/", b"\\u00e9", b"\\ud83d\\ude00", b"\\ud83d", b"\\x", b"\\"),
    *("é🙂".encode(), b"\xff", b"\n", b'"'),
)


def offsets(raw: bytes) -> list[int]:
    known = StringMap(raw)
    return [known.source_of(meant, last) for meant in range(3 * len(raw) + 2) for last in (False, True)]


def random_strings() -> list[bytes]:
    chance = random.Random(7)
    return [
        b'"' + b"".join(chance.choices(PARTS[: chance.choice((6, 12, len(PARTS)))], k=chance.randint(0, 12))) + b'"'
        for _ in range(600)
    ]


def test_the_shortcut_maps_every_string_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    strings = random_strings()
    quick = [offsets(raw) for raw in strings]
    taken = [StringMap._is_short(StringMap(b'""'), raw, 1) for raw in strings]
    assert any(taken) and not all(taken)
    monkeypatch.setattr(StringMap, "_is_short", lambda *_: False)
    for raw, found in zip(strings, quick, strict=True):
        assert found == offsets(raw), raw
